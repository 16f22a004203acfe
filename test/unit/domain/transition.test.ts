import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Outcome, TestResult } from '../../../src/domain/outcome';
import {
  pairResults,
  transition,
  transitionWords,
  type Transition,
} from '../../../src/domain/transition';

const outcomes: readonly Outcome[] = [
  'passed',
  'failed',
  'error',
  'skipped',
  'xfailed',
  'xpassed',
  'missing',
];

/** The letters of DESIGN's table, written out by hand. */
const letter: Record<Outcome, string> = {
  passed: 'P',
  xpassed: 'P',
  failed: 'F',
  error: 'F',
  skipped: '-',
  xfailed: '-',
  missing: '-',
};

const result = fc.record({
  test: fc.constantFrom('t.py::a', 't.py::b', 't.py::c', 't.py::d[1]', 't.py'),
  outcome: fc.constantFrom(...outcomes),
});

describe('transition', () => {
  for (const base of outcomes) {
    it(`from ${base}`, () => {
      for (const fixed of outcomes) {
        assert.equal(transition(base, fixed), `${letter[base]}→${letter[fixed]}`);
      }
    });
  }

  it('has words for each, different ones', () => {
    const all = new Set(outcomes.flatMap((a) => outcomes.map((b) => transition(a, b))));
    assert.equal(all.size, 9);
    const words = new Set([...all].map((each: Transition) => transitionWords[each]));
    assert.equal(words.size, 9);
    assert.ok(!words.has(''));
  });
});

describe('pairing the results of both sides', () => {
  it('keeps the order in which ids appear, R first, and fills in what is missing', () => {
    const paired = pairResults(
      [
        { test: 'b', outcome: 'failed', message: 'on R' },
        { test: 'a', outcome: 'passed' },
      ],
      [
        { test: 'c', outcome: 'passed' },
        { test: 'a', outcome: 'error' },
      ],
    );
    assert.deepEqual(
      paired.map((each) => [each.test, each.transition]),
      [
        ['b', 'F→-'],
        ['a', 'P→F'],
        ['c', '-→P'],
      ],
    );
    assert.equal(paired[0]?.base.message, 'on R');
    assert.deepEqual(paired[0]?.fixed, { test: 'b', outcome: 'missing' });
    assert.deepEqual(paired[2]?.base, { test: 'c', outcome: 'missing' });
  });

  it('takes the last of several results of one test', () => {
    const twice: TestResult[] = [
      { test: 'a', outcome: 'passed' },
      { test: 'a', outcome: 'error', phase: 'teardown' },
    ];
    assert.deepEqual(
      pairResults(twice, []).map((each) => [each.transition, each.base.outcome]),
      [['F→-', 'error']],
    );
  });

  it('names every test of either side exactly once', () => {
    fc.assert(
      fc.property(fc.array(result), fc.array(result), (base, fixed) => {
        const paired = pairResults(base, fixed);
        const ids = paired.map((each) => each.test);
        assert.equal(new Set(ids).size, ids.length);
        assert.deepEqual(new Set(ids), new Set([...base, ...fixed].map((each) => each.test)));
        for (const each of paired) {
          assert.equal(each.base.test, each.test);
          assert.equal(each.fixed.test, each.test);
          assert.equal(each.transition, transition(each.base.outcome, each.fixed.outcome));
        }
      }),
    );
  });
});
