import { StepBudget } from '../reading/stepBudget';

/** What looking at one line takes in steps of a budget, with the search for its place. */
const stepsOfLine = 16;

/** A line of an image. `origin` is the 1-based line of the old file; undefined for a written one. */
interface ImageLine {
  readonly text: string;
  readonly origin: number | undefined;
}

/**
 * The lines of a file while hunks go in.
 *
 * Lines are stored without their line end. A line that has none is stored with `\n`, which no other
 * line contains. A hunk takes old lines, its context included, and writes others in their place. No
 * later hunk may take a written line.
 *
 * Nothing here looks at all lines for one hunk: a file may have as many hunks as lines.
 */
export class Image {
  private readonly old: readonly string[];
  private readonly taken: Uint8Array;
  /** Written lines by the old line before which they stand, the end of the file included. */
  private readonly written = new Map<number, string[]>();
  private readonly growth: RunningSums;
  /** The old lines with each text; made when the first hunk is not where its number says. */
  private byText: Map<string, number[]> | undefined;
  private readonly budget = new StepBudget();
  private firstLeft = 0;
  length: number;

  constructor(before: string) {
    const lines = before.split('\n');
    const last = lines.pop() ?? '';
    if (last !== '') lines.push(`${last}\n`);
    this.old = lines;
    this.taken = new Uint8Array(lines.length);
    this.growth = new RunningSums(lines.length + 2);
    this.length = lines.length;
  }

  /** Whether the search for a place was given up, so that one may have been missed. */
  get isSpent(): boolean {
    return this.budget.isSpent;
  }

  /** The first old line, 0-based, that no hunk has taken; the number of old lines if there is none. */
  get first(): number {
    while (this.taken[this.firstLeft] === 1) this.firstLeft += 1;
    return this.firstLeft;
  }

  /** The old line at an index of the image; undefined if a hunk wrote the line there. */
  oldAt(index: number): number | undefined {
    let [from, to] = [0, this.old.length];
    // Old lines that were taken share the index of the next line, so this finds the last of them.
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.indexOf(middle) <= index) from = middle + 1;
      else to = middle;
    }
    const found = from - 1;
    return found >= 0 && this.taken[found] === 0 && this.indexOf(found) === index
      ? found
      : undefined;
  }

  /** Whether these lines are at an old line and after it, and no hunk has taken any. */
  has(lines: readonly string[], at: number): boolean {
    this.budget.take(stepsOfLine);
    if (at < 0 || at + lines.length > this.old.length) return false;
    for (let i = 0; i < lines.length; i += 1) {
      if (this.old[at + i] !== lines[i] || this.taken[at + i] === 1) {
        this.budget.take(i);
        return false;
      }
    }
    this.budget.take(lines.length);
    return true;
  }

  /**
   * The old line at which these lines stand, the nearest to an index of the image. Of two that are
   * equally near it is the later one, as with git.
   */
  nearest(lines: readonly string[], index: number): number | undefined {
    const here = this.oldAt(index);
    if (here !== undefined && this.has(lines, here)) return here;
    const { places, offset } = this.rarest(lines);
    const indexAt = (k: number): number => this.indexOf(places[k] ?? 0) - offset;
    let right = 0;
    for (let end = places.length; right < end;) {
      const middle = (right + end) >> 1;
      if (indexAt(middle) < index) right = middle + 1;
      else end = middle;
    }
    let left = right - 1;
    while ((left >= 0 || right < places.length) && !this.isSpent) {
      const goesRight =
        left < 0 || (right < places.length && indexAt(right) - index <= index - indexAt(left));
      const at = (places[goesRight ? right++ : left--] ?? 0) - offset;
      if (this.has(lines, at)) return at;
    }
    return undefined;
  }

  /** The old lines with the text that is rarest among some lines, and its place among these. */
  private rarest(lines: readonly string[]): { places: readonly number[]; offset: number } {
    this.byText ??= placesOf(this.old);
    let [places, offset] = [undefined as readonly number[] | undefined, 0];
    for (const [i, line] of lines.entries()) {
      const own = this.byText.get(line) ?? [];
      if (places === undefined || own.length < places.length) [places, offset] = [own, i];
    }
    return { places: places ?? [], offset };
  }

  /** Writes lines in place of as many old lines as given. */
  replace(at: number, count: number, lines: readonly string[]): void {
    this.write(at, lines);
    for (let line = at; line < at + count; line += 1) {
      this.taken[line] = 1;
      this.growth.add(line + 1, -1);
    }
    this.length -= count;
  }

  /** Writes lines before everything. */
  prepend(lines: readonly string[]): void {
    const before = this.written.get(0) ?? [];
    this.written.delete(0);
    this.write(0, lines);
    this.written.set(0, [...(this.written.get(0) ?? []), ...before]);
  }

  /** Writes lines after everything. */
  append(lines: readonly string[]): void {
    this.write(this.old.length, lines);
  }

  private write(at: number, lines: readonly string[]): void {
    const own = this.written.get(at);
    if (own === undefined) this.written.set(at, [...lines]);
    else for (const line of lines) own.push(line);
    this.growth.add(at, lines.length);
    this.length += lines.length;
  }

  /** The index of an old line; for one that was taken, that of the next line. */
  private indexOf(line: number): number {
    return line + this.growth.upTo(line);
  }

  /** All lines as they are now. */
  lines(): ImageLine[] {
    const lines: ImageLine[] = [];
    for (let at = 0; at <= this.old.length; at += 1) {
      for (const text of this.written.get(at) ?? []) lines.push({ text, origin: undefined });
      const text = this.old[at];
      if (text !== undefined && this.taken[at] === 0) lines.push({ text, origin: at + 1 });
    }
    return lines;
  }

  text(): string {
    return this.lines()
      .map(({ text }) => (text.endsWith('\n') ? text.slice(0, -1) : `${text}\n`))
      .join('');
  }
}

function placesOf(lines: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [at, line] of lines.entries()) {
    const own = places.get(line);
    if (own === undefined) places.set(line, [at]);
    else own.push(at);
  }
  return places;
}

/**
 * Sums of the first numbers of a list that changes: P. M. Fenwick, "A new data structure for
 * cumulative frequency tables" (1994).
 */
class RunningSums {
  private readonly sums: Int32Array;

  constructor(length: number) {
    this.sums = new Int32Array(length + 1);
  }

  add(place: number, count: number): void {
    for (let at = place + 1; at < this.sums.length; at += at & -at) this.sums[at]! += count;
  }

  /** The sum of the numbers up to a place, that one included. */
  upTo(place: number): number {
    let sum = 0;
    for (let at = place + 1; at > 0; at -= at & -at) sum += this.sums[at]!;
    return sum;
  }
}
