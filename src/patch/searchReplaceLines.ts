import { Budget } from './fuzzyCandidates';
import { TreeLines } from './fuzzyLines';
import { indentUnit } from './indentation';
import { openQuotes, readStrings, type OpenQuotes } from './pythonStrings';

/** A line of a file while blocks are applied to it. */
export interface ImageLine {
  readonly text: string;
  /** `\n`, `\r\n`, or empty at the end of a file without. */
  readonly lineEnd: string;
  /** Whether an earlier block has written it. */
  readonly written: boolean;
  /** 1-based line of the file in the tree; absent in lines that a block has written. */
  readonly origin?: number;
  /** Where {@link ImageLines} holds it; undefined once it is gone. */
  chunk?: Chunk | undefined;
}

/** Lines that are held together, so that a change moves few and the place of a line is soon told. */
interface Chunk {
  start: number;
  readonly lines: readonly ImageLine[];
}

/** A chunk with more lines than twice these is parted. */
const chunkLength = 64;

/** So many lines that blocks have written are read at most to tell whether one begins in a string. */
const mostWritten = 1000;

/** Lines that may be gone through to look for those that are alike, for all blocks of one file together. */
const patience = 1_000_000;

/**
 * The lines of a file while blocks change it. The lines with a text are known, so that no block is tried at
 * every line of the file: with thousands of blocks that would take minutes.
 */
export class ImageLines {
  private readonly chunks: Chunk[] = [];
  /** Lines by their text, among them some that are gone. */
  private readonly exact: LinesByText = new Map();
  /** Lines by their text without white space at both ends; made when first asked for. */
  private trimmed: LinesByText | undefined;
  private count = 0;
  private changes = 0;
  private left = patience;
  private tree: TreeLines | undefined;
  private first: TreeLines | undefined;
  /** The lines of the file in the tree, by their 0-based numbers there. */
  private readonly origins: readonly ImageLine[];
  /** What may be spent on comparing for all blocks of the file: enough for hundreds that are not there. */
  readonly budget = new Budget(20_000_000);
  /** What the file as it was indents by. */
  readonly unit: string;

  /** The string that each line of the file in the tree begins in; made when first asked for. */
  private quotes: readonly OpenQuotes[] | undefined;

  /** @param isPython whether there are strings of Python to be minded */
  constructor(
    lines: readonly ImageLine[],
    private readonly isPython: boolean,
  ) {
    this.origins = lines;
    this.unit = indentUnit(lines.map((line) => line.text));
    for (let at = 0; at < lines.length; at += chunkLength) {
      this.addChunk(this.chunks.length, lines.slice(at, at + chunkLength));
    }
    for (const line of lines) enter(this.exact, line.text, line);
    this.number(0);
  }

  get length(): number {
    return this.count;
  }

  /** Whether anything has been changed. */
  get isChanged(): boolean {
    return this.changes > 0;
  }

  at(index: number): ImageLine | undefined {
    const chunk = this.chunks[this.chunkAt(index)];
    return chunk?.lines[index - chunk.start];
  }

  /** The 1-based line of the file in the tree that stands at an index. */
  originOf(index: number): number | undefined {
    return this.at(index)?.origin;
  }

  /**
   * The string that a line begins in, going by the file in the tree up to the last line of it above, and
   * by what blocks have written from there; undefined where the file is not Python.
   */
  quotesAt(index: number): OpenQuotes | undefined {
    if (!this.isPython) return undefined;
    this.quotes ??= openQuotes(this.origins.map((line) => line.text));
    const written: string[] = [];
    for (let at = index; at >= 0 && written.length <= mostWritten; at -= 1) {
      const line = this.at(at);
      if (line?.origin !== undefined) {
        const from = at === index ? line.origin - 1 : line.origin;
        return written.reduceRight<OpenQuotes>(
          (open, text) => readStrings(text, open).open,
          this.quotes[from] ?? '',
        );
      }
      if (at < index && line !== undefined) written.push(line.text);
    }
    return '';
  }

  slice(from: number, to: number): ImageLine[] {
    const out: ImageLine[] = [];
    for (let k = this.chunkAt(from); k < this.chunks.length && out.length < to - from; k += 1) {
      const chunk = this.chunks[k];
      if (chunk === undefined) break;
      const start = Math.max(0, from - chunk.start);
      out.push(...chunk.lines.slice(start, Math.max(start, to - chunk.start)));
    }
    return out;
  }

  /**
   * The lines as the fuzzy format looks at them; undefined once that has been asked for so often, with
   * changes in between, that it would take too long.
   */
  treeLines(): TreeLines | undefined {
    if (this.tree !== undefined) return this.tree;
    if (!this.spend(this.count)) return undefined;
    return (this.tree = asTree(this.toArray()));
  }

  /** {@link treeLines} of the file as it is in the tree, whatever has been changed since. */
  firstLines(): TreeLines {
    return (this.first ??= this.isChanged
      ? asTree(this.origins)
      : (this.treeLines() ?? asTree(this.origins)));
  }

  /** Where a line of the file in the tree (0-based) stands now; undefined once it is gone. */
  indexOf(origin: number): number | undefined {
    const line = this.origins[origin];
    return line === undefined ? undefined : this.placeOf(line);
  }

  /** Whether a block has written a line that is like this one but for white space at its ends. */
  hasWritten(text: string): boolean {
    const lines = this.byTrimmed().get(text.trim());
    if (lines === undefined) return false;
    return 'text' in lines ? lines.written : lines.some((line) => line.written);
  }

  private placeOf(line: ImageLine): number | undefined {
    return line.chunk === undefined ? undefined : line.chunk.start + line.chunk.lines.indexOf(line);
  }

  /** Whether so many lines more may be gone through. */
  spend(lines: number): boolean {
    if (lines > this.left) return false;
    this.left -= lines;
    return true;
  }

  toArray(): ImageLine[] {
    const out: ImageLine[] = [];
    for (const { lines } of this.chunks) for (const line of lines) out.push(line);
    return out;
  }

  /** Puts lines in the place of those from `from` to `to`, which is excluded. */
  replace(from: number, to: number, lines: readonly ImageLine[]): void {
    this.changes += 1;
    this.tree = undefined;
    const first = Math.max(0, Math.min(this.chunkAt(from), this.chunks.length - 1));
    const whole: ImageLine[] = [];
    let last = first;
    for (; last < this.chunks.length; last += 1) {
      const chunk = this.chunks[last];
      if (chunk === undefined || (last > first && chunk.start >= to)) break;
      for (const line of chunk.lines) whole.push(line);
    }
    const start = this.chunks[first]?.start ?? 0;
    const old = new Set(whole.slice(from - start, to - start));
    for (const line of old) line.chunk = undefined;
    const now = [...whole.slice(0, from - start), ...lines, ...whole.slice(to - start)];
    for (const line of lines) {
      if (old.has(line)) continue;
      enter(this.exact, line.text, line);
      if (this.trimmed !== undefined) enter(this.trimmed, line.text.trim(), line);
    }
    if (last - first === 1 && now.length > 0 && now.length <= 2 * chunkLength) {
      this.chunks.splice(first, 1);
      this.addChunk(first, now);
    } else {
      this.chunks.splice(first, last - first);
      for (let at = 0, k = first; at < now.length; at += chunkLength, k += 1) {
        this.addChunk(k, now.slice(at, at + chunkLength));
      }
    }
    this.number(first);
  }

  /** 0-based starts, in order, of the runs of lines that are equal to these one by one. */
  findExact(search: readonly string[]): number[] {
    return this.find(search, this.exact, (line) => line);
  }

  /** As {@link findExact}, of lines that are equal but for white space at both ends. */
  findTrimmed(search: readonly string[]): number[] {
    return this.find(
      search.map((line) => line.trim()),
      this.byTrimmed(),
      (line) => line.trim(),
    );
  }

  private byTrimmed(): LinesByText {
    if (this.trimmed === undefined) {
      this.trimmed = new Map();
      for (const { lines } of this.chunks) {
        for (const line of lines) enter(this.trimmed, line.text.trim(), line);
      }
    }
    return this.trimmed;
  }

  /** Looks where the line is that the fewest lines of the file are equal to, and compares the others there. */
  private find(
    search: readonly string[],
    index: LinesByText,
    form: (line: string) => string,
  ): number[] {
    let rarest = -1;
    let fewest: readonly ImageLine[] = [];
    for (const [i, text] of search.entries()) {
      const known = index.get(text);
      if (known === undefined) return [];
      const lines = 'text' in known ? [known] : known;
      if (rarest < 0 || lines.length < fewest.length) [rarest, fewest] = [i, lines];
    }
    const starts: number[] = [];
    for (const line of fewest) {
      const at = this.placeOf(line);
      if (at === undefined || at < rarest || at - rarest + search.length > this.count) continue;
      const there = this.slice(at - rarest, at - rarest + search.length);
      if (search.every((text, i) => form(there[i]?.text ?? '') === text)) {
        starts.push(at - rarest);
      }
    }
    return starts.sort((a, b) => a - b);
  }

  /** The number of the chunk that holds a line; that of the last one behind the end. */
  private chunkAt(index: number): number {
    let [low, high] = [0, this.chunks.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.chunks[middle]?.start ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private addChunk(at: number, lines: readonly ImageLine[]): void {
    const chunk = { start: 0, lines };
    this.chunks.splice(at, 0, chunk);
    for (const line of lines) line.chunk = chunk;
  }

  private number(from: number): void {
    const before = this.chunks[from - 1];
    let start = before === undefined ? 0 : before.start + before.lines.length;
    for (let k = from; k < this.chunks.length; k += 1) {
      const chunk = this.chunks[k];
      if (chunk === undefined) continue;
      chunk.start = start;
      start += chunk.lines.length;
    }
    this.count = start;
  }
}

/** Most texts stand in a file once: only for the others there is a list. */
type LinesByText = Map<string, ImageLine | ImageLine[]>;

function enter(index: LinesByText, text: string, line: ImageLine): void {
  const known = index.get(text);
  if (known === undefined) index.set(text, line);
  else if ('text' in known) index.set(text, [known, line]);
  else known.push(line);
}

const asTree = (lines: readonly ImageLine[]): TreeLines =>
  new TreeLines(lines.map((line) => `${line.text}\n`).join(''));
