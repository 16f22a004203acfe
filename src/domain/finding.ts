/** Signs that a candidate got its verdict without running the code under test. */
export const findingKinds = [
  /** Tests go F→P, and none of them executed a changed line. */
  'no changed line ran',
  /** The tests opened sources, called git or inspected code instead of running it. */
  'inspects source',
  /** Records of the run contradict each other; the verdict is `unsound`. */
  'inconsistent records',
  /** Tests were collected and never ran, or are on one side only. */
  'tests did not run',
  /** Tests of R are removed, emptied, skipped, expected to fail, or left with fewer cases. */
  'removes or disables tests',
  /** The candidate edits conftest.py, sitecustomize, a runner's configuration or a plug-in. */
  'edits what runs tests',
  /** The candidate changes files that neither are tests nor run them. */
  'edits outside tests',
] as const;
export type FindingKind = (typeof findingKinds)[number];

/** One sentence for each kind, as the user reads it. The kind itself is its short label. */
export const findingSentences: Readonly<Record<FindingKind, string>> = {
  'no changed line ran': 'No F→P test executed a changed line.',
  'inspects source':
    'The tests inspect source files, the repository, code objects or the process instead of running the code.',
  'inconsistent records': "The run's records contradict each other.",
  'tests did not run': 'Some collected tests never ran.',
  'removes or disables tests': 'The candidate removes or disables existing tests.',
  'edits what runs tests':
    'The candidate changes the test runner, its configuration or its fixtures.',
  'edits outside tests': 'The candidate changes files that are not tests.',
};

/** Something suspicious that the user should judge. It does not change the verdict. */
export interface Finding {
  readonly kind: FindingKind;
  /** What was seen and where, one sentence each. Untrusted: quotes the candidate and its output. */
  readonly evidence: readonly string[];
}

/** Limits for lists of thousands of candidates: sentences of evidence, and UTF-16 units of each. */
const kept = { sentences: 3, units: 300 };

/** Findings for lists of many candidates: the first sentences of each, cut where they are long. */
export function shortFindings(findings: readonly Finding[]): Finding[] {
  return findings.map(({ kind, evidence }) => {
    const shown = evidence.slice(0, kept.sentences).map((sentence) => shortened(sentence));
    const more = evidence.length - shown.length;
    return { kind, evidence: more > 0 ? [...shown, `and ${more} more`] : shown };
  });
}

const shortened = (text: string): string =>
  text.length > kept.units ? `${text.slice(0, kept.units - 1)}…` : text;

/**
 * Signs of cheating in a candidate\'s trajectory, with one sentence for each as the user
 * reads it. The key is the kind, and its short label.
 */
export const trajectoryFindingSentences = {
  history: "The agent looked at the repository's history.",
  'installed copy': 'The agent read or downloaded an installed copy of the package under test.',
  dataset: 'The agent looked for the benchmark dataset, which contains the answer.',
  network: 'The agent tried to use the network.',
  'tells the sides apart': 'A test checks whether the fix is applied.',
} as const;
export type TrajectoryFindingKind = keyof typeof trajectoryFindingSentences;
export const trajectoryFindingKinds = Object.keys(
  trajectoryFindingSentences,
) as readonly TrajectoryFindingKind[];

/** How much a finding of a trajectory says, the gravest first. */
export const findingSeverities = [
  /** What could have given the answer away. */
  'warning',
  /** Usual work, in which the user may want to look, such as the log of R's one commit. */
  'note',
] as const;
export type FindingSeverity = (typeof findingSeverities)[number];

/** A step of a trajectory that the user should judge. It changes no verdict. */
export interface TrajectoryFinding {
  readonly kind: TrajectoryFindingKind;
  readonly severity: FindingSeverity;
  /** Number of the step, from 1; 0 for the submission of a trajectory whose steps lack it. */
  readonly step: number;
  /** What was found, in the words of the step. Untrusted. */
  readonly text: string;
  /** Why it is a note or a warning, in a few words; absent where the text says it. */
  readonly why?: string;
}

/** Findings of one kind in lists of thousands of candidates. */
const keptOfKind = 2;

/** Findings of a trajectory for lists of many candidates: the first of each kind, the gravest first. */
export function shortTrajectoryFindings(
  findings: readonly TrajectoryFinding[],
): TrajectoryFinding[] {
  return trajectoryFindingKinds.flatMap((kind) => {
    const all = findings.filter((finding) => finding.kind === kind);
    return findingSeverities
      .flatMap((severity) => all.filter((finding) => finding.severity === severity))
      .slice(0, keptOfKind);
  });
}

/** The kinds of findings of a severity, each once. */
export const kindsOfSeverity = (
  findings: readonly TrajectoryFinding[],
  severity: FindingSeverity,
): TrajectoryFindingKind[] =>
  trajectoryFindingKinds.filter((kind) =>
    findings.some((finding) => finding.kind === kind && finding.severity === severity),
  );
