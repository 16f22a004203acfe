import { indentationOf, indentUnit } from '../reading/indentation';
import { openQuotes, type OpenQuotes } from '../reading/pythonStrings';

/** The two sides of a block, for one of its possible dividers. */
export interface Sides {
  readonly search: readonly string[];
  readonly replace: readonly string[];
}

/** The two sides of a block with the indentation of the file. */
export interface IndentedSides extends Sides {
  /** 0-based lines of `replace` inside strings that keep their place, for lack of a better clue. */
  readonly left: readonly number[];
}

const isBlank = (line: string | undefined): boolean => line?.trim() === '';

/**
 * The sides of a block with the indentation of the file; undefined if no single rule converts the
 * one to the other.
 *
 * Text inside triple-quoted strings is data. If the file has it as SEARCH writes it, it stays so in
 * both sides. If SEARCH moved it along with the code, it is moved back. A string that only REPLACE
 * has follows the other strings of the block. If there is none, a docstring moves with the code,
 * and any other text stays.
 *
 * @param lines the lines of the file that SEARCH may match, one for one
 * @param unit the indentation unit of the file
 * @param open the string that is open at the start of these lines; undefined if the file is not
 *   Python
 */
export function indentLike(
  lines: readonly string[],
  sides: Sides,
  unit: string,
  open: OpenQuotes | undefined,
): IndentedSides | undefined {
  // If all lines follow one rule, strings make no difference. The quotes above may mislead, so this
  // is tried without them.
  return indented(lines, sides, unit, open) ?? indented(lines, sides, unit, undefined);
}

function indented(
  lines: readonly string[],
  { search, replace }: Sides,
  unit: string,
  open: OpenQuotes | undefined,
): IndentedSides | undefined {
  const inText = stringsOf(search, open);
  const pairAt = (line: string, i: number): [string, string] => [
    indentationOf(line),
    indentationOf(lines[i] ?? ''),
  ];
  const all = search.flatMap((line, i) => (isBlank(line) ? [] : [pairAt(line, i)]));
  const ofCode = search.flatMap((line, i) =>
    isBlank(line) || inText[i] !== undefined ? [] : [pairAt(line, i)],
  );
  const pairs = ofCode.length > 0 ? ofCode : all;
  const own = indentUnit(ofCode.length > 0 ? search.filter((_, i) => !inText[i]) : search);
  const shift = shiftOf(pairs, own, unit) ?? shiftOf(pairs.slice(1), own, unit);
  if (shift === undefined) return undefined;
  // Only the first line lost its indentation, since the text was trimmed.
  const [first] = pairs;
  const isTrimmed = first !== undefined && shift(first[0]) !== first[1];
  if (isTrimmed && (first[0] !== '' || (ofCode.length > 0 && inText[0] !== undefined))) {
    return undefined;
  }

  const moved = (line: string, i: number): string | undefined => {
    if (isBlank(line)) return '';
    const before = indentationOf(line);
    const indent = isTrimmed && i === 0 && before === '' ? first[1] : shift(before);
    return indent === undefined ? undefined : indent + line.slice(before.length);
  };
  const signs: Signs = { lines: new Map(), data: [] };
  const stays = new Set<number>();
  for (const [i, line] of search.entries()) {
    const text = ofCode.length > 0 ? inText[i] : undefined;
    if (text === undefined || isBlank(line)) continue;
    const there = indentationOf(lines[i] ?? '');
    const isSame = indentationOf(line) === there;
    const isMoved = shift(indentationOf(line)) === there;
    if (!isSame && !isMoved) return undefined;
    if (isSame === isMoved) continue;
    signs.lines.set(line.trimEnd(), isSame);
    if (!text.isDocstring) signs.data.push(isSame);
    if (isSame) stays.add(i);
  }
  const texts = ofCode.length > 0 ? stringsOf(replace, open) : [];
  const { staying, guessed } = whichStay(replace, texts, signs);
  const from = search.map((line, i) => (stays.has(i) ? line : moved(line, i)));
  const to = replace.map((line, i) => {
    if (isBlank(line)) return '';
    if (staying.has(i)) return line;
    return moved(line, i) ?? (texts[i] === undefined ? undefined : line);
  });
  if (!isWhole(from) || !isWhole(to)) return undefined;
  const left = guessed.filter((i) => moved(replace[i] ?? '', i) !== replace[i]);
  return { search: from, replace: to, left };
}

const isWhole = (side: readonly (string | undefined)[]): side is string[] =>
  side.every((line) => line !== undefined);

interface Text {
  /** Whether it is alone directly below the head of a function or class. */
  readonly isDocstring: boolean;
  readonly lines: number[];
}

/** For each line the string that is open at its start. */
function stringsOf(
  side: readonly string[],
  open: OpenQuotes | undefined,
): readonly (Text | undefined)[] {
  if (open === undefined) return side.map(() => undefined);
  const quotes = openQuotes(side, open);
  let text: Text | undefined;
  let above = '';
  return side.map((line, i) => {
    const own = quotes[i] === '' ? undefined : (text ??= { isDocstring: false, lines: [] });
    own?.lines.push(i);
    if (own === undefined) {
      const isAlone = /^\s*[a-zA-Z]{0,2}("""|''')/.test(line);
      text = { isDocstring: isAlone && above.endsWith(':'), lines: [] };
    }
    if (!isBlank(line)) above = line.trimEnd();
    return own;
  });
}

/**
 * Whether the file has the text of strings in SEARCH as it is. If not, the text moved with the
 * code.
 */
interface Signs {
  /** Keys are lines. */
  readonly lines: Map<string, boolean>;
  /** For the lines outside docstrings. */
  readonly data: boolean[];
}

/**
 * The lines of REPLACE that are text and keep their indentation, and those for which that is a
 * guess.
 */
function whichStay(
  replace: readonly string[],
  texts: readonly (Text | undefined)[],
  signs: Signs,
): { staying: ReadonlySet<number>; guessed: readonly number[] } {
  const staying = new Set<number>();
  const guessed: number[] = [];
  const signOf = (i: number): boolean | undefined => signs.lines.get((replace[i] ?? '').trimEnd());
  for (const text of new Set(texts)) {
    if (text === undefined) continue;
    const own = text.lines.flatMap((i) => signOf(i) ?? []);
    const isGuess = own.length === 0 && !text.isDocstring && signs.data.length === 0;
    const stays =
      own.length > 0
        ? own.includes(true)
        : !text.isDocstring && (isGuess || signs.data.includes(true));
    for (const i of text.lines) {
      if (signOf(i) ?? stays) staying.add(i);
      if (isGuess && !isBlank(replace[i])) guessed.push(i);
    }
  }
  return { staying, guessed };
}

type Shift = (indent: string) => string | undefined;

/** The one rule that turns the first indentation of every pair into the second. */
function shiftOf(
  pairs: readonly (readonly [string, string])[],
  own: string,
  theirs: string,
): Shift | undefined {
  const rules: Shift[] = [(indent) => indent];
  const [pair] = pairs;
  if (pair !== undefined) {
    const [from, to] = pair;
    if (to.endsWith(from)) rules.push((indent) => to.slice(0, to.length - from.length) + indent);
    if (from.endsWith(to)) {
      const less = from.slice(0, from.length - to.length);
      rules.push((indent) => (indent.startsWith(less) ? indent.slice(less.length) : undefined));
    }
    const steps = (indent: string, unit: string): number => indent.length / unit.length;
    const deeper = steps(to, theirs) - steps(from, own);
    rules.push((indent) => {
      const depth = steps(indent, own) + deeper;
      return Number.isInteger(depth) && depth >= 0 ? theirs.repeat(depth) : undefined;
    });
  }
  return rules.find((rule) => pairs.every(([from, to]) => rule(from) === to));
}
