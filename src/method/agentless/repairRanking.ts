import type { ReproductionAnswer } from '../../domain/ranking';

/** The place of a code patch among those of one instance, and why it has it. */
export interface RepairRanking {
  /** From 1, which is the chosen patch. */
  readonly rank: number;
  /** Samples whose patch is the same after normalising, this one included. */
  readonly votes: number;
  /** The earliest of these samples; absent of a method with one sample. */
  readonly group?: number;
  /** Regression tests that fail with the patch; absent where none ran. */
  readonly regressions?: readonly string[];
  /** What the chosen reproduction script says with the patch; absent where there is none. */
  readonly reproduction?: ReproductionAnswer;
}
