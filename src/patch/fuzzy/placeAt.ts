import type { Alignment, OldLine } from './alignment';
import { insertPlace, tornLine } from './insertPlace';
import { withoutReturn, type TreeLines } from './treeLines';
import { lineList, quote, type Refusal } from './refusal';
import { statedStart, type Hunk, type HunkLine } from '../unified/hunk';

/** The place of one hunk. All lines are 0-based lines of the tree. */
export interface HunkPlace {
  readonly deleted: readonly number[];
  /** Added lines, each run with the tree line after it. */
  readonly inserts: readonly { readonly at: number; readonly lines: readonly HunkLine[] }[];
  /** The tree line of the hunk's first old line, even if that line is absent. */
  readonly start: number;
  /** The tree lines of the hunk's old lines. */
  readonly alignment: Alignment;
  readonly old: readonly OldLine[];
}

export type Placing = HunkPlace | Refusal;

export function isRefusal(placing: Placing): placing is Refusal {
  return 'code' in placing;
}

/**
 * The places between old lines that have added lines, and no removed line before these to fix the
 * place.
 */
export function askedPlaces(hunk: Hunk): number[] {
  return runsOf(hunk)
    .filter(({ tied }) => !tied)
    .map(({ at }) => at);
}

interface Run {
  /** Number of old lines before the run. */
  at: number;
  lines: HunkLine[];
  /** Whether the run directly follows a removed line, which it replaces. */
  tied: boolean;
}

function runsOf(hunk: Hunk): Run[] {
  const runs: Run[] = [];
  let at = 0;
  let previous: HunkLine | undefined;
  for (const line of hunk.lines) {
    if (line.kind !== 'added') at += 1;
    else if (previous?.kind === 'added') runs.at(-1)?.lines.push(line);
    else runs.push({ at, lines: [line], tied: previous?.kind === 'removed' });
    previous = line;
  }
  return runs;
}

/** The effect of a hunk at a place; a refusal if the place leaves open which lines are meant. */
export function placeAt(
  hunk: Hunk,
  old: readonly OldLine[],
  alignment: Alignment,
  tree: TreeLines,
): Placing {
  const { pairs, start } = alignment;
  const unclear = whyRemovalUnclear(old, alignment, tree);
  if (unclear !== undefined) return unclear;
  const deleted = old.flatMap((line, i) => (line.removed ? (pairs[i] ?? -1) : []));
  const inserts: { at: number; lines: readonly HunkLine[] }[] = [];
  for (const run of runsOf(hunk)) {
    const at = insertionOf(run, old, alignment, tree);
    if (typeof at !== 'number') return at;
    inserts.push({ at, lines: run.lines });
  }
  return { deleted, inserts, start, alignment, old };
}

/** The refusal of a hunk whose removed lines may be others, or are not one after another. */
function whyRemovalUnclear(
  old: readonly OldLine[],
  { pairs, doubtful, start }: Alignment,
  tree: TreeLines,
): Refusal | undefined {
  const [doubt] = doubtful;
  if (doubt !== undefined) {
    return {
      code: 'ambiguous',
      message: `${lineList(doubt.names)} may be the line that it removes: ${quote(old[doubt.line]?.text)}`,
      hint: 'Copy the removed lines from the file without changes, with three lines before and after them',
      candidates: [],
    };
  }
  const apart = old.findIndex((line, i) => {
    if (!line.removed || old[i - 1]?.removed !== true) return false;
    const [from, to] = [(pairs[i - 1] ?? 0) + 1, pairs[i] ?? 0];
    return tree.text.slice(from, to).some((text) => text.trim() !== '');
  });
  if (apart < 0) return undefined;
  const stands = (pairs[apart - 1] ?? 0) + 1;
  return {
    code: 'low-confidence',
    message: `${lineList([stands])} is between the lines that it removes, but is not one of them`,
    hint: 'List each line to remove, copied from the file without changes',
    candidates: [start],
  };
}

/** The tree line after a run of added lines; a refusal where several are possible. */
function insertionOf(
  { at, lines, tied }: Run,
  old: readonly OldLine[],
  { pairs, places, start }: Alignment,
  tree: TreeLines,
): number | Refusal {
  const asked = places.get(at);
  const texts = lines.map(({ text }) => withoutReturn(text));
  const line = tied
    ? (pairs[at - 1] ?? 0) + 1
    : asked === undefined
      ? start + at
      : insertPlace(texts, asked, tree);
  if (line === undefined) {
    const near = (asked?.near ?? []).map((place) => Math.max(0, place - 1));
    return {
      code: 'ambiguous',
      message: `its added lines may go after ${lineList(near)}`,
      hint: 'Copy the lines directly before and after the added ones as they are in the file',
      candidates: [],
    };
  }
  const torn = !tied && isBlankFrom(at, old) ? tornLine(texts, line, tree) : undefined;
  if (torn === undefined) return line;
  return {
    code: 'low-confidence',
    message:
      `after its context, at ${lineList([line])}, the added lines would tear ` +
      `${lineList([torn])} from the code that it belongs to`,
    hint: 'Copy the lines after the added ones as they are in the file',
    candidates: [start],
  };
}

/** Whether all old lines from one on are blank. A hunk may have very many, so none is copied. */
function isBlankFrom(at: number, old: readonly OldLine[]): boolean {
  for (let i = at; i < old.length; i += 1) if (old[i]?.text.trim() !== '') return false;
  return true;
}

/**
 * Places a hunk that names no line of the file. Only an empty file or the very end leaves no doubt.
 */
export function placeWithoutContext(hunk: Hunk, tree: TreeLines): Placing {
  const stated = statedStart(hunk);
  const fits = tree.length === 0 || (stated === tree.length && hunk.unnumbered !== true);
  if (!fits) {
    return {
      code: 'low-confidence',
      message:
        'it has neither context nor removed lines, so only its line number gives its position',
      hint: 'Add three lines of context before and after the added ones',
      candidates: stated === undefined ? [] : [Math.min(stated, tree.length)],
    };
  }
  const alignment: Alignment = {
    pairs: new Int32Array(0),
    score: 0,
    fit: 1,
    firm: 0,
    start: tree.length,
    doubtful: [],
    places: new Map(),
  };
  const inserts = [{ at: tree.length, lines: hunk.lines }];
  return { deleted: [], inserts, start: tree.length, alignment, old: [] };
}
