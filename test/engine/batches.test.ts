import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Prediction } from '../../src/domain/instance';
import { Cancelled, HumanError } from '../../src/domain/problem';
import { silent } from '../../src/domain/reporter';
import { runBatch, type BatchProgress, type BatchRequest } from '../../src/evaluation/batches/run';
import { readJournal } from '../../src/evaluation/runs/journal';
import { livePath, readLive } from '../../src/evaluation/runs/live';
import { readManifest } from '../../src/evaluation/runs/manifest';
import { runFolder } from '../../src/evaluation/runs/runFolder';
import { runStore } from '../../src/evaluation/runStore';
import { runRecord } from '../unit/evaluation/examples';
import { loadParser } from '../unit/python/loadParser';
import { useExample, type Example } from './exampleRepository';
import { simulatedEngine, type SimulatedOptions } from './simulatedEngine';

const testFile = (
  name: string,
): string => `diff --git a/tests/test_${name}.py b/tests/test_${name}.py
new file mode 100644
--- /dev/null
+++ b/tests/test_${name}.py
@@ -0,0 +1,3 @@
+import cat
+def test_two():
+    assert cat.purr() == 2
`;
const goldenTests = testFile('golden');
const fix = `diff --git a/cat.py b/cat.py
--- a/cat.py
+++ b/cat.py
@@ -1 +1,2 @@
+import os
 def purr():
`;

describe('a batch', function () {
  this.timeout(120_000);
  let example: Example;
  useExample((made) => (example = made));
  let storage = '';
  beforeEach(async () => (storage = await example.storage()));

  const prediction = (id: string, model: string, patch = testFile(model)): Prediction => ({
    instanceId: id,
    model,
    patch,
  });
  const request = async (
    predictions: readonly Prediction[],
    simulated: SimulatedOptions,
    more: Partial<BatchRequest> = {},
  ): Promise<BatchRequest> => ({
    instances: [...new Set(predictions.map((each) => each.instanceId))].map((id) =>
      example.instance({ id, goldenTests }),
    ),
    predictions,
    engine: simulatedEngine(simulated),
    python: await loadParser(),
    store: runStore(storage),
    sources: new Map([['*', example.origin]]),
    storage,
    workers: 1,
    timeoutSeconds: 60,
    format: 'unified',
    mode: 'unit-test',
    fresh: false,
    results: {
      out: join(storage, 'out'),
      runId: 'r',
      dataset: 'made up',
      predictions: [{ from: 'p.jsonl', sha256: 'f00' }],
    },
    retry: { times: 1, firstDelay: 1 },
    reporter: silent,
    ...more,
  });
  const folder = (): string => runFolder(join(storage, 'out'), 'r');
  const two = [prediction('octo__cat-1', 'm'), prediction('octo__cat-1', 'n')];

  it('opens one pair of sandboxes for the candidates of an instance, and runs T* once', async () => {
    const steps: string[] = [];
    const all = [...two, prediction('octo__cat-2', 'm'), prediction('octo__cat-1', 'o')];
    const { entries, reused } = await runBatch(
      await request(all, {
        at: (step, { instance, patch }) => {
          if (step === 'openPair' || step === 'dispose') steps.push(`${step} ${instance}`);
          if (step === 'load' && patch === goldenTests) steps.push('T*');
          return undefined;
        },
      }),
    ).done;
    assert.deepEqual(steps, [
      ...['openPair octo__cat-1', 'T*', 'T*', 'dispose octo__cat-1'],
      ...['openPair octo__cat-2', 'T*', 'T*', 'dispose octo__cat-2'],
    ]);
    assert.equal(reused, 0);
    // In the order of the predictions, not in that of the work.
    assert.deepEqual(
      entries.map((each) => [each.instance, each.model, each.reason]),
      all.map((each) => [each.instanceId, each.model, 'success']),
    );
    const manifest = await readManifest(folder());
    assert.deepEqual(manifest?.models, ['m', 'n', 'o']);
    assert.equal(manifest.candidates, 4);
    assert.deepEqual(manifest.predictions, [{ from: 'p.jsonl', sha256: 'f00' }]);
  });

  it('begins nothing while it is paused, and tells how far it is', async () => {
    const told: BatchProgress[] = [];
    const batch = runBatch(await request(two, {}), {
      onProgress: (progress) => told.push(progress),
      onEntry: () => {
        if (!batch.paused && batch.progress.done === 1) batch.pause();
      },
    });
    while (!batch.paused) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.equal(batch.progress.done, 1);
    assert.deepEqual(batch.progress.running, []);
    const live = await readLive(folder());
    assert.deepEqual([live?.done, live?.total, live?.paused], [1, 2, true]);
    assert.equal(live?.pid, process.pid);
    batch.resume();
    await batch.done;
    assert.ok(told.some((each) => each.running[0]?.model === 'n'));
    const last = told.at(-1);
    assert.deepEqual([last?.done, last?.total, last?.paused, last?.running], [2, 2, false, []]);
    assert.ok((last?.perHour ?? 0) > 0);
    await assert.rejects(readFile(livePath(folder())), { code: 'ENOENT' });
  });

  it('that is cancelled ends although the engine is deaf, keeps what is finished and goes on', async () => {
    const batch = runBatch(
      await request(two, {
        at: (step, { patch }) => {
          if (step !== 'run' || patch !== testFile('n')) return undefined;
          setTimeout(() => batch.cancel(), 20);
          return new Promise(() => undefined);
        },
      }),
    );
    await assert.rejects(batch.done, Cancelled);
    assert.deepEqual(
      (await readJournal(folder())).lines.map((line) => line.model),
      ['m'],
    );
    const engine = simulatedEngine();
    const { entries, reused } = await runBatch(await request(two, {}, { engine })).done;
    assert.equal(reused, 1);
    assert.deepEqual(
      entries.map((each) => each.reason),
      ['success', 'success'],
    );
    // Only those of the candidate that was not finished.
    assert.equal(engine.runs, 2);
  });

  it('tries again what could not be evaluated, and not what was', async () => {
    const failing: SimulatedOptions = {
      at: (step, { patch }) => {
        if (step === 'load' && patch === testFile('n')) throw new HumanError('no room');
        return step === 'run' && patch === testFile('m')
          ? runRecord({ ending: 'timed out', exitCode: undefined, log: 'so far' })
          : undefined;
      },
    };
    const first = await runBatch(await request(two, failing)).done;
    assert.deepEqual(
      first.entries.map((each) => each.reason),
      ['timed out', 'environment failed'],
    );
    // What was stopped leaves what it had printed.
    const log = join(
      storage,
      'out/run_instance_swt_logs/r/pred_pre__m/octo__cat-1/test_output.txt',
    );
    assert.equal(await readFile(log, 'utf8'), 'so far');
    const second = await runBatch(await request(two, {})).done;
    assert.deepEqual(
      second.entries.map((each) => each.reason),
      ['timed out', 'success'],
    );
    assert.equal(second.reused, 1);
  });

  it('finds out whether edits outside tests are what keeps a candidate from success', async () => {
    const isFixed = (patch = ''): boolean => patch.includes('b/cat.py');
    const all = [
      prediction('octo__cat-1', 'fixes', fix + testFile('m')),
      prediction('octo__cat-1', 'useless', fix + testFile('n')),
    ];
    const { entries } = await runBatch(
      await request(all, {
        at: (step, { patch }) => {
          if (step !== 'run') return undefined;
          const passes = (file: string) =>
            runRecord({ trace: { outcomes: [{ test: `${file}::test_two`, outcome: 'passed' }] } });
          if (patch?.includes('test_n') === true) return passes('tests/test_n.py');
          return isFixed(patch) ? passes('tests/test_m.py') : undefined;
        },
      }),
    ).done;
    assert.deepEqual(
      entries.map((each) => each.reason),
      ['edits outside tests', 'passes on R'],
    );
    assert.match(entries[0]?.explanation ?? '', /a success without its edits of cat\.py$/);
    assert.equal(entries[0]?.success, false);
  });

  it('without a results folder keeps nothing but runs', async () => {
    const { results: _none, ...plain } = await request(two, {});
    const { entries, written } = await runBatch(plain).done;
    assert.deepEqual([entries.length, written], [2, []]);
    assert.deepEqual((await readJournal(folder())).lines, []);
  });
});
