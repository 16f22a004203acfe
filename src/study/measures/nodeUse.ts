import type { MadeOnNodes, NodeSeconds } from '../entry';
import type { StudyReport } from '../studyReportSchema';

/** A run as far as nodes are concerned. */
interface RunOnNodes {
  readonly label: string;
  readonly nodeSeconds?: NodeSeconds;
  readonly made?: readonly MadeOnNodes[];
}

/** What the runs of a study used, and the making of what they grade, each once. */
export function nodeUses({
  runs,
  repairRuns = [],
}: {
  readonly runs: readonly RunOnNodes[];
  readonly repairRuns?: readonly RunOnNodes[];
}): NonNullable<StudyReport['nodes']>[number][] {
  const graded = [
    ...runs.map((run) => ({ ...run, purpose: 'tests' as const })),
    ...repairRuns.map((run) => ({ ...run, purpose: 'code patches' as const })),
  ];
  // Several runs may grade one file.
  const made = new Map(
    graded.flatMap(({ made = [] }) => made.map(({ from, seconds }) => [from, seconds] as const)),
  );
  return [
    ...[...made].map(([name, seconds]) => ({ purpose: 'predictions' as const, name, seconds })),
    ...graded.flatMap(({ purpose, label: name, nodeSeconds: seconds }) =>
      seconds === undefined ? [] : [{ purpose, name, seconds }],
    ),
  ];
}
