import { type TestResult, transition, type TestTransition } from '../../../../src/domain/outcome';

/** A case of a test, from its outcome on each side. */
export function testCase(
  base: Partial<TestResult>,
  fixed: Partial<TestResult>,
  test = 'tests/test_cat.py::test_purr',
): TestTransition {
  const onBase: TestResult = { test, outcome: 'passed', ...base };
  const onFixed: TestResult = { test, outcome: 'passed', ...fixed };
  return {
    test,
    transition: transition(onBase.outcome, onFixed.outcome),
    base: onBase,
    fixed: onFixed,
  };
}

/** A failure of the assertion in the test. */
export const failed: Partial<TestResult> = {
  outcome: 'failed',
  exception: 'AssertionError',
  message: '1 != 2',
};

/** A file that is not Python. */
export const unread: Partial<TestResult> = {
  outcome: 'error',
  phase: 'collect',
  exception: 'SyntaxError',
  message: 'invalid syntax (test_cat.py, line 9)',
};
