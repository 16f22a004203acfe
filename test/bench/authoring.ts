// How long an author waits after an edit, compared with plain runs of the same tests with the same
// interpreter, in ratios within one run. A benchmark, not a test:
// `npm run bench -- authoring [--dataset F --id ID --source REPOSITORY] [--python P] [--times N]`.
// Without a dataset it takes the bundled instance and its candidate `covers-some`; otherwise the
// golden tests.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openDataset } from '../../src/dataset/dataset';
import { sides, type Side } from '../../src/domain/outcome';
import { silent } from '../../src/domain/work';
import { openEngine } from '../../src/engine/engines';
import type { TestPlan } from '../../src/engine/runners/testPlan';
import type { CompleteRun } from '../../src/evaluation/runs/affected';
import { evaluateSince, type Evaluation } from '../../src/evaluation/candidate';
import { ownTestsOf } from '../../src/evaluation/prepareCandidate';
import { runStore } from '../../src/evaluation/testRun';
import { contentsWith, openSession, type InstanceSession } from '../../src/evaluation/session';
import { makeUnified } from '../../src/patch/makeUnified';
import { createPythonParser } from '../../src/python/parser';
import { findTests } from '../../src/python/tests';
import { git } from '../../src/repository/git';
import { sourceOf, parseSources } from '../../src/repository/source';
import { prepareTrees } from '../../src/repository/trees';
import { environments } from '../../src/environments/environments';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    dataset: { type: 'string' },
    id: { type: 'string' },
    source: { type: 'string' },
    python: { type: 'string' },
    times: { type: 'string', default: '5' },
  },
});
const root = resolve(__dirname, '..', '..');
const sample = join(root, 'media', 'sample');
const scratch = mkdtempSync(join(root, '.cache', 'bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const line = (what: string, ms: number, plain?: number): void =>
  console.log(
    `${what.padEnd(62)} ${(ms / 1000).toFixed(2).padStart(7)} s` +
      (plain === undefined ? '' : `   × ${(ms / plain).toFixed(2)}`),
  );

async function main(): Promise<void> {
  const storage = join(scratch, 'storage');
  const isBundled = values.dataset === undefined;
  const dataset = await openDataset(values.dataset ?? join(sample, 'instance.jsonl'), {
    storage,
    reporter: silent,
  });
  const id = values.id ?? (await firstId());
  const [instance] = await dataset.read([id]);
  if (instance === undefined) throw new Error(`no instance ${id}`);
  const from = values.source ?? (isBundled ? join(sample, 'repository') : undefined);
  const sources = parseSources(from === undefined ? [] : [from]);
  const source = await sourceOf(instance, sources);
  const trees = await prepareTrees(instance, source, storage, { reporter: silent });
  const engine = await openEngine({
    environments,
    name: 'local',
    storage,
    assets: join(root, 'dist'),
    values: { local: { python: values.python } },
  });
  const python = await createPythonParser((file) => join(root, 'dist', file));
  const store = runStore(join(scratch, 'store'));
  const session = await openSession({ instance, trees, engine, python, store });
  try {
    console.log(`${id}, ${engine.description}`);
    await session.warmUp({ reporter: silent });
    const text = isBundled ? bundledCandidate() : instance.goldenTests;
    await measure(session, text);
  } finally {
    await session.dispose();
    await engine.dispose();
  }
}

async function firstId(): Promise<string> {
  const row = readFileSync(join(sample, 'instance.jsonl'), 'utf8').split('\n')[0] ?? '';
  return Promise.resolve((JSON.parse(row) as { instance_id: string }).instance_id);
}

function bundledCandidate(): string {
  const rows = readFileSync(join(sample, 'predictions.jsonl'), 'utf8').trim().split('\n');
  const found = rows
    .map((row) => JSON.parse(row) as { model_name_or_path: string; model_patch: string })
    .find((row) => row.model_name_or_path === 'covers-some');
  if (found === undefined) throw new Error('no candidate covers-some');
  return found.model_patch;
}

async function measure(session: InstanceSession, text: string): Promise<void> {
  let toFirst = Number.NaN;
  const evaluate = async (
    patch: string,
    since?: CompleteRun,
  ): Promise<{ ms: number; evaluation: Evaluation }> => {
    const started = performance.now();
    toFirst = Number.NaN;
    const evaluation = await evaluateSince(
      session,
      { model: 'bench', text: patch, format: 'unified', mode: 'unit-test' },
      {
        timeoutSeconds: 3600,
        reporter: silent,
        reuse: false,
        since,
        onFirst: () => {
          toFirst = performance.now() - started;
        },
      },
    );
    return { ms: performance.now() - started, evaluation };
  };

  const { ms: first, evaluation } = await evaluate(text);
  line('first verdict: base, golden and candidate, both sides', first);
  let { complete } = evaluation;
  const files = [...new Set(evaluation.result.ownTests.map((test) => test.split('::')[0] ?? ''))];
  const own = await ownTestsOf(session, evaluation.result.patch, files);
  const options = { timeoutSeconds: 3600, reporter: silent, reuse: false };
  const whole = await session.run({ patch: text, files }, options);
  const [edited] = own.functions;
  const only = { patch: text, files, select: edited === undefined ? [] : [edited] };
  const one = await session.run(only, options);

  const copies = await plainCopies(session, text);
  const plain = (plan: TestPlan): Promise<number> => bothSides(session, plan, copies);
  await plain(whole.plan);
  const figures = { one: [], whole: [], again: [], first: [], edited: [] } as Record<
    'one' | 'whole' | 'again' | 'first' | 'edited',
    number[]
  >;
  for (let n = 0; n < Number(values.times); n++) {
    figures.whole.push(await plain(whole.plan));
    const { ms } = await evaluate(text);
    figures.again.push(ms);
    // Where the whole files are quick, the verdict is the first one.
    figures.first.push(Number.isNaN(toFirst) ? ms : toFirst);
    figures.one.push(await plain(one.plan));
    const after = await evaluate(await withEdit(session, text, n), complete);
    figures.edited.push(after.ms);
    const { affected } = after.evaluation.result;
    if (n === 0) {
      const told =
        affected === undefined ? 'all tests ran' : `${affected.ran} ran, ${affected.kept} kept`;
      console.log(`after an edit of one test: ${told}`);
    }
    complete = after.evaluation.complete;
  }
  const plainOne = median(figures.one);
  const plainWhole = median(figures.whole);
  line('plain run of one edited test, the slower side', plainOne);
  line('edit of that test to verdict, in a continuous run', median(figures.edited), plainOne);
  line('plain run of the touched files, the slower side', plainWhole);
  line('Reproduce: first verdict', median(figures.first), plainWhole);
  line('Reproduce: verdict of the whole files', median(figures.again), plainWhole);
}

/** The candidate with one more comment at the end of the first test that it adds or changes. */
async function withEdit(session: InstanceSession, patch: string, n: number): Promise<string> {
  const after = await contentsWith(patch, (path) => session.readFileOfR(path));
  const edits = [];
  let isEdited = false;
  for (const [path, content] of after) {
    const before = await session.readFileOfR(path);
    let text = content;
    if (text !== undefined && !isEdited) {
      const own = await ownTestsOf(session, patch, [path]);
      const test = findTests(session.python, text, { path }).find((each) =>
        own.functions.includes(each.id),
      );
      if (test !== undefined) {
        const lines = text.split('\n');
        const last = lines[test.range.endLine - 1] ?? '';
        const indent = /^\s*/.exec(last)?.[0] ?? '';
        lines.splice(test.range.endLine, 0, `${indent}assert ${n} >= 0`);
        text = lines.join('\n');
        isEdited = true;
      }
    }
    edits.push({ path, before, after: text });
  }
  if (!isEdited) throw new Error('the candidate has no test to edit');
  return makeUnified(edits);
}

/** Trees of both sides with the candidate, without any file of the product. */
async function plainCopies(session: InstanceSession, patch: string): Promise<Record<Side, string>> {
  const copies = { base: join(scratch, 'plain-base'), fixed: join(scratch, 'plain-fixed') };
  for (const side of sides) {
    await cp(session.trees[side], copies[side], { recursive: true });
    await git(['apply', '-'], { cwd: copies[side], input: patch });
  }
  return copies;
}

/** Time of the slower side; the sides run one after the other. */
async function bothSides(
  session: InstanceSession,
  plan: TestPlan,
  copies: Readonly<Record<Side, string>>,
): Promise<number> {
  const { interpreter } = await session.environment({ reporter: silent });
  let slower = 0;
  for (const side of sides) {
    const started = performance.now();
    await new Promise<void>((done, fail) => {
      const child = spawn(interpreter, plan.args, {
        cwd: join(copies[side], plan.cwd),
        env: { ...process.env, PYTHONPATH: copies[side], PYTHONHASHSEED: '0', ...plan.env },
        stdio: 'ignore',
      });
      child.once('error', fail).once('exit', () => done());
    });
    slower = Math.max(slower, performance.now() - started);
  }
  return slower;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
