import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Prediction } from '../../src/domain/instance';
import { Cancelled, HumanError, silent } from '../../src/domain/work';
import type { RunRecord } from '../../src/engine/engine';
import { runBatch, type BatchProgress } from '../../src/batch/runBatch';
import type { BatchRequest } from '../../src/batch/batchRequest';
import { readJournal } from '../../src/results/journal';
import { readLive, readManifest, runFolder } from '../../src/results/runFolder';
import { readRuns } from '../../src/results/readRuns';
import type { Report } from '../../src/results/reportSchema';
import { runStore } from '../../src/evaluation/testRun';
import { runRecord } from '../unit/evaluation/examples';
import { loadParser } from '../unit/python/loadParser';
import { gitServer } from './gitServer';
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
    formats: [],
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
    // In the order of the predictions, not of the work.
    assert.deepEqual(
      entries.map((each) => [each.instance, each.model, each.reason]),
      all.map((each) => [each.instanceId, each.model, 'success']),
    );
    const manifest = await readManifest(folder());
    assert.deepEqual(manifest?.models, ['m', 'n', 'o']);
    assert.equal(manifest.candidates, 4);
    assert.deepEqual(manifest.predictions, [{ from: 'p.jsonl', sha256: 'f00' }]);
  });

  it('grades without T* where T* does not apply, and does not know ΔC', async () => {
    const loaded: (string | undefined)[] = [];
    const unfit = `${goldenTests}diff --git a/tests/a.png b/tests/a.png\nnew file mode 100644\nindex 0000000..1234567\nBinary files /dev/null and b/tests/a.png differ\n`;
    const asked = await request(
      [prediction('octo__cat-1', 'm')],
      {
        at: (step, { patch }) => {
          if (step === 'load') loaded.push(patch);
          return undefined;
        },
      },
      { instances: [example.instance({ id: 'octo__cat-1', goldenTests: unfit })] },
    );
    const reports: Report[] = [];
    await runBatch(asked, { onEntry: (_entry, report) => void reports.push(report) }).done;
    const [report] = reports;
    assert.equal(report?.strict?.success, true);
    assert.equal(report.strict.change_coverage, null);
    assert.equal(report.resolved, true);
    const notes = report.notes?.join() ?? '';
    assert.match(notes, /ΔC .* unknown: T\* does not apply to R and R∘X\*/);
    assert.ok(!notes.includes('a.png'));
    assert.equal(loaded.filter((patch) => patch?.includes('golden') === true).length, 0);
  });

  describe('grades as the harness by the files that it passes to pytest', () => {
    const test = testFile('m');
    const file = (path: string, line: string): string =>
      `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
    const deleted =
      'diff --git a/tests/test_cat.py b/tests/test_cat.py\ndeleted file mode 100644\n--- a/tests/test_cat.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-def test_purr():\n-    pass\n';
    for (const [what, patch, resolved, difference] of [
      ['a test alone', test, true, undefined],
      ['a conftest.py', test + file('tests/conftest.py', 'A = 1'), true, undefined],
      ['data of the ten endings', test + file('tests/a.yml', 'a: 1'), true, undefined],
      [
        'a script that exits',
        test + file('reproduce.py', 'exit()'),
        ...[
          false,
          'not resolved; it also passes reproduce.py to the runner, which then runs no tests',
        ],
      ],
      [
        'a test that the patch deletes',
        test + deleted,
        ...[false, 'not resolved; it also passes tests/test_cat.py to the runner, which'],
      ],
      [
        'a name of two words',
        testFile('of m'),
        false,
        'not resolved; it also passes tests/test_of m.py',
      ],
      [
        'a test in a file that is none by its name',
        file('reproduce_issue.py', 'def test_two(): assert 0'),
        ...[true, 'resolved; it also runs reproduce_issue.py as tests'],
      ],
      [
        'a name that git quotes',
        file('tests/test_b.py', 'def test_two(): pass') +
          'diff --git "a/tests/test_\\303\\251.py" "b/tests/test_\\303\\251.py"\nnew file mode 100644\n--- /dev/null\n+++ "b/tests/test_\\303\\251.py"\n@@ -0,0 +1,2 @@\n+def test_two():\n+    assert 0\n',
        ...[true, undefined],
      ],
      ['no test', file('notes.py', 'A = 1'), false, undefined],
      ['no file for it', file('notes.md', 'a'), false, undefined],
    ] as [string, string, boolean, string | undefined][]) {
      it(what, async () => {
        const files = new Set<string>();
        const asked = await request([prediction('octo__cat-1', 'm', patch)], {
          at: (step, { files: ran = [], patch: loaded }) => {
            if (step !== 'run' || loaded !== patch) return undefined;
            for (const each of ran) files.add(each);
            const isFatal = ran.some((each) => each === 'reproduce.py' || each.includes('_cat'));
            return isFatal ? runRecord({ exitCode: 4 }) : undefined;
          },
        });
        const reports: Report[] = [];
        await runBatch(asked, { onEntry: (_entry, report) => void reports.push(report) }).done;
        const [report] = reports;
        assert.equal(report?.resolved, resolved);
        const said = report.gradings_differ ?? undefined;
        if (difference === undefined) assert.equal(said, undefined);
        else assert.ok(said?.startsWith(`harness grading: ${difference}`), said);
        // Without a file, pytest would run all tests.
        assert.equal(files.size === 0, what === 'no file for it');
      });
    }
  });

  it('begins nothing while it is paused, and tells how far it is', async () => {
    const told: BatchProgress[] = [];
    const begunMeanwhile: string[] = [];
    const asked = await request(two, {
      at: (step) => {
        if (batch.paused && step !== 'dispose') begunMeanwhile.push(step);
        return undefined;
      },
    });
    const batch = runBatch(asked, {
      onProgress: (progress) => told.push(progress),
      onEntry: () => {
        if (!batch.paused && batch.progress.done === 1) batch.pause();
      },
    });
    let live = await readLive(folder());
    while (live?.paused !== true || live.running.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      live = await readLive(folder());
    }
    assert.equal(batch.progress.done, 1);
    assert.deepEqual(batch.progress.running, []);
    assert.deepEqual(begunMeanwhile, []);
    assert.deepEqual([live?.done, live?.total, live?.paused], [1, 2, true]);
    assert.equal(live?.pid, process.pid);
    batch.resume();
    await batch.done;
    assert.ok(told.some((each) => each.running[0]?.model === 'n'));
    const last = told.at(-1);
    assert.deepEqual([last?.done, last?.total, last?.paused, last?.running], [2, 2, false, []]);
    assert.ok((last?.perHour ?? 0) > 0);
    await assert.rejects(readFile(join(folder(), 'live.json')), { code: 'ENOENT' });
  });

  it('that is cancelled ends although the engine is deaf, keeps what is finished and goes on', async () => {
    const batch = runBatch(
      await request(two, {
        at: (step, { patch }) => {
          if (step !== 'run' || patch !== testFile('n')) return undefined;
          setImmediate(() => batch.cancel());
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
    // Only the runs of the unfinished candidate.
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
    // A stopped run keeps what it had printed.
    const log = join(
      storage,
      'out/run_instance_swt_logs/r/pred_pre__m/octo__cat-1/test_output.txt',
    );
    assert.match(await readFile(log, 'utf8'), /^so far\nswt-bench: stopped at the time limit /);
    // In the harness, a run that exceeds its time leaves no log, and is an error.
    const { error_ids: errors, unresolved_ids: unresolved } = JSON.parse(
      await readFile(join(storage, 'out/evaluation_results/m.r.json'), 'utf8'),
    ) as Record<string, string[]>;
    assert.deepEqual([errors, unresolved], [['octo__cat-1'], []]);
    assert.equal(first.entries[0]?.harness, undefined);
    const second = await runBatch(await request(two, {})).done;
    assert.deepEqual(
      second.entries.map((each) => each.reason),
      ['timed out', 'success'],
    );
    assert.equal(second.reused, 1);
  });

  it('names the limit that a candidate reached where harness grading is not available', async () => {
    const at: SimulatedOptions['at'] = (step, { side, patch }) =>
      step === 'run' && side === 'fixed' && patch === testFile('m')
        ? runRecord({ ending: 'too many processes', exitCode: undefined, seconds: 3 })
        : undefined;
    const notes: string[] = [];
    const batch = runBatch(await request(two.slice(0, 1), { at }), {
      onEntry: (_entry, report) => void notes.push(...(report.notes ?? [])),
    });
    const { entries } = await batch.done;
    assert.equal(entries[0]?.reason, 'too many processes');
    assert.match(
      notes.join('\n'),
      /no harness grade: on R∘X\*, the candidate's run was stopped after 3 s because it reached the process limit/,
    );
  });

  it('leaves the output of golden and base tests that were stopped, and of what could not run', async () => {
    const patch = (file: string): string =>
      `--- a/tests/test_cat.py\n+++ b/tests/test_cat.py\n@@ -1,2 +1,4 @@\n def test_purr():\n     pass\n+def test_${file}():\n+    pass\n`;
    const all = [
      prediction('octo__cat-1', 'm', patch('m')),
      prediction('octo__cat-1', 'n', patch('n')),
    ];
    const { entries } = await runBatch(
      await request(
        all,
        {
          at: (step, { patch: loaded, side }) => {
            if (step !== 'run') return undefined;
            if (loaded?.includes('def test_n') === true) {
              return runRecord({ ending: 'not started', startError: 'no such program', log: '' });
            }
            return loaded === goldenTests || (loaded === '' && side === 'fixed')
              ? runRecord({
                  ending: 'timed out',
                  exitCode: undefined,
                  log: 'so far\n',
                  seconds: 60,
                })
              : undefined;
          },
        },
        { workers: 2 },
      ),
    ).done;
    assert.deepEqual(
      entries.map((each) => [each.reason, each.delta]),
      [
        ['success', undefined],
        ['could not run', undefined],
      ],
    );
    const logs = join(storage, 'out/run_instance_swt_logs/r');
    const log = (name: string): Promise<string> =>
      readFile(join(logs, name, 'octo__cat-1', 'test_output.txt'), 'utf8');
    const stopped = 'so far\nswt-bench: stopped at the time limit after 60 s\n';
    assert.deepEqual((await readdir(logs)).sort(), [
      ...['base_post__m', 'base_post__n', 'gold_post', 'gold_pre', 'm', 'n'],
      ...['pred_post__m', 'pred_post__n', 'pred_pre__m', 'pred_pre__n'],
    ]);
    for (const name of ['base_post__m', 'base_post__n', 'gold_post', 'gold_pre']) {
      assert.equal(await log(name), stopped, name);
      assert.deepEqual(await readdir(join(logs, name, 'octo__cat-1')), ['test_output.txt']);
    }
    for (const name of ['pred_pre__n', 'pred_post__n']) {
      assert.equal(await log(name), 'swt-bench: could not be started: no such program\n');
    }
    // Folders of logs are not models.
    const { runs } = await readRuns([join(storage, 'out/run_instance_swt_logs/r')]);
    assert.deepEqual(
      runs.flatMap((run) => run.entries.map((each) => [each.model, each.reason])),
      [
        ['m', 'success'],
        ['n', 'could not run'],
      ],
    );
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
    assert.match(entries[0]?.explanation ?? '', /it would succeed without its changes to cat\.py$/);
    assert.equal(entries[0]?.success, false);
  });

  it('does not blame a candidate for tests that a broken-off base run has not shown', async () => {
    const patch =
      '--- a/tests/test_cat.py\n+++ b/tests/test_cat.py\n@@ -1,2 +1,4 @@\n def test_purr():\n     pass\n+def test_two():\n+    assert False\n';
    const old = 'tests/test_cat.py::test_purr';
    const own = 'tests/test_cat.py::test_two';
    const graded = async (base: RunRecord) => {
      storage = await example.storage();
      const { entries } = await runBatch(
        await request([prediction('octo__cat-1', 'm', patch)], {
          at: (step, { patch: loaded = '', side }) => {
            if (step !== 'run' || loaded === goldenTests) return undefined;
            if (loaded === '') return base;
            const outcomes = [
              { test: old, outcome: 'failed' as const },
              { test: own, outcome: side === 'base' ? ('failed' as const) : ('passed' as const) },
            ];
            return runRecord({ exitCode: 1, trace: { outcomes } });
          },
        }),
      ).done;
      return entries.map((each) => [each.reason, each.anyToFail]);
    };
    const passed = runRecord({ trace: { outcomes: [{ test: old, outcome: 'passed' }] } });
    assert.deepEqual(await graded(passed), [['breaks a test', 1]]);
    const killed = runRecord({ exitCode: undefined, killedBy: 'SIGKILL' });
    assert.deepEqual(await graded(killed), [['success', 0]]);
  });

  it('refuses models whose reports would lie in one folder', async () => {
    const pair = [prediction('octo__cat-1', 'a/b'), prediction('octo__cat-2', 'a__b')];
    await assert.rejects(
      runBatch(await request(pair, {})).done,
      /The models a\/b and a__b would share the report folder a__b\. Rename one/,
    );
  });

  it('fetches again from a server that could not answer, and not where there is nothing', async function () {
    const server = await gitServer(example.folder);
    if (server === undefined) return this.skip();
    try {
      const from = new Map([['*', `${server.address}/origin/.git`]]);
      const retry = { times: 3, firstDelay: 1 };
      const logged: string[] = [];
      const reporter = { ...silent, log: (line: string) => void logged.push(line) };
      const one = two.slice(0, 1);
      server.refuse(503, 429, 500);
      const more = { sources: from, retry, reporter };
      const { entries } = await runBatch(await request(one, {}, more)).done;
      assert.deepEqual(
        entries.map((each) => each.reason),
        ['success'],
      );
      const tried = logged.filter((line) => line.includes('trying again'));
      assert.equal(tried.length, 3, logged.join('\n'));
      for (const line of tried) assert.match(line, /the server is temporarily unavailable/);

      storage = await example.storage();
      logged.length = 0;
      server.refuse(404, 404, 404, 404);
      const gone = await runBatch(await request(one, {}, more)).done;
      assert.deepEqual(
        gone.entries.map((each) => each.reason),
        ['source not available'],
      );
      assert.deepEqual(
        logged.filter((line) => line.includes('trying again')),
        [],
      );
    } finally {
      await server.close();
    }
  });

  it('without a results folder matches nothing but runs', async () => {
    const { results: _none, ...plain } = await request(two, {});
    const { entries, written } = await runBatch(plain).done;
    assert.deepEqual([entries.length, written], [2, []]);
    assert.deepEqual((await readJournal(folder())).lines, []);
  });
});
