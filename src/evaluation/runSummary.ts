import type { RunRecord } from '../engine/engine';
import type { TestPlan } from '../engine/testCommand';

/** What a report keeps of a run. */
export interface RunSummary {
  readonly ending: string;
  readonly exit_code: number | null;
  readonly seconds: number;
  readonly runner: string;
  /** How the changed lines were counted: monitoring, bytecode or settrace. */
  readonly techniques: readonly string[];
  readonly problems: readonly string[];
  /** Bounded output. */
  readonly log: string;
}

export function summariseRun(plan: TestPlan, record: RunRecord): RunSummary {
  return {
    ending: record.ending,
    exit_code: record.exitCode ?? null,
    seconds: Math.round(record.seconds * 1000) / 1000,
    runner: plan.runner,
    techniques: record.trace.techniques,
    problems: record.trace.problems,
    log: record.log,
  };
}
