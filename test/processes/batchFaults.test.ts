import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance, Prediction } from '../../src/domain/instance';
import { Cancelled, HumanError, silent } from '../../src/domain/work';
import type { EntryReason } from '../../src/domain/verdict';
import type { RunEntry } from '../../src/study/entry';
import { EngineGone, engineProblem } from '../../src/engine/docker/connection/engineProblem';
import { RegistryUnreachable } from '../../src/engine/docker/images/pull/pullProblem';
import { SandboxUnusable } from '../../src/engine/engine';
import { runBatch } from '../../src/batch/runBatch';
import type { BatchRequest } from '../../src/batch/batchRequest';
import { readJournal } from '../../src/results/journal';
import { runFolder } from '../../src/results/runFolder';
import { runStore } from '../../src/evaluation/testRun';
import { GitError } from '../../src/repository/git';
import { runRecord } from '../unit/evaluation/examples';
import { loadParser } from '../unit/python/loadParser';
import { useExample, type Example } from './exampleRepository';
import { simulatedEngine, type Step } from './simulatedEngine';

const forEver = (): Promise<never> => new Promise(() => undefined);

const untilAborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new Cancelled()));
  });

/** One way in which an engine can fail, and the expected reason of the candidate. */
interface Fault {
  readonly name: string;
  readonly step: Step;
  /** How often it fails for one instance; always when absent. */
  readonly times?: number;
  readonly fail: (signal: AbortSignal | undefined, attempt: number) => unknown;
  readonly reason: EntryReason;
}

const thrown = (error: unknown) => (): never => {
  throw error;
};
const gone = new EngineGone('Lost the engine', 'Start it');
const unusable = new SandboxUnusable('The sandbox is gone');
const at = { address: 'unix:///engine.sock' };
const defect = new TypeError('x is not a function');

const faults: readonly Fault[] = [
  ...(['prepare', 'openPair', 'load', 'run'] as const).flatMap((step): Fault[] => [
    {
      name: 'a person can mend',
      step,
      fail: thrown(new HumanError('no disk')),
      reason: 'environment failed',
    },
    { name: 'of a defect', step, fail: thrown(defect), reason: 'internal error' },
    { name: 'that is no error', step, fail: thrown('a text'), reason: 'internal error' },
    {
      name: 'of git',
      step,
      fail: thrown(new GitError('apply', 'corrupt patch', 1)),
      reason: 'environment failed',
    },
    { name: 'gone for good', step, fail: thrown(gone), reason: 'environment failed' },
    { name: 'gone for a moment', step, times: 2, fail: thrown(gone), reason: 'success' },
    {
      name: 'unreachable for a moment',
      step,
      times: 1,
      fail: thrown(new RegistryUnreachable('no answer')),
      reason: 'success',
    },
    ...[500, 503, 429, 404, 409].map((statusCode): Fault => ({
      name: `answered with ${statusCode} for a moment`,
      step,
      times: 2,
      fail: thrown(engineProblem(Object.assign(new Error('busy'), { statusCode }), at, 'asking')),
      reason: 'success',
    })),
    {
      name: 'answered with 400',
      step,
      fail: thrown(
        engineProblem(Object.assign(new Error('no'), { statusCode: 400 }), at, 'asking'),
      ),
      reason: 'environment failed',
    },
    { name: 'unusable', step, fail: thrown(unusable), reason: 'environment failed' },
    { name: 'unusable for a moment', step, times: 2, fail: thrown(unusable), reason: 'success' },
    {
      name: 'cancelled by itself',
      step,
      fail: thrown(new Cancelled()),
      reason: 'environment failed',
    },
    {
      name: 'without an end, but for a signal',
      step,
      fail: untilAborted,
      reason: 'environment failed',
    },
    { name: 'without an end', step, fail: forEver, reason: 'environment failed' },
  ]),
  {
    name: 'while its sandboxes are removed',
    step: 'dispose',
    fail: thrown(gone),
    reason: 'success',
  },
  {
    name: 'for ever while its sandboxes are removed',
    step: 'dispose',
    fail: forEver,
    reason: 'success',
  },
  ...(['timed out', 'too much output', 'out of memory', 'disk full'] as const).map(
    (ending): Fault => ({
      name: `with a run that ends as ${ending}`,
      step: 'run',
      fail: () => runRecord({ ending, exitCode: undefined }),
      reason: ending,
    }),
  ),
  {
    name: 'with a run that was not started',
    step: 'run',
    fail: () => runRecord({ ending: 'not started', exitCode: undefined, startError: 'no python' }),
    reason: 'could not run',
  },
  {
    name: 'with a run that says it was cancelled',
    step: 'run',
    fail: () => runRecord({ ending: 'cancelled' }),
    reason: 'environment failed',
  },
  { name: 'with no record', step: 'run', fail: () => null, reason: 'success' },
  { name: 'with an empty record', step: 'run', fail: () => ({}), reason: 'internal error' },
  {
    name: 'with a record of another kind',
    step: 'run',
    fail: () => ({ ...runRecord(), trace: { outcomes: 7 } }),
    reason: 'internal error',
  },
  {
    name: 'with a run without any outcome',
    step: 'run',
    fail: () => runRecord(),
    reason: 'no test ran',
  },
  {
    name: 'with a killed run',
    step: 'run',
    fail: () => runRecord({ exitCode: undefined, killedBy: 'SIGKILL' }),
    reason: 'fails on both sides',
  },
];

const count = 200;
const goldenTests = `diff --git a/tests/test_golden.py b/tests/test_golden.py
new file mode 100644
--- /dev/null
+++ b/tests/test_golden.py
@@ -0,0 +1,3 @@
+import cat
+def test_two():
+    assert cat.purr() == 2
`;
const candidate = goldenTests.replaceAll('test_golden', 'test_mine');
const faultOf = (index: number): Fault | undefined => faults[index % (faults.length + 1)];
const idOf = (index: number): string => `octo__cat-${index}`;

describe('a batch on an engine that fails in every way it can fail @full', function () {
  let example: Example;
  useExample((made) => (example = made));

  it('has one entry for each of its candidates', async () => {
    const instances: Instance[] = [];
    const predictions: Prediction[] = [];
    for (let index = 0; index < count; index += 1) {
      instances.push(example.instance({ id: idOf(index), goldenTests }));
      predictions.push({ instanceId: idOf(index), model: 'm', patch: candidate });
    }
    const tried = new Map<string, number>();
    const engine = simulatedEngine({
      at: (step, { instance, signal, patch }) => {
        const fault = faultOf(Number(instance.split('-')[1]));
        if (fault === undefined || fault.step !== step) return undefined;
        // Only the candidate has the fault; golden and base tests run well.
        const isOfRun = step === 'run' && patch !== candidate;
        const attempt = (tried.get(instance) ?? 0) + 1;
        if (isOfRun || attempt > (fault.times ?? Infinity)) return undefined;
        tried.set(instance, attempt);
        return fault.fail(signal, attempt);
      },
    });
    const storage = await example.storage();
    const out = join(storage, 'out');
    const request: BatchRequest = {
      instances,
      predictions,
      engine,
      python: await loadParser(),
      store: runStore(storage),
      sources: new Map([['*', example.origin]]),
      storage,
      // Most candidates wait for a limit to expire.
      workers: 16,
      timeoutSeconds: 1,
      format: 'unified',
      formats: [],
      mode: 'unit-test',
      fresh: false,
      results: { out, runId: 'faults', dataset: 'made up', predictions: [] },
      retry: { times: 3, firstDelay: 5 },
      engineLimits: { prepare: 1, openPair: 1, load: 1, afterRun: 0, dispose: 1 },
      reporter: silent,
    };
    const warnings: string[] = [];
    const warn = (warning: Error): void => void warnings.push(String(warning));
    process.on('warning', warn);
    const seen: number[] = [];
    const batch = runBatch(request, { onEntry: (_entry, _report, place) => seen.push(place) });
    const { entries } = await batch.done.finally(() => process.off('warning', warn));
    assert.deepEqual(warnings, [], 'nothing is said on a machine with many cores');

    assert.equal(entries.length, count);
    assert.deepEqual(
      [...seen].sort((a, b) => a - b),
      [...predictions.keys()],
    );
    assert.equal(batch.progress.done, count);
    const expected = (index: number): EntryReason => faultOf(index)?.reason ?? 'success';
    const nameOf = (index: number): string => {
      const fault = faultOf(index);
      return fault === undefined ? 'none' : `${fault.step}: ${fault.name}`;
    };
    assert.deepEqual(
      entries.map((entry, index) => [entry.instance, nameOf(index), entry.reason]),
      predictions.map((each, index) => [each.instanceId, nameOf(index), expected(index)]),
    );
    for (const entry of entries) assert.notEqual(entry.explanation, '');

    const { lines, problems } = await readJournal(runFolder(out, 'faults'));
    assert.deepEqual(problems, []);
    const byId = (list: readonly RunEntry[]) =>
      new Map(list.map((each) => [each.instance, each.reason]));
    assert.deepEqual([...byId(lines)].sort(), [...byId(entries)].sort());
    const summary = JSON.parse(
      await readFile(join(out, 'evaluation_results', 'm.faults.json'), 'utf8'),
    ) as { total_instances: number; strict: { reasons: Record<string, number> } };
    assert.equal(summary.total_instances, count);
    const counted = Object.values(summary.strict.reasons).reduce((sum, each) => sum + each, 0);
    assert.equal(counted, count);
  });
});
