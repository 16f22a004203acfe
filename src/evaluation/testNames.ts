import { matchChangedNames } from '../domain/transition';
import type { RunRecord } from '../engine/engine';

/** A record in which each test has another name. The log stays as the runner wrote it. */
export function withTestNames(record: RunRecord, nameOf: (id: string) => string): RunRecord {
  const { trace } = record;
  const { mostPrinted } = trace;
  return {
    ...record,
    trace: {
      ...trace,
      outcomes: trace.outcomes.map((each) => ({ ...each, test: nameOf(each.test) })),
      collected: trace.collected.map(nameOf),
      counts: trace.counts.map((each) => ({
        ...each,
        byTest: new Map([...each.byTest].map(([id, count]) => [nameOf(id), count])),
      })),
      unfinished: trace.unfinished.map((each) => ({
        ...each,
        lastTest: each.lastTest === null ? null : nameOf(each.lastTest),
      })),
      ...(mostPrinted !== undefined && { mostPrinted: nameOf(mostPrinted) }),
    },
  };
}

/** The tests of runs, in the order in which a runner collected them, where it says so. */
const testsIn = (records: readonly RunRecord[]): Set<string> =>
  new Set(
    records.flatMap(({ trace }) => [
      ...trace.collected,
      ...trace.outcomes.map(({ test }) => test),
      ...trace.unfinished.flatMap(({ lastTest }) => lastTest ?? []),
    ]),
  );

/** The names in some runs of tests whose ids are others in further ones, by these ids. */
export const namesOfOtherRuns = (
  known: readonly RunRecord[],
  records: readonly RunRecord[],
): ReadonlyMap<string, string> => matchChangedNames(testsIn(known), testsIn(records));

/** A record with the names that its tests have in another run. */
export function withNamesOf(known: RunRecord, record: RunRecord): RunRecord {
  const names = namesOfOtherRuns([known], [record]);
  return names.size === 0 ? record : withTestNames(record, (id) => names.get(id) ?? id);
}
