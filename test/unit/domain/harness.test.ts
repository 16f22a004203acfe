import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  gradeHarness,
  harnessResolution,
  harnessTransitions,
  harnessUnapplied,
  type CountMap,
  type HarnessRuns,
  type PatchLine,
  type TransitionLists,
} from '../../../src/domain/harness';
import { everydayRuns } from '../../everyday';

type Statuses = Readonly<Record<string, string>>;
type Counts = Readonly<Record<string, Readonly<Record<number, number>>>>;

const countMap = (counts: Counts): CountMap =>
  new Map(
    Object.entries(counts).map(([path, lines]) => [
      path,
      new Map(Object.entries(lines).map(([line, count]) => [Number(line), count])),
    ]),
  );

const runs = (
  pre: readonly [Statuses, Counts],
  post: readonly [Statuses, Counts],
): HarnessRuns => ({
  pre: { statuses: new Map(Object.entries(pre[0])), counts: countMap(pre[1]) },
  post: { statuses: new Map(Object.entries(post[0])), counts: countMap(post[1]) },
});

const sorted = (lists: TransitionLists | undefined): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries<string[]>({ ...lists }).map(([name, tests]) => [name, [...tests].sort()]),
  );

const empty = {
  FAIL_TO_PASS: [],
  PASS_TO_PASS: [],
  FAIL_TO_FAIL: [],
  PASS_TO_FAIL: [],
  UNMATCHED: [],
};

describe('harness grading: transitions', () => {
  it('every pair of statuses, as the harness itself sorts them', () => {
    const statuses = ['PASSED', 'FAILED', 'ERROR', 'SKIPPED', 'None'];
    const pre = new Map<string, string>();
    const post = new Map<string, string>();
    for (const before of statuses) {
      for (const after of statuses) {
        if (before !== 'None') pre.set(`${before}-${after}`, before);
        if (after !== 'None') post.set(`${before}-${after}`, after);
      }
    }
    // The output of the harness's own get_eval_report for the same two maps.
    assert.deepEqual(sorted(harnessTransitions(pre, post)), {
      FAIL_TO_PASS: ['ERROR-PASSED', 'FAILED-PASSED', 'None-PASSED', 'SKIPPED-PASSED'],
      PASS_TO_PASS: ['PASSED-PASSED'],
      FAIL_TO_FAIL: ['ERROR-FAILED', 'FAILED-FAILED', 'None-FAILED', 'SKIPPED-FAILED'],
      PASS_TO_FAIL: ['PASSED-ERROR', 'PASSED-FAILED', 'PASSED-None', 'PASSED-SKIPPED'],
      UNMATCHED: [
        'ERROR-ERROR',
        'ERROR-None',
        'ERROR-SKIPPED',
        'FAILED-ERROR',
        'FAILED-None',
        'FAILED-SKIPPED',
        'None-ERROR',
        'None-SKIPPED',
        'SKIPPED-ERROR',
        'SKIPPED-None',
        'SKIPPED-SKIPPED',
      ],
    });
  });
});

describe('harness grading: resolved', () => {
  const lists = (more: Partial<TransitionLists>): TransitionLists => ({ ...empty, ...more });
  const cases: readonly [string, Partial<TransitionLists>, Partial<TransitionLists>, boolean][] = [
    ['an F→P', { FAIL_TO_PASS: ['a'] }, {}, true],
    ['nothing', {}, {}, false],
    ['only the F→P of base', { FAIL_TO_PASS: ['a'] }, { FAIL_TO_PASS: ['a'] }, false],
    ['one beyond base', { FAIL_TO_PASS: ['a', 'b'] }, { FAIL_TO_PASS: ['a'] }, true],
    ['an F→P of base lost', { FAIL_TO_PASS: ['b'] }, { FAIL_TO_PASS: ['a'] }, false],
    ['a P→F', { FAIL_TO_PASS: ['a'], PASS_TO_FAIL: ['b'] }, {}, false],
    [
      'a P→F that base has too',
      { FAIL_TO_PASS: ['a'], PASS_TO_FAIL: ['b'] },
      { PASS_TO_FAIL: ['b'] },
      true,
    ],
    ['an F→F', { FAIL_TO_PASS: ['a'], FAIL_TO_FAIL: ['b'] }, {}, false],
    [
      'an F→F that base has too',
      { FAIL_TO_PASS: ['a'], FAIL_TO_FAIL: ['b'] },
      { FAIL_TO_FAIL: ['b'] },
      true,
    ],
    ['unmatched tests do not matter', { FAIL_TO_PASS: ['a'], UNMATCHED: ['b'] }, {}, true],
  ];
  for (const [name, candidate, base, resolved] of cases) {
    it(`${name}: ${resolved}`, () =>
      assert.equal(harnessResolution(lists(candidate), lists(base)).resolved, resolved));
  }

  it('counts F→P beyond base', () => {
    const { addedFailToPass } = harnessResolution(
      lists({ FAIL_TO_PASS: ['a', 'b', 'c'] }),
      lists({ FAIL_TO_PASS: ['b', 'd'] }),
    );
    assert.equal(addedFailToPass, 2);
  });
});

/** Six runs that show the harness's slip: by counts on R, line 11 would be covered beyond base. */
const example = {
  removed: [10, 11, 12].map((line) => ({ path: 'pkg/a.py', line })),
  added: [
    ...[10, 11, 13].map((line) => ({ path: 'pkg/a.py', line })),
    { path: 'pkg/b.py', line: 1 },
  ],
  candidate: runs(
    [{ t1: 'FAILED', t2: 'FAILED' }, { 'pkg/a.py': { 10: 5, 11: 2 } }],
    [
      { t1: 'PASSED', t2: 'PASSED' },
      { 'pkg/a.py': { 10: 3, 11: 1 }, 'pkg/b.py': { 1: 4 } },
    ],
  ),
  golden: runs(
    [{ g: 'FAILED' }, { 'pkg/a.py': { 10: 1, 12: 1 } }],
    [{ g: 'PASSED' }, { 'pkg/a.py': { 10: 9, 13: 1 } }],
  ),
  base: runs(
    [{ t2: 'FAILED' }, { 'pkg/a.py': { 10: 4, 11: 1 } }],
    [{ t2: 'PASSED' }, { 'pkg/a.py': { 10: 2, 11: 7 } }],
  ),
};

describe('harness grading: the report', () => {
  it('is what the harness itself gives for the same six runs', () => {
    const report = gradeHarness(example);
    assert.deepEqual(
      {
        ...report,
        tests_base: sorted(report.tests_base),
        tests_pred: sorted(report.tests_pred),
        tests_gold: sorted(report.tests_gold),
      },
      {
        patch_is_None: false,
        patch_exists: true,
        patch_successfully_applied: true,
        resolved: true,
        coverage_pred: 4 / 6,
        coverage_gold: 4 / 6,
        coverage_base: 4 / 6,
        coverage_delta_pred: 2 / 6,
        coverage_delta_gold: 3 / 6,
        added_f2p: 1,
        tests_base: { ...empty, FAIL_TO_PASS: ['t2'] },
        tests_pred: { ...empty, FAIL_TO_PASS: ['t1', 't2'] },
        tests_gold: { ...empty, FAIL_TO_PASS: ['g'] },
      },
    );
  });

  const coverages = [
    'coverage_pred',
    'coverage_gold',
    'coverage_base',
    'coverage_delta_pred',
    'coverage_delta_gold',
  ] as const;

  it('has null for every coverage when no line is executable', () => {
    const report = gradeHarness({ ...example, removed: [], added: [{ path: 'x.py', line: 1 }] });
    for (const name of coverages) assert.equal(report[name], null);
    assert.equal(report.resolved, true);
  });

  it('has null for every coverage without golden runs, and is resolved or not all the same', () => {
    const report = gradeHarness({ ...example, golden: undefined });
    for (const name of coverages) assert.equal(report[name], null);
    assert.equal(report.patch_successfully_applied, true);
    assert.equal(report.resolved, true);
    assert.deepEqual(sorted(report.tests_pred), { ...empty, FAIL_TO_PASS: ['t1', 't2'] });
    assert.equal('tests_gold' in report, false);
  });

  it('of a candidate that did not apply, or does not exist', () => {
    assert.deepEqual(
      [true, false].map((exists) => {
        const { patch_is_None, patch_exists, patch_successfully_applied, resolved } =
          harnessUnapplied(exists);
        return [patch_is_None, patch_exists, patch_successfully_applied, resolved];
      }),
      [
        [false, true, false, false],
        [true, false, false, false],
      ],
    );
    assert.equal(harnessUnapplied(true).coverage_delta_pred, null);
    assert.equal('tests_pred' in harnessUnapplied(true), false);
  });
});

describe('harness grading of anything', () => {
  const tests = ['a', 'b', 'c', 'd'];
  const statuses = fc.dictionary(
    fc.constantFrom(...tests),
    fc.constantFrom('PASSED', 'FAILED', 'ERROR', 'SKIPPED', 'XFAIL'),
  );
  const counts = fc.dictionary(
    fc.constantFrom('x.py', 'y.py'),
    fc.dictionary(fc.constantFrom('1', '2', '3'), fc.integer({ min: 1, max: 4 })),
  ) as fc.Arbitrary<Counts>;
  const side = fc.tuple(statuses, counts);
  const line = fc.record({
    path: fc.constantFrom('x.py', 'y.py', 'z.py'),
    line: fc.integer({ min: 1, max: 4 }),
  });
  const lines = fc.uniqueArray(line, {
    maxLength: 6,
    selector: (each) => `${each.path}:${each.line}`,
  });

  type Side = readonly [Statuses, Counts];
  type Six = readonly [Side, Side, Side, Side, Side, Side];

  /** The rules reimplemented from their description alone, one test and one line at a time. */
  function naive(removed: readonly PatchLine[], added: readonly PatchLine[], six: Six) {
    const [predPre, predPost, goldPre, goldPost, basePre, basePost] = six;
    const among = (
      [pre]: Side,
      [post]: Side,
      pairs: readonly string[], // such as 'FP': before and after, N for none
    ): Set<string> => {
      const found = new Set<string>();
      for (const test of tests) {
        if (pre[test] === undefined && post[test] === undefined) continue;
        let pair = '';
        for (const status of [pre[test], post[test]]) {
          if (status === 'PASSED') pair += 'P';
          else if (status === 'FAILED') pair += 'F';
          else pair += 'N';
        }
        if (pairs.includes(pair)) found.add(test);
      }
      return found;
    };
    const list = (pre: Side, post: Side) => ({
      FAIL_TO_PASS: [...among(pre, post, ['FP', 'NP'])].sort(),
      PASS_TO_PASS: [...among(pre, post, ['PP'])].sort(),
      FAIL_TO_FAIL: [...among(pre, post, ['FF', 'NF'])].sort(),
      PASS_TO_FAIL: [...among(pre, post, ['PF', 'PN'])].sort(),
      UNMATCHED: [...among(pre, post, ['FN', 'NN'])].sort(),
    });
    const pred = list(predPre, predPost);
    const base = list(basePre, basePost);
    const superset = base.FAIL_TO_PASS.every((test) => pred.FAIL_TO_PASS.includes(test));
    const strict = pred.FAIL_TO_PASS.length > base.FAIL_TO_PASS.length;
    const noNew = (name: 'PASS_TO_FAIL' | 'FAIL_TO_FAIL'): boolean =>
      pred[name].every((test) => base[name].includes(test));

    const count = ([, of]: Side, at: PatchLine): number => of[at.path]?.[at.line] ?? 0;
    let executable = 0;
    const covered = { pred: 0, gold: 0, base: 0, deltaPred: 0, deltaGold: 0 };
    const look = (at: PatchLine, mine: Side, gold: Side, runsIn: readonly Side[]): void => {
      if (runsIn.every((each) => count(each, at) === 0)) return;
      executable += 1;
      const before = count(basePost, at); // on R∘X*, for removed lines too
      if (count(mine, at) > 0) covered.pred += 1;
      if (count(gold, at) > 0) covered.gold += 1;
      if (before > 0) covered.base += 1;
      if (count(mine, at) - before > 0) covered.deltaPred += 1;
      if (count(gold, at) - before > 0) covered.deltaGold += 1;
    };
    for (const at of removed) look(at, predPre, goldPre, [goldPre, basePre]);
    for (const at of added) look(at, predPost, goldPost, [goldPost, basePost]);
    const share = (n: number): number | null => (executable === 0 ? null : n / executable);
    return {
      patch_is_None: false,
      patch_exists: true,
      patch_successfully_applied: true,
      resolved: superset && strict && noNew('PASS_TO_FAIL') && noNew('FAIL_TO_FAIL'),
      coverage_pred: share(covered.pred),
      coverage_gold: share(covered.gold),
      coverage_base: share(covered.base),
      coverage_delta_pred: share(covered.deltaPred),
      coverage_delta_gold: share(covered.deltaGold),
      added_f2p: pred.FAIL_TO_PASS.filter((test) => !base.FAIL_TO_PASS.includes(test)).length,
      tests_base: base,
      tests_pred: pred,
      tests_gold: list(goldPre, goldPost),
    };
  }

  it('equals the rules written out', () => {
    fc.assert(
      fc.property(
        lines,
        lines,
        fc.tuple(side, side, side, side, side, side),
        (removed, added, six) => {
          const report = gradeHarness({
            removed,
            added,
            candidate: runs(six[0], six[1]),
            golden: runs(six[2], six[3]),
            base: runs(six[4], six[5]),
          });
          assert.deepEqual(
            {
              ...report,
              tests_base: sorted(report.tests_base),
              tests_pred: sorted(report.tests_pred),
              tests_gold: sorted(report.tests_gold),
            },
            naive(removed, added, six),
          );
        },
      ),
      { numRuns: everydayRuns(300) },
    );
  });
});
