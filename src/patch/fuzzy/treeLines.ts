import { indentationOf } from '../indentation';

/** Numbers for the different texts of a list, and where each stands. */
class TextIndex {
  readonly numbers: Int32Array;
  private readonly byText = new Map<string, number>();
  /** By number: how many texts there are, and which. */
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

/** A word in more lines than this tells no place: no more of its lines are listed. */
const commonWord = 64;

/**
 * The lines of a file with what placing hunks asks of them: each text has a number, so that lines are
 * compared as numbers, and each text knows the lines that hold it, so that no hunk is tried at every
 * line of the file. What only lines that fit nowhere as they are need is made when first asked for.
 */
export class TreeLines {
  /** Without line ends, neither `\n` nor `\r\n`. */
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

  /** A line as a hunk has it: all but the `\n`. */
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

  /** The number of a text; -1 where no line of the file has it. */
  exactNumberOf(text: string): number {
    return this.byNumber.numberOf(text);
  }

  /** The number of a text without white space; -1 where no line of the file has it. */
  looseNumberOf(text: string): number {
    return this.withoutSpaces.numberOf(withoutSpace(text));
  }

  /** How many lines have the exact text of a number. */
  countOf(exact: number): number {
    return this.byNumber.countOf(exact);
  }

  /** The first line with the exact text of a number, 0-based. */
  firstOf(exact: number): number {
    return this.exact.indexOf(exact);
  }

  /** The 0-based lines with the exact text of a number, in order. */
  linesOf(exact: number): readonly number[] {
    return this.byNumber.linesOf(exact);
  }

  /** The 0-based lines that have the text of a number but for white space, in order. */
  looseLinesOf(loose: number): readonly number[] {
    return this.withoutSpaces.linesOf(loose);
  }

  /** The 0-based lines that hold a word, in order; of a common one {@link commonWord} and one more. */
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
   * The lines that a line may lie in the block of, from the inside out: the last one before it that
   * begins with a letter, whatever its indentation, then each time the last one before that is indented less.
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

/** A line of a diff without the carriage return at its end. */
export function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

/** Whether two lines are equal but for white space. */
export function sameButSpace(one: string, other: string): boolean {
  return one === other || withoutSpace(one) === withoutSpace(other);
}

const wordPattern = /\w{3,}/g;

/** The different words of a line; those of one or two letters tell nothing and are left out. */
export function wordsOfLine(text: string): Set<string> {
  return new Set(text.match(wordPattern) ?? []);
}

/**
 * What a line tells about a place, from 0 to 1. A blank line fits nearly anywhere, a closing bracket
 * or an `else:` in very many places; a line with a name in it seldom fits by chance.
 */
export function weightOf(text: string): number {
  const letters = text.match(/\w/g)?.length ?? 0;
  if (letters === 0) return text.trim() === '' ? 0.1 : 0.3;
  return letters < 6 ? 0.6 : 1;
}

/** Lines longer than this are compared by their ends alone, since comparing takes the square of it. */
const longLine = 400;

/**
 * How alike two lines are, from 0 to 1: 1 less the share of characters to insert, delete or replace to
 * make one of the other (Levenshtein's distance by the longer length), runs of white space as one blank.
 * Below `least`, which saves the work, 0 may come back instead.
 */
export function similarity(one: string, other: string, least = 0): number {
  return squeezedSimilarity(squeeze(one), squeeze(other), least);
}

/** {@link similarity} of texts that {@link squeeze} has made ready, for who compares many. */
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

/** A text without blanks at its ends and with single blanks in it. */
export function squeeze(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** For each UTF-16 unit the places of it in the block of the text that is looked at, a bit for each. */
const occurrences = new Int32Array(0x10000);
/** Room for what is noted of each character of a line; longer ones are not compared this way. */
const growths = new Int8Array(longLine);

/**
 * Levenshtein's distance, 32 characters of `a` at once: G. Myers, "A fast bit-vector algorithm for
 * approximate string matching based on dynamic programming", JACM 46 (1999), in the form for whole
 * texts of H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (2003).
 */
function levenshtein(a: string, b: string): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  // What the table of distances grows by from each column to the next, in the row above the block.
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
