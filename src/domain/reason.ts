/** Limits on a run. A run that exceeds one is stopped. */
export const limits = [
  'timed out',
  'too many processes',
  'too much output',
  'out of memory',
  'disk full',
] as const;
export type Limit = (typeof limits)[number];

export const isLimit = (word: string): word is Limit =>
  (limits as readonly string[]).includes(word);

/** Why there is no grade at all. `no report`: a published run has none of the candidate. */
export const notEvaluatedReasons = [
  'no prediction',
  'source not available',
  'environment failed',
  'instance cannot be used',
  'internal error',
  'no report',
] as const;
export type NotEvaluatedReason = (typeof notEvaluatedReasons)[number];

/** A published run says that the candidate is no success, and not why. */
export const unresolved = 'not resolved';

/**
 * The one reason that every entry has: how it was graded, or why it was not. Tables show them in
 * this order.
 */
export const entryReasons = [
  'success',
  'no candidate',
  'does not apply',
  'edits outside tests',
  'no test found',
  'syntax error',
  'passes on R',
  'fails on both sides',
  'unrelated failure',
  'breaks a test',
  'no test ran',
  'could not run',
  ...limits,
  'unsound',
  unresolved,
  ...notEvaluatedReasons,
] as const;
export type EntryReason = (typeof entryReasons)[number];

/**
 * Why a candidate is, or is not, a success under strict grading. The other reasons come only from
 * batches and published runs.
 */
export type VerdictReason = Exclude<
  EntryReason,
  NotEvaluatedReason | 'edits outside tests' | typeof unresolved
>;

const ofBatches: readonly EntryReason[] = [
  'edits outside tests',
  unresolved,
  ...notEvaluatedReasons,
];

export const verdictReasons = entryReasons.filter(
  (reason): reason is VerdictReason => !ofBatches.includes(reason),
);
