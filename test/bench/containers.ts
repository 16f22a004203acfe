// The cost of the docker engine, compared with plain runs of the same tests in containers of the
// same image, in ratios within one run. A benchmark, not a test:
// `npm run bench -- docker --dataset F --id ID --source REPOSITORY [--base-image IMAGE] [--times N]`
// With `--further ID,ID`, only the time that further instances of the version of ID take.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type Dockerode from 'dockerode';
import { openDataset } from '../../src/dataset/dataset';
import { silent } from '../../src/domain/work';
import { sides } from '../../src/domain/outcome';
import { tarOf } from '../../src/engine/sandbox/archive';
import { connect } from '../../src/engine/docker/connection/connect';
import { dockerSettings } from '../../src/engine/docker/dockerSettings';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import type { TestPlace } from '../../src/engine/engine';
import type { TestPlan } from '../../src/engine/runners/testPlan';
import { goldenSetOf } from '../../src/evaluation/goldenTests';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import { ownTestsOf } from '../../src/evaluation/prepareCandidate';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { changedLines } from '../../src/patch/changedLines';
import { parseUnified } from '../../src/patch/parseUnified';
import { createPythonParser } from '../../src/python/parser';
import { sourceOf, parseSources } from '../../src/repository/source';
import { prepareTrees } from '../../src/repository/trees';
import { furtherInstance } from './furtherInstances';
import { plainContainer, plainRun, sixPlainRuns, type Bench } from './plainContainers';
import { environments } from '../../src/environments/environments';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    dataset: { type: 'string' },
    id: { type: 'string' },
    source: { type: 'string' },
    further: { type: 'string' },
    'base-image': { type: 'string' },
    storage: { type: 'string' },
    times: { type: 'string', default: '5' },
  },
});
const times = Number(values.times);
const root = resolve(__dirname, '..', '..');
const scratch = mkdtempSync(join(root, '.cache', 'bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const timed = async <T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> => {
  const started = performance.now();
  const result = await work();
  return { ms: performance.now() - started, result };
};
const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const line = (what: string, ms: number, note = ''): void =>
  console.log(`${what.padEnd(66)} ${(ms / 1000).toFixed(2).padStart(7)} s   ${note}`);

/**
 * Puts the tracer into a container of R, as a sandbox does, to count the lines that the golden
 * patch removes. Returns the additional environment of a run.
 */
async function putTracer(
  bench: Bench,
  container: Dockerode.Container,
): Promise<Readonly<Record<string, string>>> {
  const { image, instance } = bench;
  const folder = join(root, 'src', 'engine', 'tracer');
  const files: Record<string, number[]> = {};
  for (const { path, line: number } of changedLines(parseUnified(instance.goldenPatch)).removed) {
    (files[path] ??= []).push(number);
  }
  const config = { format: 1, root: image.folder, out: '/tmp/swt-trace', outcomes: true, files };
  const entries = readdirSync(folder)
    .filter((name) => name.endsWith('.py'))
    .map((name) => ({ path: `swt/tracer/${name}`, content: readFileSync(join(folder, name)) }));
  const text = Buffer.from(JSON.stringify(config));
  await container.putArchive(await tarOf([...entries, { path: 'swt/trace.json', content: text }]), {
    path: '/',
  });
  const compile = ['-m', 'compileall', '-q', '/swt/tracer'];
  await plainRun(bench, container, compile, { cwd: '.', env: {} }, { user: 0 });
  return {
    PYTHONPATH: `/swt/tracer:${image.folder}`,
    SWT_TRACE_CONFIG: '/swt/trace.json',
  };
}

async function main(): Promise<void> {
  const { dataset: name, id, source } = values;
  if (name === undefined || id === undefined || source === undefined) {
    throw new Error('name --dataset, --id and --source');
  }
  const storage = values.storage ?? join(scratch, 'storage');
  const baseImage = values['base-image'];
  const settings = dockerSettings.read(baseImage === undefined ? {} : { baseImage });
  const dataset = await openDataset(name, { storage, reporter: silent });
  const [instance] = await dataset.read([id]);
  if (instance === undefined) throw new Error(`no instance ${id}`);
  const reporter = { log: (text: string) => console.log(text), progress: () => undefined };
  const trees = await prepareTrees(
    instance,
    await sourceOf(instance, parseSources([source])),
    storage,
    { reporter: silent },
  );
  const engine = await openEngine({
    engines,
    environments,
    name: 'docker',
    storage,
    assets: join(root, 'dist'),
    values: { docker: settings },
  });
  const python = await createPythonParser((file) => join(root, 'dist', file));
  const connection = await connect({});
  const built = await timed(() =>
    environments.instanceImage({ connection, instance, trees, settings, storage }, { reporter }),
  );
  line('image found or built', built.ms);
  if (values.further !== undefined) {
    const all = await dataset.read(values.further.split(','));
    const treeSource = (each: typeof instance) => sourceOf(each, parseSources([source]));
    const further = { connection, settings, storage, engine, sourceOf: treeSource };
    for (const each of all) await benchFurther(further, each);
    await engine.dispose();
    return;
  }
  const bench: Bench = { docker: connection.docker, image: built.result, instance, trees };
  const parts = { instance, trees, engine, python };
  const sessions: InstanceSession[] = [];
  const open = async (store: string): Promise<InstanceSession> => {
    const session = await openSession({ ...parts, store: runStore(join(scratch, store)) });
    sessions.push(session);
    return session;
  };
  const plain: Dockerode.Container[] = [];
  try {
    const session = await open('store');
    await session.environment({ reporter });
    line('a warm pair opened', (await timed(() => session.warmUp({ reporter }))).ms);

    const whole = await goldenSetOf(session);
    const own = await ownTestsOf(session, whole.patch, whole.files);
    const options = { timeoutSeconds: 3600, reporter: silent, reuse: false };
    const selected = { ...whole, select: own.functions };
    const { plan } = await session.run(whole, options);
    const { plan: plan1 } = await session.run(selected, options);
    for (const side of sides) plain.push(await plainContainer(bench, side));
    const one = async (of: TestPlan, container: Dockerode.Container | undefined) => {
      if (container === undefined) throw new Error('no container');
      return (await timed(() => plainRun(bench, container, of.args, of))).ms;
    };
    const both = async (of: TestPlan): Promise<number> =>
      Math.max(await one(of, plain[0]), await one(of, plain[1]));
    await both(plan);

    const figures = {
      own: [] as number[],
      ownPlain: [] as number[],
      file: [] as number[],
      filePlain: [] as number[],
      fileTraced: [] as number[],
      grade: [] as number[],
    };
    const more = await putTracer(bench, must(plain[0]));
    for (let n = 0; n < times; n++) {
      figures.ownPlain.push(await both(plan1));
      figures.own.push((await timed(() => session.run(selected, options))).ms);
      figures.filePlain.push(await one(plan, plain[0]));
      const traced = () => plainRun(bench, must(plain[0]), plan.args, plan, { more });
      figures.fileTraced.push((await timed(traced)).ms);
      const onR = { ...options, sides: ['base'] as const };
      figures.file.push((await timed(() => session.run(whole, onR))).ms);
    }
    const request = { model: 'bench', format: 'unified', mode: 'unit-test' } as const;
    await evaluateCandidate(session, { ...request, text: instance.goldenTests }, options);
    const wholePlain: number[] = [];
    for (let n = 0; n < times; n++) {
      wholePlain.push(await both(plan));
      const graded = await timed(() =>
        evaluateCandidate(session, { ...request, text: instance.goldenTests }, options),
      );
      figures.grade.push(graded.ms);
    }
    const ownPlain = median(figures.ownPlain);
    const own1 = median(figures.own);
    line('plain run of the candidate’s own tests, the slower side', ownPlain);
    line('edit to verdict, both sides, own tests, warm', own1, against(own1, ownPlain, 1.15, 0.3));
    const filePlain = median(figures.filePlain);
    line('plain run of the touched files on R', filePlain);
    const fileTraced = median(figures.fileTraced);
    line('the same with the tracer', fileTraced, against(fileTraced, filePlain, 1.05));
    const inSandbox = median(figures.file);
    line(
      'the same in the sandbox, tests sent, results read',
      inSandbox,
      against(inSandbox, filePlain),
    );
    const trace = ['-m', 'trace', '--count', '-C', '/tmp/cover', ...plan.args];
    const module =
      plan.args[0] === '-m'
        ? ['-m', 'trace', '--count', '-C', '/tmp/cover', '--module', ...plan.args.slice(1)]
        : trace;
    const traced = await timed(() => plainRun(bench, must(plain[0]), module, plan));
    line('the same under Python’s trace module', traced.ms, against(traced.ms, filePlain));
    const slower = median(wholePlain);
    line('plain run of the touched files, the slower side', slower);
    line(
      'a new candidate graded, base and golden known',
      median(figures.grade),
      against(median(figures.grade), slower, 1.2),
    );

    await benchCommands(
      must(plain[0]),
      await engine.prepare(instance, trees, { reporter: silent }),
    );

    await session.dispose();
    const fresh = await timed(async () => {
      const again = await open('first');
      return evaluateCandidate(
        again,
        { ...request, text: instance.goldenTests },
        { ...options, reuse: true },
      );
    });
    const six = await timed(() => sixPlainRuns(bench, plan));
    line('six plain runs, each in a new container with reinstallation', six.ms);
    line(
      'first grade: pair opened, base, golden and candidate, both sides',
      fresh.ms,
      `${(six.ms / fresh.ms).toFixed(1)} times faster (goal 5)`,
    );
  } finally {
    await Promise.all(sessions.map((each) => each.dispose()));
    await Promise.all(plain.map((each) => each.remove({ force: true })));
    await engine.dispose();
  }
}

/** A further instance of a version whose image is there, by phase. */
async function benchFurther(...asked: Parameters<typeof furtherInstance>): Promise<void> {
  const phases = await furtherInstance(...asked);
  const [, { id }] = asked;
  if (phases.length === 0)
    return console.log(`${id}: its image was there before, so nothing is measured`);
  const plain = must(phases.at(-1)).ms;
  const rest = phases.slice(0, -1);
  for (const { what, ms } of rest) line(`  ${what}`, ms);
  line('plain: a container is started and R is copied into it', plain);
  const whole = rest.reduce((sum, { ms }) => sum + ms, 0);
  line(`${id}, a further instance of a known version, is ready`, whole, against(whole, plain));
}

/** One hundred short commands in the shell of a workspace, beside as many `exec`s of the engine. */
async function benchCommands(container: Dockerode.Container, place: TestPlace): Promise<void> {
  const commands = 100;
  const byExec = await timed(async () => {
    for (let n = 0; n < commands; n++) {
      const exec = await container.exec({
        Cmd: ['sh', '-c', 'ls > /dev/null'],
        AttachStdout: true,
        AttachStderr: true,
      });
      const stream = await exec.start({});
      stream.resume();
      await new Promise((done) => stream.once('end', done).once('close', done));
    }
  });
  line(`${commands} commands, each by an exec of the engine`, byExec.ms);
  const workspace = must(await place.openWorkspace?.({ reporter: silent }));
  try {
    const inShell = await timed(async () => {
      for (let n = 0; n < commands; n++) {
        await workspace.run({ command: 'ls > /dev/null', timeoutSeconds: 60, keptBytes: 1000 });
      }
    });
    line('the same in the shell of a workspace', inShell.ms, against(inShell.ms, byExec.ms, 1));
    const done = await timed(async () => {
      for (let n = 0; n < commands; n++) await workspace.changes();
    });
    line('the difference to R, as often', done.ms, against(done.ms, byExec.ms));
  } finally {
    await workspace.dispose();
  }
}

const must = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('missing');
  return value;
};

function against(ms: number, plain: number, factor?: number, seconds = 0): string {
  const goal =
    factor === undefined
      ? ''
      : ` (goal ${factor}${seconds === 0 ? '' : ` × + ${seconds} s = ${((plain * factor) / 1000 + seconds).toFixed(2)} s`})`;
  return `× ${(ms / plain).toFixed(2)}${goal}`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
