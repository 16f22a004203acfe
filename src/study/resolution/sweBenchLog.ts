import type { StatusMap } from '../../domain/harness';
import { infraFailure } from './infraFailure';
import {
  evalTestsReport,
  resolutionStatus,
  type EvalType,
  type ExpectedTests,
  type SweBenchReport,
} from './resolutionStatus';

/** The marks that SWE-bench 5 writes into its logs (`harness/constants`). */
export const sweBenchMarks = {
  patchFailed: '>>>>> Patch Apply Failed',
  patchApplied: '>>>>> Applied Patch',
  start: '>>>>> Start Test Output',
  end: '>>>>> End Test Output',
  exit: '>>>>> Test Exit Code',
} as const;

/** A log with one of these is not graded: tested code cannot write them by chance. */
const refused = [
  sweBenchMarks.patchFailed,
  '>>>>> Reset Failed',
  '>>>>> Tests Errored',
  '>>>>> Tests Timed Out',
];

/** Signs that a runner ran, for logs without any status (`SUITE_RAN`). */
const suiteRan = new RegExp(
  [
    String.raw`Executed [1-9]\d* of \d+`,
    String.raw`TOTAL: [1-9]\d* (?:SUCCESS|FAILED)`,
    String.raw`[1-9]\d* passing`,
    String.raw`Tests:\s+[1-9]\d*`,
    String.raw`Test Suites:\s+(?:\d+ \w+, )*[1-9]\d* total`,
    String.raw`(?:^|\n)# tests [1-9]\d*`,
    String.raw`[1-9]\d* specs?, \d+ failures?`,
    String.raw`': ok(?:\n|$)`,
  ].join('|'),
);

/**
 * The text that SWE-bench grades, for a run of ours. Its script marks where the output begins and
 * ends, and with which status the runner ended.
 */
export const sweBenchLog = (output: string, exitCode: number): string =>
  `${sweBenchMarks.start}\n${output}\n${sweBenchMarks.end}\n${sweBenchMarks.exit}: ${exitCode}\n`;

/**
 * The statuses in a log; undefined where SWE-bench does not grade it (`get_logs_eval`).
 *
 * @param parse the log parser of the instance
 */
export function statusesInLog(
  log: string,
  parse: (output: string) => StatusMap,
): StatusMap | undefined {
  // As Python reads a file in text mode.
  const content = log.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (refused.some((mark) => content.includes(mark))) return undefined;
  if (!content.includes(sweBenchMarks.end)) return undefined;
  const after = content.split(sweBenchMarks.start)[1];
  if (after === undefined) return undefined;
  const inside = parse(after.split(sweBenchMarks.end)[0] ?? '');
  const statuses = inside.size > 0 ? inside : parse(content);
  if (statuses.size === 0 && !suiteRan.test(content)) return undefined;
  // Code can print lines of passed tests. A runner that fails has a failure to name.
  const exit = /:\s*(-?\d+)/y;
  const named = [...statuses.values()].some((status) => status === 'FAILED' || status === 'ERROR');
  const isSilent = statuses.size > 0 && !named;
  return isSilent && (exitCodeIn(content, exit) ?? 0) !== 0 ? undefined : statuses;
}

/** The number after the first mark of an exit status that a number follows. */
function exitCodeIn(content: string, pattern: RegExp): number | undefined {
  const mark = sweBenchMarks.exit;
  for (let at = content.indexOf(mark); at >= 0; at = content.indexOf(mark, at + mark.length)) {
    pattern.lastIndex = at + mark.length;
    const found = pattern.exec(content)?.[1];
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

/** The report on a patch that applies, from the log of its run (`get_eval_report`). */
export function gradeSweBench(
  log: string,
  of: {
    readonly parse: (output: string) => StatusMap;
    readonly expected: ExpectedTests;
    readonly evalType?: EvalType;
  },
): SweBenchReport {
  const report: SweBenchReport = {
    patch_is_None: false,
    patch_exists: true,
    patch_successfully_applied: false,
    resolved: false,
    infra_failure: false,
  };
  const statuses = statusesInLog(log, of.parse);
  if (statuses === undefined) {
    const fault = infraFailure(log);
    if (fault === undefined) return report;
    const { reason, tier } = fault;
    return { ...report, infra_failure: tier === 'environment', infra_failure_reason: reason };
  }
  const tests_status = evalTestsReport(statuses, of.expected, of.evalType);
  return {
    ...report,
    patch_successfully_applied: true,
    resolved: resolutionStatus(tests_status) === 'RESOLVED_FULL',
    tests_status,
  };
}
