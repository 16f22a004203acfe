import { faultIn, findFault } from '../python/module';
import type { PythonParser } from '../python/parser';
import { segmentsOf } from '../python/segments';
import type { CustomBlock } from './custom';
import type { CustomFile } from './customFile';

/** The segments of files before any edit, by their lines. */
const segmentsBefore = new WeakMap<readonly string[], ReadonlySet<string>>();

/**
 * Tells of a syntax error that the blocks make of a file without one: an error, but for lines that are
 * given as they are.
 */
export function checkResult(
  file: CustomFile,
  blocks: readonly CustomBlock[],
  after: string,
  python: PythonParser,
): void {
  const [first] = blocks;
  // What stands in the file before has no part in a syntax error, and to read it again takes long.
  let there = segmentsBefore.get(file.lines);
  if (there === undefined) {
    there = new Set(segmentsOf(file.lines.join('\n')).map(({ text }) => text));
    segmentsBefore.set(file.lines, there);
  }
  const known = there;
  const isSound = segmentsOf(after.replaceAll('\r\n', '\n')).every(
    ({ text }) => known.has(text) || python.parse(text, faultIn) === undefined,
  );
  // Blanks and tabs that Python 2 takes for equal are in the file before as well.
  if (isSound || first === undefined || findFault(python, file.lines.join('\n')) !== undefined)
    return;
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
