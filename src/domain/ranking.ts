/** What a reproduction script says of a code base. */
export const reproductionAnswers = [
  'Issue reproduced',
  'Issue resolved',
  'Other issues',
  'none',
] as const;
export type ReproductionAnswer = (typeof reproductionAnswers)[number];

/** What decides on the place of a code patch among those of its instance. */
interface PatchEvidence {
  /** Number of the sample, from 1. */
  readonly sample: number;
  /** Equal for patches that are the same after normalising. */
  readonly same: string | number;
  /** Regression tests that fail with the patch; undefined where none count. */
  readonly regressions?: number | undefined;
  /** What the reproduction script says with the patch; undefined where none counts. */
  readonly reproduction?: ReproductionAnswer | undefined;
}

interface PatchPlace {
  /** From 1, which is the chosen patch. */
  readonly rank: number;
  /** Samples whose patch is the same, this one included. */
  readonly votes: number;
  /** The earliest of these samples. */
  readonly group: number;
}

/**
 * The places of code patches, in the order given: the fewest regression tests that fail, then a
 * script that says `Issue resolved`, then the most samples of the same patch, then the earlier
 * sample. Nothing of the answer decides.
 */
export function rankPatches(patches: readonly PatchEvidence[]): PatchPlace[] {
  const groups = new Map<string | number, { votes: number; first: number }>();
  for (const { same, sample } of patches) {
    const { votes, first } = groups.get(same) ?? { votes: 0, first: sample };
    groups.set(same, { votes: votes + 1, first: Math.min(first, sample) });
  }
  const orders = patches.map(
    ({ same, regressions = 0, reproduction, sample }): readonly number[] => {
      const { votes = 0, first = 0 } = groups.get(same) ?? {};
      return [regressions, reproduction === 'Issue resolved' ? 0 : 1, -votes, first, sample];
    },
  );
  const byOrder = [...patches.keys()].sort((one, other) =>
    compare(orders[one] ?? [], orders[other] ?? []),
  );
  const ranks = new Map(byOrder.map((at, place) => [at, place + 1]));
  return patches.map(({ same }, at) => ({
    rank: ranks.get(at) ?? 0,
    votes: groups.get(same)?.votes ?? 0,
    group: groups.get(same)?.first ?? 0,
  }));
}

/** Compares number by number. */
function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

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
