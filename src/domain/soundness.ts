import type { Outcome, Side, Transition } from './outcome';

/** Why an instance is unsound. */
export const unsoundKinds = [
  'golden patch does not apply',
  'golden fails after the fix',
  'no F→P',
  'flaky',
  'timed out',
] as const;
type UnsoundKind = (typeof unsoundKinds)[number];

/** Why an instance could not be validated here. It says nothing about its soundness. */
export const unvalidatedKinds = ['source not available', 'environment failed'] as const;
type UnvalidatedKind = (typeof unvalidatedKinds)[number];

export interface UnsoundReason {
  readonly kind: UnsoundKind | UnvalidatedKind;
  /** One sentence for the user. */
  readonly explanation: string;
  /** The tests concerned; empty when the reason concerns the whole instance. */
  readonly tests: readonly string[];
}

/** A test whose outcome differs between repetitions. */
export interface FlakyTest {
  readonly test: string;
  readonly tests: 'golden' | 'base';
  readonly side: Side;
  /** In the order of the repetitions. */
  readonly outcomes: readonly Outcome[];
}

/**
 * How FAIL_TO_PASS of the row differs from the runs. Names are those of the row, as the reference
 * harness reads them from a log.
 */
export interface ListDisagreement {
  /** In FAIL_TO_PASS, but not seen to go from failing to passing. */
  readonly listedOnly: readonly string[];
  /** Seen to go from failing to passing, but not in FAIL_TO_PASS. */
  readonly seenOnly: readonly string[];
}

/** The stored result of `validate` for an instance; see {@link soundnessOf}. */
export interface Validation {
  readonly id: string;
  readonly reasons: readonly UnsoundReason[];
  readonly repetitions: number;
  /** ISO 8601. */
  readonly date: string;
  readonly engine: string;
  /** Such as `CPython 3.11.7`. */
  readonly environment: string;
  /** How R was made, in words, when it is not the base commit itself. */
  readonly source?: string;
  readonly flaky: readonly FlakyTest[];
  /** Tests by transition in the first repetition, of T* and of T^R in the files of T*. */
  readonly golden: Readonly<Partial<Record<Transition, number>>>;
  readonly base: Readonly<Partial<Record<Transition, number>>>;
  /** Of `golden`, the tests that T* adds; absent in results of older versions. */
  readonly goldenAdded?: Readonly<Partial<Record<Transition, number>>>;
  /** Numbers of tests that T* adds and removes. */
  readonly added: number;
  readonly removed: number;
  /** Share of the executable changed lines that T^R runs, 0 to 1; undefined when none is executable. */
  readonly baseCoverage?: number;
  /** Tests that go F→P under T* in every repetition, as strict grading counts them. */
  readonly failToPass?: readonly string[];
  /**
   * How FAIL_TO_PASS of the row differs from what was seen. Absent when they agree, the row has no
   * list, or no test ran. It is no reason on its own, since rows were made on other machines.
   */
  readonly disagreement?: ListDisagreement;
  /** Further facts for the reader, such as how a damaged golden patch was applied. */
  readonly remarks?: readonly string[];
  /** Seconds of all repetitions together. */
  readonly seconds: number;
}

/** What a validation says of its instance. */
export type Soundness = 'sound' | 'not sound' | 'not validated';

/**
 * An instance without reasons is sound. One whose R could not be had, or whose tests cannot run in
 * this environment, is not validated.
 */
export function soundnessOf({ reasons }: Pick<Validation, 'reasons'>): Soundness {
  if (reasons.length === 0) return 'sound';
  return reasons.some(({ kind }) => isUnvalidated(kind)) ? 'not validated' : 'not sound';
}

/** Whether an instance was not validated for this reason. */
export const isUnvalidated = (kind: UnsoundKind | UnvalidatedKind): kind is UnvalidatedKind =>
  unvalidatedKinds.some((each) => each === kind);

/** What `validate` found: whether the golden tests make the instance sound. */
export type GoldenStatus =
  | { readonly kind: 'golden valid' }
  | { readonly kind: 'golden invalid'; readonly reason: string }
  /** Its tests could not run, for lack of a source of R or because of the environment. */
  | { readonly kind: 'not validated'; readonly reason: string };

/** The last graded candidate: whether it succeeded, and its reason in the words of strict grading. */
export interface CandidateStatus {
  readonly kind: 'candidate';
  readonly success: boolean;
  readonly reason: string;
}

/**
 * The progress of an instance, as lists show it. The kind is that of the later of validation and
 * verdict. The earlier one stays with it, since a candidate does not make an instance less sound.
 */
export type InstanceStatus =
  | { readonly kind: 'not opened' }
  /** Its trees exist. */
  | { readonly kind: 'opened' }
  | (GoldenStatus & { readonly candidate?: CandidateStatus })
  | (CandidateStatus & { readonly golden?: GoldenStatus });

/** What is known of the soundness of an instance; undefined if it was never validated. */
export function goldenOf(status: InstanceStatus): GoldenStatus | undefined {
  if (status.kind === 'candidate') return status.golden;
  return isGolden(status) ? status : undefined;
}

/** What is known of the last candidate; undefined if none was graded. */
export function candidateOf(status: InstanceStatus): CandidateStatus | undefined {
  if (status.kind === 'candidate') return status;
  return isGolden(status) ? status.candidate : undefined;
}

const isGolden = (
  status: InstanceStatus,
): status is GoldenStatus & { readonly candidate?: CandidateStatus } =>
  status.kind === 'golden valid' ||
  status.kind === 'golden invalid' ||
  status.kind === 'not validated';

/** The values of `status:` in a filter, each with a test for the statuses that it keeps. */
export const statusWords = {
  'not-opened': (status: InstanceStatus) => status.kind === 'not opened',
  opened: (status: InstanceStatus) => status.kind === 'opened',
  valid: (status: InstanceStatus) => goldenOf(status)?.kind === 'golden valid',
  invalid: (status: InstanceStatus) => goldenOf(status)?.kind === 'golden invalid',
  'not-validated': (status: InstanceStatus) => goldenOf(status)?.kind === 'not validated',
  candidate: (status: InstanceStatus) => candidateOf(status) !== undefined,
  success: (status: InstanceStatus) => candidateOf(status)?.success === true,
  failure: (status: InstanceStatus) => candidateOf(status)?.success === false,
} as const;

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
