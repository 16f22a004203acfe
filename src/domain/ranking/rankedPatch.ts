import type { ReproductionAnswer } from './rankPatches';

/** The place of a sample among those of an instance. All numbers are from 1. */
export interface Draw {
  /** The set of edit locations that the sample was asked with. */
  readonly set: number;
  readonly sets: number;
  /** Its number among the samples of the set. */
  readonly round: number;
  readonly rounds: number;
}

/** What a ranked code patch was ranked by, as its prediction says. */
export interface RankedPatch {
  /** Number of the sample, from 1. */
  readonly sample: number;
  readonly draw: Draw;
  /** The earliest sample whose patch is the same after normalising. */
  readonly group: number;
  /** Regression tests that fail with it; absent where none ran. */
  readonly regressions?: number;
  /** What the chosen reproduction script says with it; absent where there is none. */
  readonly reproduction?: ReproductionAnswer;
}

/**
 * The place of a sample when the samples of all sets are drawn in turns, as figure 6 of the
 * Agentless paper counts them; from 1.
 */
export const placeOfDraw = ({ set, sets, round }: Draw): number => (round - 1) * sets + set;
