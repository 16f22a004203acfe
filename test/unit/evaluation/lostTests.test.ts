import assert from 'node:assert/strict';
import type { Outcome, TestResult } from '../../../src/domain/outcome';
import { eachOnce, lostInRun, lostInWords, namesTestsOf } from '../../../src/evaluation/lostTests';

const run = (outcomes: Readonly<Record<string, Outcome>>): TestResult[] =>
  Object.entries(outcomes).map(([test, outcome]) => ({ test, outcome }));
const lost = (
  before: Readonly<Record<string, Outcome>>,
  now: Readonly<Record<string, Outcome>>,
  moved: Readonly<Record<string, string>> = {},
): ReturnType<typeof lostInRun> => lostInRun(run(before), run(now), new Map(Object.entries(moved)));

describe('tests of R that a run loses', () => {
  it('are those without an outcome, or with none of their own', () => {
    const before = {
      't::a': 'passed',
      't::b': 'failed',
      't::c': 'skipped',
      't::d': 'passed',
    } as const;
    assert.deepEqual(lost(before, before), { removed: [], disabled: [] });
    assert.deepEqual(lost(before, { 't::a': 'skipped', 't::b': 'xfailed', 't::d': 'xpassed' }), {
      removed: [],
      disabled: ['t::a', 't::b', 't::d'],
    });
    assert.deepEqual(lost(before, { 't::a': 'failed', 't::d': 'missing' }), {
      removed: ['t::b', 't::d'],
      disabled: [],
    });
  });

  it('are the cases by which a parametrised test becomes narrower', () => {
    const before = { 't::a[x-0]': 'passed', 't::a[y-1]': 'passed', 't::a[z-2]': 'passed' } as const;
    const removed = (now: Readonly<Record<string, Outcome>>): readonly string[] =>
      lost(before, now).removed;
    assert.deepEqual(removed({ 't::a[x-0]': 'passed', 't::a[z-1]': 'passed' }), ['t::a[y-1]']);
    assert.deepEqual(
      removed({ 't::a[x-0]': 'passed', 't::a[other]': 'failed', 't::a[z-2]': 'passed' }),
      [],
    );
    assert.deepEqual(removed({ 't::b': 'passed' }), ['t::a']);
    // One result stands for all cases where the test could not be set up.
    assert.deepEqual(removed({ 't::a': 'error' }), []);
  });

  it('are not those that only have another name or file', () => {
    assert.deepEqual(
      lost({ 't::a[1]': 'passed', 't::b': 'passed' }, { 'u::z[1]': 'passed' }, { 't::a': 'u::z' }),
      { removed: ['t::b'], disabled: [] },
    );
  });

  it('are none where a file cannot be collected', () => {
    const now: TestResult[] = [{ test: 't', outcome: 'error', phase: 'collect' }];
    assert.deepEqual(lostInRun(run({ 't::a': 'passed' }), now, new Map()), {
      removed: [],
      disabled: [],
    });
  });

  it('are named once, and a function for its cases', () => {
    const inRuns = { removed: ['t::a[1]', 't::b'], disabled: ['t::b', 't::c'] };
    assert.deepEqual(eachOnce({ removed: ['t::a'], emptied: ['t::c'] }, [inRuns, inRuns]), {
      removed: ['t::a', 't::b'],
      disabled: ['t::c'],
      emptied: [],
    });
  });

  it('are told by file, of many the first', () => {
    const many = Array.from({ length: 7 }, (_, at) => `t/a.py::A::test_${at}`);
    const told = lostInWords({
      removed: [...many, 't/b.py::test_x'],
      disabled: ['t/a.py::y'],
      emptied: [],
    });
    assert.deepEqual(told, [
      'removed from t/a.py: A::test_0, A::test_1, A::test_2, A::test_3, A::test_4 and 2 more',
      'removed from t/b.py: test_x',
      'skipped or expected to fail in t/a.py: y',
    ]);
    assert.equal(namesTestsOf(told, 't/b.py'), true);
    assert.equal(namesTestsOf(told, 'b.py'), false);
  });
});
