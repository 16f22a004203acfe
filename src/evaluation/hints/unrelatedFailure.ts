import {
  fileOf,
  functionOf,
  isFailure,
  unrelatedReason,
  type TestResult,
  type UnrelatedReason,
} from '../../domain/outcome';
import { isTestPath } from '../../patch/testFiles';

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
 * of a new feature may legitimately lack. The result is a hint for a person, or for a model that
 * mends its own test; it is never part of a grade.
 */
export function unrelatedFailure(result: TestResult): UnrelatedFailure | undefined {
  if (!isFailure(result)) return undefined;
  const text = result.message ?? '';
  const reason = unrelatedReason(result) ?? reasonOf(result, text);
  if (reason === undefined) return undefined;
  const missing = missingIn(text);
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
  if (name === 'AttributeError' && attribute(text) !== undefined) return 'undefined name';
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
  const name = functionOf(test).split('::').at(-1) ?? '';
  const called = /^(?:[\w.<>]+\.)?(\w+)\(\) missing \d+ required positional arguments?: /.exec(
    text,
  );
  return called?.[1] === name;
}

const unexpectedArgument = /(?:^|\s)([\w.<>]+)\(\) got an unexpected keyword argument '([^']+)'/;

/** `Class.name` of a missing attribute; undefined for any other text, and for None. */
function attribute(text: string): string | undefined {
  const [, module, type, object, name] =
    /^(?:(?:partially initialized )?module '([^']+)'|type object '([^']+)'|'([^']+)' object) has no attribute '([^']+)'/.exec(
      text,
    ) ?? [];
  const owner = module ?? type ?? object;
  // Many issues are about a value that is None by mistake.
  if (owner === undefined || name === undefined || owner === 'NoneType') return undefined;
  return `${owner}.${name}`;
}

function missingIn(text: string): string | undefined {
  const imported =
    /cannot import name '?([\w.]+)'?(?: from (?:partially initialized module )?'([^']+)')?/.exec(
      text,
    );
  if (imported !== null) {
    return imported[2] === undefined ? imported[1] : `${imported[2]}.${imported[1]}`;
  }
  const argument = unexpectedArgument.exec(text);
  if (argument !== null) return `${argument[1]}(${argument[2]}=…)`;
  return (
    /No module named '?([\w.]+)'?/.exec(text)?.[1] ??
    /fixture '([^']*)' not found/.exec(text)?.[1] ??
    /\bname '([^']+)' is not defined/.exec(text)?.[1] ??
    /\(\) missing \d+ required positional arguments?: (.+)$/m
      .exec(text)?.[1]
      ?.replaceAll("'", '') ??
    attribute(text)
  );
}
