import { findFault, isEvenIn, segmentsOf } from '../../python/module';
import type { PythonParser } from '../../python/parser';
import type { CustomBlock } from './parseCustom';
import type { CustomFile } from './customFile';
import type { Diagnostic } from '../diagnostic';

/** The segments of files before any edit, by their lines. */
const segmentsBefore = new WeakMap<readonly string[], ReadonlySet<string>>();

/**
 * Maximum number of letters of a line, strings left out. A longer line is not parsed, since that can take
 * minutes.
 */
export const mostLetters = 10_000;

/** 0-based index of the first line that is too long to parse, not counting strings. */
export function longLine(lines: readonly string[]): number | undefined {
  const found = lines.findIndex(
    (line) => line.length > mostLetters && lettersOutsideStrings(line) > mostLetters,
  );
  return found < 0 ? undefined : found;
}

/** Number of letters of a line outside the strings that end in it. */
function lettersOutsideStrings(line: string): number {
  let letters = 0;
  for (let at = 0; at < line.length;) {
    const quote = line[at];
    if (quote !== '"' && quote !== "'") {
      letters += 1;
      at += 1;
      continue;
    }
    let end = at + 1;
    while (end < line.length && line[end] !== quote) end += line[end] === '\\' ? 2 : 1;
    // An open quote starts no string here. Trying each further quote would take quadratic time.
    if (end >= line.length) return letters + line.length - at;
    at = end + 1;
  }
  return letters;
}

/**
 * Maximum number of letters of code that are parsed. To parse or to find an error is one step, which takes
 * seconds for each hundred thousand letters. No function of a repository is that long.
 */
const mostCode = 200_000;

/** An error if the block has too much code to parse; undefined otherwise. */
export function tooMuch(block: CustomBlock): Diagnostic | undefined {
  const letters = block.code.reduce((sum, line) => sum + line.length + 1, 0);
  if (letters <= mostCode) return undefined;
  return {
    severity: 'error',
    code: 'python-syntax',
    line: block.codeLine,
    message: `The block has ${letters} characters of code; at most ${mostCode} are parsed`,
    hint: 'Write one block per function, or replace lines by number, as in 3-5',
  };
}

/** An error about a line of code that is too long to parse. */
export const tooLong = (block: CustomBlock, at: number): Diagnostic => ({
  severity: 'error',
  code: 'python-syntax',
  line: block.codeLine + at,
  message: `The line has ${block.code[at]?.length ?? 0} characters; code with more than ${mostLetters} in a line is not parsed`,
  hint: 'Break the line, or replace lines by number, as in 3-5',
});

/**
 * Reports a syntax error that the blocks cause in a file that had none. It is a warning if all
 * blocks replace lines by number, and else an error.
 *
 * @param sound code of blocks that is known to have no errors
 */
export function checkResult(
  file: CustomFile,
  blocks: readonly CustomBlock[],
  after: string,
  { python, sound }: { python: PythonParser; sound: readonly (readonly string[])[] },
): void {
  const [first] = blocks;
  // Text that was in the file before cannot cause the error, and parsing it again takes long.
  let there = segmentsBefore.get(file.lines);
  if (there === undefined) {
    there = textsOf(file.lines.join('\n'));
    segmentsBefore.set(file.lines, there);
  }
  const read = new Set(sound.flatMap((lines) => [...textsOf(lines.join('\n'))]));
  const known = there;
  const unread = [...textsOf(after.replaceAll('\r\n', '\n'))].filter(
    (text) => !known.has(text) && !read.has(text),
  );
  if (unread.some((text) => longLine(text.split('\n')) !== undefined)) return;
  const isSound = unread.every((text) => python.parseSound(text, isEvenIn) === true);
  // Python 2 accepts mixed blanks and tabs. Such a file is uneven before the edit as well.
  if (isSound || first === undefined || file.module.hasError) return;
  if (findFault(python, file.lines.join('\n')) !== undefined) return;
  const wrong = findFault(python, after);
  if (wrong === undefined) return;
  const text = after.split('\n')[wrong - 1]?.trim() ?? '';
  const asGiven = blocks.every((block) => typeof block.place === 'object');
  file.tell({
    severity: asGiven ? 'warning' : 'error',
    code: 'python-syntax',
    line: first.line,
    endLine: first.endLine,
    message: `${file.path} would have a syntax error in line ${wrong}: ${text}`,
    hint: 'Check the indentation of the code and where it goes',
  });
}

/** The segments of a source, without the blank lines after them. */
function textsOf(source: string): Set<string> {
  return new Set(segmentsOf(source).map(({ text }) => text.trimEnd()));
}
