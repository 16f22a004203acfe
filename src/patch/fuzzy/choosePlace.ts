import type { Alignment, OldLine } from './alignment';
import { isRefusal, placeAt, type HunkPlace, type Placing } from './placeAt';
import type { TreeLines } from './treeLines';
import { ambiguous } from './refusal';
import { statedStart, type Hunk } from '../unified/hunk';

/**
 * Whether the nearest place is so much nearer to the line number than the next one that the number
 * decides: people and models miscount by a few lines, and repeated code repeats after more.
 */
export function clearlyNearer(nearest: number, next: number): boolean {
  return nearest === 0 || (nearest <= 10 && next >= 4 * nearest && next - nearest >= 8);
}

/** A hunk that fits equally well at several places. */
export interface Open {
  readonly hunk: Hunk;
  readonly old: readonly OldLine[];
  readonly candidates: readonly Alignment[];
}

/** Chooses among equally good places by what the header and the other hunks say. */
export function choosePlace(
  hunks: readonly Hunk[],
  result: (Placing | undefined)[],
  open: ReadonlyMap<number, Open>,
  tree: TreeLines,
): void {
  if (open.size === 0) return;
  const sure = hunks.map((_, i): HunkPlace | undefined => {
    const placing = result[i];
    return placing === undefined || isRefusal(placing) ? undefined : placing;
  });
  const before = nearestSure(sure);
  const behind = nearestSure(sure.toReversed()).toReversed();
  const inOrder = isAscending(sure.flatMap((place) => place?.start ?? [])) && numbersAscend(hunks);
  for (const [i, { hunk, old, candidates }] of open) {
    let left = narrow(candidates, (c) => isInSection(hunk, c, tree));
    const [above, below] = [before[i], behind[i]];
    // The hunk itself is not sure, so that a distance of 0 finds none.
    const [earlier, later] = [sure[i - (above ?? 0)], sure[i + (below ?? 0)]];
    if (inOrder) {
      left = narrow(
        left,
        (c) =>
          (earlier === undefined || c.start > earlier.start) &&
          (later === undefined || c.start < later.start),
      );
    }
    const stated = statedStart(hunk);
    if (left.length > 1 && stated !== undefined) {
      const nearer =
        above !== undefined && (below === undefined || above <= below)
          ? i - above
          : i + (below ?? 0);
      const expected = stated + shiftOf(hunks[nearer], sure[nearer]);
      const distance = (c: Alignment): number => Math.abs(c.start - expected);
      left = [...left].sort((a, b) => distance(a) - distance(b));
      const [nearest, next] = left;
      if (
        nearest !== undefined &&
        next !== undefined &&
        clearlyNearer(distance(nearest), distance(next))
      ) {
        left = [nearest];
      }
    }
    const [only] = left;
    result[i] =
      left.length === 1 && only !== undefined
        ? placeAt(hunk, old, only, tree)
        : ambiguous(left.map((c) => c.start));
  }
}

/** For each hunk how many hunks before it the last sure one is; undefined if there is none. */
function nearestSure(sure: readonly (HunkPlace | undefined)[]): (number | undefined)[] {
  let last: number | undefined;
  return sure.map((place, i) => {
    const distance = last === undefined ? undefined : i - last;
    if (place !== undefined) last = i;
    return distance;
  });
}

/** How far a sure hunk is from its line number; 0 if that is not known. */
function shiftOf(hunk: Hunk | undefined, place: HunkPlace | undefined): number {
  const stated = hunk === undefined ? undefined : statedStart(hunk);
  return place === undefined || stated === undefined ? 0 : place.start - stated;
}

function narrow(
  candidates: readonly Alignment[],
  belongs: (candidate: Alignment) => boolean,
): readonly Alignment[] {
  if (candidates.length < 2) return candidates;
  const left = candidates.filter(belongs);
  return left.length > 0 ? left : candidates;
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((number, i) => i === 0 || (numbers[i - 1] ?? 0) <= number);
}

function numbersAscend(hunks: readonly Hunk[]): boolean {
  return isAscending(hunks.flatMap((hunk) => statedStart(hunk) ?? []));
}

/** Whether a place lies in the function or class that stands behind the header's second `@@`. */
function isInSection(hunk: Hunk, { start, pairs }: Alignment, tree: TreeLines): boolean {
  const section = hunk.section.trim();
  if (section === '') return true;
  const from = pairs.find((pair) => pair >= 0) ?? start;
  // Git cuts what it repeats off at 80 bytes.
  for (const text of tree.headingsOf(from)) if (text.trim().startsWith(section)) return true;
  return false;
}
