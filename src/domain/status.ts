/** The progress of an instance, as lists show it. */
export type InstanceStatus =
  | { readonly kind: 'not opened' }
  /** Its trees exist. */
  | { readonly kind: 'environment ready' }
  /** `validate` found it sound. */
  | { readonly kind: 'golden valid' }
  | { readonly kind: 'golden invalid'; readonly reason: string }
  /**
   * A candidate was graded since: whether it succeeded, and its reason in the words of strict
   * grading.
   */
  | { readonly kind: 'candidate'; readonly success: boolean; readonly reason: string };

/** The values of `status:` in a filter, each with a test for the statuses that it keeps. */
export const statusWords = {
  'not-opened': (status: InstanceStatus) => status.kind === 'not opened',
  ready: (status: InstanceStatus) => status.kind === 'environment ready',
  valid: (status: InstanceStatus) => status.kind === 'golden valid',
  invalid: (status: InstanceStatus) => status.kind === 'golden invalid',
  candidate: (status: InstanceStatus) => status.kind === 'candidate',
  success: (status: InstanceStatus) => status.kind === 'candidate' && status.success,
  failure: (status: InstanceStatus) => status.kind === 'candidate' && !status.success,
} as const;
