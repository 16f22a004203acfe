import assert from 'node:assert/strict';
import type { Executions, LineCounts } from '../../../src/domain/changeCoverage';
import { reachingTests, testsAt } from '../../../src/mutation/testMutants';

const tests = ['t.py::A::test_a', 't.py::B::test_b', 'u.py::test_c'];
const runs = (byTest: Record<string, number>, shared = 0): Executions => ({
  shared,
  byTest: new Map(Object.entries(byTest)),
});
const counts: LineCounts = new Map([
  [
    'a.py',
    new Map([
      [1, runs({}, 1)],
      [2, runs({ 't.py::A::test_a': 2, 'u.py::test_c[1-2]': 1, 'other.py::test_d': 5 })],
      [3, runs({ 't.py::B::': 1 })],
      [4, runs({ 'u.py::test_c': 0 })],
    ]),
  ],
]);
const at = (...lines: number[]): string[] => testsAt('a.py', lines, counts, tests);

describe('the tests that reach a mutant', () => {
  it('are those that run a line of its statement, with any parameters', () => {
    assert.deepEqual(at(2), ['t.py::A::test_a', 'u.py::test_c']);
    assert.deepEqual(at(4, 5), []);
    assert.deepEqual(testsAt('b.py', [2], counts, tests), []);
  });

  it('are those of the class whose set-up runs it', () => {
    assert.deepEqual(at(3), ['t.py::B::test_b']);
    assert.deepEqual(at(2, 3), tests);
  });

  it('are all where import or collection runs it', () => {
    assert.deepEqual(at(1, 4), tests);
  });

  it('are all where a line of the statement is not counted', () => {
    const mutant = { path: 'a.py', statement: [4] };
    assert.deepEqual(reachingTests({ ...mutant, isCounted: true }, counts, tests), []);
    assert.deepEqual(reachingTests({ ...mutant, isCounted: false }, counts, tests), tests);
  });
});
