import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  standing,
  type Outcome,
  type TestResult,
  pairResults,
  type TestTransition,
} from '../../../src/domain/outcome';
import { gradeStrict, type StrictEvidence } from '../../../src/domain/verdict';
import {
  compareLists,
  countTransitions,
  flakyTests,
  judgeSoundness,
  nothingRan,
  oneLine,
  tellingLine,
  type Judgement,
} from '../../../src/validation/soundness';

type Sides = readonly [Outcome, Outcome];
type Fates = Readonly<Record<string, Sides>>;

const own = 't.py::test_own';
const other = 't.py::test_other';
const fp: Sides = ['failed', 'passed'];
const ff: Sides = ['failed', 'failed'];
const pp: Sides = ['passed', 'passed'];
const pf: Sides = ['passed', 'failed'];

function paired(fates: Fates): TestTransition[] {
  const on = (side: 0 | 1): TestResult[] =>
    Object.entries(fates).map(([test, outcomes]) => ({ test, outcome: outcomes[side] }));
  return pairResults(on(0), on(1));
}

const round = (
  golden: Fates,
  base: Fates = {},
  ownFunctions: readonly string[] = [own],
): StrictEvidence => ({
  candidate: paired(golden),
  base: paired(base),
  ownFunctions: new Set(ownFunctions),
});

const kinds = (judgement: Judgement): string[] => judgement.reasons.map((each) => each.kind);

describe('soundness of an instance from repeated runs', () => {
  it('is sound when T* goes F→P and nothing fails after the fix, every time', () => {
    const one = round({ [own]: fp, [other]: pp }, { [other]: pp });
    assert.deepEqual(judgeSoundness([one, one, one]), {
      reasons: [],
      flaky: [],
      failToPass: [own],
    });
  });

  it('names the function of F→P cases whose names change between repetitions', () => {
    const rounds = ['[0x1]', '[0x2]'].map((id) => round({ [`${own}${id}`]: fp }));
    assert.deepEqual(judgeSoundness(rounds), { reasons: [], flaky: [], failToPass: [own] });
  });

  it('does not blame T* for what fails on R∘X* without it', () => {
    assert.deepEqual(
      kinds(judgeSoundness([round({ [own]: fp, [other]: ff }, { [other]: ff })])),
      [],
    );
  });

  it('names tests of T* that fail after the fix, with transition and message', () => {
    const one = round({ [own]: fp, [other]: pf }, { [other]: pp });
    const broken = one.candidate.map((each) =>
      each.test === other ? { ...each, fixed: { ...each.fixed, message: '1 != 2\nmore' } } : each,
    );
    const { reasons } = judgeSoundness([
      { ...one, candidate: broken },
      { ...one, candidate: broken },
    ]);
    assert.deepEqual(
      reasons.map(({ kind, tests }) => [kind, tests]),
      [['golden fails after the fix', [other]]],
    );
    assert.match(reasons[0]?.explanation ?? '', /test_other \(P→F: 1 != 2 more\)/);
  });

  it('says what T* does instead of F→P', () => {
    const { reasons } = judgeSoundness([round({ [own]: pp })]);
    assert.deepEqual(
      reasons.map((each) => each.kind),
      ['no F→P'],
    );
    assert.match(reasons[0]?.explanation ?? '', /\(1 P→P\)/);
  });

  it('gives both reasons when T* fails on both sides', () => {
    assert.deepEqual(kinds(judgeSoundness([round({ [own]: ff })])), [
      'golden fails after the fix',
      'no F→P',
    ]);
  });

  it('takes a failure in some repetitions for flakiness only', () => {
    const good = round({ [own]: fp, [other]: pp }, { [other]: pp });
    const bad = round({ [own]: fp, [other]: pf }, { [other]: pp });
    const judgement = judgeSoundness([good, bad, good]);
    assert.deepEqual(kinds(judgement), ['flaky']);
    assert.deepEqual(judgement.flaky, [
      { test: other, tests: 'golden', side: 'fixed', outcomes: ['passed', 'failed', 'passed'] },
    ]);
    assert.deepEqual(judgement.reasons[0]?.tests, [other]);
    assert.match(
      judgement.reasons[0]?.explanation ?? '',
      /test_other on R∘X\* with T\*: passed, failed, passed/,
    );
  });

  it('keeps a failure in every repetition a failure, whatever the test does on R', () => {
    const judgement = judgeSoundness([
      round({ [own]: fp, [other]: pf }),
      round({ [own]: fp, [other]: ff }),
    ]);
    assert.deepEqual(kinds(judgement), ['golden fails after the fix', 'flaky']);
  });

  it('takes F→P in some repetitions for flakiness, not for its absence', () => {
    const judgement = judgeSoundness([round({ [own]: fp }), round({ [own]: pp })]);
    assert.deepEqual(kinds(judgement), ['flaky']);
    assert.deepEqual(judgement.failToPass, []);
  });

  it('names flaky tests of T^R', () => {
    const with_ = (fate: Sides) => round({ [own]: fp, [other]: pp }, { [other]: fate });
    const judgement = judgeSoundness([with_(pp), with_(fp)]);
    assert.deepEqual(judgement.flaky, [
      { test: other, tests: 'base', side: 'base', outcomes: ['passed', 'failed'] },
    ]);
  });

  it('is sound exactly when every repetition is a success and all standings agree', () => {
    const outcome = fc.constantFrom<Outcome[]>('passed', 'failed', 'error', 'skipped');
    const ids = ['t.py::a', 't.py::b', 't.py::c'];
    const table = fc.record(Object.fromEntries(ids.map((id) => [id, fc.tuple(outcome, outcome)])));
    const rounds = fc
      .array(fc.record({ golden: table, base: table }), { minLength: 1, maxLength: 2 })
      // Makes repetitions alike more often than by chance.
      .chain((some) => fc.array(fc.constantFrom(...some), { minLength: 1, maxLength: 4 }));
    fc.assert(
      fc.property(rounds, fc.subarray(ids), (some, functions) => {
        const evidence = some.map(({ golden, base }) => round(golden, base, functions));
        const { reasons, flaky } = judgeSoundness(evidence);
        const alike = (['golden', 'base'] as const).every((set) =>
          ids.every((id) =>
            [0, 1].every(
              (side) =>
                new Set(some.map((each) => standing(each[set][id]?.[side] ?? 'missing'))).size ===
                1,
            ),
          ),
        );
        const success = evidence.every((each) => gradeStrict(each).success);
        assert.equal(reasons.length === 0, success && alike);
        assert.equal(flaky.length === 0, alike);
        assert.equal(
          reasons.some((each) => each.kind === 'flaky'),
          !alike,
        );
      }),
    );
  });
});

describe('flaky tests', () => {
  it('are those whose standing changes; to fail and to err is to fail', () => {
    const of = (...fates: Sides[]) =>
      flakyTests(
        'golden',
        fates.map((fate) => paired({ [own]: fate })),
      ).map(({ side, outcomes }) => [side, ...outcomes]);
    assert.deepEqual(of(fp, ['error', 'passed']), []);
    assert.deepEqual(of(fp, pp), [['base', 'failed', 'passed']]);
    assert.deepEqual(of(fp, pf, fp), [
      ['base', 'failed', 'passed', 'failed'],
      ['fixed', 'passed', 'failed', 'passed'],
    ]);
  });

  it('include a test that some repetitions do not have', () => {
    assert.deepEqual(
      flakyTests('base', [paired({ [own]: pp }), paired({})]).map((each) => each.outcomes),
      [
        ['passed', 'missing'],
        ['passed', 'missing'],
      ],
    );
  });

  it('are not made of cases that only change their names', () => {
    const cases = (...names: string[]): TestTransition[] =>
      paired(Object.fromEntries(names.map((name) => [`${own}[${name}]`, pp])));
    assert.deepEqual(flakyTests('golden', [cases('a-b', 'c'), cases('b-a', 'c')]), []);
    const failing = [...cases('a-b'), ...paired({ [`${own}[c]`]: pf })];
    assert.deepEqual(flakyTests('golden', [failing, cases('b-a', 'c')]), [
      { test: own, tests: 'golden', side: 'fixed', outcomes: ['failed', 'passed'] },
    ]);
  });

  it('do not hide a failure under changing names', () => {
    const failing = (name: string): StrictEvidence =>
      round({ [own]: fp, [`${other}[${name}]`]: pf });
    const { reasons } = judgeSoundness([failing('a-b'), failing('b-a')]);
    assert.deepEqual(
      reasons.map(({ kind, tests }) => [kind, tests]),
      [['golden fails after the fix', [other]]],
    );
  });
});

describe('an environment in which nothing runs', () => {
  const broken = (phase: NonNullable<TestResult['phase']>): TestResult => ({
    test: own,
    outcome: 'error',
    phase,
  });

  it('shows in tests that end before their bodies on both sides', () => {
    assert.equal(nothingRan(pairResults([broken('collect')], [broken('setup')])), true);
    assert.equal(nothingRan([]), true);
    assert.equal(nothingRan(paired({ [own]: ['missing', 'missing'] })), true);
  });

  it('does not show where one side ran', () => {
    const passed: TestResult = { test: own, outcome: 'passed' };
    assert.equal(nothingRan(pairResults([broken('collect')], [passed])), false);
    assert.equal(nothingRan(pairResults([broken('call')], [broken('call')])), false);
    assert.equal(nothingRan(paired({ [own]: ['skipped', 'skipped'] })), false);
  });

  it('is told by the line that names what is missing', () => {
    const log = [
      '==== test session starts ====',
      'ImportError while loading conftest /tree/conftest.py.',
      'conftest.py:3: in <module>',
      '    import numpy',
      "E   \u001b[31mModuleNotFoundError: No module named 'numpy'\u001b[0m",
      '==== 1 error in 0.1s ====',
    ].join('\n');
    assert.equal(tellingLine(log), "ModuleNotFoundError: No module named 'numpy'");
    assert.equal(
      tellingLine('a\nTraceback\n  x\npkg.Strange: y\nValueError: bad\nend'),
      'ValueError: bad',
    );
    assert.equal(tellingLine('one\ntwo\n----\n'), 'two');
    assert.equal(tellingLine('\n \n'), undefined);
  });

  it('is told in one line without control characters, whatever the log holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (log) => {
        const line = tellingLine(log) ?? '';
        assert.ok(line.length <= 200);
        // oxlint-disable-next-line no-control-regex -- the line must not contain these
        assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f]/);
        assert.equal(oneLine(line), line);
      }),
    );
  });
});

it('counts tests by transition', () => {
  assert.deepEqual(countTransitions(paired({ a: fp, b: pp, c: pp })), { 'F→P': 1, 'P→P': 2 });
});

it('tells where FAIL_TO_PASS of a row differs from what was seen', () => {
  assert.equal(compareLists(['a', 'b'], ['b', 'a']), undefined);
  assert.deepEqual(compareLists(['a', 'b'], ['b', 'c']), { listedOnly: ['a'], seenOnly: ['c'] });
  assert.equal(compareLists(['a[x', 'b'], ['b'], ['a[x']), undefined);
});
