import assert from 'node:assert/strict';
import fc from 'fast-check';
import { gradeHarness } from '../../../src/domain/harness';
import { type Outcome, pairResults } from '../../../src/domain/outcome';
import { gradeStrict } from '../../../src/domain/verdict';
import { explainDifference } from '../../../src/evaluation/runs/difference';
import { everydayRuns } from '../../everyday';

describe('why the gradings differ', () => {
  it('a test that breaks without the candidate too, of which the harness has no base run', () => {
    const own = 't.py::test_own';
    const old = 't.py::test_old';
    const base = pairResults(
      [{ test: old, outcome: 'passed' }],
      [{ test: old, outcome: 'failed' }],
    );
    const tests = [
      ...pairResults([{ test: own, outcome: 'failed' }], [{ test: own, outcome: 'passed' }]),
      ...base,
    ];
    const strict = gradeStrict({ candidate: tests, base, ownFunctions: new Set([own]) });
    const of = (statuses: Record<string, string>) => ({
      statuses: new Map(Object.entries(statuses)),
      counts: new Map(),
    });
    const harness = gradeHarness({
      removed: [],
      added: [],
      candidate: {
        pre: of({ [own]: 'FAILED', [old]: 'PASSED' }),
        post: of({ [own]: 'PASSED', [old]: 'FAILED' }),
      },
      golden: undefined,
      base: { pre: of({}), post: of({}) },
    });
    assert.equal(strict.success, true);
    assert.equal(harness.resolved, false);
    assert.match(
      explainDifference(strict, harness, tests) ?? '',
      /does not check whether a test also breaks without the candidate \(t\.py::test_old\)/,
    );
  });
});

describe('each rule that makes the difference', () => {
  type Fate = readonly [Outcome, Outcome];
  const transitions = (of: Readonly<Record<string, Fate>>) =>
    pairResults(
      Object.entries(of).map(([test, [outcome]]) => ({ test, outcome })),
      Object.entries(of).map(([test, [, outcome]]) => ({ test, outcome })),
    );
  type Log = Readonly<Record<string, readonly [string | undefined, string | undefined]>>;
  const runs = (log: Log) => {
    const side = (at: 0 | 1) => ({
      statuses: new Map(
        Object.entries(log).flatMap(([test, both]) => {
          const status = both[at];
          return status === undefined ? [] : [[test, status] as const];
        }),
      ),
      counts: new Map<string, ReadonlyMap<number, number>>(),
    });
    return { pre: side(0), post: side(1) };
  };
  const why = (fates: Readonly<Record<string, Fate>>, log: Log, base: Log = {}) => {
    const tests = transitions(fates);
    const ownFunctions = new Set(['t.py::test_own']);
    const strict = gradeStrict({ candidate: tests, base: [], ownFunctions });
    const harness = gradeHarness({
      removed: [],
      added: [],
      candidate: runs(log),
      golden: undefined,
      base: runs(base),
    });
    return explainDifference(strict, harness, tests);
  };
  it('a test that the harness takes for two, since its name changes between the runs', () => {
    const [old, now] = ['t.py::test_id[0x1]', 't.py::test_id[0x2]'];
    const tests = transitions({ [own]: ['failed', 'passed'], [old]: ['passed', 'passed'] });
    const strict = gradeStrict({ candidate: tests, base: [], ownFunctions: new Set([own]) });
    const candidate = runs({
      [own]: ['FAILED', 'PASSED'],
      [old]: ['PASSED', undefined],
      [now]: [undefined, 'PASSED'],
    });
    const parts = { removed: [], added: [], candidate, golden: undefined, base: runs({}) };
    assert.equal(
      explainDifference(strict, gradeHarness(parts), tests, new Map([[now, old]])),
      'harness grading: not resolved; it treats a test whose name changes between runs as two different tests (t.py::test_id[0x1])',
    );
  });
  const own = 't.py::test_own';
  const good = { [own]: ['FAILED', 'PASSED'] } as const;

  it('a line of the log that is no test of the run', () => {
    assert.equal(
      why(
        { [own]: ['failed', 'passed'] },
        { ...good, 'test_inner.py::test_this': ['FAILED', 'FAILED'] },
      ),
      'harness grading: not resolved; it mistakes a line of the log for a test result, such as output of a nested test run (test_inner.py::test_this)',
    );
  });

  it('cases whose names are cut off at a blank', () => {
    const said = why(
      { [`${own}[a b]`]: ['failed', 'passed'], [`${own}[a c]`]: ['passed', 'passed'] },
      { [`${own}[a`]: ['PASSED', 'PASSED'] },
    );
    assert.match(said ?? '', /PASSED on R although.*\(t\.py::test_own\[a b\]\)/);
  });

  it('a test that is expected to fail, on both gradings', () => {
    assert.match(
      why({ [own]: ['xfailed', 'passed'] }, { [own]: ['XFAIL', 'PASSED'] }) ?? '',
      /: resolved; it counts an expected failure on R \(xfail\) .* \(t\.py::test_own\)$/,
    );
    assert.match(
      why({ [own]: ['failed', 'xpassed'] }, { [own]: ['FAILED', 'XPASS'] }) ?? '',
      /: not resolved; it does not count an unexpected pass \(XPASS\) as passed/,
    );
  });

  it('several rules, each with its tests', () => {
    const said = why(
      { [own]: ['failed', 'passed'], 't.py::test_b': ['passed', 'skipped'] },
      {
        ...good,
        't.py::test_b': ['PASSED', 'SKIPPED'],
        ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`in.py::t${n}`, ['FAILED', 'FAILED']])),
      },
    );
    assert.match(
      said ?? '',
      /\(in\.py::t1, in\.py::t2, in\.py::t3 and 2 more\); it counts a test as broken if it is skipped.*\(t\.py::test_b\)$/,
    );
  });

  it("names of Django's runner stand for their test", () => {
    assert.match(
      why(
        { [own]: ['failed', 'passed'], 't/tests.py::A::test_old': ['passed', 'skipped'] },
        { ...good, 'test_old (t.tests.A)': ['PASSED', 'SKIPPED'] },
      ) ?? '',
      /as broken if it is skipped, missing, .* \(test_old \(t\.tests\.A\)\)$/,
    );
  });
});

describe('both gradings of the same runs', () => {
  const names = ['t.py::test_a', 't.py::test_b', 't.py::test_c'];
  const statusOf: Partial<Record<Outcome, string>> = {
    passed: 'PASSED',
    failed: 'FAILED',
    error: 'ERROR',
    skipped: 'SKIPPED',
  };
  const outcome = fc.constantFrom<Outcome>('passed', 'failed', 'error', 'skipped', 'missing');
  const fates = fc.dictionary(fc.constantFrom(...names), fc.tuple(outcome, outcome));
  type Fates = Readonly<Record<string, readonly [Outcome, Outcome]>>;

  const paired = (of: Fates) =>
    pairResults(
      Object.entries(of).map(([test, [outcome]]) => ({ test, outcome })),
      Object.entries(of).map(([test, [, outcome]]) => ({ test, outcome })),
    );
  const logged = (of: Fates, side: 0 | 1) => ({
    statuses: new Map(
      Object.entries(of).flatMap(([test, outcomes]) => {
        const status = statusOf[outcomes[side]];
        return status === undefined ? [] : [[test, status] as const];
      }),
    ),
    counts: new Map(),
  });
  const grade = (candidate: Fates, base: Fates, own: readonly string[]) => {
    const tests = paired(candidate);
    const strict = gradeStrict({
      candidate: tests,
      base: paired(base),
      ownFunctions: new Set(own),
    });
    const runs = (of: Fates) => ({ pre: logged(of, 0), post: logged(of, 1) });
    const harness = gradeHarness({
      removed: [],
      added: [],
      candidate: runs(candidate),
      golden: undefined,
      base: runs(base),
    });
    return { strict, harness, difference: explainDifference(strict, harness, tests) };
  };

  /**
   * The paper's definition for all tests of the candidate, and the harness's, each implemented
   * directly.
   */
  const naive = (candidate: Fates, base: Fates, own: readonly string[]) => {
    const fails = (outcome: Outcome | undefined) => outcome === 'failed' || outcome === 'error';
    const standingOf = (outcome: Outcome) =>
      fails(outcome) ? 'F' : outcome === 'passed' ? 'P' : '-';
    let reproduces = 0;
    let broken = 0;
    const harness = { candidate: new Set<string>(), base: new Set<string>(), bad: 0 };
    const toPass = ([pre, post]: readonly [Outcome, Outcome]) =>
      post === 'passed' && pre !== 'passed';
    const isBad = (of: Fates[string] | undefined): string | undefined => {
      if (of === undefined || of[1] === 'passed') return undefined;
      if (of[0] === 'passed') return 'P→F';
      return of[1] === 'failed' ? 'F→F' : undefined;
    };
    for (const [test, both] of Object.entries(candidate)) {
      const before = base[test];
      const same =
        before?.map(standingOf).join() ===
        (both.every((each) => each === 'missing') ? undefined : both.map(standingOf).join());
      const isOwn = own.includes(test);
      if ((isOwn || !same) && fails(both[0]) && both[1] === 'passed') reproduces += 1;
      if (fails(both[1]) && (isOwn || !fails(before?.[1]))) broken += 1;
      if (toPass(both)) harness.candidate.add(test);
      const bad = isBad(both);
      if (bad !== undefined && bad !== isBad(before)) harness.bad += 1;
    }
    for (const [test, both] of Object.entries(base)) if (toPass(both)) harness.base.add(test);
    return {
      success: reproduces > 0 && broken === 0,
      resolved:
        [...harness.base].every((test) => harness.candidate.has(test)) &&
        harness.candidate.size > harness.base.size &&
        harness.bad === 0,
    };
  };

  it('are what the definitions say, and where they differ there is a rule that explains it', () => {
    const some = fc.subarray(names);
    fc.assert(
      fc.property(fates, fates, some, (candidate, base, own) => {
        const { strict, harness, difference } = grade(candidate, base, own);
        assert.deepEqual(
          { success: strict.success, resolved: harness.resolved },
          naive(candidate, base, own),
        );
        assert.equal(difference === undefined, strict.success === harness.resolved);
      }),
      { numRuns: everydayRuns(2000) },
    );
  });
});
