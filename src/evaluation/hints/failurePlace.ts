import { fileOf, type StackFrame, type TestResult } from '../../domain/outcome';
import { isTestPath } from '../../patch/testFiles';

/**
 * Where a failure shows in the file of its test: the innermost frame there, which is the line of the
 * assertion or the call that raised. Undefined when no frame is in that file.
 */
export function frameInTest(result: TestResult): StackFrame | undefined {
  const file = fileOf(result.test);
  return result.frames?.findLast((frame) => frame.path === file && frame.line > 0);
}

/**
 * Where the code under test failed: the innermost frame outside the tests. Undefined when none is known,
 * as for a failed assertion of the test itself.
 */
export function frameInCode(result: TestResult): StackFrame | undefined {
  return result.frames?.findLast((frame) => !isTestPath(frame.path) && frame.line > 0);
}
