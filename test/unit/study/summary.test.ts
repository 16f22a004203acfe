import assert from 'node:assert/strict';
import fc from 'fast-check';
import type {
  FindingKind,
  FindingSeverity,
  TrajectoryFindingKind,
} from '../../../src/domain/finding';
import type { RunEntry } from '../../../src/study/entry';
import { methodsOf, type EvaluatedMethod } from '../../../src/study/measures/methods';
import { shareKeys, summariseMethod } from '../../../src/study/measures/summary';
import { anyEntry, entry, run, solved } from './examples';

const only = (methods: readonly EvaluatedMethod[]): EvaluatedMethod => {
  const [first] = methods;
  assert.ok(first);
  return first;
};

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** Each instance has an entry or not. */
const entries: fc.Arbitrary<readonly RunEntry[]> = fc
  .tuple(...ids.map((id) => fc.option(anyEntry(id, 'm'))))
  .map((list) => list.filter((each) => each !== null));

describe('the summary of a method', () => {
  it('has all selected instances in the denominator, and names what has no grade', () => {
    const summary = summariseMethod(
      only(
        methodsOf([
          run(
            ['a', 'b', 'c', 'd'],
            [
              solved('a', { delta: { covered: 3, executable: 4 } }),
              entry('b', { passToPass: 2, delta: { covered: 1, executable: 4 } }),
              entry('c', { evaluated: false, wellFormed: false, reason: 'environment failed' }),
            ],
          ),
        ]),
      ),
    );
    assert.deepEqual(summary.wellFormed, { count: 2, of: 4 });
    assert.deepEqual(summary.success, { count: 1, of: 4 });
    assert.deepEqual(summary.deltaAll, { mean: 0.5, of: 2 });
    assert.deepEqual(summary.deltaSuccess, { mean: 0.75, of: 1 });
    assert.deepEqual(summary.deltaFailure, { mean: 0.25, of: 1 });
    assert.deepEqual(summary.notEvaluated, [
      { reason: 'environment failed', instances: ['c'] },
      { reason: 'no prediction', instances: ['d'] },
    ]);
  });

  it('counts warnings in trajectories over the candidates that have one, and those with notes only', () => {
    const at = (kind: TrajectoryFindingKind, severity: FindingSeverity) => ({
      ...{ kind, severity, step: 1, text: 'x' },
    });
    const found = (...trajectoryFindings: ReturnType<typeof at>[]) => ({ trajectoryFindings });
    const summary = summariseMethod(
      only(
        methodsOf([
          run(ids, [
            solved('a', found(at('history', 'warning'), at('network', 'warning'))),
            solved('b', found(at('history', 'note'))),
            entry('c', found(at('history', 'warning'), at('dataset', 'note'))),
            entry('d', { evaluated: false, reason: 'environment failed', ...found() }),
            solved('e'),
          ]),
        ]),
      ),
    );
    assert.deepEqual(summary.trajectoryFindings, {
      of: 4,
      kinds: {
        ...{ history: 2, 'installed copy': 0, dataset: 0, network: 1 },
        'tells the sides apart': 0,
      },
      ...{ any: 2, successes: 2, successesWith: 1, notesOnly: 1 },
    });
    // Findings change no rate, and a method without trajectories has no counts.
    assert.deepEqual(summary.success, { count: 3, of: 8 });
    const without = summariseMethod(only(methodsOf([run(ids, [solved('e')])])));
    assert.ok(!('trajectoryFindings' in without));
  });

  it('counts findings over the candidates with an F→P test that were looked at', () => {
    const found = (...kinds: FindingKind[]) => ({
      findings: kinds.map((kind) => ({ kind, evidence: [] })),
    });
    const { findings } = summariseMethod(
      only(
        methodsOf([
          run(ids, [
            solved('a', found('no changed line ran', 'inspects source')),
            solved('b', found()),
            solved('c'),
            entry('d', { failToPass: 1, reason: 'unsound', ...found('inconsistent records') }),
            entry('e', found('edits what runs tests')),
            entry('f', found()),
          ]),
        ]),
      ),
    );
    assert.deepEqual(findings, {
      of: 3,
      kinds: {
        'no changed line ran': 1,
        'inspects source': 1,
        'inconsistent records': 1,
        'tests did not run': 0,
        'removes or disables tests': 0,
        'edits what runs tests': 0,
        'edits outside tests': 0,
      },
      any: 2,
      successes: 2,
      successesWith: 1,
      others: 1,
      unknown: 1,
    });
  });

  it('says that an instance of an unfinished run is not run yet', () => {
    const summary = summariseMethod(
      only(methodsOf([run(['a', 'b'], [solved('a')], { unfinished: true })])),
    );
    assert.deepEqual(summary.notEvaluated, [{ reason: 'not run yet', instances: ['b'] }]);
  });

  it('agrees with counting by hand, whatever the entries', () => {
    fc.assert(
      fc.property(entries, (list) => {
        const summary = summariseMethod(only(methodsOf([run(ids, list, { models: ['m'] })])));
        const deltas: number[] = [];
        const deltasOfSolved: number[] = [];
        let solvedCount = 0;
        let pass = 0;
        for (const each of list) {
          if (each.success) solvedCount++;
          if (each.failToPass >= 1) pass++;
          if (each.delta === undefined || each.delta.executable === 0) continue;
          deltas.push(each.delta.covered / each.delta.executable);
          if (each.success) deltasOfSolved.push(each.delta.covered / each.delta.executable);
        }
        const mean = (values: readonly number[]): number | undefined =>
          values.length === 0 ? undefined : values.reduce((a, b) => a + b) / values.length;
        assert.equal(summary.selected, ids.length);
        assert.equal(summary.success.count, solvedCount);
        assert.equal(summary.failToPass.count, pass);
        assert.equal(summary.deltaAll.of, deltas.length);
        assert.equal(summary.deltaAll.mean?.toFixed(9), mean(deltas)?.toFixed(9));
        assert.equal(summary.deltaSuccess.mean?.toFixed(9), mean(deltasOfSolved)?.toFixed(9));
        assert.equal(summary.deltaSuccess.of + summary.deltaFailure.of, summary.deltaAll.of);
        const told = summary.notEvaluated.flatMap((each) => each.instances).length;
        assert.equal(summary.evaluated + told, ids.length);
        const reasons = summary.reasons.reduce((sum, each) => sum + each.count, 0);
        assert.equal(reasons, ids.length, 'every instance has one reason');
      }),
    );
  });

  it('has under harness grading what the harness says, and marks it', () => {
    const harness = { resolved: true, addedFailToPass: 2, coverageDelta: 0.5 };
    const method = only(methodsOf([run(['a', 'b'], [entry('a', { harness }), solved('b')])]));
    const summary = summariseMethod(method, { grading: 'harness' });
    assert.equal(summary.grading, 'harness');
    assert.deepEqual(summary.success, { count: 1, of: 2 });
    assert.deepEqual(summary.deltaAll, { mean: 0.5, of: 1 });
    assert.deepEqual(summariseMethod(method).resolved, { count: 1, of: 2 });
  });
});

describe('bootstrap intervals', () => {
  it('are the same each time, and hold the figure that they are of', () => {
    fc.assert(
      fc.property(entries, (list) => {
        const method = only(methodsOf([run(ids, list, { models: ['m'] })]));
        const first = summariseMethod(method, { intervals: {} });
        assert.deepEqual(first, summariseMethod(method, { intervals: {} }));
        for (const key of shareKeys) {
          const { count, of, interval } = first[key];
          assert.ok(
            interval !== undefined && interval[0] <= count / of && count / of <= interval[1],
          );
        }
        const { mean, interval } = first.deltaAll;
        assert.equal(interval === undefined, mean === undefined);
      }),
      { numRuns: 30 },
    );
  });

  it('of a share are quantiles of the binomial distribution, as the bootstrap of one is', () => {
    const names = Array.from({ length: 276 }, (_, index) => `i${index}`);
    const list = names.map((id, index) => (index < 44 ? solved(id) : entry(id)));
    const { success } = summariseMethod(only(methodsOf([run(names, list)])), {
      intervals: { resamples: 4000 },
    });
    // 2.5 % and 97.5 % quantiles of Binomial(276, 44/276): 32 and 56.
    assert.ok(success.interval);
    assert.ok(Math.abs(success.interval[0] * 276 - 32) <= 1, `${success.interval[0] * 276}`);
    assert.ok(Math.abs(success.interval[1] * 276 - 56) <= 1, `${success.interval[1] * 276}`);
  });

  it('are wider at a higher level', () => {
    const list = ids.map((id, index) => (index % 2 === 0 ? solved(id) : entry(id)));
    const method = only(methodsOf([run(ids, list)]));
    const width = (level: number): number => {
      const { interval } = summariseMethod(method, { intervals: { level } }).success;
      assert.ok(interval);
      return interval[1] - interval[0];
    };
    assert.ok(width(0.5) < width(0.95));
  });
});
