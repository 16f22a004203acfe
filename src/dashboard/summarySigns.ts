import { shareTitles, deltaTitles, deltaKeys, shareKeys } from '../study/summary';
import { number } from '../study/numbers';

/** What the share of a column counts. */
export const shareWords: Readonly<Record<(typeof shareKeys)[number], string>> = {
  wellFormed: 'the candidate applies to R',
  success: 'at least one F→P and no ×→F',
  failToAny: 'a test of the candidate fails on R',
  failToPass: 'a test of the candidate goes from failing to passing',
  passToPass: 'a test of the candidate passes on both sides',
};

/** What the mean of a column is taken over. */
export const deltaWords: Readonly<Record<(typeof deltaKeys)[number], string>> = {
  deltaAll: 'mean change coverage over all instances where it is defined',
  deltaSuccess: 'mean change coverage over successful instances',
  deltaFailure: 'mean change coverage over the other instances',
};

/** A sign of the summary, and what it stands for. */
export type Sign = readonly [sign: string, meaning: string];

/**
 * The signs of the summary in the order of its columns. On paper, and for a reader who is sent the
 * page, nothing else explains them.
 */
export const summarySigns: readonly Sign[] = [
  ['R', 'the repository before the fix'],
  ['F, P, ×', 'a test fails, passes, or either; before the arrow on R, after it with the fix'],
  ...shareKeys.map((key): Sign => [shareTitles[key], shareWords[key]]),
  ...deltaKeys.map((key): Sign => [deltaTitles[key], deltaWords[key]]),
  ['resolved', 'success by the reference harness'],
];

/** The signs of the columns that compare methods. */
export const comparisonSigns: readonly Sign[] = [
  ['S differs, ΔC differs', 'from the baseline, over the instances that both were evaluated on'],
];

/**
 * What the figures of the summary are shares of.
 *
 * @param kept how many instances the filter keeps; undefined without a filter
 */
export function summaryCaption(kept: number | undefined): string {
  if (kept === 0) return 'The filter keeps no instance';
  const of =
    kept === undefined
      ? 'all selected instances'
      : kept === 1
        ? 'the 1 instance that the filter keeps'
        : `the ${number(kept)} instances that the filter keeps`;
  return `In percent of ${of}, with 95 % bootstrap intervals over the instances`;
}
