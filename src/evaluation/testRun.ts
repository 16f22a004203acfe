import { sides, type Side } from '../domain/outcome';
import type { RunRecord } from '../engine/engine';
import type { TestPlan } from '../engine/testPlan';
import { whyBrokenOff, whyNotRunnable } from './results';
import type { BothSides } from './session';

/** One run of tests on one side, as results keep it. */
export interface TestRun {
  readonly ending: string;
  readonly exit_code: number | null;
  readonly seconds: number;
  readonly runner: string;
  /** How the changed lines were counted: monitoring, bytecode or settrace. */
  readonly techniques: readonly string[];
  readonly problems: readonly string[];
  /** Bounded output. If the run did not come to its end, the last line says how it ended. */
  readonly log: string;
}

export function testRun(plan: TestPlan, record: RunRecord): TestRun {
  return {
    ending: record.ending,
    exit_code: record.exitCode ?? null,
    seconds: Math.round(record.seconds * 1000) / 1000,
    runner: plan.runner,
    techniques: record.trace.techniques,
    problems: record.trace.problems,
    log: logWithEnding(record),
  };
}

/** Why a run does not show what all of its tests do; undefined where it came to its end. */
export const whyNotToTheEnd = (record: RunRecord): string | undefined =>
  whyNotRunnable(record) ?? whyBrokenOff(record);

/** The output of a run. Where it did not come to its end, the reason is in the last line. */
export function logWithEnding(record: RunRecord): string {
  const why = whyNotToTheEnd(record);
  if (why === undefined) return record.log;
  const start = record.log === '' || record.log.endsWith('\n') ? record.log : `${record.log}\n`;
  return `${start}swt-bench: ${why}\n`;
}

/** A run of the golden or base tests that does not tell what its tests do. */
export interface BrokenRun {
  /** T*, the tests of R beside T*, or the tests of R beside the candidate's. */
  readonly of: 'golden' | 'golden base' | 'base';
  readonly side: Side;
  /** Bounded output; its last line says how the run ended. */
  readonly log: string;
}

/** The sides on which a run broke off, or could not run its tests at all. */
export function brokenRuns(
  run: { readonly records: BothSides | undefined } | undefined,
  of: BrokenRun['of'],
): BrokenRun[] {
  const records = run?.records;
  if (records === undefined) return [];
  return sides.flatMap((side) => {
    const record = records[side];
    return whyNotToTheEnd(record) === undefined ? [] : [{ of, side, log: logWithEnding(record) }];
  });
}
