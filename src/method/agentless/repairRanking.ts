/** What a reproduction script says of a code base. */
export const reproductionAnswers = [
  'Issue reproduced',
  'Issue resolved',
  'Other issues',
  'none',
] as const;
export type ReproductionAnswer = (typeof reproductionAnswers)[number];

/** The place of a code patch among those of one instance, and why it has it. */
export interface RepairRanking {
  /** From 1, which is the chosen patch. */
  readonly rank: number;
  /** Samples whose patch is the same after normalising, this one included. */
  readonly votes: number;
  /** Regression tests that fail with the patch; absent where none ran. */
  readonly regressions?: readonly string[];
  /** What the chosen reproduction script says with the patch; absent where there is none. */
  readonly reproduction?: ReproductionAnswer;
}
