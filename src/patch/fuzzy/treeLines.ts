import { indentationOf } from '../reading/indentation';

/** Numbers the distinct texts of a list, and knows the lines of each. */
class TextIndex {
  readonly numbers: Int32Array;
  private readonly byText = new Map<string, number>();
  /** Number of lines for each text number. */
  private readonly counts: number[] = [];
  private lines: readonly number[][] | undefined;

  constructor(texts: readonly string[]) {
    this.numbers = new Int32Array(texts.length);
    for (const [line, text] of texts.entries()) {
      const number = this.byText.get(text) ?? this.counts.length;
      if (number === this.counts.length) this.byText.set(text, number);
      this.numbers[line] = number;
      this.counts[number] = (this.counts[number] ?? 0) + 1;
    }
  }

  numberOf(text: string): number {
    return this.byText.get(text) ?? -1;
  }

  countOf(number: number): number {
    return this.counts[number] ?? 0;
  }

  linesOf(number: number): readonly number[] {
    if (this.lines === undefined) {
      this.lines = this.counts.map(() => []);
      for (const [line, own] of this.numbers.entries()) this.lines[own]?.push(line);
    }
    return this.lines[number] ?? [];
  }
}

/** A word on more lines than this points to no place, so no more of its lines are listed. */
const commonWord = 64;

/**
 * The lines of a file, indexed for placing hunks. Each text has a number, so that lines are
 * compared as numbers. Each text knows its lines, so that no hunk is tried at every line of the
 * file. Indexes that only inexact lines need are built on demand.
 */
export class TreeLines {
  /** Without `\n` or `\r\n`. */
  readonly text: readonly string[];
  /** 0-based lines that end with a carriage return. */
  private readonly returns = new Set<number>();
  private readonly isEnded: boolean;
  private exactIndex: TextIndex | undefined;
  private looseIndex: TextIndex | undefined;
  private weights: Float64Array | undefined;
  private readonly squeezes: (string | undefined)[] = [];
  private words: Map<string, number[]> | undefined;
  private named: { before: Int32Array; around: Int32Array } | undefined;

  constructor(content: string) {
    const text = content.split('\n');
    this.isEnded = text.at(-1) === '';
    if (this.isEnded) text.pop();
    for (const [i, line] of text.entries()) {
      if (!line.endsWith('\r')) continue;
      this.returns.add(i);
      text[i] = line.slice(0, -1);
    }
    this.text = text;
  }

  /** Whether a line ends with `\n`, with `\r\n`, or not at all. */
  endOf(line: number): '\n' | '\r\n' | '' {
    if (line === this.text.length - 1 && !this.isEnded) return '';
    return this.returns.has(line) ? '\r\n' : '\n';
  }

  /** A line as a hunk writes it: everything except the `\n`. */
  withReturn(line: number): string {
    const text = this.text[line] ?? '';
    return this.returns.has(line) ? `${text}\r` : text;
  }

  get length(): number {
    return this.text.length;
  }

  /** The number of each line's text. */
  get exact(): Int32Array {
    return this.byNumber.numbers;
  }

  /** The number of each line's text without white space. */
  get loose(): Int32Array {
    return this.withoutSpaces.numbers;
  }

  private get byNumber(): TextIndex {
    return (this.exactIndex ??= new TextIndex(this.text));
  }

  private get withoutSpaces(): TextIndex {
    return (this.looseIndex ??= new TextIndex(this.text.map(withoutSpace)));
  }

  /** {@link weightOf} a line. */
  weight(line: number): number {
    this.weights ??= Float64Array.from(this.text, weightOf);
    return this.weights[line] ?? 0;
  }

  /** {@link squeeze} a line. */
  squeezed(line: number): string {
    return (this.squeezes[line] ??= squeeze(this.text[line] ?? ''));
  }

  /** The number of a text; -1 if no line of the file has it. */
  exactNumberOf(text: string): number {
    return this.byNumber.numberOf(text);
  }

  /** The number of a text without white space; -1 if no line of the file has it. */
  looseNumberOf(text: string): number {
    return this.withoutSpaces.numberOf(withoutSpace(text));
  }

  /** How many lines have the exact text of a number. */
  countOf(exact: number): number {
    return this.byNumber.countOf(exact);
  }

  /** The first line with the exact text of a number, 0-based. */
  firstOf(exact: number): number {
    return this.linesOf(exact)[0] ?? -1;
  }

  /** The 0-based lines with the exact text of a number, in order. */
  linesOf(exact: number): readonly number[] {
    return this.byNumber.linesOf(exact);
  }

  /** The 0-based lines with the text of a number except for white space, in order. */
  looseLinesOf(loose: number): readonly number[] {
    return this.withoutSpaces.linesOf(loose);
  }

  /**
   * The 0-based lines that contain a word, in order. For a frequent word the list ends after
   * {@link commonWord} plus one.
   */
  linesWithWord(word: string): readonly number[] {
    if (this.words === undefined) {
      this.words = new Map();
      for (const [i, text] of this.text.entries()) {
        for (const [found] of text.matchAll(wordPattern)) {
          const at = this.words.get(found);
          if (at === undefined) this.words.set(found, [i]);
          else if (at.length <= commonWord && at.at(-1) !== i) at.push(i);
        }
      }
    }
    return this.words.get(word) ?? [];
  }

  /**
   * The lines whose blocks may contain a line, innermost first. The first is the last line before
   * it that begins with a letter, at any indentation. Each further one is the last line before with
   * less indentation.
   */
  *headingsOf(line: number): Generator<string> {
    const { before, around } = (this.named ??= this.findHeadings());
    for (let at = before[line] ?? -1; at >= 0; at = around[at] ?? -1) yield this.text[at] ?? '';
  }

  private findHeadings(): { before: Int32Array; around: Int32Array } {
    const before = new Int32Array(this.length + 1).fill(-1);
    const around = new Int32Array(this.length).fill(-1);
    const open: { line: number; depth: number }[] = [];
    for (const [i, text] of this.text.entries()) {
      before[i] = open.at(-1)?.line ?? -1;
      if (!/^\s*[A-Za-z_$]/.test(text)) continue;
      const depth = indentationOf(text).length;
      while ((open.at(-1)?.depth ?? -1) >= depth) open.pop();
      around[i] = open.at(-1)?.line ?? -1;
      open.push({ line: i, depth });
    }
    before[this.length] = open.at(-1)?.line ?? -1;
    return { before, around };
  }
}

/** A line of a diff without a carriage return at its end. */
export function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

/** Whether two lines are equal except for white space. */
export function sameButSpace(one: string, other: string): boolean {
  return one === other || withoutSpace(one) === withoutSpace(other);
}

const wordPattern = /\w{3,}/g;

/** The distinct words of a line with at least three letters. Shorter ones are not distinctive. */
export function wordsOfLine(text: string): Set<string> {
  return new Set(text.match(wordPattern) ?? []);
}

/**
 * How much a line says about a place, from 0 to 1. A blank line fits nearly anywhere, and a closing
 * bracket or an `else:` in very many places. A line with a name seldom fits by chance.
 */
export function weightOf(text: string): number {
  const letters = text.match(/\w/g)?.length ?? 0;
  if (letters === 0) return text.trim() === '' ? 0.1 : 0.3;
  return letters < 6 ? 0.6 : 1;
}

/** Longer lines are compared by their ends alone, since comparing takes quadratic time. */
const longLine = 400;

/**
 * Similarity of two lines, from 0 to 1. It is 1 less the share of characters to insert, delete or
 * replace (Levenshtein's distance by the longer length). A run of white space counts as one blank.
 * Below `least` the result may be 0 instead, which saves work.
 */
export function similarity(one: string, other: string, least = 0): number {
  return squeezedSimilarity(squeeze(one), squeeze(other), least);
}

/** {@link similarity} of texts that {@link squeeze} has prepared, for callers that compare many. */
export function squeezedSimilarity(one: string, other: string, least: number): number {
  let [a, b] = [one, other];
  if (a.length < b.length) [a, b] = [b, a];
  const length = a.length;
  if (length === 0) return 1;
  if (b.length < length * least) return 0;
  let head = 0;
  while (head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  const room = b.length - head;
  while (tail < room && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  if (length > longLine) return (head + tail) / length;
  const distance = levenshtein(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  return 1 - distance / length;
}

/** A text trimmed, with each run of white space as a single blank. */
export function squeeze(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** For each UTF-16 unit its positions in the current block of the text, one bit each. */
const occurrences = new Int32Array(0x10000);
/** Working memory for each character of a line; longer lines are not compared this way. */
const growths = new Int8Array(longLine);

/**
 * Levenshtein's distance, 32 characters of `a` at once: G. Myers, "A fast bit-vector algorithm for
 * approximate string matching based on dynamic programming", JACM 46 (1999), in the form for whole
 * texts of H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (2003).
 */
function levenshtein(a: string, b: string): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  // The differences between neighbouring columns of the distance table, in the row above the block.
  const growth = growths.fill(1, 0, b.length);
  for (let from = 0; from < a.length; from += 32) {
    const to = Math.min(a.length, from + 32);
    for (let k = from; k < to; k += 1) {
      const code = a.charCodeAt(k);
      occurrences[code] = (occurrences[code] ?? 0) | (1 << (k - from));
    }
    const last = to - from - 1;
    let plus = -1;
    let minus = 0;
    for (let j = 0; j < b.length; j += 1) {
      const above = growth[j] ?? 0;
      const [up, down] = [above > 0 ? 1 : 0, above < 0 ? 1 : 0];
      const equal = occurrences[b.charCodeAt(j)] ?? 0;
      const vertical = equal | minus;
      const horizontal = ((((equal | down) & plus) + plus) ^ plus) | equal | down;
      let grows = minus | ~(horizontal | plus);
      let shrinks = plus & horizontal;
      growth[j] = ((grows >>> last) & 1) - ((shrinks >>> last) & 1);
      grows = (grows << 1) | up;
      shrinks = (shrinks << 1) | down;
      plus = shrinks | ~(vertical | grows);
      minus = grows & vertical;
    }
    for (let k = from; k < to; k += 1) occurrences[a.charCodeAt(k)] = 0;
  }
  let distance = a.length;
  for (let j = 0; j < b.length; j += 1) distance += growth[j] ?? 0;
  return distance;
}
