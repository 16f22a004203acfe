import { diffArrays } from 'diff';
import type { DiagnosticCode } from '../diagnostic';
import { similarity, wordsOfLine } from '../fuzzy/treeLines';
import { placeHunks } from '../fuzzy/placeHunks';
import { isRefusal, type HunkPlace, type Placing } from '../fuzzy/placeAt';
import { lineList, type Refusal } from '../fuzzy/refusal';
import { numberLines, type Hunk, type HunkLine } from '../unified/hunk';
import { indentLike, type IndentedSides, type Sides } from './indentLike';
import type { ImageLines } from './imageLines';

/** The effect of a block on the lines of a file, 0-based. */
export interface BlockPlace {
  readonly how: 'exact' | 'white-space' | 'similar';
  /** The lines that SEARCH matches, `to` excluded. */
  readonly from: number;
  readonly to: number;
  readonly deleted: ReadonlySet<number>;
  /** Lines to insert, by the line after them. */
  readonly inserted: ReadonlyMap<number, readonly string[]>;
  /** The share that agrees; 1 unless `how` is `similar`. */
  readonly fit: number;
  /** Set if another divider would also match, with another end of SEARCH. */
  readonly otherwise?: true;
  /**
   * 0-based lines of REPLACE inside strings that do not move with the code, though perhaps they
   * should.
   */
  readonly left?: readonly number[];
}

/** Why a block has no place. */
export interface BlockRefusal {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  /** 0-based lines at which the block could begin. */
  readonly candidates: readonly number[];
  /** Lines of the file that are most similar to SEARCH, `to` excluded. */
  readonly nearest?: { readonly from: number; readonly to: number };
}

/**
 * Finds the lines that a block replaces, in three stages:
 *
 * 1. Equal lines.
 * 2. Lines that are equal except for white space: blanks at line ends, blank lines at both ends,
 *    one indentation for all.
 * 3. Lines that are similar by the rule of the fuzzy format (`leastFit` in alignment.ts). Each
 *    deleted line must reach `removedSimilarity`.
 *
 * The first stage that finds anything must find exactly one place. Places without lines of earlier
 * blocks take precedence. Lines that stay keep their text in the file.
 *
 * If there are several places, aider takes the first and Agentless all of them. Neither reports the
 * choice.
 *
 * @param readings the possible sides, several if the code contains lines like the divider. The one
 *   with the longest SEARCH that is found wins.
 * @param startLine the 1-based line of the file in the tree that decides between several places
 */
export function placeBlock(
  image: ImageLines,
  readings: readonly Sides[],
  startLine?: number,
): { place: BlockPlace; sides: Sides } | { refusal: BlockRefusal; sides: Sides } {
  const longestFirst = [...readings].sort((a, b) => b.search.length - a.search.length);
  for (const find of [equalPlaces, spacedPlaces]) {
    for (const sides of longestFirst) {
      const { starts: all, place: placeAt } = find(image, sides);
      const isOther = (other: Sides): boolean =>
        other !== sides && find(image, other).starts.length > 0;
      const untouched = all.filter((from) =>
        image.slice(from, from + sides.search.length).every((line) => !line.written),
      );
      const asked = untouched.filter(
        (from) => startLine !== undefined && image.originOf(from) === startLine,
      );
      const starts = asked.length > 0 ? asked : untouched.length > 0 ? untouched : all;
      const [start] = starts;
      if (start === undefined) continue;
      if (starts.length > 1) return { refusal: ambiguous(starts), sides };
      const place = placeAt(start);
      return { place: longestFirst.some(isOther) ? { ...place, otherwise: true } : place, sides };
    }
  }
  let first: { refusal: BlockRefusal; sides: Sides } | undefined;
  for (const sides of longestFirst) {
    const found = similarPlace(image, sides);
    if ('deleted' in found) return { place: found, sides };
    first ??= { refusal: found, sides };
  }
  const none = { search: [], replace: [] };
  return first ?? { refusal: notFound(image, none), sides: none };
}

function ambiguous(candidates: readonly number[]): BlockRefusal {
  return {
    code: 'ambiguous',
    message: `the SEARCH part occurs at ${lineList(candidates)}`,
    hint: 'Put lines before or after it into SEARCH and REPLACE until one place is left',
    candidates,
  };
}

/** Where the file has a SEARCH part, and the effect of the block at one of these places. */
interface Found {
  readonly starts: readonly number[];
  readonly place: (start: number) => BlockPlace;
}

function equalPlaces(image: ImageLines, sides: Sides): Found {
  const starts = image.findExact(sides.search);
  return { starts, place: (from) => replacing(sides, from, 'exact') };
}

/** The effect at `from` if each line of SEARCH matches one line of the file. */
function replacing({ search, replace }: Sides, from: number, how: BlockPlace['how']): BlockPlace {
  const deleted = new Set<number>();
  const inserted = new Map<number, string[]>();
  let at = from;
  for (const change of diffArrays([...search], [...replace])) {
    if (change.added) inserted.set(at, [...(inserted.get(at) ?? []), ...change.value]);
    else {
      if (change.removed) for (let i = 0; i < change.value.length; i += 1) deleted.add(at + i);
      at += change.value.length;
    }
  }
  return { how, from, to: from + search.length, deleted, inserted, fit: 1 };
}

const isBlank = (line: string | undefined): boolean => line?.trim() === '';

/**
 * SEARCH without blank lines at its ends, and REPLACE without at most as many. `skipped` counts
 * those dropped at the head of REPLACE.
 */
function withoutBlankEnds({ search, replace }: Sides): Sides & { skipped: number } {
  let [head, tail] = [0, 0];
  while (head < search.length && isBlank(search[head])) head += 1;
  while (tail < search.length - head && isBlank(search[search.length - 1 - tail])) tail += 1;
  let [from, to] = [0, replace.length];
  while (from < head && from < to && isBlank(replace[from])) from += 1;
  while (replace.length - to < tail && to > from && isBlank(replace[to - 1])) to -= 1;
  return {
    search: search.slice(head, search.length - tail),
    replace: replace.slice(from, to),
    skipped: from,
  };
}

function spacedPlaces(image: ImageLines, whole: Sides): Found {
  const sides = withoutBlankEnds(whole);
  const moved = new Map<number, IndentedSides>();
  const starts = image.findTrimmed(sides.search).filter((from) => {
    const lines = image.slice(from, from + sides.search.length).map((line) => line.text);
    const shifted = indentLike(lines, sides, image.unit, image.quotesAt(from));
    if (shifted !== undefined) moved.set(from, shifted);
    return shifted !== undefined;
  });
  const place = (from: number): BlockPlace => {
    const { search, replace, left } = moved.get(from) ?? { ...sides, left: [] };
    const trimmed = { search: search.map(trimmedEnd), replace: replace.map(trimmedEnd) };
    const place = replacing(trimmed, from, 'white-space');
    return left.length === 0 ? place : { ...place, left: left.map((i) => i + sides.skipped) };
  };
  return { starts, place };
}

const trimmedEnd = (line: string): string => line.trimEnd();

/** The place most similar to SEARCH, found like a hunk of a diff without line numbers. */
function similarPlace(image: ImageLines, whole: Sides): BlockPlace | BlockRefusal {
  const sides = withoutBlankEnds(whole);
  // Most blocks concern lines that no other block has changed. For these the index of the original
  // file is enough.
  if (image.budget.isSpent) return tooMuch;
  const hunk = hunkOf(sides);
  const [first] = placeHunks([hunk], image.firstLines(), image.budget);
  let placing = first === undefined ? undefined : asItIsNow(image, first);
  const mayBeWritten =
    first === undefined || !isRefusal(first) || sides.search.some((line) => image.hasWritten(line));
  if (placing === undefined && mayBeWritten) {
    const tree = image.treeLines();
    if (tree === undefined) return tooMuch;
    [placing] = placeHunks([hunk], tree, image.budget);
  }
  if (placing === undefined && first !== undefined && isRefusal(first)) {
    placing = { ...first, candidates: [] };
  }
  if (image.budget.isSpent && (placing === undefined || isRefusal(placing))) return tooMuch;
  if (placing === undefined) return notFound(image, sides);
  return isRefusal(placing)
    ? refusedBlock(image, sides, placing)
    : (similar(placing) ?? notFound(image, sides));
}

const tooMuch: BlockRefusal = {
  code: 'not-found',
  message:
    'the SEARCH part does not match the file exactly, and too many blocks are missing to search for similar lines',
  hint: 'Copy the lines to search for from the file without changes',
  candidates: [],
};

/** A block as a hunk without line numbers. */
function hunkOf(sides: Sides): Hunk {
  const lines = diffArrays([...sides.search], [...sides.replace]).flatMap((change): HunkLine[] => {
    const kind = change.added ? 'added' : change.removed ? 'removed' : 'context';
    return change.value.map((text) => ({ kind, text, noNewline: false }));
  });
  return numberLines({
    oldStart: 0,
    oldLines: sides.search.length,
    newStart: 0,
    newLines: sides.replace.length,
    section: '',
    lines,
    line: 1,
    unnumbered: true,
  });
}

function refusedBlock(image: ImageLines, sides: Sides, refusal: Refusal): BlockRefusal {
  const { code, message, hint, candidates } = refusal;
  const at = candidates[0];
  if (code === 'not-found') return notFound(image, sides, at);
  return {
    code,
    message: message.replace(/^it /, 'the SEARCH part '),
    hint,
    candidates,
    ...(at !== undefined && { nearest: spanAt(image, sides, at) }),
  };
}

/** The place of a block from that of its hunk; undefined if no line of SEARCH is in the file. */
function similar({ alignment, deleted, inserts }: HunkPlace): BlockPlace | undefined {
  const pairs = [...alignment.pairs].filter((line) => line >= 0);
  const [from, to] = [Math.min(...pairs), Math.max(...pairs) + 1];
  if (pairs.length === 0) return undefined;
  const inserted = new Map<number, string[]>();
  for (const { at, lines: added } of inserts) {
    inserted.set(at, [...(inserted.get(at) ?? []), ...added.map((line) => line.text)]);
  }
  return { how: 'similar', from, to, deleted: new Set(deleted), inserted, fit: alignment.fit };
}

/**
 * Converts a place in the file of the tree to one in the present file; undefined if its lines have
 * changed.
 */
function asItIsNow(image: ImageLines, placing: Placing): HunkPlace | Refusal | undefined {
  if (!image.isChanged) return placing;
  if (isRefusal(placing)) return undefined;
  const pairs = placing.alignment.pairs.filter((line) => line >= 0);
  const [from, to] = [Math.min(...pairs), Math.max(...pairs)];
  const start = image.indexOf(from);
  const end = image.indexOf(to);
  if (start === undefined || end === undefined || end - start !== to - from) return undefined;
  const isWhole = image.slice(start, end + 1).every(({ origin }, i) => origin === from + i + 1);
  if (!isWhole) return undefined;
  const shift = start - from;
  const moved = placing.alignment.pairs.map((line) => (line < 0 ? line : line + shift));
  return {
    ...placing,
    start: placing.start + shift,
    deleted: placing.deleted.map((line) => line + shift),
    inserts: placing.inserts.map(({ at, lines }) => ({ at: at + shift, lines })),
    alignment: { ...placing.alignment, pairs: moved },
  };
}

function spanAt(image: ImageLines, { search }: Sides, at: number): { from: number; to: number } {
  const from = Math.max(0, Math.min(at, image.length - 1));
  return { from, to: Math.min(image.length, from + search.length) };
}

function notFound(image: ImageLines, sides: Sides, at?: number): BlockRefusal {
  const { replace } = withoutBlankEnds(sides);
  const [there] = image
    .findTrimmed(replace)
    .filter((from) =>
      replace.every((text, i) => image.at(from + i)?.text.trimEnd() === text.trimEnd()),
    );
  if (there !== undefined) {
    return {
      code: 'not-found',
      message: `the SEARCH part is not in the file, but the REPLACE part is, at line ${there + 1}`,
      hint: 'Remove the block if it is already applied',
      candidates: [],
    };
  }
  const near = at ?? nearestLine(image, sides.search);
  const nearest = near === undefined ? undefined : spanAt(image, sides, near);
  const differs =
    nearest === undefined
      ? -1
      : sides.search.findIndex((line, i) => line !== image.at(nearest.from + i)?.text);
  const shown = (text = ''): string =>
    JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  return {
    code: 'not-found',
    message:
      nearest === undefined || differs < 0
        ? 'no lines of the file are similar to the SEARCH part'
        : `no lines of the file are similar to the SEARCH part; lines ${nearest.from + 1} to ${nearest.to} come nearest, ` +
          `where ${shown(image.at(nearest.from + differs)?.text)} stands instead of ${shown(sides.search[differs])}`,
    hint: 'Copy the lines to search for from the file without changes',
    candidates: [],
    ...(nearest !== undefined && { nearest }),
  };
}

/** The most lines that are compared to find the one most similar to a line of SEARCH. */
const mostCompared = 200;

/**
 * Guesses where SEARCH begins in the file, from the line of the file that is most similar to a
 * longer line of SEARCH.
 */
function nearestLine(image: ImageLines, search: readonly string[]): number | undefined {
  const telling = search
    .map((text, i) => ({ text, i }))
    .filter(({ text }) => text.trim().length > 8)
    .slice(0, 5);
  // The index has the lines of the tree. Messages may show these only if no block has changed the
  // file.
  if (image.isChanged) return undefined;
  const tree = image.firstLines();
  let best = 0.6;
  let found: number | undefined;
  for (const { text, i } of telling) {
    const lists = [...wordsOfLine(text)]
      .map((word) => tree.linesWithWord(word))
      .sort((a, b) => a.length - b.length);
    const near = new Set<number>();
    for (const list of lists) {
      for (const line of list) if (near.size < mostCompared) near.add(line);
    }
    if (!image.budget.take(20 * near.size)) break;
    for (const at of near) {
      const alike = similarity(text, tree.text[at] ?? '', best);
      if (alike > best) [best, found] = [alike, Math.max(0, at - i)];
    }
  }
  return found;
}
