/**
 * A line with a number at its start: `12 def f`, `12| def f`, `12: def f`, `12<tab>def f`,
 * right-aligned.
 */
const numbered = /^[ \t]*(\d{1,6})(?:([ \t]*[|:│])|(\t)|(?= |$))(.*)$/su;

/** The start of a line of code at the head of a definition. */
const opens = /^[ \t]*(?:def|class|async|import|from)[ \t]|^[ \t]*@/;

interface NumberedLine {
  readonly number: number;
  /** The text between number and code; a blank counts as part of the code. */
  readonly separator: 'mark' | 'tab' | 'blank';
  readonly rest: string;
}

function readNumber(line: string): NumberedLine | undefined {
  const match = numbered.exec(line);
  if (match === null) return undefined;
  const [, digits = '', mark, tab, rest = ''] = match;
  const separator = mark !== undefined ? 'mark' : tab !== undefined ? 'tab' : 'blank';
  return { number: Number(digits), separator, rest };
}

/**
 * Removes the line numbers that models copy from a prompt. Returns undefined if there are none. The
 * numbers must rise by one from line to line. If only some lines have one, the first must have one
 * and begin a definition: `12 def test_x():`. One blank after the number belongs to it.
 */
export function withoutNumbers(lines: readonly string[]): string[] | undefined {
  const read = lines.map(readNumber);
  const first = read.findIndex((_, i) => lines[i]?.trim() !== '');
  const head = read[first];
  if (head === undefined) return undefined;
  const belongs = (line: NumberedLine | undefined, i: number): line is NumberedLine =>
    line !== undefined && line.number === head.number + i - first;
  const all = lines.every((line, i) => line.trim() === '' || belongs(read[i], i));
  const several = lines.filter((line) => line.trim() !== '').length > 1;
  if (!(all && several) && !opens.test(head.rest)) return undefined;

  const own = read.filter(belongs);
  const spaced = own.every((line) => line.rest.trim() === '' || line.rest.startsWith(' '));
  return lines.map((line, i) => {
    const found = read[i];
    if (!belongs(found, i)) return line;
    const { separator, rest } = found;
    if (rest.trim() === '') return '';
    return spaced && separator !== 'tab' ? rest.slice(1) : rest;
  });
}

/** Splits a line into the number at its start and the rest; undefined without a number. */
export function withoutNumber(line: string): { number: number; text: string } | undefined {
  const found = readNumber(line);
  if (found === undefined) return undefined;
  const text = found.separator === 'tab' ? found.rest : found.rest.replace(/^ /, '');
  return { number: found.number, text };
}
