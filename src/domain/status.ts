/** What `validate` found: whether the golden tests make the instance sound. */
export type GoldenStatus =
  | { readonly kind: 'golden valid' }
  | { readonly kind: 'golden invalid'; readonly reason: string }
  /** Its tests could not run, for want of a source of R or because of the environment. */
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
