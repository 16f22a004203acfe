// How long an author waits after an edit, compared with plain runs of the same tests with the same
// interpreter, in ratios within one run. A benchmark, not a test:
// `npm run bench -- authoring [--set NAME | --dataset F --id ID --source REPOSITORY] [--python P] [--times N]`.
// The sets are those of `realSets`, by default the bundled instance and its candidate `covers-some`;
// elsewhere the golden tests are the candidate.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openDataset } from '../../src/dataset/dataset';
import { sides, type Side } from '../../src/domain/outcome';
import { silent } from '../../src/domain/work';
import type { Engine, Sandbox, TestPlace } from '../../src/engine/engine';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import type { TestPlan } from '../../src/engine/runners/testPlan';
import type { CompleteRun } from '../../src/evaluation/runs/affected';
import { evaluateSince, type Evaluation } from '../../src/evaluation/candidate';
import { ownTestsOf } from '../../src/evaluation/prepareCandidate';
import { runStore } from '../../src/evaluation/testRun';
import { contentsWith, openSession, type InstanceSession } from '../../src/evaluation/session';
import { line, median } from './lines';
import { realSets } from './realSets';
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
    set: { type: 'string' },
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
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 20 }));

async function main(): Promise<void> {
  const storage = join(scratch, 'storage');
  const of = await setOf(values);
  const dataset = await openDataset(of.dataset, { storage, reporter: silent });
  const { id } = of;
  const [instance] = await dataset.read([id]);
  if (instance === undefined) throw new Error(`no instance ${id}`);
  const sources = parseSources(of.source === '' ? [] : [of.source]);
  const source = await sourceOf(instance, sources);
  const trees = await prepareTrees(instance, source, storage, { reporter: silent });
  const engine = await openEngine({
    engines,
    environments,
    name: 'local',
    storage,
    assets: join(root, 'dist'),
    isAwaited: true,
    values: { local: { python: of.python } },
  });
  const parts = new Parts();
  const python = await createPythonParser((file) => join(root, 'dist', file));
  const store = runStore(join(scratch, 'store'));
  const session = await openSession({
    ...{ instance, trees, python, store },
    engine: parts.measured(engine),
  });
  try {
    console.log(`${id}, ${engine.description}`);
    await session.warmUp({ reporter: silent });
    const text = of.isGolden ? instance.goldenTests : bundledCandidate();
    await measure(session, text, parts);
  } finally {
    await session.dispose();
    await engine.dispose();
  }
}

/** What the options say to measure on. */
async function setOf({ set = 'bundled', dataset, id, source, python }: typeof values) {
  if (dataset !== undefined && id !== undefined) {
    return { dataset, id, source: source ?? '', python, isGolden: true };
  }
  const found = realSets[set];
  if (found === undefined) throw new Error(`no set ${set}: ${Object.keys(realSets).join(', ')}`);
  const made = await found.make(scratch);
  return { ...made, python: python ?? made.python };
}

function bundledCandidate(): string {
  const rows = readFileSync(join(sample, 'predictions.jsonl'), 'utf8').trim().split('\n');
  const found = rows
    .map((row) => JSON.parse(row) as { model_name_or_path: string; model_patch: string })
    .find((row) => row.model_name_or_path === 'covers-some');
  if (found === undefined) throw new Error('no candidate covers-some');
  return found.model_patch;
}

async function measure(session: InstanceSession, text: string, parts: Parts): Promise<void> {
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
  const figures = { one: [], whole: [], again: [], first: [], edited: [], early: [] } as Record<
    'one' | 'whole' | 'again' | 'first' | 'edited' | 'early',
    number[]
  >;
  for (let n = 0; n < Number(values.times); n++) {
    figures.whole.push(await plain(whole.plan));
    const { ms } = await evaluate(text);
    figures.again.push(ms);
    // Where the whole files are quick, the verdict is the first one.
    figures.first.push(Number.isNaN(toFirst) ? ms : toFirst);
    figures.one.push(await plain(one.plan));
    const patch = await withEdit(session, text, n);
    parts.begin();
    const after = await evaluate(patch, complete);
    figures.edited.push(after.ms);
    if (!Number.isNaN(toFirst)) figures.early.push(toFirst);
    parts.end(after.ms);
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
  if (figures.early.length > 0) {
    line('edit of that test to first verdict, with R loaded', median(figures.early), plainOne);
  }
  line('edit of that test to verdict, in a continuous run', median(figures.edited), plainOne);
  parts.print();
  line('plain run of the touched files, the slower side', plainWhole);
  line('Reproduce: first verdict', median(figures.first), plainWhole);
  line('Reproduce: verdict of the whole files', median(figures.again), plainWhole);
}

/** Where the time from an edit to its verdict goes, on the slower side. */
class Parts {
  private now = { restoring: 0, tests: 0, around: 0 };
  private readonly all = { restoring: [], tests: [], around: [], rest: [] } as Record<
    'restoring' | 'tests' | 'around' | 'rest',
    number[]
  >;

  /** The engine, with the time of what its sandboxes do. */
  measured(engine: Engine): Engine {
    return {
      ...engine,
      prepare: async (...of) => {
        const place = await engine.prepare(...of);
        const openPair: TestPlace['openPair'] = async (work, asked) => {
          const pair = await place.openPair(work, asked);
          const boxes = pair as Partial<Record<Side, Sandbox>>;
          for (const side of sides) {
            const box = boxes[side];
            if (box !== undefined) boxes[side] = this.timed(box);
          }
          return pair;
        };
        return { ...place, openPair };
      },
    };
  }

  private timed(sandbox: Sandbox): Sandbox {
    return {
      ...sandbox,
      load: async (...of) => {
        const started = performance.now();
        await sandbox.load(...of);
        this.now.restoring = Math.max(this.now.restoring, performance.now() - started);
      },
      run: async (request) => {
        const started = performance.now();
        const record = await sandbox.run(request);
        const tests = record.seconds * 1000;
        this.now.tests = Math.max(this.now.tests, tests);
        this.now.around = Math.max(this.now.around, performance.now() - started - tests);
        return record;
      },
    };
  }

  begin(): void {
    this.now = { restoring: 0, tests: 0, around: 0 };
  }

  /** @param ms from the edit to the verdict */
  end(ms: number): void {
    const { restoring, tests, around } = this.now;
    for (const name of ['restoring', 'tests', 'around'] as const)
      this.all[name].push(this.now[name]);
    this.all.rest.push(ms - restoring - tests - around);
  }

  print(): void {
    line('  of that: restoring and patching the copies of R and R∘X*', median(this.all.restoring));
    line('  of that: running the tests, the slower side', median(this.all.tests));
    line('  of that: reading records, checking the environment', median(this.all.around));
    line('  of that: reading the patch, grading', median(this.all.rest));
  }
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
