import { StepBudget } from '../fuzzy/exactPlaces';
import { TreeLines } from '../fuzzy/treeLines';
import { indentUnit } from '../indentation';
import { openQuotes, readPythonStrings, type OpenQuotes } from '../pythonStrings';

/** A line of a file while blocks are applied to it. */
export interface ImageLine {
  readonly text: string;
  /** `\n`, `\r\n`, or empty at the end of a file without. */
  readonly lineEnd: string;
  /** Whether an earlier block has written it. */
  readonly written: boolean;
  /** 1-based line of the file in the tree; absent in lines that a block has written. */
  readonly origin?: number;
}

/** So many lines that blocks have written are read at most to tell whether one begins in a string. */
const mostWritten = 1000;

/** Lines that may be gone through to look for those that are alike, for all blocks of one file together. */
const patience = 1_000_000;

/** The lines of a file while blocks change it. */
export class ImageLines {
  private readonly lines: ImageLine[];
  /** Their texts, and these without white space at both ends, which is made when first asked for. */
  private readonly exact: Texts;
  private trimmed: Texts | undefined;
  private changes = 0;
  private left = patience;
  private tree: TreeLines | undefined;
  private first: TreeLines | undefined;
  /** The lines of the file in the tree, by their 0-based numbers there. */
  private readonly origins: readonly ImageLine[];
  /** What may be spent on comparing for all blocks of the file: enough for hundreds that are not there. */
  readonly budget = new StepBudget(20_000_000);
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
    this.lines = [...lines];
    this.exact = new Texts(lines.map((line) => line.text));
    this.unit = indentUnit(lines.map((line) => line.text));
  }

  get length(): number {
    return this.lines.length;
  }

  /** Whether anything has been changed. */
  get isChanged(): boolean {
    return this.changes > 0;
  }

  at(index: number): ImageLine | undefined {
    return this.lines[index];
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
   * The lines as the fuzzy format looks at them; undefined once that has been asked for so often, with
   * changes in between, that it would take too long.
   */
  treeLines(): TreeLines | undefined {
    if (this.tree !== undefined) return this.tree;
    if (this.length > this.left) return undefined;
    this.left -= this.length;
    return (this.tree = asTree(this.lines));
  }

  /** {@link treeLines} of the file as it is in the tree, whatever has been changed since. */
  firstLines(): TreeLines {
    return (this.first ??= this.isChanged
      ? asTree(this.origins)
      : (this.treeLines() ?? asTree(this.origins)));
  }

  /** Where a line of the file in the tree (0-based) stands now; undefined once it is gone. */
  indexOf(origin: number): number | undefined {
    const at = this.lines.findIndex((line) => line.origin === origin + 1);
    return at < 0 ? undefined : at;
  }

  /** Whether a block has written a line that is like this one but for white space at its ends. */
  hasWritten(text: string): boolean {
    return this.byTrimmed()
      .findAll([text.trim()])
      .some((at) => this.lines[at]?.written === true);
  }

  toArray(): readonly ImageLine[] {
    return this.lines;
  }

  /** Puts lines in the place of those from `from` to `to`, which is excluded. */
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

  /** 0-based starts, in order, of the runs of lines that are equal to these one by one. */
  findExact(search: readonly string[]): number[] {
    return this.exact.findAll(search);
  }

  /** As {@link findExact}, of lines that are equal but for white space at both ends. */
  findTrimmed(search: readonly string[]): number[] {
    return this.byTrimmed().findAll(search.map((line) => line.trim()));
  }

  private byTrimmed(): Texts {
    return (this.trimmed ??= new Texts(this.lines.map((line) => line.text.trim())));
  }
}

/** The texts of lines, to be searched. */
class Texts {
  /** Each text, and those that are gone: most blocks that fit nowhere are told by it. */
  private readonly known: Set<string>;

  constructor(private readonly all: string[]) {
    this.known = new Set(all);
  }

  replace(from: number, to: number, texts: readonly string[]): void {
    replaceIn(this.all, from, to, texts);
    for (const text of texts) this.known.add(text);
  }

  /** 0-based places where lines stand one by one; none for no lines. */
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
  // A call takes only so many arguments.
  for (let i = 0; i < more.length; i += 10_000) {
    all.splice(from + i, 0, ...more.slice(i, i + 10_000));
  }
}

const asTree = (lines: readonly ImageLine[]): TreeLines =>
  new TreeLines(lines.map((line) => `${line.text}\n`).join(''));
