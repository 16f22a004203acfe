import type { CoveredLine } from '../../domain/changeCoverage';
import { changeBlocks, compareLines, type SideLine } from '../../patch/changedLines';
import type { FilePatch } from '../../patch/parsedPatch';
import type { PlaceOnSide } from './documentMarks';
import { sideOf } from './shownCoverage';

/** Changed lines in the order of the golden diff. Lines of files that the diff does not name come last. */
export function inDiffOrder(
  lines: readonly CoveredLine[],
  files: readonly FilePatch[],
): CoveredLine[] {
  const order = orderOf(files);
  return [...lines].sort((a, b) => order(placeOf(a), placeOf(b)));
}

/**
 * The next or previous line in the order of the golden diff. The first line follows the last one.
 *
 * @param lines in any order
 * @param from a line of either side; without it, the first or the last line is the result
 */
export function neighbour(
  lines: readonly CoveredLine[],
  files: readonly FilePatch[],
  from: PlaceOnSide | undefined,
  direction: 'next' | 'previous',
): CoveredLine | undefined {
  const sorted = inDiffOrder(lines, files);
  if (direction === 'previous') sorted.reverse();
  const order = orderOf(files);
  const isPast = (line: CoveredLine): boolean => {
    if (from === undefined) return true;
    const compared = order(placeOf(line), from);
    return direction === 'next' ? compared > 0 : compared < 0;
  };
  return sorted.find(isPast) ?? sorted[0];
}

const placeOf = (line: CoveredLine): PlaceOnSide => ({
  side: sideOf(line),
  path: line.path,
  line: line.line,
});

function orderOf(files: readonly FilePatch[]): (a: PlaceOnSide, b: PlaceOnSide) => number {
  const numbers = { base: new Map<string, number>(), fixed: new Map<string, number>() };
  files.forEach(({ oldPath, newPath }, index) => {
    const [before, after] = [oldPath ?? newPath, newPath ?? oldPath];
    if (before !== null) numbers.base.set(before, index);
    if (after !== null) numbers.fixed.set(after, index);
  });
  const blocks = files.map(changeBlocks);
  const fileOf = ({ side, path }: PlaceOnSide): number => numbers[side].get(path) ?? files.length;
  return (a, b) => {
    const [first, second] = [fileOf(a), fileOf(b)];
    if (first !== second) return first - second;
    return compareLines(blocks[first] ?? [], lineOf(a), lineOf(b));
  };
}

const lineOf = ({ side, line }: PlaceOnSide): SideLine => ({
  side: side === 'base' ? 'old' : 'new',
  line,
});

/** The path of a file on each side of a diff. A side without the file shows an empty document. */
interface DiffPair {
  readonly base: string;
  readonly fixed: string;
}

/** The pairs of documents of the golden diff, in the order of the patch. */
export const diffPairs = (files: readonly FilePatch[]): DiffPair[] =>
  files.flatMap(({ oldPath, newPath }) => {
    const [base, fixed] = [oldPath ?? newPath, newPath ?? oldPath];
    return base === null || fixed === null ? [] : [{ base, fixed }];
  });
