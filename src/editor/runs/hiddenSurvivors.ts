import type { RunData, RunEntry } from '../../study/entry';

/** Says which instances are revealed. */
interface RevealedInstances {
  has(id: string): boolean;
}

/** The entry without code of X* in its surviving mutants, unless its instance is revealed. */
export function withoutHidden(entry: RunEntry, revealed: RevealedInstances): RunEntry {
  if (entry.survivors === undefined || revealed.has(entry.instance)) return entry;
  const { survivors: _survivors, ...rest } = entry;
  return rest;
}

/** Runs whose entries have code of X* only for revealed instances. */
export const withoutHiddenSurvivors = (
  runs: readonly RunData[],
  revealed: RevealedInstances,
): readonly RunData[] =>
  runs.map((run) => ({
    ...run,
    entries: run.entries.map((entry) => withoutHidden(entry, revealed)),
  }));
