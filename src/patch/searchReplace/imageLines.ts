import { StepBudget } from '../reading/stepBudget';
import { TreeLines } from '../fuzzy/treeLines';
import { indentUnit } from '../reading/indentation';
import { openQuotes, readPythonStrings, type OpenQuotes } from '../reading/pythonStrings';

/** A line of a file while blocks are applied to it. */
export interface ImageLine {
  readonly text: string;
  /** `\n`, `\r\n`, or empty for a last line without one. */
  readonly lineEnd: string;
  /** Whether an earlier block has written it. */
  readonly written: boolean;
  /** 1-based line of the file in the tree; absent for lines that a block wrote. */
  readonly origin?: number;
}

/** The most lines written by blocks that are read to find out whether a line begins in a string. */
const mostWritten = 1000;

/** The most lines that are searched for similar ones, for all blocks of one file together. */
const mostSearched = 1_000_000;

/** The lines of a file while blocks change it. */
export class ImageLines {
  private readonly lines: ImageLine[];
  /**
   * The texts of the lines. `trimmed` has them without white space at both ends, and is built on
   * demand.
   */
  private readonly exact: Texts;
  private trimmed: Texts | undefined;
  private changes = 0;
  private left = mostSearched;
  private tree: TreeLines | undefined;
  private first: TreeLines | undefined;
  /** The lines of the file in the tree, by their 0-based numbers there. */
  private readonly origins: readonly ImageLine[];
  /**
   * Limit on comparisons for all blocks of the file: enough for hundreds of blocks that do not fit.
   */
  readonly budget = new StepBudget(20_000_000);
  /** The indentation unit of the file before any change. */
  readonly unit: string;

  /**
   * The string that is open at the start of each line of the file in the tree; computed on demand.
   */
  private quotes: readonly OpenQuotes[] | undefined;

  /** @param isPython whether strings of Python must be respected */
  constructor(
    lines: readonly ImageLine[],
    private readonly isPython: boolean,
  ) {
    this.origins = lines;
    this.lines = [...lines];
    this.exact = new Texts(lines.map((line) => line.text));
    this.unit = indentUnit(lines.map((line) => line.text));
  }

  get length(): number {
    return this.lines.length;
  }

  /** Whether any block has changed the file. */
  get isChanged(): boolean {
    return this.changes > 0;
  }

  at(index: number): ImageLine | undefined {
    return this.lines[index];
  }

  /** The 1-based line of the file in the tree that is now at an index. */
  originOf(index: number): number | undefined {
    return this.at(index)?.origin;
  }

  /**
   * The string that is open at the start of a line; undefined if the file is not Python. It follows
   * the file in the tree up to the last of its lines above, and then the lines that blocks wrote.
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
          (open, text) => readPythonStrings(text, open).open,
          this.quotes[from] ?? '',
        );
      }
      if (at < index && line !== undefined) written.push(line.text);
    }
    return '';
  }

  slice(from: number, to: number): ImageLine[] {
    return this.lines.slice(from, to);
  }

  /**
   * The lines as the fuzzy format indexes them. Undefined once so many rebuilds after changes were
   * requested that they would take too long.
   */
  treeLines(): TreeLines | undefined {
    if (this.tree !== undefined) return this.tree;
    if (this.length > this.left) return undefined;
    this.left -= this.length;
    return (this.tree = asTree(this.lines));
  }

  /** {@link treeLines} of the file as it is in the tree, regardless of changes since. */
  firstLines(): TreeLines {
    return (this.first ??= this.isChanged
      ? asTree(this.origins)
      : (this.treeLines() ?? asTree(this.origins)));
  }

  /** The present index of a line of the file in the tree (0-based); undefined once it is gone. */
  indexOf(origin: number): number | undefined {
    const at = this.lines.findIndex((line) => line.origin === origin + 1);
    return at < 0 ? undefined : at;
  }

  /** Whether a block wrote a line that equals this one except for white space at its ends. */
  hasWritten(text: string): boolean {
    return this.byTrimmed()
      .findAll([text.trim()])
      .some((at) => this.lines[at]?.written === true);
  }

  toArray(): readonly ImageLine[] {
    return this.lines;
  }

  /** Replaces the lines `from` to `to` (excluded). */
  replace(from: number, to: number, lines: readonly ImageLine[]): void {
    this.changes += 1;
    this.tree = undefined;
    const texts = lines.map((line) => line.text);
    replaceIn(this.lines, from, to, lines);
    this.exact.replace(from, to, texts);
    this.trimmed?.replace(
      from,
      to,
      texts.map((text) => text.trim()),
    );
  }

  /** 0-based starts, in order, of the runs of lines that equal the given lines one by one. */
  findExact(search: readonly string[]): number[] {
    return this.exact.findAll(search);
  }

  /** Like {@link findExact}, for lines that are equal except for white space at both ends. */
  findTrimmed(search: readonly string[]): number[] {
    return this.byTrimmed().findAll(search.map((line) => line.trim()));
  }

  private byTrimmed(): Texts {
    return (this.trimmed ??= new Texts(this.lines.map((line) => line.text.trim())));
  }
}

/** A searchable list of texts of lines. */
class Texts {
  /** Each present or former text. It rules out most blocks that fit nowhere. */
  private readonly known: Set<string>;

  constructor(private readonly all: string[]) {
    this.known = new Set(all);
  }

  replace(from: number, to: number, texts: readonly string[]): void {
    replaceIn(this.all, from, to, texts);
    for (const text of texts) this.known.add(text);
  }

  /** 0-based places that have the given lines one by one; none for an empty list. */
  findAll(search: readonly string[]): number[] {
    const starts: number[] = [];
    const [first] = search;
    if (first === undefined || search.some((text) => !this.known.has(text))) return starts;
    for (let at = this.all.indexOf(first); at >= 0; at = this.all.indexOf(first, at + 1)) {
      if (search.every((text, i) => this.all[at + i] === text)) starts.push(at);
    }
    return starts;
  }
}

function replaceIn<T>(all: T[], from: number, to: number, more: readonly T[]): void {
  all.splice(from, to - from);
  // A call can take only a limited number of arguments.
  for (let i = 0; i < more.length; i += 10_000) {
    all.splice(from + i, 0, ...more.slice(i, i + 10_000));
  }
}

const asTree = (lines: readonly ImageLine[]): TreeLines =>
  new TreeLines(lines.map((line) => `${line.text}\n`).join(''));
