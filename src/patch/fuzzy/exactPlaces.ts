import type { Stepwise } from '../../domain/work';
import type { StepBudget } from '../reading/stepBudget';
import { align, type Alignment, type OldLine } from './alignment';
import { wordsOfLine, type TreeLines } from './treeLines';

/** The most places at which a hunk is aligned: those to which most of its lines point. */
const maxAligned = 8;
/** A text on more lines than this points to no place. */
const maxOccurrences = 64;
/** The most equal places that are listed. The choice needs the nearest two, and a message a few. */
const maxExact = 64;
/**
 * How many lines may be additional or absent before the lines of a hunk no longer belong together.
 */
const slackOf = (lines: number): number => Math.min(48, 12 + (lines >> 3));

/**
 * The places where the tree has the old side line by line, with equal texts. They are in order, or
 * nearest to `expected` first if that is given. If the expected place fits, it is the only result.
 * The search checks only lines with the hunk's rarest text.
 */
export function exactPlaces(
  old: readonly OldLine[],
  tree: TreeLines,
  expected: number | undefined,
  budget: StepBudget,
): number[] {
  if (old.some((line) => line.exact < 0)) return [];
  const exact = tree.exact;
  const fits = (start: number): boolean => {
    if (start < 0 || start + old.length > exact.length) return false;
    let i = 0;
    while (i < old.length && exact[start + i] === old[i]?.exact) i += 1;
    budget.take(i + 1);
    return i === old.length;
  };
  if (expected !== undefined && fits(expected)) return [expected];
  let rarest = 0;
  let fewest = Infinity;
  for (const [i, line] of old.entries()) {
    const count = tree.countOf(line.exact);
    if (count < fewest) [rarest, fewest] = [i, count];
  }
  const starts: number[] = [];
  const lines = tree.linesOf(old[rarest]?.exact ?? -1);
  for (const line of fromNearest(lines, expected === undefined ? undefined : expected + rarest)) {
    if (starts.length >= maxExact || !budget.take(1)) break;
    if (fits(line - rarest)) starts.push(line - rarest);
  }
  return starts;
}

/** Ascending numbers, ordered by their distance from a given one. */
function* fromNearest(numbers: readonly number[], from: number | undefined): Generator<number> {
  if (from === undefined) {
    yield* numbers;
    return;
  }
  let right = lowerBound(numbers, from);
  let left = right - 1;
  while (left >= 0 || right < numbers.length) {
    const [before, after] = [numbers[left], numbers[right]];
    if (before === undefined || (after !== undefined && after - from <= from - before)) {
      yield numbers[right++] ?? 0;
    } else {
      yield before;
      left -= 1;
    }
  }
}

function lowerBound(numbers: readonly number[], least: number): number {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Alignments of an old side that the tree does not contain as it is, best first. They lie around
 * the expected places, and around those to which its lines point, by weight. Each place is a step.
 */
export function* alignedPlaces(
  old: readonly OldLine[],
  tree: TreeLines,
  expected: readonly number[],
  asked: readonly number[],
  budget: StepBudget,
): Stepwise<Alignment[]> {
  const slack = slackOf(old.length);
  const votes = vote(old, tree, slack, budget);
  const near = (start: number): number =>
    Math.min(...expected.map((e) => Math.abs(e - start)), 1 << 30);
  const starts = [...votes]
    .map(([bin, own]) => ({ start: (bin + 1) * slack, votes: own + (votes.get(bin + 1) ?? 0) }))
    .sort((a, b) => b.votes - a.votes || near(a.start) - near(b.start))
    .slice(0, maxAligned)
    .map(({ start }) => start);

  const found = new Map<string, Alignment>();
  for (const start of new Set([...expected, ...starts])) {
    yield;
    if (!budget.take((old.length + 1) * slack * 64)) break;
    const alignment = align(old, tree, start, slack, asked);
    if (alignment === undefined) continue;
    const key = alignment.pairs.join();
    const known = found.get(key);
    // The same lines aligned from another place may show fewer alternatives. Keep the alignment
    // with the most.
    if (known === undefined || alternatives(known) < alternatives(alignment)) {
      found.set(key, alignment);
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score);
}

function alternatives(alignment: Alignment): number {
  let count = 0;
  for (const { names } of alignment.doubtful) count += names.length;
  for (const places of alignment.places.values()) count += places.near.length;
  return count;
}

/** The votes of the lines for each place of the first old line, in bins of `size` lines. */
function vote(
  old: readonly OldLine[],
  tree: TreeLines,
  size: number,
  budget: StepBudget,
): Map<number, number> {
  const votes = new Map<number, number>();
  const point = (lines: readonly number[], i: number, weight: number): void => {
    if (lines.length === 0 || lines.length > maxOccurrences || !budget.take(lines.length)) return;
    const share = weight / Math.sqrt(lines.length);
    for (const line of lines) {
      const bin = Math.floor((line - i) / size);
      votes.set(bin, (votes.get(bin) ?? 0) + share);
    }
  };
  for (const [i, line] of old.entries()) {
    if (line.loose >= 0) {
      point(tree.looseLinesOf(line.loose), i, line.weight);
    } else {
      for (const word of wordsOfLine(line.text)) point(tree.linesWithWord(word), i, 0.2);
    }
  }
  return votes;
}
