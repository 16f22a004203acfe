import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cancelled, HumanError, silent } from '../../src/domain/work';
import type { Instance, Prediction } from '../../src/domain/instance';
import type { Outcome } from '../../src/domain/outcome';
import type { JudgedRepair } from '../../src/study/resolution/judgedRepair';
import type { RunRecord } from '../../src/engine/engine';
import { runStore } from '../../src/evaluation/testRun';
import { judgeRepairs } from '../../src/repair/judgeRepairs';
import type { JudgedBatch, JudgeRequest } from '../../src/repair/judgeRequest';
import { journalPath } from '../../src/results/journal';
import { judgedFolder } from '../../src/results/judged/judgedRepairSchema';
import { runRecord } from '../unit/evaluation/examples';
import { loadParser } from '../unit/python/loadParser';
import { added, goldenPatch, plain, useExample, type Example } from './exampleRepository';
import { simulatedEngine, type SimulatedOptions } from './simulatedEngine';

const goldenTests = `diff --git a/tests/test_cat.py b/tests/test_cat.py
--- a/tests/test_cat.py
+++ b/tests/test_cat.py
@@ -1,2 +1,7 @@
+import cat
+
 def test_purr():
     pass
+
+def test_two():
+    assert cat.purr() == 2
`;
const two = 'tests/test_cat.py::test_two';
const purr = 'tests/test_cat.py::test_purr';
const wrong = goldenPatch.replace('+    return 2', '+    return 3');
const idOf = (index: number): string => `octo__cat-${index}`;

type At = NonNullable<SimulatedOptions['at']>;

/** A run in which the tests have these outcomes, as pytest prints and records them. */
function ran(
  outcomes: Readonly<Record<string, Outcome>>,
  more: Partial<RunRecord> = {},
): RunRecord {
  const words: Partial<Record<Outcome, string>> = {
    passed: 'PASSED',
    failed: 'FAILED',
    error: 'ERROR',
    skipped: 'SKIPPED',
    xfailed: 'XFAIL',
  };
  const all = Object.entries(outcomes);
  return runRecord({
    exitCode: all.some(([, outcome]) => outcome === 'failed' || outcome === 'error') ? 1 : 0,
    log: all.map(([test, outcome]) => `${words[outcome] ?? ''} ${test}`).join('\n'),
    ...more,
    trace: {
      outcomes: all.map(([test, outcome]) => ({ test, outcome })),
      ...more.trace,
    },
  });
}

/** `test_two` passes on R∘X*, and on R where the loaded patch has the fix. */
const answer: At = (step, { side, patch = '' }) =>
  step === 'run'
    ? ran({
        [purr]: 'passed',
        [two]: side === 'fixed' || patch.includes('+    return 2') ? 'passed' : 'failed',
      })
    : undefined;

describe('judging code patches, several at once', function () {
  let example: Example;
  useExample((made) => (example = made));

  const request = async (
    repairs: readonly Prediction[],
    at: At,
    more: Partial<JudgeRequest> = {},
    row: Partial<Instance> = {},
  ): Promise<JudgeRequest> => {
    const storage = await example.storage();
    const ids = [...new Set(repairs.map(({ instanceId }) => instanceId))];
    const listed = { failToPass: [two], passToPass: [purr] };
    return {
      instances: ids.map((id) =>
        // A repository whose logs SWE-bench can read.
        example.instance({ id, repo: 'pallets/flask', goldenTests, ...listed, ...row }),
      ),
      repairs,
      engine: simulatedEngine({ at }),
      python: await loadParser(),
      store: runStore(storage),
      sources: new Map([['*', example.origin]]),
      storage,
      workers: 3,
      timeoutSeconds: 30,
      format: 'unified',
      formats: [],
      fresh: false,
      retry: { times: 3, firstDelay: 5 },
      reporter: silent,
      ...more,
    };
  };
  const textOf = ({ judged }: JudgedBatch): string => `${JSON.stringify(judged)}\n`;
  const of = (patch: string, more: Partial<Prediction> = {}): Prediction => ({
    ...{ instanceId: idOf(0), model: 'm', patch },
    ...more,
  });
  /** Judges one patch; its run on R has this record. */
  const judgeOne = async (
    patch: string,
    record: (patch: string) => RunRecord,
    row: Partial<Instance> = {},
  ): Promise<JudgedRepair> => {
    const at: At = (step, { side, patch: loaded = '' }) => {
      if (step !== 'run') return undefined;
      const isRepaired = side === 'base' && loaded !== goldenTests;
      return isRepaired
        ? record(loaded)
        : answer(step, { instance: '', ...(side && { side }), patch: loaded });
    };
    const { judged } = await judgeRepairs(await request([of(patch)], at, {}, row), textOf);
    assert.equal(judged.length, 1);
    return judged[0] ?? assert.fail();
  };

  it('tells them in the order of the predictions, with progress', async () => {
    const told: number[] = [];
    const repairs = [0, 1, 2].flatMap((index) => [
      of(goldenPatch, { instanceId: idOf(index) }),
      of(wrong, { instanceId: idOf(index), sample: 2 }),
      of('', { instanceId: idOf(index), model: 'none' }),
    ]);
    const { judged } = await judgeRepairs(await request(repairs, answer), textOf, {
      onProgress: ({ done, total }) => told.push(done, total),
    });
    assert.deepEqual(
      judged.map(({ instance, model, sample, status, strict }) => [
        ...[instance, `${model}@${sample}`, status, strict?.resolved],
      ]),
      [0, 1, 2].flatMap((index) => [
        [idOf(index), 'm@1', 'resolved', true],
        [idOf(index), 'm@2', 'unresolved', false],
        [idOf(index), 'none@1', 'empty patch', false],
      ]),
    );
    assert.deepEqual(told.slice(0, 2), [0, 9]);
    assert.deepEqual(told.slice(-2), [9, 9]);
  });

  it('says where the records make another judgement than the log', async () => {
    const passes = { [two]: 'passed', [purr]: 'passed' } as const;
    const unsound = await judgeOne(goldenPatch, () =>
      ran(passes, { trace: { ...ran(passes).trace, contradictions: ['two do not fit'] } }),
    );
    assert.deepEqual([unsound.status, unsound.strict?.reason], ['resolved', 'unsound']);
    assert.match(unsound.difference ?? '', /by the log alone; .*two do not fit/);

    const skipped = await judgeOne(goldenPatch, () => ran({ ...passes, [purr]: 'skipped' }));
    assert.deepEqual([skipped.status, skipped.strict?.reason], ['resolved', 'breaks a test']);
    assert.match(skipped.difference ?? '', /test_purr \(skipped\)/);

    const unlisted = { failToPass: [two], passToPass: [] };
    const gone = await judgeOne(goldenPatch, () => ran({ [two]: 'passed' }), unlisted);
    assert.deepEqual([gone.status, gone.strict?.reason], ['resolved', 'breaks a test']);
    assert.match(gone.difference ?? '', /test_purr \(missing\)/);
    const listed = await judgeOne(goldenPatch, () => ran({ [two]: 'passed' }));
    assert.deepEqual([listed.status, listed.difference], ['unresolved', undefined]);

    const renamed = await judgeOne(goldenPatch, () => ran(passes), { failToPass: ['elsewhere'] });
    assert.deepEqual([renamed.status, renamed.strict?.resolved], ['unresolved', true]);
    assert.match(renamed.difference ?? '', /a listed test has a different name/);
  });

  it('has no grade, and an error as in SWE-bench, where the time ran out', async () => {
    const judged = await judgeOne(goldenPatch, () => ran({}, { ending: 'timed out', log: 'a' }));
    assert.deepEqual(
      [judged.status, judged.failure, judged.strict?.reason, judged.infra?.reason],
      ['error', 'Test timed out after 30 seconds.', 'timed out', 'tests_timed_out'],
    );
    assert.equal(judged.hindrance, undefined);
  });

  it('undoes edits of the files of T*; strictly it leaves out all edits of tests', async () => {
    const undone = await judgeOne(
      goldenPatch + goldenTests.replace('assert cat.purr() == 2', 'pass'),
      (patch) => {
        assert.ok(patch.includes('assert cat.purr() == 2'), patch);
        return ran({ [two]: 'passed', [purr]: 'passed' });
      },
    );
    assert.equal(undone.status, 'resolved');
    const seen: boolean[] = [];
    const cheats = await judgeOne(wrong + added('tests/conftest.py'), (patch) => {
      const has = patch.includes('conftest.py');
      seen.push(has);
      return ran({ [two]: has ? 'passed' : 'failed', [purr]: 'passed' });
    });
    assert.deepEqual(seen, [true, false]);
    assert.deepEqual([cheats.status, cheats.strict?.reason], ['resolved', 'still fails']);
    assert.match(cheats.difference ?? '', /test_two \(failed\)/);
  });

  it('applies a diff as SWE-bench does, with patch and its fuzz too', async () => {
    const passes = (): RunRecord => ran({ [two]: 'passed', [purr]: 'passed' });
    const far = goldenPatch.replace(' def purr():', ' def meow():');
    const fuzzed = await judgeOne(far, passes);
    assert.deepEqual([fuzzed.status, fuzzed.strict?.reason], ['resolved', 'does not apply']);
    assert.equal(fuzzed.appliedWith, 'patch --fuzz=5 -p1');
    assert.match(fuzzed.difference ?? '', /strictly, the patch does not apply/);
    assert.equal(fuzzed.location?.line, true);

    // No-break spaces, as copying leaves them: SWE-bench repairs nothing.
    const mended = await judgeOne(goldenPatch.replaceAll('    return', '\u00a0   return'), passes);
    assert.deepEqual([mended.status, mended.strict?.resolved], ['error', true]);
    assert.match(mended.difference ?? '', /no grade \(>>>>> Patch Apply Failed: .* as written\)/);

    // A part that is there twice merges with itself, if the patch says with which file.
    const id = plain(example.origin, 'rev-parse', `${example.base}:cat.py`);
    const named = goldenPatch.replace('\n---', `\nindex ${id.slice(0, 7)}..1234567 100644\n---`);
    const twice = await judgeOne(named + named, passes);
    assert.deepEqual([twice.status, twice.strict?.resolved], ['resolved', true]);
    assert.equal(twice.appliedWith, 'git apply --3way');
    const unnamed = await judgeOne(goldenPatch + goldenPatch, passes);
    assert.deepEqual([unnamed.status, unnamed.strict?.resolved], ['error', true]);
    assert.equal(unnamed.hindrance, undefined);

    const neither = await judgeOne(goldenPatch.replaceAll('return 1', 'return 7'), passes);
    assert.deepEqual([neither.status, neither.strict?.reason], ['error', 'does not apply']);
    assert.deepEqual([neither.difference, neither.location], [undefined, undefined]);
  });

  it('blames no patch where the golden tests cannot be run here', async () => {
    const lists = { failToPass: ['tests/gone.py::test_x'], passToPass: [] };
    const only = { goldenTests: added('notes.txt'), ...lists };
    const judged = await judgeOne(goldenPatch, assert.fail, only);
    assert.deepEqual([judged.status, judged.hindrance], ['error', 'environment failed']);
    assert.match(judged.failure ?? '', /golden tests .* cannot run here/);
    assert.equal(judged.strict, undefined);
    const unfit = { goldenTests: goldenTests.replaceAll('test_purr', 'test_hum') };
    const broken = await judgeOne(goldenPatch, assert.fail, unfit);
    assert.deepEqual([broken.status, broken.hindrance], ['error', 'instance cannot be used']);
    assert.match(broken.failure ?? '', /golden tests of \S+ do not apply to R \(/);
  });

  it('runs the files of the lists where the golden tests are data alone', async () => {
    const judged = await judgeOne(
      goldenPatch,
      (patch) => {
        assert.match(patch, /cases\.json/);
        return ran({ [two]: 'passed', [purr]: 'passed' });
      },
      { goldenTests: added('tests/cases.json') },
    );
    assert.equal(judged.status, 'resolved');
  });

  it('runs once what breaks off, though both judgements need it', async () => {
    let runs = 0;
    const judged = await judgeOne(goldenPatch, () => {
      runs += 1;
      return ran({}, { ending: 'timed out' });
    });
    assert.deepEqual([judged.status, runs], ['error', 1]);
  });

  it('does not know strictly what the golden tests do not tell', async () => {
    const at: At = (step, { side, patch = '' }) =>
      step === 'run' && side === 'fixed'
        ? ran({ [purr]: 'passed' }, { ending: 'out of memory' })
        : answer(step, { instance: '', patch });
    const { judged } = await judgeRepairs(await request([of(goldenPatch)], at), textOf);
    const [only] = judged;
    assert.deepEqual([only?.status, only?.strict?.resolved], ['resolved', null]);
    assert.match(only?.difference ?? '', /the strict result is unknown because the golden tests/);
    const unlisted = { failToPass: undefined, passToPass: undefined };
    const second = await judgeRepairs(await request([of(goldenPatch)], at, {}, unlisted), textOf);
    assert.equal(second.judged[0]?.status, 'error');
    assert.match(second.judged[0]?.failure ?? '', /the row lists no tests, and the golden tests/);
  });

  it('knows a test whose name changes between runs, where the row lists none', async () => {
    let address = 0;
    const at: At = (step, { side, patch = '' }) => {
      if (step !== 'run') return undefined;
      address += 1;
      const isFixed = side === 'fixed' || patch.includes('+    return 2');
      const cases = { a: isFixed ? 'passed' : 'failed', b: 'passed', c: 'failed' } as const;
      return ran(
        Object.fromEntries(
          // The log has the failures first.
          Object.entries(cases)
            .map(([name, outcome]) => [`${two}[${name}-0x${address}]`, outcome] as const)
            .sort(([, one], [, other]) => one.localeCompare(other)),
        ),
      );
    };
    for (const repo of ['pallets/flask', 'octo/cat']) {
      const row = { failToPass: undefined, passToPass: undefined, repo };
      const judged = async (patch: string) =>
        (await judgeRepairs(await request([of(patch)], at, {}, row), textOf)).judged[0];
      const right = await judged(goldenPatch);
      assert.deepEqual([right?.status, right?.strict?.reason], ['resolved', 'resolved']);
      assert.deepEqual(right?.tests?.FAIL_TO_PASS, { success: 1, failure: 0 });
      const no = await judged(wrong);
      assert.deepEqual([no?.status, no?.strict?.reason], ['unresolved', 'still fails']);
    }
  });

  it('goes on where it was interrupted, and judges anew only what failed', async () => {
    const out = join(await example.storage(), 'out');
    const results = { out, runId: 'run', dataset: 'd', predictions: [] };
    const folder = judgedFolder(out, 'run');
    const repairs = [0, 1, 2, 3, 4].flatMap((index) => [
      of(goldenPatch, { instanceId: idOf(index) }),
      of(wrong, { instanceId: idOf(index), model: 'wrong' }),
    ]);
    const interrupt = new AbortController();
    let runs = 0;
    const first = await request(
      repairs,
      (step, at) => {
        if (step === 'run' && ++runs === 8) interrupt.abort();
        if (at.instance === idOf(0)) throw new HumanError('no disk');
        return answer(step, at);
      },
      { results, signal: interrupt.signal, workers: 1 },
    );
    await assert.rejects(judgeRepairs(first, textOf), Cancelled);
    const journal = await readFile(journalPath(folder), 'utf8');
    const kept = journal.split('\n').filter((line) => line !== '');
    assert.ok(kept.length >= 3 && kept.length < 10, `${kept.length} lines`);
    // What a killed process leaves.
    await writeFile(journalPath(folder), `${journal}{"instance": "octo__c`);

    const { signal: _signal, ...rest } = first;
    const again = { ...rest, engine: simulatedEngine({ at: answer }), workers: 3 };
    const found = await judgeRepairs(again, textOf);
    assert.deepEqual(
      found.judged.map(({ status }) => status),
      repairs.map(({ model }) => (model === 'm' ? 'resolved' : 'unresolved')),
    );
    assert.equal(found.reused, kept.length - 2, 'all but those of the first instance');
    const third = await judgeRepairs(
      { ...again, engine: simulatedEngine({ at: assert.fail }) },
      textOf,
    );
    assert.deepEqual([third.reused, third.judged], [10, found.judged]);
    assert.deepEqual(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')), found.judged);
    const summary = JSON.parse(await readFile(join(out, 'm.run.json'), 'utf8')) as object;
    assert.deepEqual(
      (summary as { resolved_ids: string[] }).resolved_ids,
      [0, 1, 2, 3, 4].map(idOf),
    );
    await assert.rejects(
      judgeRepairs({ ...again, repairs: repairs.slice(1) }, textOf),
      /has a different run run: the code patches differ/,
    );
  });
});
