import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type Outcome,
  type TestResult,
  pairResults,
  type TestTransition,
} from '../../../src/domain/outcome';
import {
  failureFrameInCode,
  failureFrameInTest,
  hintOn,
  tellingCase,
} from '../../../src/editor/testing/testHints';

const test = 'tests/test_a.py::test_x';
const result = (outcome: Outcome, more: Partial<TestResult> = {}): TestResult => ({
  test,
  outcome,
  ...more,
});
const asserts = { exception: 'AssertionError', message: 'assert 1 == 2' };
const lacksModule = {
  exception: 'ModuleNotFoundError',
  message: "No module named 'later'",
  frames: [{ path: 'tests/test_a.py', line: 1, function: '<module>' }],
};

function on(base: TestResult, fixed: TestResult): TestTransition {
  const [pair] = pairResults([base], [fixed]);
  assert.ok(pair);
  return pair;
}

describe('the hint on a test of the candidate', () => {
  it('is none on one that reproduces, nor on one that is not known to fail or pass', () => {
    assert.equal(hintOn([on(result('failed', asserts), result('passed'))]), undefined);
    assert.equal(hintOn([on(result('skipped'), result('skipped'))]), undefined);
    assert.equal(hintOn([on(result('missing'), result('passed'))]), undefined);
    assert.equal(hintOn([on(result('passed'), result('skipped'))]), undefined);
    assert.equal(hintOn([]), undefined);
  });

  it('says how it misses the issue', () => {
    const kindOf = (base: TestResult, fixed: TestResult) => hintOn([on(base, fixed)])?.kind;
    assert.equal(kindOf(result('passed'), result('passed')), 'passes on R');
    const failing = result('failed', asserts);
    assert.equal(kindOf(failing, failing), 'fails on both sides');
    assert.equal(kindOf(result('passed'), failing), 'fails on R∘X* only');
    assert.equal(kindOf(result('skipped'), failing), 'fails on R∘X* only');
  });

  it('calls out a failure on R that probably not this issue, on one side or on both', () => {
    const failing = result('error', lacksModule);
    const failure = { reason: 'import error', missing: 'later' };
    assert.deepEqual(hintOn([on(failing, failing)]), {
      kind: 'unrelated failure',
      failure,
      both: true,
    });
    assert.deepEqual(hintOn([on(failing, result('passed'))]), {
      kind: 'unrelated failure',
      failure,
      both: false,
    });
    // The issue names what is missing, or nothing needs an excuse any more.
    assert.equal(
      hintOn([on(failing, failing)], { issue: 'Add later()' })?.kind,
      'fails on both sides',
    );
    assert.equal(hintOn([on(failing, result('passed'))], { issue: 'Add later()' }), undefined);
    const guess = hintOn([on(failing, result('passed'))], { issue: 'Add it', success: true });
    assert.equal(guess?.kind, 'unrelated failure');
    const unread = result('error', { phase: 'collect', exception: 'SyntaxError' });
    assert.equal(hintOn([on(unread, result('passed'))], { success: true }), undefined);
    assert.equal(hintOn([on(unread, result('passed'))])?.kind, 'unrelated failure');
    assert.equal(hintOn([on(failing, result('skipped'))])?.kind, 'unrelated failure');
    // R∘X* has what R lacks, and the test is wrong about something else.
    assert.equal(hintOn([on(failing, result('failed', asserts))])?.kind, 'fails on both sides');
    assert.equal(hintOn([on(result('passed'), failing)])?.kind, 'fails on R∘X* only');
  });

  it('is about the case that says most, wherever it stands', () => {
    const passing = on(result('passed'), result('passed'));
    const reproduces = on(result('failed', asserts), result('passed'));
    const broken = on(result('failed', asserts), result('failed', asserts));
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(passing, reproduces, broken), { minLength: 1 }),
        (cases) => {
          const wanted = cases.includes(broken)
            ? broken
            : cases.includes(reproduces)
              ? reproduces
              : passing;
          assert.equal(tellingCase(cases), wanted);
          assert.deepEqual(hintOn(cases), hintOn([wanted]));
        },
      ),
    );
  });
});

describe('where a test failed', () => {
  const frame = (path: string, line: number) => ({ path, line, function: 'f' });
  const failing = result('failed', {
    frames: [
      frame('tests/conftest.py', 2),
      frame('tests/test_a.py', 10),
      frame('tests/test_a.py', 30),
      frame('pkg/a.py', 5),
      frame('pkg/b.py', 6),
      frame('tests/helpers.py', 7),
    ],
  });

  it('is the innermost line in its file, and the innermost of the code under test', () => {
    assert.deepEqual(failureFrameInTest(failing), frame('tests/test_a.py', 30));
    assert.deepEqual(failureFrameInCode(failing), frame('pkg/b.py', 6));
  });

  it('is not known without frames, nor from those without a line', () => {
    for (const each of [result('failed'), result('failed', { frames: [] })]) {
      assert.equal(failureFrameInTest(each), undefined);
      assert.equal(failureFrameInCode(each), undefined);
    }
    const without = result('error', {
      frames: [frame('tests/test_a.py', 0), frame('pkg/a.py', 0)],
    });
    assert.equal(failureFrameInTest(without), undefined);
    assert.equal(failureFrameInCode(without), undefined);
  });
});
