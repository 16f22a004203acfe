import type { Alignment, OldLine } from './alignment';
import { isRefusal, placeAt, type HunkPlace, type Placing } from './placeAt';
import type { TreeLines } from './treeLines';
import { ambiguous } from './refusal';
import { statedStart, type Hunk } from '../unified/hunk';

/**
 * Whether the line number decides for the nearest place, since the next one is much farther away.
 * People and models miscount by a few lines, and repeated code recurs at larger distances.
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

/** Chooses among equally good places by the header and the other hunks. */
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
    // The hunk itself has no certain place, so a distance of 0 finds none.
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

/** For each hunk the distance to the last certain hunk before it; undefined if there is none. */
function nearestSure(sure: readonly (HunkPlace | undefined)[]): (number | undefined)[] {
  let last: number | undefined;
  return sure.map((place, i) => {
    const distance = last === undefined ? undefined : i - last;
    if (place !== undefined) last = i;
    return distance;
  });
}

/** How far a certain hunk is from its line number; 0 if unknown. */
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

/** Whether a place is in the function or class named after the header's second `@@`. */
function isInSection(hunk: Hunk, { start, pairs }: Alignment, tree: TreeLines): boolean {
  const section = hunk.section.trim();
  if (section === '') return true;
  const from = pairs.find((pair) => pair >= 0) ?? start;
  // Git cuts this text off at 80 bytes.
  for (const text of tree.headingsOf(from)) if (text.trim().startsWith(section)) return true;
  return false;
}
