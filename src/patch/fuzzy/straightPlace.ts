import {
  likeness,
  reworded,
  spaced,
  wholeAlignment,
  type Alignment,
  type OldLine,
} from './alignment';
import { sameButSpace, squeeze, type TreeLines } from './treeLines';

/** The weight of lines that stand nowhere else in the file with which nothing else can be meant. */
const leastPinned = 2;

/** How far around a removed line another one may stand that could be meant as well. */
const around = 12;

/**
 * The place of an old side of which each line is one line of the tree in the same order, if lines that
 * stand nowhere else leave no doubt about it. Most hunks with wrong numbers or context are such. The
 * search finds the same place, but may leave open where added lines go next to reworded ones.
 *
 * An old side that stands there as it is needs one such line. Where lines differ, those that do not have
 * to weigh twice as much and hold such lines of the weight {@link leastPinned}; the ones that differ must
 * stand nowhere in the file, be alike, and lie where they cannot move: neither the edge of added lines nor a
 * removed line is left open.
 *
 * @param expected 0-based lines at which the hunk may begin, the likeliest first
 * @param asked as in `align` of alignment.ts
 * @returns undefined where the file has to be searched
 */
export function straightPlace(
  old: readonly OldLine[],
  tree: TreeLines,
  expected: readonly number[],
  asked: readonly number[],
): Alignment | undefined {
  for (const start of expected) {
    if (!mostEqual(old, tree, start)) continue;
    return straightAt(old, tree, start, asked);
  }
  let tried = 0;
  for (const [i, line] of old.entries()) {
    if (line.weight < 0.6) continue;
    if (tree.countOf(line.exact) === 1) {
      const start = tree.firstOf(line.exact) - i;
      return mostEqual(old, tree, start) ? straightAt(old, tree, start, asked) : undefined;
    }
    if ((tried += 1) === 4) break;
  }
  return undefined;
}

/** Whether half of the lines, and one that tells something, stand there as they are. */
function mostEqual(old: readonly OldLine[], tree: TreeLines, start: number): boolean {
  if (start < 0 || start + old.length > tree.length) return false;
  let equal = 0;
  let tells = false;
  for (const [i, line] of old.entries()) {
    if (tree.text[start + i] !== line.text) continue;
    equal += 1;
    tells ||= line.weight >= 0.6;
  }
  return tells && 2 * equal >= old.length;
}

function straightAt(
  old: readonly OldLine[],
  tree: TreeLines,
  start: number,
  asked: readonly number[],
): Alignment | undefined {
  const isEqual = old.map((line, i) => tree.text[start + i] === line.text);
  const isPinned = (i: number): boolean => {
    const line = old[i];
    return (
      line !== undefined &&
      isEqual[i] === true &&
      line.weight >= 0.6 &&
      tree.countOf(line.exact) === 1
    );
  };
  if (isEqual.every(Boolean)) {
    return old.some((_, i) => isPinned(i)) ? wholeAlignment(old, start) : undefined;
  }
  let [total, score, equal, pinned, firm] = [0, 0, 0, 0, 0];
  for (const [i, line] of old.entries()) {
    total += line.weight;
    if (isEqual[i] === true) {
      score += line.weight;
      equal += line.weight;
      firm += line.weight;
      if (pinned < leastPinned && isPinned(i)) pinned += line.weight;
      continue;
    }
    // Where it stands elsewhere as it is, that place may be the better one.
    if (line.exact >= 0 || line.weight < 0.6) return undefined;
    if (sameButSpace(line.text, tree.text[start + i] ?? '')) {
      score += spaced(line);
      firm += line.weight;
    } else {
      const alike = likeness(squeeze(line.text), tree.squeezed(start + i), line.removed);
      if (alike === 0) return undefined;
      score += reworded(line, alike);
    }
  }
  if (pinned < leastPinned || equal < 2 * (total - equal)) return undefined;
  const isHeld = (i: number): boolean => isPinned(i - 1) && isPinned(i + 1);
  for (const [i, line] of old.entries()) {
    if (!line.removed || isHeld(i)) continue;
    if (isEqual[i] !== true || hasTwin(line, tree, start + i)) return undefined;
  }
  const isFirm = (i: number): boolean =>
    i < 0 || i >= old.length || isEqual[i] === true || isHeld(i);
  if (!asked.every((at) => isFirm(at - 1) && isFirm(at))) return undefined;
  return {
    pairs: Int32Array.from(old, (_, i) => start + i),
    score,
    fit: score / total,
    firm,
    start,
    doubtful: [],
    places: new Map(),
  };
}

/** Whether a line near the one that is removed may be meant by it as well. */
function hasTwin(line: OldLine, tree: TreeLines, at: number): boolean {
  const to = Math.min(tree.length - 1, at + around);
  for (let other = Math.max(0, at - around); other <= to; other += 1) {
    if (other !== at && sameButSpace(line.text, tree.text[other] ?? '')) return true;
  }
  return false;
}
