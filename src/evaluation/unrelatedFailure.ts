import { nameOf, fileOf, functionOf } from '../domain/testId';
import {
  missingAttribute,
  missingName,
  unexpectedArgument,
  isFailure,
  unrelatedReason,
  type TestResult,
  type UnrelatedReason,
} from '../domain/outcome';
import { isTestPath } from '../patch/testFiles';

/** A failure that suggests a broken test, or a test that asks for something that the side lacks. */
export interface UnrelatedFailure {
  readonly reason: UnrelatedReason;
  /**
   * The missing module, fixture or name, dotted where the message names its owner. Undefined where
   * the message does not name it. Comes from tested code: untrusted.
   */
  readonly missing?: string;
  /**
   * Another file of the tree than the test's, in which an import failed. What is missing is then
   * missing in the environment, not in the test.
   */
  readonly importedBy?: string;
}

/**
 * Whether a failure looks unrelated to the issue, and what is missing. It recognises more than
 * `unrelatedReason`, which grades use: attributes, parameters and broken set-ups too, which a test
 * of a new feature may legitimately lack. The result is a hint for the user, or for a model that
 * fixes its own test; it is never part of a grade.
 */
export function unrelatedFailure(result: TestResult): UnrelatedFailure | undefined {
  if (!isFailure(result)) return undefined;
  const text = result.message ?? '';
  const reason = unrelatedReason(result) ?? reasonOf(result, text);
  if (reason === undefined) return undefined;
  const missing = missingName(text);
  const importedBy = reason === 'import error' ? importerOf(result) : undefined;
  return {
    reason,
    ...(missing !== undefined && { missing }),
    ...(importedBy !== undefined && { importedBy }),
  };
}

/** The file of the tree in which an import failed, unless it is the test's own. */
function importerOf({ test, frames = [] }: TestResult): string | undefined {
  const path = frames.findLast((frame) => !frame.path.startsWith('<'))?.path;
  return path === fileOf(test) ? undefined : path;
}

function reasonOf(result: TestResult, text: string): UnrelatedReason | undefined {
  if (!raisedInTests(result)) return undefined;
  const name = result.exception?.split('.').at(-1) ?? '';
  if (name === 'TypeError' && lacksArgumentsOf(result, text)) return 'fixture error';
  if (name === 'NameError') return 'undefined name';
  if (name === 'ImportError' || name === 'ModuleNotFoundError') return 'import error';
  if (name === 'AttributeError' && missingAttribute(text) !== undefined) return 'undefined name';
  if (name === 'TypeError' && unexpectedArgument.test(text)) return 'undefined name';
  // A set-up that asserts something may well show the issue.
  if (result.phase === 'setup' && name !== 'AssertionError') return 'fixture error';
  return undefined;
}

/**
 * Whether the failure was raised by a line of the tests, their helpers or a conftest.py, rather
 * than by the code they call.
 */
function raisedInTests({ frames }: TestResult): boolean {
  const last = frames?.at(-1);
  return last === undefined || isTestPath(last.path);
}

/**
 * Whether unittest called a test without arguments, as `test_x(self, tmp_path)` without the second:
 * unittest has no fixtures.
 */
function lacksArgumentsOf({ test }: TestResult, text: string): boolean {
  const name = nameOf(functionOf(test));
  const called = /^(?:[\w.<>]+\.)?(\w+)\(\) missing \d+ required positional arguments?: /.exec(
    text,
  );
  return called?.[1] === name;
}
