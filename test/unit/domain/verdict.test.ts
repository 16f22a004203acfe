import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  standing,
  type Outcome,
  pairResults,
  type TestTransition,
} from '../../../src/domain/outcome';
import { functionOf } from '../../../src/domain/testId';
import { gradeStrict, ungraded, type Verdict } from '../../../src/domain/verdict';

type Sides = readonly [Outcome, Outcome];
type Fates = Readonly<Record<string, Sides>>;

const own = 't.py::test_own';
const other = 't.py::test_other';

function paired(fates: Fates): TestTransition[] {
  const entries = Object.entries(fates);
  return pairResults(
    entries.map(([test, [outcome]]) => ({ test, outcome })),
    entries.map(([test, [, outcome]]) => ({ test, outcome })),
  );
}

function grade(
  candidate: Fates,
  base: Fates = {},
  ownFunctions: readonly string[] = [own],
): Verdict {
  return gradeStrict({
    candidate: paired(candidate),
    base: paired(base),
    ownFunctions: new Set(ownFunctions),
  });
}

const fp: Sides = ['failed', 'passed'];
const ff: Sides = ['failed', 'failed'];
const pp: Sides = ['passed', 'passed'];
const pf: Sides = ['passed', 'failed'];

describe('strict grading: success is at least one F→P and no ×→F', () => {
  it('one own F→P', () => {
    const verdict = grade({ [own]: fp });
    assert.equal(verdict.success, true);
    assert.equal(verdict.reason, 'success');
    assert.equal(verdict.wellFormed, true);
    assert.deepEqual(verdict.failToPass, [own]);
    assert.deepEqual(verdict.failToAny, [own]);
    assert.deepEqual(verdict.anyToFail, []);
  });

  it('an error on R, or a file that cannot be collected there, is a failure there', () => {
    assert.equal(grade({ [own]: ['error', 'passed'] }).success, true);
    const imported = gradeStrict({
      candidate: pairResults(
        [{ test: own, outcome: 'error', phase: 'collect', exception: 'ImportError' }],
        [{ test: own, outcome: 'passed' }],
      ),
      base: [],
      ownFunctions: new Set([own]),
    });
    assert.equal(imported.success, true);
  });

  it('an error on R∘X* forbids success like a failure', () => {
    const verdict = grade({ [own]: fp, 't.py::test_two': ['passed', 'error'] }, {}, [
      own,
      't.py::test_two',
    ]);
    assert.equal(verdict.success, false);
    assert.equal(verdict.reason, 'breaks a test');
    assert.deepEqual(verdict.passToFail, ['t.py::test_two']);
  });

  it('says so where cases with changing names keep the sides from being compared', () => {
    const cases: Fates = {
      [`${own}[1]`]: ['failed', 'missing'],
      [`${own}[2]`]: ['missing', 'passed'],
    };
    const verdict = grade(cases);
    assert.equal(verdict.reason, 'no test ran');
    assert.match(
      verdict.explanation,
      /parameters in the test IDs of t\.py::test_own change between runs/,
    );
    const broken = grade({ ...cases, [`${own}[3]`]: ['missing', 'failed'] });
    assert.match(broken.explanation, /change between runs/);
    assert.doesNotMatch(grade({ [own]: ['failed', 'missing'] }).explanation, /change between runs/);
  });

  for (const neither of ['skipped', 'xfailed', 'missing'] as const) {
    it(`${neither} neither fails nor passes`, () => {
      assert.equal(grade({ [own]: [neither, 'passed'] }).reason, 'no test ran');
      assert.equal(grade({ [own]: ['failed', neither] }).success, false);
      assert.equal(grade({ [own]: fp, 't.py::s': [neither, neither] }).success, true);
      assert.deepEqual(grade({ [own]: ['failed', neither] }).failToAny, [own]);
      assert.deepEqual(grade({ [own]: ['failed', neither] }).anyToFail, []);
    });
  }

  it('a test that did not run on R and fails on R∘X* forbids success', () => {
    const verdict = grade({ [own]: fp, 't.py::test_new': ['skipped', 'failed'] });
    assert.equal(verdict.success, false);
    assert.deepEqual(verdict.anyToFail, ['t.py::test_new']);
  });

  it('one F→F beside an F→P forbids success', () => {
    const verdict = grade({ [own]: fp, 't.py::test_two': ff }, {}, [own, 't.py::test_two']);
    assert.equal(verdict.success, false);
    // It is the candidate's own test, so nothing is broken.
    assert.equal(verdict.reason, 'fails on both sides');
    assert.equal(
      verdict.explanation,
      '1 new or changed test still fails with the fix: t.py::test_two; 1 test reproduces the issue',
    );
    assert.deepEqual(verdict.failToFail, ['t.py::test_two']);
    assert.deepEqual(verdict.failToAny, [own, 't.py::test_two']);
  });
});

describe('strict grading: what the candidate answers for', () => {
  it('not for an F→P of the base tests', () => {
    const verdict = grade({ [own]: pp, [other]: fp }, { [other]: fp });
    assert.equal(verdict.success, false);
    assert.equal(verdict.reason, 'passes on R');
    assert.deepEqual(verdict.failToPass, []);
    assert.deepEqual(verdict.failToAny, []);
  });

  it('not for a test that failed on R∘X* before it', () => {
    for (const before of [ff, pf, ['error', 'error'], ['skipped', 'failed']] as const) {
      const verdict = grade({ [own]: fp, [other]: before }, { [other]: before });
      assert.equal(verdict.success, true, before.join());
      assert.deepEqual(verdict.anyToFail, []);
      assert.deepEqual(verdict.failToFail, []);
    }
  });

  it('not when such a test now fails in another way', () => {
    const verdict = grade({ [own]: fp, [other]: pf }, { [other]: ff });
    assert.equal(verdict.success, true);
    assert.equal(grade({ [own]: fp, [other]: ['failed', 'error'] }, { [other]: ff }).success, true);
  });

  it('for another test of the file whose fate it changes', () => {
    const broken = grade({ [own]: fp, [other]: pf }, { [other]: pp });
    assert.equal(broken.reason, 'breaks a test');
    assert.deepEqual(broken.anyToFail, [other]);
    const reproduced = grade({ [other]: fp }, { [other]: pp }, []);
    assert.equal(reproduced.success, true);
    assert.deepEqual(reproduced.failToPass, [other]);
  });

  it('for a changed test, whatever it was before', () => {
    const verdict = grade({ [own]: ff }, { [own]: ff });
    assert.equal(verdict.reason, 'fails on both sides');
    assert.deepEqual(verdict.anyToFail, [own]);
  });

  it('for each case of a parametrised test of its own', () => {
    const cases = { [`${own}[1]`]: fp, [`${own}[2]`]: pp };
    assert.deepEqual(grade(cases).failToPass, [`${own}[1]`]);
    assert.deepEqual(grade(cases).passToPass, [`${own}[2]`]);
    assert.equal(grade(cases).success, true);
    assert.equal(grade({ ...cases, [`${own}[3]`]: ff }).reason, 'fails on both sides');
  });

  it('for a file or class that stands for its tests in an error', () => {
    const verdict = grade({ 't.py': ['error', 'error'] });
    assert.deepEqual(verdict.anyToFail, ['t.py']);
    assert.deepEqual(grade({ 't.py::C': ['error', 'error'] }, {}, ['t.py::C::m']).anyToFail, [
      't.py::C',
    ]);
    const both: Fates = { 't.py': ['error', 'error'] };
    assert.deepEqual(grade(both, both).anyToFail, ['t.py']);
    assert.deepEqual(grade(both, both, []).anyToFail, []);
  });

  it('counts P→P of its own tests only', () => {
    assert.deepEqual(grade({ [own]: pp, [other]: pp }, { [other]: pp }).passToPass, [own]);
    assert.equal(grade({ [other]: pp }, { [other]: pp }).reason, 'no test ran');
  });
});

describe('strict grading: the reason is the first that holds', () => {
  it('timed out before all else', () => {
    const verdict = gradeStrict({
      candidate: paired({ [own]: fp }),
      base: [],
      ownFunctions: new Set([own]),
      stopped: { reason: 'timed out', explanation: 'stopped at the time limit' },
    });
    assert.equal(verdict.success, false);
    assert.equal(verdict.reason, 'timed out');
    assert.equal(verdict.wellFormed, true);
  });

  it('breaks a test: P→F, or a test of R that failed on neither side before', () => {
    const spoiled = grade({ [own]: fp, [other]: ff }, { [other]: pp });
    assert.equal(spoiled.reason, 'breaks a test');
    assert.equal(grade({ [own]: pf }).reason, 'breaks a test');
    assert.equal(
      grade({ [own]: pf }).explanation,
      '1 test fails with the fix: t.py::test_own (P→F)',
    );
    assert.equal(grade({ [own]: ['skipped', 'failed'] }).reason, 'breaks a test');
  });

  it('breaks a test: counts and names the tests, and does not hide the F→P', () => {
    const cases = (...fates: readonly Sides[]): Fates =>
      Object.fromEntries(fates.map((fate, index) => [`${own}[${index}]`, fate]));
    assert.equal(
      grade(cases(fp, pf, ff, fp)).explanation,
      '2 tests fail with the fix: t.py::test_own[1] (P→F), t.py::test_own[2] (F→F); 2 tests reproduce the issue',
    );
    assert.equal(
      grade(cases(pf, pf, pf, pf, pf)).explanation,
      '5 tests fail with the fix: t.py::test_own[0] (P→F), t.py::test_own[1] (P→F), t.py::test_own[2] (P→F) and 2 more',
    );
  });

  it('unrelated failure before fails on both sides', () => {
    const result = { test: own, outcome: 'error', phase: 'collect' } as const;
    const importing = { ...result, exception: 'ImportError' };
    const verdict = gradeStrict({
      candidate: pairResults([importing], [importing]),
      base: [],
      ownFunctions: new Set([own]),
    });
    assert.equal(verdict.reason, 'unrelated failure');
    assert.match(verdict.explanation, /import error/);
    assert.equal(grade({ [own]: ff }).reason, 'fails on both sides');
  });

  it('fails on both sides, if the issue names what is missing or the parameter', () => {
    const message = "cannot import name 'purr' from 'cats'";
    const of = (test: string) =>
      ({ test, outcome: 'error', exception: 'ImportError', message }) as const;
    const reason = (issue: string | undefined, test = own): string =>
      gradeStrict({
        candidate: pairResults([of(test)], [of(test)]),
        base: [],
        ownFunctions: new Set([own]),
        issue,
      }).reason;
    assert.equal(reason(undefined), 'unrelated failure');
    assert.equal(reason('The cats purred.'), 'unrelated failure');
    assert.equal(reason('cats.purr() is silent'), 'fails on both sides');
    assert.equal(reason('A name with a.dot fails', `${own}[a.dot-1]`), 'fails on both sides');
    assert.equal(reason('1 or None fails', `${own}[1-None]`), 'unrelated failure');
  });

  it('fails on both sides before passes on R before no test ran', () => {
    assert.equal(grade({ [own]: ff, [`${own}[2]`]: pp }).reason, 'fails on both sides');
    assert.equal(grade({ [own]: pp, [`${own}[2]`]: ['skipped', 'skipped'] }).reason, 'passes on R');
    assert.equal(grade({ [own]: ['skipped', 'skipped'] }).reason, 'no test ran');
    assert.equal(grade({}).reason, 'no test ran');
  });

  it('does not say that nothing fails on R when something does', () => {
    const verdict = grade({ [own]: pp, [`${own}[2]`]: ['failed', 'skipped'] });
    assert.equal(verdict.reason, 'passes on R');
    assert.doesNotMatch(verdict.explanation, /no test of the candidate fails/);
  });

  it('ungraded: nothing but the reason', () => {
    const verdict = ungraded('does not apply', 'hunk 1 does not fit', false);
    assert.equal(verdict.success, false);
    assert.equal(verdict.wellFormed, false);
    assert.equal(verdict.reason, 'does not apply');
    assert.deepEqual([verdict.failToPass, verdict.anyToFail, verdict.failToAny], [[], [], []]);
  });
});

describe('strict grading of anything', () => {
  const outcome = fc.constantFrom<Outcome>(
    'passed',
    'failed',
    'error',
    'skipped',
    'xfailed',
    'xpassed',
    'missing',
  );
  const names = ['t.py::a', 't.py::b', 't.py::c[1]', 't.py::c[2]', 't.py::d'];
  const fates = fc.dictionary(fc.constantFrom(...names), fc.tuple(outcome, outcome));
  const functions = fc.uniqueArray(
    fc.constantFrom<string>('t.py::a', 't.py::b', 't.py::c', 't.py::e'),
  );

  it('follows the definition, test by test', () => {
    fc.assert(
      fc.property(fates, fates, functions, (candidate, base, ownFunctions) => {
        const verdict = grade(candidate, base, ownFunctions);
        const reads = (at: Outcome | undefined): string => standing(at ?? 'missing');
        const failToPass: string[] = [];
        const failToFail: string[] = [];
        const passToPass: string[] = [];
        const passToFail: string[] = [];
        const failToAny: string[] = [];
        const anyToFail: string[] = [];
        for (const [test, [onR, onFixed]] of Object.entries(candidate)) {
          const mine = ownFunctions.includes(functionOf(test));
          const before = base[test];
          const same =
            before !== undefined &&
            reads(before[0]) === reads(onR) &&
            reads(before[1]) === reads(onFixed);
          const [onBase, after] = [reads(onR), reads(onFixed)];
          // Other tests of the files may pass in any number.
          if (mine && onBase === 'passes' && after === 'passes') passToPass.push(test);
          if (!mine && same) continue;
          if (onBase === 'fails') failToAny.push(test);
          if (onBase === 'fails' && after === 'passes') failToPass.push(test);
          if (onBase === 'fails' && after === 'fails') failToFail.push(test);
          if (onBase === 'passes' && after === 'fails') passToFail.push(test);
          if (after === 'fails' && (mine || reads(before?.[1]) !== 'fails')) anyToFail.push(test);
        }
        for (const [key, tests] of Object.entries({
          ...{ failToPass, failToFail, passToPass, passToFail, failToAny, anyToFail },
        })) {
          const found = verdict[key as 'failToPass'];
          assert.deepEqual([...found].sort(), tests.sort(), key);
        }
        assert.equal(verdict.success, failToPass.length > 0 && anyToFail.length === 0);
        assert.equal(verdict.success, verdict.reason === 'success');
        assert.notEqual(verdict.explanation, '');
      }),
    );
  });

  it('base against itself answers for nothing', () => {
    fc.assert(
      fc.property(fates, (base) => {
        const verdict = grade(base, base, []);
        assert.equal(verdict.reason, 'no test ran');
        assert.deepEqual(
          [verdict.failToPass, verdict.failToFail, verdict.failToAny, verdict.anyToFail],
          [[], [], [], []],
        );
      }),
    );
  });

  it('is the syntax error of a file, once, with its line', () => {
    const unread = (test: string): TestTransition => {
      const result = {
        test,
        outcome: 'error',
        phase: 'collect',
        exception: 'SyntaxError',
        message:
          'File "/tmp/tree/t.py", line 7\n    x = (\n        ^\nSyntaxError: \'(\' was never closed',
      } as const;
      return { test, transition: 'F→F', base: result, fixed: result };
    };
    const verdict = gradeStrict({
      candidate: [unread(other), unread(own)],
      base: pairResults([{ test: other, outcome: 'passed' }], [{ test: other, outcome: 'passed' }]),
      ownFunctions: new Set([own]),
    });
    assert.equal(verdict.reason, 'syntax error');
    assert.equal(
      verdict.explanation,
      "t.py:7 is not valid Python ('(' was never closed), so none of the file's tests ran",
    );
  });
});
