import { squeeze, squeezedSimilarity, weightOf, withoutReturn, type TreeLines } from './treeLines';
import type { Hunk } from '../unified/hunk';

/**
 * The least similarity (see `similarity` in treeLines.ts) at which a context line of the diff
 * matches a line of the tree. It was measured on 100 golden patches with words changed in half of
 * their old lines. Fuzzy recovers 83 at 0.4 to 0.6, 81 at 0.7 and 74 at 0.8. It refuses the others,
 * and none becomes another tree. For search/replace it makes no difference
 * (test/bench/thresholds.ts).
 */
const contextSimilarity = 0.6;

/**
 * The least similarity at which a removed line of the diff matches a line of the tree, which is
 * then deleted. It is stricter, since a wrong match loses code. The neighbours must lead to the
 * same place. Of the same 100 patches, fuzzy recovers 84 at 0.6 and 0.7 and 83 at 0.8.
 * Search/replace recovers 69, 66 and 51. Both refuse the others, and none becomes another tree.
 */
export const removedSimilarity = 0.8;

/**
 * How much better the best alignment must be than one with another effect, in weights of lines
 * ({@link weightOf}). It is half the weight of a distinctive line.
 */
export const margin = 0.5;

/** The least `fit` (see {@link Alignment}) of an accepted place. */
export const leastFit = 0.5;

/**
 * The least weight of lines that agree except for white space, unless the whole old side weighs
 * less.
 */
export const leastFirm = 1;

/** The cost of a context line that the tree lacks, and of a tree line that the diff lacks. */
const absent = 0.5;
const between = 0.3;
/**
 * The cost of pairing two unlike lines is below that of both absences, since a reworded line is
 * still a line.
 */
const unlike = 0.6;

/** A line of a hunk's old side, with the numbers of its text in the tree. */
export interface OldLine {
  readonly text: string;
  readonly removed: boolean;
  readonly weight: number;
  readonly exact: number;
  readonly loose: number;
}

/**
 * An alignment of a hunk's old side with the tree. All lines are 0-based; those of the hunk count
 * its old side only.
 */
export interface Alignment {
  /** For each old line its tree line; -1 if there is none. */
  readonly pairs: Int32Array;
  /**
   * The weight of all agreements less the costs. It equals the weight of all old lines if
   * everything agrees.
   */
  readonly score: number;
  /** `score` as a share of the highest possible score. */
  readonly fit: number;
  /** The weight of the lines that agree except for white space. */
  readonly firm: number;
  /** The tree line of the first old line if none were absent. */
  readonly start: number;
  /** Removed lines that may match several tree lines equally well, with these tree lines. */
  readonly doubtful: readonly { readonly line: number; readonly names: readonly number[] }[];
  /** Where each requested place between old lines (0 to `old.length`) may be. */
  readonly places: ReadonlyMap<number, Places>;
  /** Set if the tree has the old side line by line as it is. */
  readonly isExact?: true;
}

/** Tree lines before which a place between old lines may lie, ascending. */
export interface Places {
  /** In the best alignments. */
  readonly best: readonly number[];
  /** Also in the alignments within the margin of the best. */
  readonly near: readonly number[];
}

/** Prepares the old side of a hunk for a file. Drops carriage returns at line ends. */
export function oldSide(hunk: Hunk, tree: TreeLines): OldLine[] {
  return hunk.lines
    .filter(({ kind }) => kind !== 'added')
    .map((line) => {
      const text = withoutReturn(line.text);
      return {
        text,
        removed: line.kind === 'removed',
        weight: weightOf(text),
        // Computed on demand, since most hunks fit as they are and need neither.
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

/** Similarity of two squeezed lines, of a diff and of the tree; 0 if it is too low for a match. */
export function likeness(own: string, there: string, removed: boolean): number {
  const least = removed ? removedSimilarity : contextSimilarity;
  const alike = squeezedSimilarity(own, there, least);
  if (alike < least) return 0;
  // `b = 200` is not a misquoted `b = 300`: a line with another number is another line.
  return removed && numbersIn(own) !== numbersIn(there) ? 0 : alike;
}

/** The value of a pair that differs only in white space, or in wording. */
export const spaced = (line: OldLine): number => 0.9 * line.weight;
export const reworded = (line: OldLine, alike: number): number =>
  0.95 * line.weight * (2 * alike - 1);

/** The alignment of an old side that the tree has line by line from `start` on. */
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
 * The best alignment of an old side near a place. Lines may be absent from the tree, be additional
 * in it, or differ, at the costs above. Removed lines must exist. The alignment is the longest path
 * through a table of old lines by tree lines, in a band around the diagonal. The table is filled
 * from both ends. So it also shows which alternatives of each removed line, and of each place of
 * added lines, are within the margin.
 *
 * @param start the tree line where the old side would begin; may be negative or beyond the end
 * @param slack how many lines the alignment may deviate from there
 * @param asked the places between old lines (0 to `old.length`) of added lines
 * @returns undefined if a removed line has no match
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

/** How the best path reaches a cell. */
const how = { begins: 0, paired: 1, absent: 2, passed: 3 } as const;

/**
 * The table of old lines by tree lines in a band around the diagonal. In cell (i, k), i old lines
 * are consumed, and the next tree line is start + i + k - slack.
 */
class Band {
  private readonly width: number;
  /** The best scores from the start to each cell, and from each cell to the end. */
  private readonly ahead: Float64Array;
  private readonly back: Float64Array;
  private readonly step: Uint8Array;
  private readonly scores: Float64Array;
  /** The cost of the absence of each old line from the tree. */
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

  /** The cost of a tree line that the diff lacks. */
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

  /**
   * The best score, and for each old line its tree line or -1; undefined if no path reaches the
   * end.
   */
  best(): Pick<Alignment, 'score' | 'pairs'> | undefined {
    const { width, ahead, slack } = this;
    const m = this.old.length;
    let end = -1;
    let score = -Infinity;
    for (let k = 0; k < width; k += 1) {
      const value = ahead[m * width + k] ?? -Infinity;
      // Among equally good ends, the one nearest to the diagonal.
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

  /** The tree lines that match an old line in paths with a score above `least`. */
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

  /** The tree lines at a place between old lines in paths with a score above `least`. */
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

/**
 * The value of each pair of an old line and a tree line in the band; -Infinity if the pair is not
 * allowed.
 */
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
    // A line whose text exists in the file needs no similar lines. This holds anywhere in the file,
    // so that places stay comparable. Comparing lines is the expensive part.
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

/** Whether a context line says that lines are left out: `...` and `# ... rest of the code ...`. */
function isElision(text: string): boolean {
  return (
    /^\s*(#|\/\/)?\s*(\.\.\.|…)/.test(text) &&
    /(^|\W)(\.\.\.|…)\s*(\w[^=()]*)?(\.\.\.|…)?\s*$/.test(text)
  );
}
