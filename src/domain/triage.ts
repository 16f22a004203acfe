/**
 * One person's judgement of an instance. The classification and its categories are those of the
 * Agentless paper, section 6.1.
 */
export interface TriageEntry {
  readonly tags: readonly string[];
  readonly note: string;
  readonly classification: Classification;
}

/** Category of each dimension; a dimension that was not judged is absent. */
export interface Classification {
  readonly description?: DescriptionQuality;
  readonly solution?: SolutionInDescription;
  readonly location?: LocationInformation;
}

type DescriptionQuality = keyof typeof descriptionQualities;
type SolutionInDescription = keyof typeof solutionsInDescription;
/** Where to edit, judged at three granularities. */
export interface LocationInformation {
  readonly line?: LocationGiven;
  readonly function?: LocationGiven;
  readonly file?: LocationGiven;
}
type LocationGiven = keyof typeof locationsGiven;

/** Whether the issue says enough to do the task. */
export const descriptionQualities = {
  'natural-language': 'enough information in natural language',
  reproducible: 'reproducible failure example',
  'partially-reproducible': 'partially reproducible example',
  insufficient: 'not enough information',
} as const;

/** Whether the issue reveals the solution. */
export const solutionsInDescription = {
  none: 'no solution or steps provided',
  partial: 'partial solution provided',
  complete: 'complete solution provided',
  'exact-patch': 'exact patch provided',
  misleading: 'misleading solution or steps',
} as const;

/** How the issue describes where to edit. */
export const locationsGiven = {
  'natural-language': 'exact location in natural language',
  'stack-trace': 'exact location in a failure stack trace',
  keywords: 'related keywords to search for',
  none: 'not provided',
} as const;

/**
 * Whether an instance belongs to SWE-bench Lite-S (section 6.2 of the paper). Its issue does not
 * contain the exact patch, does not mislead, and says enough.
 */
export function isLiteS({ classification }: TriageEntry): boolean {
  const { description, solution } = classification;
  return description !== 'insufficient' && solution !== 'exact-patch' && solution !== 'misleading';
}
