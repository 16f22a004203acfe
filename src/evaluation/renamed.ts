import { fileOf } from '../domain/outcome';
import type { RunRecord } from '../engine/engine';
import type { SetRun } from './evidence';

/**
 * A run of T^R as if the files that a candidate renames had their new names already, so that a test is
 * one and the same before and after. The log stays as it was.
 *
 * @param renamed new path by old path
 */
export function withNewPaths(run: SetRun, renamed: ReadonlyMap<string, string>): SetRun {
  if (renamed.size === 0) return run;
  const move = (id: string): string => {
    const file = fileOf(id);
    return `${renamed.get(file) ?? file}${id.slice(file.length)}`;
  };
  const inRecord = (record: RunRecord): RunRecord => ({
    ...record,
    trace: {
      ...record.trace,
      outcomes: record.trace.outcomes.map((each) => ({ ...each, test: move(each.test) })),
      collected: record.trace.collected.map(move),
      counts: record.trace.counts.map((each) => ({
        ...each,
        byTest: new Map([...each.byTest].map(([id, count]) => [move(id), count])),
      })),
      unfinished: record.trace.unfinished.map((each) => ({
        ...each,
        lastTest: each.lastTest === null ? null : move(each.lastTest),
      })),
    },
  });
  const { plan, records } = run;
  return {
    ...run,
    plan: { ...plan, files: plan.files.map(move) },
    records: records && { base: inRecord(records.base), fixed: inRecord(records.fixed) },
  };
}
