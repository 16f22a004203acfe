import assert from 'node:assert/strict';
import type { Executions, LineCounts } from '../../../../src/domain/changeCoverage';
import {
  noChangedLineRan,
  type SideCounts,
} from '../../../../src/evaluation/findings/noChangedLineRan';

/** Executions of the lines of `m.py`: in import and collection, and by test. */
type Counts = Readonly<Record<number, readonly [shared: number, byTest?: Record<string, number>]>>;

const counts = (of: Counts): LineCounts =>
  new Map([
    [
      'm.py',
      new Map(
        Object.entries(of).map(([line, [shared, byTest = {}]]): [number, Executions] => [
          Number(line),
          { shared, byTest: new Map(Object.entries(byTest)) },
        ]),
      ),
    ],
  ]);

const side = (lines: readonly number[], candidate: Counts, ...others: Counts[]): SideCounts => ({
  lines: lines.map((line) => ({ path: 'm.py', line, text: '' })),
  candidate: counts(candidate),
  others: others.map(counts),
});

const mine = ['t.py::C::test_a'];
const golden: Counts = { 1: [0, { 'g.py::test_g': 2 }], 2: [1] };

describe('no F→P test ran a changed line', () => {
  const found = (sides: readonly SideCounts[], failToPass = mine, script = false) =>
    noChangedLineRan(sides, failToPass, script)?.evidence;

  it('is found where other tests run them, and where tests of the candidate do that are not F→P', () => {
    const evidence = [
      'The only F→P test executed none of the 1 executable changed lines: t.py::C::test_a',
      'Changed lines that run only during import or collection, so no test accounts for them: 1',
    ];
    assert.deepEqual(found([side([1, 2], { 2: [1] }, golden)]), evidence);
    assert.deepEqual(
      found([side([1, 2], { 1: [0, { 't.py::C::test_b': 1 }], 2: [1] }, golden)]),
      evidence,
    );
    assert.deepEqual(
      found([side([1], {}, { 1: [0, { 'g.py::test_g': 1 }] })], ['t.py::test_a', 't.py::test_b']),
      [
        'None of the 2 F→P tests executed any of the 1 executable changed lines: t.py::test_a, t.py::test_b',
      ],
    );
  });

  it('is not found where an F→P test ran one, on either side, or its class or file did', () => {
    for (const by of [...mine, 't.py::C::', 't.py::']) {
      assert.equal(found([side([1], { 1: [0, { [by]: 1 }] }, golden)]), undefined, by);
    }
    assert.equal(
      found([side([1], { 1: [0, { 't.py::C::test_a': 1 }] }), side([1], {}, golden)]),
      undefined,
    );
    assert.notEqual(found([side([1], { 1: [0, { 't.py::D::': 1 }] }, golden)]), undefined);
    assert.notEqual(found([side([1], { 1: [0, { 't.py::C::test_a': 0 }] }, golden)]), undefined);
  });

  it('is not found where no test of any run executes a changed line', () => {
    assert.equal(found([side([1, 2], { 1: [1], 2: [1] }, { 1: [1], 2: [1] })]), undefined);
    assert.equal(found([side([], {})]), undefined);
    assert.equal(found([side([1], {}, {})]), undefined);
  });

  it('is not found without an F→P test', () => {
    assert.equal(found([side([1], {}, golden)], []), undefined);
  });

  it('counts what collection ran beyond every other run', () => {
    assert.equal(found([side([1], { 1: [1] }, golden)]), undefined);
    assert.notEqual(found([side([1], { 1: [1] }, { 1: [1, { 'g.py::test_g': 1 }] })]), undefined);
  });

  it('counts whatever a script executes', () => {
    const imported: Counts = { 1: [1, { 'g.py::test_g': 1 }] };
    assert.equal(found([side([1], { 1: [1] }, imported)], ['script.py'], true), undefined);
    assert.notEqual(found([side([1], {}, imported)], ['script.py'], true), undefined);
  });
});
