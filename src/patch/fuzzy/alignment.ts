import { squeeze, squeezedSimilarity, weightOf, withoutReturn, type TreeLines } from './treeLines';
import type { Hunk } from '../unified/hunk';

/**
 * The least similarity (see `similarity` of treeLines.ts) at which a context line of the diff and a line of the
 * tree are taken for the same. Of 100 golden patches with words changed in half of their old lines, fuzzy
 * recovers 83 at 0.4 to 0.6, 81 at 0.7 and 74 at 0.8, refuses the others, and makes another tree of none;
 * for search/replace it makes no difference (test/bench/thresholds.ts).
 */
export const contextSimilarity = 0.6;

/**
 * The least similarity at which a removed line of the diff names a line of the tree, which is then
 * deleted: stricter, since a wrong pair loses code. The place has to be found by its neighbours as well.
 * Of the same 100 patches, fuzzy recovers 84 at 0.6 and 0.7 and 83 at 0.8, search/replace 69, 66 and 51; the
 * others are refused, and none becomes another tree.
 */
export const removedSimilarity = 0.8;

/**
 * How much better the best reading has to be than one with another effect, in weights of lines
 * ({@link weightOf}): half of a line that tells something.
 */
export const margin = 0.5;

/** The least `fit` (see {@link Alignment}) at which a place is taken. */
export const leastFit = 0.5;

/** The least weight of lines that agree in all but white space, unless the old side weighs less itself. */
export const leastFirm = 1;

/** What the absence of a context line from the tree costs, and of a tree line from the diff. */
const absent = 0.5;
const between = 0.3;
/** Pairing two unlike lines costs less than both absences: a line that was reworded is still a line. */
const unlike = 0.6;

/** A line of a hunk's old side, with the numbers that the tree's texts have. */
export interface OldLine {
  readonly text: string;
  readonly removed: boolean;
  readonly weight: number;
  readonly exact: number;
  readonly loose: number;
}

/** How the old side of a hunk lies in the tree. All lines are 0-based; the ones of the hunk are those of its old side. */
export interface Alignment {
  /** For each old line the tree line that it is, -1 if there is none. */
  readonly pairs: Int32Array;
  /** The weight of what agrees less what does not; that of all old lines when everything agrees. */
  readonly score: number;
  /** `score` as share of the highest there can be. */
  readonly fit: number;
  /** The weight of the lines that agree in all but white space. */
  readonly firm: number;
  /** The tree line where the first old line would be if none were absent. */
  readonly start: number;
  /** Old lines that are removed, each with all the tree lines it may name equally well. */
  readonly doubtful: readonly { readonly line: number; readonly names: readonly number[] }[];
  /** For each place between old lines (0 to `old.length`) that was asked for, where it may be. */
  readonly places: ReadonlyMap<number, Places>;
  /** Set when the old side stands there line by line as it is. */
  readonly isExact?: true;
}

/** Tree lines before which a place between old lines may be, ascending. */
export interface Places {
  /** In the best alignments. */
  readonly best: readonly number[];
  /** In the ones within the margin of the best, too. */
  readonly near: readonly number[];
}

/** The old side of a hunk, prepared for a file. Carriage returns at the ends are left off. */
export function oldSide(hunk: Hunk, tree: TreeLines): OldLine[] {
  return hunk.lines
    .filter(({ kind }) => kind !== 'added')
    .map((line) => {
      const text = withoutReturn(line.text);
      return {
        text,
        removed: line.kind === 'removed',
        weight: weightOf(text),
        // Most hunks stand there as they are, and ask for neither.
        get exact() {
          return tree.exactNumberOf(text);
        },
        get loose() {
          return tree.looseNumberOf(text);
        },
      };
    });
}

const numbersIn = (text: string): string => (text.match(/\d+/g) ?? []).join(' ');

/** How alike a squeezed line of a diff and one of the tree are; 0 where they are not taken for the same. */
export function likeness(own: string, there: string, removed: boolean): number {
  const least = removed ? removedSimilarity : contextSimilarity;
  const alike = squeezedSimilarity(own, there, least);
  if (alike < least) return 0;
  // `b = 200` is not a misquoted `b = 300`: with another number it is another line.
  return removed && numbersIn(own) !== numbersIn(there) ? 0 : alike;
}

/** What a line is worth that is in the tree but for white space, or in other words. */
export const spaced = (line: OldLine): number => 0.9 * line.weight;
export const reworded = (line: OldLine, alike: number): number =>
  0.95 * line.weight * (2 * alike - 1);

/** The alignment in which the old side stands in the tree line by line from `start` on. */
export function wholeAlignment(old: readonly OldLine[], start: number): Alignment {
  const total = old.reduce((sum, line) => sum + line.weight, 0);
  return {
    pairs: Int32Array.from(old, (_, i) => start + i),
    isExact: true,
    score: total,
    fit: 1,
    firm: total,
    start,
    doubtful: [],
    places: new Map(),
  };
}

/**
 * The best alignment of an old side near a place: lines may be absent from the tree, stand between in
 * it, or differ (costs above); a removed line has to be there. It is the longest path through a table of
 * old lines by tree lines in a band around the diagonal, done from both ends, so that for every removed line and
 * every place of added lines the table also tells which others are within the margin of the best.
 *
 * @param start the tree line where the old side would begin; may be negative or beyond the end
 * @param slack how many lines the alignment may stray from there
 * @param asked the places between old lines (0 to `old.length`) where something is to be added
 * @returns undefined when a removed line cannot be there
 */
export function align(
  old: readonly OldLine[],
  tree: TreeLines,
  start: number,
  slack: number,
  asked: readonly number[],
): Alignment | undefined {
  const band = new Band(old, tree, start, slack);
  const found = band.best();
  if (found === undefined) return undefined;
  const { score, pairs } = found;
  const first = pairs.findIndex((line) => line >= 0);
  if (first < 0) return undefined;

  let total = 0;
  let firm = 0;
  const doubtful: { line: number; names: number[] }[] = [];
  const least = score - margin;
  for (const [i, line] of old.entries()) {
    total += line.weight;
    const pair = pairs[i] ?? -1;
    if (pair >= 0 && tree.loose[pair] === line.loose) firm += line.weight;
    if (!line.removed) continue;
    const names = band.names(i, least);
    if (names.length > 1) doubtful.push({ line: i, names });
  }
  const places = new Map(
    asked.map((i) => [i, { best: band.places(i, score - 1e-9), near: band.places(i, least) }]),
  );
  const at = (pairs[first] ?? 0) - first;
  return { pairs, score, fit: score / total, firm, start: at, doubtful, places };
}

/** How the best path comes to a cell. */
const how = { begins: 0, paired: 1, absent: 2, passed: 3 } as const;

/**
 * The table of old lines by tree lines in a band around the diagonal. Cell (i, k) is: i old lines done,
 * the next tree line is start + i + k - slack.
 */
class Band {
  private readonly width: number;
  /** The best scores from the beginning to each cell, and from there to the end. */
  private readonly ahead: Float64Array;
  private readonly back: Float64Array;
  private readonly step: Uint8Array;
  private readonly scores: Float64Array;
  /** What the absence of each old line from the tree costs. */
  private readonly skips: readonly number[];

  constructor(
    private readonly old: readonly OldLine[],
    private readonly tree: TreeLines,
    private readonly start: number,
    private readonly slack: number,
  ) {
    this.width = 2 * slack + 2;
    const cells = (old.length + 1) * this.width;
    this.ahead = new Float64Array(cells).fill(-Infinity);
    this.back = new Float64Array(cells).fill(-Infinity);
    this.step = new Uint8Array(cells);
    this.scores = pairScores(old, tree, start, slack, this.width);
    this.skips = old.map((line) =>
      line.removed ? -Infinity : isElision(line.text) ? 0 : -absent * line.weight,
    );
    this.fillAhead();
    this.fillBack();
  }

  private treeLine(i: number, k: number): number {
    return this.start + i + k - this.slack;
  }

  private isInside(i: number, k: number): boolean {
    const at = this.treeLine(i, k);
    return at >= 0 && at <= this.tree.length;
  }

  /** What a tree line costs that the diff does not have. */
  private passed(i: number, k: number): number {
    return -between * this.tree.weight(this.treeLine(i, k));
  }

  private fillAhead(): void {
    const { width, ahead, scores, skips } = this;
    const m = this.old.length;
    for (let i = 0; i <= m; i += 1) {
      for (let k = 0; k < width; k += 1) {
        if (!this.isInside(i, k)) continue;
        const cell = i * width + k;
        let best = i === 0 ? 0 : -Infinity;
        let step: number = how.begins;
        if (i > 0) {
          const paired = (ahead[cell - width] ?? -Infinity) + (scores[cell - width] ?? -Infinity);
          if (paired > best) [best, step] = [paired, how.paired];
          if (k + 1 < width) {
            const absentHere = (ahead[cell - width + 1] ?? -Infinity) + (skips[i - 1] ?? 0);
            if (absentHere > best) [best, step] = [absentHere, how.absent];
          }
          if (i < m && k > 0) {
            const more = (ahead[cell - 1] ?? -Infinity) + this.passed(i, k - 1);
            if (more > best) [best, step] = [more, how.passed];
          }
        }
        ahead[cell] = best;
        this.step[cell] = step;
      }
    }
  }

  private fillBack(): void {
    const { width, back, scores, skips } = this;
    const m = this.old.length;
    for (let i = m; i >= 0; i -= 1) {
      for (let k = width - 1; k >= 0; k -= 1) {
        if (!this.isInside(i, k)) continue;
        const cell = i * width + k;
        let best = i === m ? 0 : -Infinity;
        if (i < m) {
          best = Math.max(best, (scores[cell] ?? -Infinity) + (back[cell + width] ?? -Infinity));
          if (k > 0) best = Math.max(best, (skips[i] ?? 0) + (back[cell + width - 1] ?? -Infinity));
          if (i > 0 && k + 1 < width && this.treeLine(i, k) < this.tree.length) {
            best = Math.max(best, this.passed(i, k) + (back[cell + 1] ?? -Infinity));
          }
        }
        back[cell] = best;
      }
    }
  }

  /** The best score, and for each old line its tree line or -1; undefined where no path comes to the end. */
  best(): Pick<Alignment, 'score' | 'pairs'> | undefined {
    const { width, ahead, slack } = this;
    const m = this.old.length;
    let end = -1;
    let score = -Infinity;
    for (let k = 0; k < width; k += 1) {
      const value = ahead[m * width + k] ?? -Infinity;
      // Of equally good ends the one on the diagonal.
      const nearer = Math.abs(k - slack) < Math.abs(end - slack);
      if (value > score || (value === score && nearer)) [score, end] = [value, k];
    }
    if (score === -Infinity || end < 0) return undefined;
    const pairs = new Int32Array(m).fill(-1);
    for (let i = m, k = end; i > 0;) {
      const step = this.step[i * width + k];
      if (step === how.passed) k -= 1;
      else if (step === how.absent) [i, k] = [i - 1, k + 1];
      else pairs[--i] = this.treeLine(i, k);
    }
    return { score, pairs };
  }

  /** The tree lines that an old line is in paths that score more than `least`. */
  names(i: number, least: number): number[] {
    const { width, ahead, back, scores } = this;
    const found: number[] = [];
    for (let k = 0; k < width; k += 1) {
      const cell = i * width + k;
      const through =
        (ahead[cell] ?? -Infinity) +
        (scores[cell] ?? -Infinity) +
        (back[cell + width] ?? -Infinity);
      if (through > least) found.push(this.treeLine(i, k));
    }
    return found;
  }

  /** The tree lines before which a place between old lines is in paths that score more than `least`. */
  places(i: number, least: number): number[] {
    const { width, ahead, back } = this;
    const found: number[] = [];
    for (let k = 0; k < width; k += 1) {
      const through = (ahead[i * width + k] ?? -Infinity) + (back[i * width + k] ?? -Infinity);
      if (through > least) found.push(this.treeLine(i, k));
    }
    return found;
  }
}

/** What each pair of an old line and a tree line of the band is worth; -Infinity where it may not be. */
function pairScores(
  old: readonly OldLine[],
  tree: TreeLines,
  start: number,
  slack: number,
  width: number,
): Float64Array {
  const scores = new Float64Array((old.length + 1) * width).fill(-Infinity);
  const { exact: exacts, loose: looses } = tree;
  for (const [i, line] of old.entries()) {
    const from = start + i - slack;
    const { exact, loose } = line;
    for (let k = 0; k < width; k += 1) {
      const at = from + k;
      if (at < 0 || at >= tree.length) continue;
      const cell = i * width + k;
      if (exacts[at] === exact) scores[cell] = line.weight;
      else if (looses[at] === loose) scores[cell] = spaced(line);
      else scores[cell] = line.removed ? -Infinity : -unlike * line.weight;
    }
    // A line that the file has needs no look-alikes, here as anywhere in it, so that places can be compared;
    // comparing lines is what takes the time.
    if (loose >= 0 || line.weight < 0.6) continue;
    const own = squeeze(line.text);
    for (let k = 0; k < width; k += 1) {
      const at = from + k;
      if (at < 0 || at >= tree.length) continue;
      const alike = likeness(own, tree.squeezed(at), line.removed);
      if (alike > 0) scores[i * width + k] = reworded(line, alike);
    }
  }
  return scores;
}

/** `...` and `# ... rest of the code ...`: context that says that lines are left out. */
function isElision(text: string): boolean {
  return (
    /^\s*(#|\/\/)?\s*(\.\.\.|…)/.test(text) &&
    /(^|\W)(\.\.\.|…)\s*(\w[^=()]*)?(\.\.\.|…)?\s*$/.test(text)
  );
}
