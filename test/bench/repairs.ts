// What running many code patches costs, compared with plain runs of the same tests and script with
// the same interpreter, in ratios within one run: seconds per patch when 40 patches run several at
// once in warm sandboxes. A benchmark, not a test:
// `npm run bench -- repairs [--patches N] [--workers N] [--python P]`, on the bundled instance.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { workersFor } from '../../src/batch/workersFor';
import { openDataset } from '../../src/dataset/dataset';
import { silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import { runStore } from '../../src/evaluation/testRun';
import { runRepairs } from '../../src/method/agentless/testing/repairRuns';
import { modelView } from '../../src/method/modelView';
import { budgetOf } from '../../src/method/models/budget';
import { Steps } from '../../src/method/steps/steps';
import { memoryTrace } from '../../src/method/trace';
import { makeUnified } from '../../src/patch/makeUnified';
import { createPythonParser } from '../../src/python/parser';
import { prepareTrees } from '../../src/repository/trees';
import { environments } from '../../src/environments/environments';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    patches: { type: 'string', default: '40' },
    workers: { type: 'string' },
    python: { type: 'string', default: 'python3' },
  },
});
const root = resolve(__dirname, '..', '..');
const sample = join(root, 'media', 'sample');
const scratch = mkdtempSync(join(root, '.cache', 'bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const files = ['tests/test_money.py', 'tests/test_expense.py'];
const script = `from tallybook import Money

total = sum(part.cents for part in Money(2000).allocate([1, 1, 1]))
print("Issue resolved" if total == 2000 else "Issue reproduced")
`;

const line = (what: string, ms: number, plain?: number): void =>
  console.log(
    `${what.padEnd(58)} ${(ms / 1000).toFixed(2).padStart(7)} s` +
      (plain === undefined
        ? ''
        : `   × ${(ms / plain).toFixed(2)}, ${((ms - plain) / 1000).toFixed(2)} s more`),
  );

/**
 * Milliseconds of the tests and the script, each in a new interpreter, as anyone would run them.
 *
 * @param runner the one that the engine uses, with its options
 */
async function plainRun(tree: string, runner: readonly string[]): Promise<number> {
  const started = performance.now();
  for (const args of [['-m', ...runner, ...files], ['script.py']]) {
    const child = spawn(values.python, args, { cwd: tree, stdio: 'ignore' });
    await new Promise((done) => child.on('close', done));
  }
  return performance.now() - started;
}

async function main(): Promise<void> {
  const storage = join(scratch, 'storage');
  const dataset = await openDataset(join(sample, 'instance.jsonl'), { storage, reporter: silent });
  const [instance] = await dataset.read(['tallybook__tallybook-217']);
  if (instance === undefined) throw new Error('the bundled instance is not there');
  const source = { kind: 'snapshot', from: join(sample, 'repository') } as const;
  const trees = await prepareTrees(instance, source, storage, { reporter: silent });
  const python = await createPythonParser((file) => join(root, 'dist', file));
  const engine = await localEngine({
    environments,
    storage,
    tracer: join(root, 'src', 'engine', 'tracer'),
  });
  const view = await modelView(instance, {
    ...{ trees, python, engine: () => Promise.resolve(engine), store: runStore(storage) },
    permit: () => undefined,
  });
  try {
    const path = 'tallybook/money.py';
    const before = (await view.tree.read(path)) ?? '';
    const patches = Array.from({ length: Number(values.patches) }, (_, at) =>
      makeUnified([{ path, before, after: `${before}\nPATCH = ${at}\n` }]),
    );
    const tree = join(scratch, 'plain');
    await cp(trees.base, tree, { recursive: true });
    writeFileSync(join(tree, 'script.py'), script);
    const options = { timeoutSeconds: 600, reporter: silent };
    const onR = await view.runOnR('', { ...options, tests: files });
    const tests = onR.tests.map(({ test }) => test);
    const runner =
      engine.environment?.packages['pytest'] === undefined
        ? ['unittest', '-q']
        : ['pytest', '-rA', '-p', 'no:cacheprovider'];
    await plainRun(tree, runner);
    const plains: number[] = [];
    while (plains.length < 5) plains.push(await plainRun(tree, runner));
    plains.sort((one, other) => one - other);
    const plain = plains[2] ?? Number.NaN;
    line(`a plain run of ${tests.length} tests and the script`, plain);
    const usual = workersFor({});
    const most = values.workers === undefined ? Math.max(2, usual) : Number(values.workers);
    for (const runs of new Set([1, most])) {
      const trace = memoryTrace();
      const now = <T>(work: () => Promise<T>): Promise<T> => work();
      const nothing = (): Promise<never> => Promise.reject(new Error('nothing is asked here'));
      const steps = new Steps({
        instance: { id: 'i', repo: view.repo, issue: view.issue },
        live: {
          ...{ model: { name: 'none', complete: nothing }, view: () => Promise.resolve(view) },
          ...{
            oracle: nothing,
            inTurn: now,
            inEmbedding: now,
            inSandbox: now,
            inBuilding: now,
            runs,
          },
        },
        ...{ model: 'none', trace, budget: budgetOf({}), price: undefined, storage },
        ...{ contextTokens: 0, maxOutputTokens: 0, testsOnly: false, engine: `local ${runs}` },
        ...{ timeoutSeconds: 600, reporter: silent },
      });
      const mine = patches.map((patch) => patch.replace('PATCH', `PATCH_${runs}`));
      const started = performance.now();
      const ran = await runRepairs(steps, mine, { regression: { files, tests }, script });
      const ms = (performance.now() - started) / patches.length;
      const broken = ran.filter(({ regressions }) => regressions?.length !== 0).length;
      if (broken > 0) throw new Error(`${broken} patches break tests, and none should`);
      line(`each of ${patches.length} patches, ${runs} at once`, ms, plain);
    }
  } finally {
    await view.dispose();
    await engine.dispose();
    python.dispose();
  }
}

void main();
