/** Seconds that sandboxes ran, by node of a cluster. */
export type NodeSeconds = Readonly<Record<string, number>>;

/** What nodes of a cluster were used for. */
export const nodePurposes = ['tests', 'code patches', 'predictions'] as const;

/** What one piece of work used of the nodes of a cluster. */
export interface NodeUse {
  readonly purpose: (typeof nodePurposes)[number];
  /** The label of the run, or the predictions file as it was named. */
  readonly name: string;
  readonly seconds: NodeSeconds;
}

/** What the making of a predictions file used of the nodes of a cluster. */
export interface MadeOnNodes {
  /** The file, as it was named for the run. */
  readonly from: string;
  readonly seconds: NodeSeconds;
}

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
}): NodeUse[] {
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
