import {
  likeness,
  reworded,
  spaced,
  wholeAlignment,
  type Alignment,
  type OldLine,
} from './alignment';
import { sameButSpace, squeeze, type TreeLines } from './treeLines';

/** The least total weight of lines that occur once in the file, at which a place is certain. */
const leastPinned = 2;

/** How far from a removed line a line with the same text makes the choice uncertain. */
const around = 12;

/**
 * The place of an old side whose lines match consecutive lines of the tree, if lines that occur
 * once in the file make it certain. Most hunks with wrong numbers or context are of this kind. The
 * general search finds the same place. But it may leave open where added lines go next to reworded
 * ones.
 *
 * An old side that the tree has as it is needs one such line. If lines differ, the equal ones must
 * weigh twice as much, and unique ones among them must weigh {@link leastPinned}. A differing line
 * must occur nowhere in the file as it is, and be similar to its match. It must not leave open the
 * place of added lines, or which line is removed.
 *
 * @param expected 0-based lines at which the hunk may begin, the likeliest first
 * @param asked as in `align` of alignment.ts
 * @returns undefined if the file has to be searched
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

/** Whether at least half of the lines, and a distinctive one, are there as they are. */
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
    // The text occurs elsewhere, and that place may be the better one.
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

/** Whether a line near the removed one has the same text except for white space. */
function hasTwin(line: OldLine, tree: TreeLines, at: number): boolean {
  const to = Math.min(tree.length - 1, at + around);
  for (let other = Math.max(0, at - around); other <= to; other += 1) {
    if (other !== at && sameButSpace(line.text, tree.text[other] ?? '')) return true;
  }
  return false;
}
