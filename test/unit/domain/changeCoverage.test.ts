import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  changeCoverage,
  lineStates,
  changeCoverageOf,
  total,
  type ChangeCoverage,
  type Executions,
  type LineCounts,
  type LineState,
  type SideEvidence,
} from '../../../src/domain/changeCoverage';

const own = 't.py::test_own';
const other = 't.py::test_other';

/** Executions of one line: `shared`, and further keys by test. */
type Ran = { readonly shared?: number; readonly [test: string]: number | undefined };
type Evidence = { readonly [run in keyof SideEvidence]?: Ran };

const executions = ({ shared, ...byTest }: Ran): Executions => ({
  shared: shared ?? 0,
  byTest: new Map(
    Object.entries(byTest).flatMap(([test, n]) => (n === undefined ? [] : [[test, n]])),
  ),
});

const at = (ran: Ran | undefined): LineCounts =>
  ran === undefined ? new Map() : new Map([['a.py', new Map([[1, executions(ran)]])]]);

const side = (evidence: Evidence): SideEvidence => ({
  candidate: at(evidence.candidate),
  base: at(evidence.base),
  goldenBase: at(evidence.goldenBase),
  golden: at(evidence.golden),
});

const line = { path: 'a.py', line: 1, text: 'x = 1' };

function cover(onBase: Evidence, onFixed: Evidence = {}): ChangeCoverage {
  return changeCoverage({
    removed: [line],
    added: [line],
    base: side(onBase),
    fixed: side(onFixed),
    ownFunctions: new Set([own]),
  });
}

/** State of an added line. */
function state(evidence: Evidence): LineState | undefined {
  return cover({}, evidence).lines[1]?.state;
}

describe('the state of a changed line', () => {
  const cases: readonly [string, Evidence, LineState][] = [
    ['nothing ran it', {}, 'not executable'],
    ['only T* ran it', { golden: { g: 1 } }, 'missed'],
    ['only T ran it', { candidate: { [own]: 3 } }, 'not executable'],
    ['T and T* ran it', { candidate: { [own]: 1 }, golden: { g: 1 } }, 'newly covered'],
    ['T^R ran it', { base: { [other]: 2 }, candidate: { [other]: 2 } }, 'already covered'],
    [
      'T^R ran it and T did once more',
      { base: { [other]: 9 }, candidate: { [other]: 9, [own]: 1 } },
      'newly covered',
    ],
    [
      'T^R ran it by the tests of T* alone',
      { goldenBase: { g: 1 }, golden: { g: 1 } },
      'already covered',
    ],
    [
      'T^R ran it by the tests of T*, and T runs it too',
      { goldenBase: { g: 5 }, golden: { g: 5 }, candidate: { [own]: 1 } },
      'newly covered',
    ],
    [
      'a changed test runs it as often',
      { base: { [own]: 4 }, candidate: { [own]: 4 } },
      'already covered',
    ],
    [
      'a changed test runs it less often',
      { base: { [own]: 4 }, candidate: { [own]: 3 } },
      'already covered',
    ],
    ['a changed test no longer runs it', { base: { [own]: 4 }, candidate: {} }, 'already covered'],
    [
      'a changed test runs it more often',
      { base: { [own]: 4 }, candidate: { [own]: 5 } },
      'newly covered',
    ],
    [
      'cases of a parametrised test are one test',
      { base: { [own]: 4 }, candidate: { [`${own}[1]`]: 2, [`${own}[2]`]: 3 } },
      'newly covered',
    ],
    [
      'a new file has no base',
      { golden: { g: 1 }, candidate: { [own]: 1, shared: 1 } },
      'newly covered',
    ],
    [
      'a new file imports it, as T* and base do',
      { goldenBase: { shared: 1 }, golden: { shared: 1 }, candidate: { shared: 1 } },
      'already covered',
    ],
    [
      'a count of another test that differs by chance',
      { base: { [other]: 856 }, candidate: { [other]: 866 } },
      'already covered',
    ],
    [
      'fewer counts of import and collection',
      { base: { shared: 3 }, candidate: { shared: 2 } },
      'already covered',
    ],
    [
      'the same counts of import and collection, and fewer before T*',
      { base: { shared: 3 }, goldenBase: { shared: 1 }, candidate: { shared: 3 } },
      'already covered',
    ],
    [
      'T runs it while it is imported',
      { base: { shared: 1 }, candidate: { shared: 2 } },
      'newly covered',
    ],
    [
      'the set-up of a new class runs it, less often than that of a class of T^R elsewhere',
      { goldenBase: { 'g.py::G::': 5, shared: 1 }, golden: { g: 1 }, candidate: { 't.py::': 1 } },
      'newly covered',
    ],
    [
      'the set-up of a class that gets one more test runs it as before',
      { base: { 't.py::': 5 }, candidate: { 't.py::': 5 } },
      'already covered',
    ],
    [
      'the set-up of a class that gets one more test runs it as before, and so does the test',
      { base: { 't.py::': 5 }, candidate: { 't.py::': 5, [own]: 1 } },
      'newly covered',
    ],
    [
      'the set-up of a class without tests of the candidate, by chance',
      { base: { 't.py::Other::': 5 }, candidate: { 't.py::Other::': 6 } },
      'already covered',
    ],
    [
      'a test that stops at its first failure, as of T*',
      { goldenBase: { g: 2 }, golden: {}, candidate: { [own]: 0 } },
      'already covered',
    ],
  ];
  for (const [name, evidence, expected] of cases) {
    it(`${name}: ${expected}`, () => assert.equal(state(evidence), expected));
  }

  it('the set-up of a class that loses a test is neither new nor gone', () => {
    const of = (candidate: Ran) =>
      changeCoverage({
        removed: [],
        added: [line],
        base: side({}),
        fixed: side({ base: { 't.py::K::': 5, 't.py::K::gone': 2 }, candidate }),
        ownFunctions: new Set([own]),
        removedFunctions: new Set(['t.py::K::gone']),
      }).lines[0];
    assert.equal(of({ 't.py::K::': 5, [own]: 2 })?.state, 'already covered');
    assert.equal(of({ 't.py::K::': 5, [own]: 3 })?.state, 'newly covered');
    assert.deepEqual(of({ 't.py::K::': 5, [own]: 3 })?.coveredBy, ['t.py::K', own]);
  });

  it('says where a line is lost by what the candidate removes or disables', () => {
    const of = (candidate: Ran, ...lostTests: string[]) =>
      changeCoverage({
        removed: [],
        added: [line],
        base: side({}),
        fixed: side({ base: { 't.py::gone[1]': 2 }, candidate }),
        ownFunctions: new Set([own]),
        removedFunctions: new Set(['t.py::gone']),
        lostTests: new Set(lostTests),
      }).lines[0];
    assert.deepEqual(
      [of({ [own]: 2 })?.state, of({ [own]: 2 })?.lost],
      ['already covered', undefined],
    );
    assert.equal(of({ [own]: 2 }, 't.py::gone')?.lost, true);
    assert.equal(of({ [own]: 2 }, 't.py::gone[1]')?.lost, true);
    assert.equal(of({}, 't.py::gone')?.lost, undefined, 'the candidate never ran it');
    assert.equal(of({ [own]: 3 }, 't.py::gone')?.lost, undefined, 'it is newly covered');
    // A test that another file's edit disables is none of those whose place the candidate's take.
    const elsewhere = changeCoverage({
      removed: [],
      added: [line],
      base: side({}),
      fixed: side({ base: { [own]: 2, [other]: 5 }, candidate: { [own]: 1 } }),
      ownFunctions: new Set([own]),
      lostTests: new Set([other]),
    });
    assert.equal(elsewhere.lines[0]?.lost, undefined);
  });

  it('looks for removed lines on R and for added lines on R∘X*', () => {
    const seen = { golden: { g: 1 }, candidate: { [own]: 1 } };
    assert.deepEqual(
      cover(seen, {}).lines.map((each) => [each.change, each.state]),
      [
        ['removed', 'newly covered'],
        ['added', 'not executable'],
      ],
    );
    assert.deepEqual(
      cover({}, seen).lines.map((each) => [each.change, each.state]),
      [
        ['removed', 'not executable'],
        ['added', 'newly covered'],
      ],
    );
  });

  it('names the counts of each run and the tests that ran the line', () => {
    const covered = cover(
      {},
      {
        base: { shared: 1, [other]: 2 },
        goldenBase: { shared: 1, g: 5 },
        golden: { g: 7, shared: 1 },
        candidate: { shared: 1, [other]: 2, [`${own}[1]`]: 3, [`${own}[2]`]: 0 },
      },
    ).lines[1];
    assert.deepEqual(covered?.counts, { base: 6, candidate: 6, golden: 8 });
    assert.deepEqual(covered?.coveredBy, [`${own}[1]`]);
    assert.deepEqual(covered?.executions, { [`${own}[1]`]: 3 });
  });
});

describe('ΔC', () => {
  it('is covered / executable over both sides', () => {
    const { covered, executable, delta } = cover(
      { golden: { g: 1 } },
      { golden: { g: 1 }, candidate: { [own]: 1 } },
    );
    assert.deepEqual([covered, executable, delta], [1, 2, 0.5]);
  });

  it('is undefined, not 0, when nothing is executable', () => {
    assert.equal(cover({}, {}).delta, undefined);
    assert.equal(cover({ candidate: { [own]: 1 } }).delta, undefined);
    assert.equal(changeCoverageOf([]).delta, undefined);
    assert.equal(cover({ golden: { g: 1 } }).delta, 0);
  });

  it('can be had of one file alone', () => {
    const { lines } = cover({ golden: { g: 1 } }, { golden: { g: 1 }, candidate: { [own]: 1 } });
    assert.equal(changeCoverageOf(lines.filter((each) => each.change === 'added')).delta, 1);
  });
});

describe('change coverage of anything', () => {
  const ran = fc.dictionary(
    fc.constantFrom('shared', own, `${own}[1]`, other),
    fc.nat(3),
  ) as fc.Arbitrary<Ran>;
  const counts = (of: Readonly<Record<string, Ran>>): LineCounts => {
    const files = new Map<string, Map<number, Executions>>();
    for (const [place, each] of Object.entries(of)) {
      const [path = '', number] = place.split(':');
      files.set(
        path,
        (files.get(path) ?? new Map<number, Executions>()).set(Number(number), executions(each)),
      );
    }
    return files;
  };
  const places = ['a.py:1', 'a.py:2', 'b.py:1'];
  const raw = fc.dictionary(fc.constantFrom(...places), ran);
  const evidence = fc.record({ candidate: raw, base: raw, goldenBase: raw, golden: raw });
  const changed = fc.subarray(places).map((some) =>
    some.map((place) => {
      const [path = '', number] = place.split(':');
      return { path, line: Number(number), text: '' };
    }),
  );
  type Raw = typeof evidence extends fc.Arbitrary<infer T> ? T : never;
  const sideOf = (each: Raw): SideEvidence => ({
    candidate: counts(each.candidate),
    base: counts(each.base),
    goldenBase: counts(each.goldenBase),
    golden: counts(each.golden),
  });
  const any = fc.record({ removed: changed, added: changed, base: evidence, fixed: evidence });
  const ownFunctions = new Set([own]);

  it('every line is in exactly one state, and the figures follow from the states', () => {
    fc.assert(
      fc.property(any, ({ removed, added, base, fixed }) => {
        const result = changeCoverage({
          removed,
          added,
          base: sideOf(base),
          fixed: sideOf(fixed),
          ownFunctions,
        });
        assert.equal(result.lines.length, removed.length + added.length);
        const count = (of: LineState): number =>
          result.lines.filter((each) => each.state === of).length;
        assert.equal(
          lineStates.reduce((sum, of) => sum + count(of), 0),
          result.lines.length,
        );
        assert.equal(result.covered, count('newly covered'));
        assert.equal(result.executable, result.lines.length - count('not executable'));
        if (result.executable === 0) assert.equal(result.delta, undefined);
        else assert.equal(result.delta, result.covered / result.executable);
      }),
    );
  });

  it('follows the definition, line by line', () => {
    fc.assert(
      fc.property(any, ({ removed, added, base, fixed }) => {
        const result = changeCoverage({
          removed,
          added,
          base: sideOf(base),
          fixed: sideOf(fixed),
          ownFunctions,
        });
        for (const each of result.lines) {
          const on = each.change === 'removed' ? base : fixed;
          const place = `${each.path}:${each.line}`;
          const sum = (of: Raw[keyof Raw], ...tests: string[]): number =>
            tests.reduce((n, test) => n + (of[place]?.[test] ?? 0), 0);
          const all = ['shared', own, `${own}[1]`, other];
          const mine = [own, `${own}[1]`];
          const before = sum(on.base, ...all) + sum(on.goldenBase, ...all);
          const executable = before + sum(on.golden, ...all) > 0;
          const more =
            sum(on.candidate, ...mine) > sum(on.base, ...mine) ||
            (sum(on.candidate, 'shared') > sum(on.base, 'shared') &&
              sum(on.candidate, 'shared') > sum(on.goldenBase, 'shared'));
          let expected: LineState = 'missed';
          if (before > 0) expected = 'already covered';
          if (more) expected = 'newly covered';
          if (!executable) expected = 'not executable';
          assert.equal(each.state, expected);
        }
      }),
    );
  });

  it('counts of tests that are not the candidate’s never change a state', () => {
    fc.assert(
      fc.property(any, fc.nat(9), ({ removed, added, base, fixed }, noise) => {
        const states = (louder: boolean): LineState[] => {
          const of = (each: Raw): SideEvidence =>
            sideOf(
              louder
                ? {
                    ...each,
                    candidate: Object.fromEntries(
                      places.map((place) => [place, { ...each.candidate[place], [other]: noise }]),
                    ),
                  }
                : each,
            );
          return changeCoverage({
            removed,
            added,
            base: of(base),
            fixed: of(fixed),
            ownFunctions,
          }).lines.map((each) => each.state);
        };
        assert.deepEqual(states(true), states(false));
      }),
    );
  });

  it('sums all executions of a line', () => {
    fc.assert(
      fc.property(ran, (each) =>
        assert.equal(
          total(executions(each)),
          Object.values(each).reduce<number>((sum, n) => sum + (n ?? 0), 0),
        ),
      ),
    );
  });
});
