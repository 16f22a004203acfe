import type { Finding } from '../../domain/finding';
import { isFailure, sideName, sides, type Side } from '../../domain/outcome';
import type { RunRecord } from '../../engine/engine';
import { parseLog, runnerOf, type TestPlan } from '../../engine/runners';

/** The records that show how a run ended, and by which program. */
type Ended = Pick<RunRecord, 'ending' | 'exitCode' | 'log' | 'trace'>;

/**
 * The contradictions between the records of a run, one sentence each; empty for a credible run. A
 * run with contradictions is never kept and never graded as a success.
 */
export function contradictionsOf(record: Ended, runner: TestPlan['runner']): string[] {
  const isRecorded = record.ending === 'exited' && runnerOf(runner).isUnrecorded !== true;
  return [
    ...record.trace.contradictions,
    ...(isRecorded ? [...againstExit(record, runner), ...againstLog(record)] : []),
  ];
}

/**
 * Passed tests in a log without a session. Any code can print outcomes, but a runner that has
 * outcomes began a session.
 */
function againstLog({ log, trace }: Ended): string[] {
  if (trace.sessions.length > 0) return [];
  const passed = [...parseLog(log, '')].find(([, status]) => status === 'PASSED');
  return passed === undefined
    ? []
    : [`the log reports ${passed[0]} as passed, but no test runner recorded it`];
}

/**
 * A failed test in a run with exit status 0. The reverse is no contradiction: many things apart from
 * tests make a runner complain.
 */
function againstExit({ exitCode, trace }: Ended, runner: TestPlan['runner']): string[] {
  if (exitCode !== 0) return [];
  // A test that ends the process, as by os._exit(0), chooses the status; it counts as an error
  // itself.
  if (trace.unfinished.some(({ lastTest }) => lastTest !== null)) return [];
  const { failsWithStatus0 } = runnerOf(runner);
  const failed = trace.outcomes.find(
    (result) => isFailure(result) && failsWithStatus0?.(result) !== true,
  );
  return failed === undefined
    ? []
    : [`${failed.test} is recorded as ${failed.outcome}, but the run ended with exit status 0`];
}

/** The contradictions of both sides, each prefixed with the name of its side. */
export function contradictionsOfBoth(
  records: Readonly<Record<Side, Ended>> | undefined,
  runner: TestPlan['runner'],
): string[] {
  if (records === undefined) return [];
  return sides.flatMap((side) =>
    contradictionsOf(records[side], runner).map((each) => `on ${sideName[side]}: ${each}`),
  );
}

/** The finding that accompanies the verdict `unsound`; empty when the records agree. */
export function inconsistentRecords(contradictions: readonly string[]): Finding[] {
  return contradictions.length === 0
    ? []
    : [{ kind: 'inconsistent records', evidence: contradictions }];
}
