import { fileOf, type StackFrame, type TestResult } from '../../domain/outcome';
import { isTestPath } from '../../patch/testFiles';

/**
 * The innermost frame of a failure in the test's own file: the line of the assertion, or of the
 * call that raised. Undefined when no frame is in that file.
 */
export function failureFrameInTest(result: TestResult): StackFrame | undefined {
  const file = fileOf(result.test);
  return result.frames?.findLast((frame) => frame.path === file && frame.line > 0);
}

/**
 * The innermost frame of a failure outside the tests, in the code under test. Undefined when no such frame
 * is known, as for a failed assertion of the test itself.
 */
export function failureFrameInCode(result: TestResult): StackFrame | undefined {
  return result.frames?.findLast((frame) => !isTestPath(frame.path) && frame.line > 0);
}
