/** How far the work on an instance is, as lists show it. */
export type InstanceStatus =
  | { readonly kind: 'not opened' }
  /** Its trees are made. */
  | { readonly kind: 'environment ready' }
  /** `validate` found it sound. */
  | { readonly kind: 'golden valid' }
  | { readonly kind: 'golden invalid'; readonly reason: string }
  /** A candidate was graded since: its success, or the reason in the words of strict grading. */
  | { readonly kind: 'candidate'; readonly success: boolean; readonly reason: string };

/** The words that `status:` of a filter takes, each with the statuses that it keeps. */
export const statusWords = {
  'not-opened': (status: InstanceStatus) => status.kind === 'not opened',
  ready: (status: InstanceStatus) => status.kind === 'environment ready',
  valid: (status: InstanceStatus) => status.kind === 'golden valid',
  invalid: (status: InstanceStatus) => status.kind === 'golden invalid',
  candidate: (status: InstanceStatus) => status.kind === 'candidate',
  success: (status: InstanceStatus) => status.kind === 'candidate' && status.success,
  failure: (status: InstanceStatus) => status.kind === 'candidate' && !status.success,
} as const;
