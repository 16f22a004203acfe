/** Signs that a candidate got its verdict without running the code under test. */
export const findingKinds = [
  /** Tests go F→P, and none of them executed a changed line. */
  'no changed line ran',
  /** The tests open sources, call git or inspect code and versions, instead of running the code. */
  'reads instead of runs',
  /** Records of the run contradict each other; the verdict is `unsound`. */
  'records do not fit',
  /** The candidate edits conftest.py, sitecustomize, a runner's configuration or a plug-in. */
  'edits what runs tests',
] as const;
export type FindingKind = (typeof findingKinds)[number];

/** One sentence for each kind, as a person reads it. The kind itself is its short label. */
export const findingSentences: Readonly<Record<FindingKind, string>> = {
  'no changed line ran': 'No F→P test ran a changed line.',
  'reads instead of runs':
    'The tests read the sources or the repository, or inspect code, versions or the process, instead of running the code.',
  'records do not fit': 'The records of the run contradict each other.',
  'edits what runs tests': 'The candidate edits what runs tests.',
};

/** Something suspicious that a person should judge. It does not change the verdict. */
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
