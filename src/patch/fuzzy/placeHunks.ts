import { atOnce, type Stepwise } from '../../domain/work';
import { leastFirm, leastFit, margin, oldSide, wholeAlignment, type OldLine } from './alignment';
import { StepBudget } from '../reading/stepBudget';
import { alignedPlaces, exactPlaces } from './exactPlaces';
import { askedPlaces, placeAt, placeWithoutContext, type Placing } from './placeAt';
import type { TreeLines } from './treeLines';
import { nothingFits, refuse, tooLittle, tooRepetitive } from './refusal';
import { choosePlace, type Open } from './choosePlace';
import { straightPlace } from './straightPlace';
import { statedStart, type Hunk } from '../unified/hunk';

/** The least weight of a hunk that may move away from its line number. */
const leastMoved = 0.6;

/**
 * Finds the places of a file's hunks if neither their line numbers nor their context can be
 * trusted.
 *
 * What fits: first come the places, anywhere, at which the tree has the old side as it is. If there
 * is none, the old side is aligned with the tree (alignment.ts). The alignment ignores white space.
 * Context lines may be reworded, absent or left out; removed lines may not.
 *
 * How well: `fit` is the weight of the agreements less the costs, as a share of the whole. A place
 * is accepted if `fit` is at least {@link leastFit}, and lines of the weight {@link leastFirm}
 * agree except for white space.
 *
 * Which one: places within {@link margin} of the best compete. An exact place at the line number
 * wins. Otherwise these places are excluded in this order, as long as one remains:
 *
 * 1. Places outside the function or class that the header names.
 * 2. Places out of order with the certain hunks.
 * 3. Places farther from the line number than {@link clearlyNearer} allows, after a shift by the
 *    offset of the certain hunk next to it.
 *
 * If several remain, the hunk has no place.
 *
 * @param budget limit on comparisons; callers that place hunks one by one share it for a file
 * @returns for each hunk its place, or the reason why it has none
 */
export const placeHunks = (
  hunks: readonly Hunk[],
  tree: TreeLines,
  budget = new StepBudget(),
): Placing[] => atOnce(placingSteps(hunks, tree, budget));

/** Like {@link placeHunks}; a step is a hunk, or a place that it may have. */
export function* placingSteps(
  hunks: readonly Hunk[],
  tree: TreeLines,
  budget = new StepBudget(),
): Stepwise<Placing[]> {
  // The offset of the last placed hunk from its number, which the next one often has too.
  let shift = 0;
  const result: (Placing | undefined)[] = hunks.map(() => undefined);
  const open = new Map<number, Open>();
  for (const [i, hunk] of hunks.entries()) {
    yield;
    const old = oldSide(hunk, tree);
    if (old.length === 0) {
      result[i] = placeWithoutContext(hunk, tree);
      continue;
    }
    const stated = statedStart(hunk);
    const asked = askedPlaces(hunk);
    const expected = stated === undefined ? [] : [stated, stated + shift];
    const straight = straightPlace(old, tree, expected, asked);
    if (straight !== undefined && straight.fit >= leastFit) {
      if (stated !== undefined) shift = straight.start - stated;
      result[i] = placeAt(hunk, old, straight, tree);
      continue;
    }
    const whole = exactPlaces(old, tree, stated, budget);
    const candidates =
      whole.length > 0
        ? whole.map((start) => wholeAlignment(old, start))
        : yield* alignedPlaces(old, tree, stated === undefined ? [] : [stated], asked, budget);
    const best = candidates[0];
    if (budget.isSpent && !(whole.length > 0 && best?.start === stated)) {
      result[i] = tooRepetitive(candidates);
      continue;
    }
    if (best === undefined || best.fit < leastFit || best.firm < Math.min(leastFirm, total(old))) {
      result[i] = refuse(hunk, old, candidates, tree);
      continue;
    }
    if (best.start !== stated && total(old) < leastMoved) {
      result[i] = tooLittle(candidates);
      continue;
    }
    const rivals = candidates.filter((c) => c.fit >= leastFit && c.score > best.score - margin);
    if (rivals.length === 1) result[i] = placeAt(hunk, old, best, tree);
    else open.set(i, { hunk, old, candidates: rivals });
  }
  choosePlace(hunks, result, open, tree);
  return result.map((placing) => placing ?? { ...nothingFits, candidates: [] });
}

function total(old: readonly OldLine[]): number {
  return old.reduce((sum, line) => sum + line.weight, 0);
}
