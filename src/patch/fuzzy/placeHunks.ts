import { atOnce, type Stepwise } from '../../domain/turns';
import { leastFirm, leastFit, margin, oldSide, wholeAlignment, type OldLine } from './alignment';
import { alignedPlaces, StepBudget, exactPlaces } from './exactPlaces';
import { askedPlaces, placeAt, placeWithoutContext, type Placing } from './placeAt';
import type { TreeLines } from './treeLines';
import { nothingFits, refuse, tooLittle, tooRepetitive } from './refusal';
import { choosePlace, type Open } from './choosePlace';
import { straightPlace } from './straightPlace';
import { statedStart, type Hunk } from '../unified/hunk';

export { isRefusal, type HunkPlace, type Placing } from './placeAt';
export { lineList, type Refusal } from './refusal';

/** The weight of the lines with which a hunk is looked for elsewhere than at its line number. */
const leastMoved = 0.6;

/**
 * Where the hunks of a file go when neither their line numbers nor their context can be trusted.
 *
 * **What fits.** First the places where the old side stands as it is, wherever that is. If there is none,
 * the old side is aligned with the tree (alignment.ts): white space is ignored, context lines may be
 * reworded, absent or left out; removed lines may not.
 *
 * **How well.** A place is taken when `fit`, the weight of what agrees less what does not as a share of
 * the whole, is at least {@link leastFit}, and lines of the weight {@link leastFirm} agree in all but
 * white space.
 *
 * **Which one.** Places within {@link margin} of the best compete. One that agrees as it is with the
 * line number is taken. Else what does not belong is struck out in this order, as long as something is left:
 * places outside the function or class that the header names; places out of order with the hunks that are sure;
 * places farther from the line number than {@link clearlyNearer} allows, where the number is
 * moved by as much as the sure hunk next to it was. If several are left, none is taken.
 *
 * @param budget what may be spent on comparing; shared by who places hunk after hunk in one file
 * @returns for each hunk its place or why it has none
 */
export const placeHunks = (
  hunks: readonly Hunk[],
  tree: TreeLines,
  budget = new StepBudget(),
): Placing[] => atOnce(placingSteps(hunks, tree, budget));

/** As {@link placeHunks}, a hunk, or a place where it may go, at a step. */
export function* placingSteps(
  hunks: readonly Hunk[],
  tree: TreeLines,
  budget = new StepBudget(),
): Stepwise<Placing[]> {
  // How far the last hunk whose place was found was from its number: the next one often is as well.
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
