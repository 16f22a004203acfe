import type { StatusMap } from '../../domain/harness';

/**
 * Grading of code patches exactly as SWE-bench 5 does it (`grading.py` of swebench 5.0.2), under its
 * own keys. `StatusMap` has the words of its log parsers: PASSED, FAILED, ERROR, SKIPPED, XFAIL.
 */

/** The tests that decide about an instance, in the names that the log parser gives them. */
export interface ExpectedTests {
  readonly FAIL_TO_PASS: readonly string[];
  readonly PASS_TO_PASS: readonly string[];
}

/** `fail_only`: for runners whose log names only failures. */
export const evalTypes = ['pass_and_fail', 'fail_only'] as const;
export type EvalType = (typeof evalTypes)[number];

/** Tests that did what the row asks for, and the others that count against the patch. */
export interface TestGroup {
  readonly success: readonly string[];
  readonly failure: readonly string[];
}

/** The last two groups stay empty: SWE-bench fills them only on request, for statistics. */
export interface TestsStatus {
  readonly FAIL_TO_PASS: TestGroup;
  readonly PASS_TO_PASS: TestGroup;
  readonly FAIL_TO_FAIL: TestGroup;
  readonly PASS_TO_FAIL: TestGroup;
}

export const resolutionStatuses = ['RESOLVED_FULL', 'RESOLVED_PARTIAL', 'RESOLVED_NO'] as const;
type ResolutionStatus = (typeof resolutionStatuses)[number];

const passing: ReadonlySet<string | undefined> = new Set(['PASSED', 'XFAIL']);

/**
 * The status of a test. Some rows cut names within a parameter, such as `test_x[log(photon`. Such a
 * name stands for all tests that begin so, if these agree on whether they pass.
 */
function statusOf(test: string, statuses: StatusMap): string | undefined {
  if (statuses.has(test)) return statuses.get(test);
  if (test.split('[').length <= test.split(']').length) return undefined;
  const found = [...statuses].filter(([name]) => name.startsWith(test));
  const agree = new Set(found.map(([, status]) => passing.has(status))).size === 1;
  return agree ? found[0]?.[1] : undefined;
}

/** Missing counts as failed. A word that is none of SWE-bench's is neither passed nor failed. */
const failing: ReadonlySet<string | undefined> = new Set([undefined, 'FAILED', 'ERROR', 'SKIPPED']);

/** Whether a test of FAIL_TO_PASS did what the row asks for. */
export const sweBenchPassed = (test: string, statuses: StatusMap): boolean =>
  passing.has(statusOf(test, statuses));

/** Sorts the tests of a row by their statuses in a run (`get_eval_tests_report`). */
export function evalTestsReport(
  statuses: StatusMap,
  expected: ExpectedTests,
  evalType: EvalType = 'pass_and_fail',
): TestsStatus {
  const group = (tests: readonly string[], succeeds: (status?: string) => boolean): TestGroup => {
    const success: string[] = [];
    const failure: string[] = [];
    for (const test of tests) {
      if (evalType === 'fail_only') {
        (statuses.get(test) === 'FAILED' ? failure : success).push(test);
        continue;
      }
      const status = statusOf(test, statuses);
      if (succeeds(status)) success.push(test);
      else if (failing.has(status)) failure.push(test);
    }
    return { success, failure };
  };
  const none: TestGroup = { success: [], failure: [] };
  return {
    FAIL_TO_PASS: group(expected.FAIL_TO_PASS, (status) => passing.has(status)),
    // A skipped test is no regression.
    PASS_TO_PASS: group(
      expected.PASS_TO_PASS,
      (status) => passing.has(status) || status === 'SKIPPED',
    ),
    FAIL_TO_FAIL: none,
    PASS_TO_FAIL: none,
  };
}

/**
 * `RESOLVED_FULL` if no test of either list fails; `RESOLVED_PARTIAL` if some tests of FAIL_TO_PASS
 * pass and none of PASS_TO_PASS fails. An empty list counts as passed.
 */
export function resolutionStatus(status: TestsStatus): ResolutionStatus {
  const { FAIL_TO_PASS: fixed, PASS_TO_PASS: kept } = status;
  if (kept.failure.length > 0) return 'RESOLVED_NO';
  if (fixed.failure.length === 0) return 'RESOLVED_FULL';
  return fixed.success.length > 0 ? 'RESOLVED_PARTIAL' : 'RESOLVED_NO';
}

/** What SWE-bench writes about one patch, in `report.json` below the id of its instance. */
export interface SweBenchReport {
  readonly patch_is_None: boolean;
  readonly patch_exists: boolean;
  /** False also where the log cannot be graded, whatever the patch. */
  readonly patch_successfully_applied: boolean;
  readonly resolved: boolean;
  /** The log shows a fault of the environment. It changes no grade. */
  readonly infra_failure: boolean;
  readonly infra_failure_reason?: string;
  readonly tests_status?: TestsStatus;
}
