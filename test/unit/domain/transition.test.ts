import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type Outcome,
  type TestResult,
  functionsWithUnmatchedCases,
  matchChangedNames,
  pairResults,
  transition,
  transitionWords,
  type Transition,
} from '../../../src/domain/outcome';

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

const matched = (known: readonly string[], ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(matchChangedNames(known, ids));

describe('names of tests that change between two runs', () => {
  for (const [what, before, after] of [
    ['an address', 't.py::a[<t.A object at 0x7fe19ce5d4d0>]', 't.py::a[<t.A object at 0x7f19047>]'],
    ['a clock', 't.py::a[1795822055231347477]', 't.py::a[1795822055260790372]'],
    ['a time of day', 't.py::a[23:59:59]', 't.py::a[0:00:00]'],
    ['a process id', 't.py::a[7]', 't.py::a[12345]'],
    [
      'a UUID',
      't.py::a[1b4e28ba-2fa1-11d2-883f-0016d3cca427]',
      't.py::a[6fa459ea-ee8a-3ca4-894e-db77e160355e]',
    ],
    ['a temporary folder', 't.py::a[/tmp/tmpab_12cde/x]', 't.py::a[/tmp/tmp0qwerty1/x]'],
    ['a random word', 't.py::a[kfjw-xx]', 't.py::a[pq]'],
    [
      'a name that is made in a run',
      't.py::test_1795822055231347477',
      't.py::test_1795822099260790372',
    ],
    ['a class that is made in a run', 't.py::A_0x7fe19::a', 't.py::A_0x7ff00::a'],
  ] as const) {
    it(`are matched in spite of ${what}`, () => {
      assert.deepEqual(matched([before], [after]), { [after]: before });
    });
  }

  it('are matched by what does not change, else by position', () => {
    const known = ['t.py::a[x at 0x1]', 't.py::a[y at 0x2]', 't.py::a[z]'];
    const ids = ['t.py::a[y at 0x3]', 't.py::a[z]', 't.py::a[x at 0x4]'];
    assert.deepEqual(matched(known, ids), {
      't.py::a[y at 0x3]': 't.py::a[y at 0x2]',
      't.py::a[x at 0x4]': 't.py::a[x at 0x1]',
    });
    assert.deepEqual(matched(['t.py::a[p]', 't.py::a[q]'], ['t.py::a[r]', 't.py::a[s]']), {
      't.py::a[r]': 't.py::a[p]',
      't.py::a[s]': 't.py::a[q]',
    });
  });

  it('stay apart where it cannot be told which is which', () => {
    // One side has another number of cases, or the same place holds a case of both.
    assert.deepEqual(matched(['t.py::a[1]', 't.py::a[2]'], ['t.py::a[3]']), {});
    assert.deepEqual(matched(['t.py::a[1]', 't.py::a[2]'], ['t.py::a[2]', 't.py::a[3]']), {});
    assert.deepEqual(matched(['t.py::a[1]'], ['t.py::b[2]']), {});
    assert.deepEqual(matched(['t.py::test_1'], ['t.py::test_2']), {});
  });

  it('never touch an id that both runs have, and give no name twice', () => {
    const id = fc
      .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('0x1', '0x2', 'p', 'q', '12345678', ''))
      .map(([name, of]) => `t.py::${name}${of === '' ? '' : `[${of}]`}`);
    const ids = fc.uniqueArray(id, { maxLength: 8 });
    fc.assert(
      fc.property(ids, ids, (known, later) => {
        const found = matchChangedNames(known, later);
        for (const [from, to] of found) {
          assert.ok(known.includes(to) && later.includes(from));
          assert.ok(!known.includes(from) && !later.includes(to));
        }
        assert.equal(new Set(found.values()).size, found.size);
      }),
    );
  });

  it('are told by function where cases are left on both sides', () => {
    const outcome = 'passed' as const;
    const tests = (base: readonly string[], fixed: readonly string[]) =>
      pairResults(
        base.map((test) => ({ test, outcome })),
        fixed.map((test) => ({ test, outcome })),
      );
    assert.deepEqual(
      functionsWithUnmatchedCases(tests(['t.py::a[1]', 't.py::b'], ['t.py::a[2]', 't.py::a[3]'])),
      ['t.py::a'],
    );
    assert.deepEqual(functionsWithUnmatchedCases(tests(['t.py::a[1]'], ['t.py::b[1]'])), []);
  });
});
