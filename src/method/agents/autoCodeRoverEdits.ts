import { asShown } from '../../patch/bytes';
import { syntaxFaults } from '../../python/parser';
import { linesOf } from '../tools/places';
import type { FilesOnR } from './filesOnR';

/** Lines of a file, and the lines in their place. Without original lines it makes a new file. */
interface SnippetEdit {
  readonly path: string;
  readonly original: readonly string[];
  readonly patched: readonly string[];
}

const elements = ['file', 'original', 'patched'] as const;

/** The edits of an answer: `<file>`, `<original>` and `<patched>`, one after the other. */
export function snippetEditsOf(answer: string): SnippetEdit[] {
  const edits: SnippetEdit[] = [];
  for (let from = answer.indexOf('<file>'); from >= 0; from = answer.indexOf('<file>', from)) {
    const { texts, end } = elementsAt(answer, from);
    from = end;
    const [file, original, patched] = texts;
    if (file === undefined || original === undefined || patched === undefined) continue;
    const path = file.trim().replace(/^(?:\.\/)+/, '');
    edits.push({ path, original: codeLines(original), patched: codeLines(patched) });
  }
  return edits;
}

/** The texts of the elements from here on, as far as only blanks are between them. */
function elementsAt(
  text: string,
  start: number,
): { readonly texts: readonly string[]; readonly end: number } {
  const texts: string[] = [];
  let end = start;
  for (const name of elements) {
    const [open, close] = [`<${name}>`, `</${name}>`];
    const begins = text.indexOf('<', end);
    if (begins < 0 || !text.startsWith(open, begins) || text.slice(end, begins).trim() !== '')
      break;
    const ends = text.indexOf(close, begins);
    // No later element of this name ends either.
    if (ends < 0) return { texts, end: text.length };
    texts.push(text.slice(begins + open.length, ends));
    end = ends + close.length;
  }
  return { texts, end };
}

/** Lines of an element, without the blank ones at both ends. */
function codeLines(text: string): string[] {
  const lines = linesOf(text);
  while (lines[0]?.trim() === '') lines.shift();
  while (lines.at(-1)?.trim() === '') lines.pop();
  return lines;
}

/**
 * Makes the edits in the files, all or none.
 *
 * @returns why they cannot be made, as text for the model; undefined when they are made
 */
export async function makeSnippetEdits(
  edits: readonly SnippetEdit[],
  files: FilesOnR,
): Promise<string | undefined> {
  const drafts = new Map<string, string>();
  const problems: string[] = [];
  for (const edit of edits) {
    const { path } = edit;
    const refusal = await files.whyNotWritten(path, drafts);
    const before = drafts.get(path) ?? (await files.read(path));
    const made = refusal === undefined ? edited(before, edit, files) : { problem: refusal };
    if ('problem' in made) problems.push(`${path}: ${made.problem}`);
    else drafts.set(path, made.text);
  }
  if (problems.length > 0) return problems.join('\n');
  for (const [path, text] of drafts) {
    if (text === (await files.read(path))) return `${path}: the edits change nothing`;
  }
  for (const [path, text] of drafts) files.write(path, text);
  return undefined;
}

type Edited = { readonly text: string } | { readonly problem: string };

function edited(before: string | undefined, edit: SnippetEdit, { python }: FilesOnR): Edited {
  const { path, original, patched } = edit;
  const faultsOf = (text: string) => (path.endsWith('.py') ? syntaxFaults(python, text) : []);
  if (original.length === 0 && before !== undefined) {
    return { problem: 'the file already exists: give the original lines to replace' };
  }
  const guesses = before === undefined ? newFile(edit) : replacements(before, original, patched);
  if (guesses.length === 0) {
    return before === undefined
      ? { problem: 'there is no such file: for a new file, leave the original part empty' }
      : { problem: 'the original lines are not consecutive lines of the file' };
  }
  // A file that does not parse on R may be for another version of Python.
  const isCheckable = before === undefined || faultsOf(before).length === 0;
  const sound = guesses.find((text) => !isCheckable || faultsOf(text).length === 0);
  if (sound !== undefined) return { text: sound };
  const [fault] = faultsOf(guesses[0] ?? '');
  const what = fault?.problem === undefined ? '' : ` (${fault.problem})`;
  return { problem: `the edited file has a syntax error in line ${fault?.line ?? 1}${what}` };
}

const newFile = ({ original, patched }: SnippetEdit): string[] =>
  original.length > 0 || patched.length === 0 ? [] : [`${patched.join('\n')}\n`];

/**
 * The text with the first match of the original lines replaced, for each of two guesses at the
 * indentation; none without a match. Lines match if they are equal without the blanks at their ends.
 */
function replacements(
  before: string,
  original: readonly string[],
  patched: readonly string[],
): string[] {
  const lines = before.split('\n');
  const stripped = lines.map((line) => asShown(line).trim());
  const wanted = original.map((line) => line.trim());
  const at = stripped.findIndex((_, from) =>
    wanted.every((line, index) => stripped[from + index] === line),
  );
  if (at < 0) return [];
  const there = indentOf(lines[at] ?? '');
  const lineEnd = lines[at]?.endsWith('\r') === true ? '\r' : '';
  // Both parts are shifted alike, or the new lines begin where the old ones do.
  const guesses = [original[0] ?? '', patched[0] ?? ''].map((line) =>
    shifted(patched, indentOf(line), there).map((each) => each + lineEnd),
  );
  return guesses.map((each) =>
    [...lines.slice(0, at), ...each, ...lines.slice(at + original.length)].join('\n'),
  );
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? '';

/** Lines moved from one indentation to another. */
function shifted(lines: readonly string[], from: string, to: string): string[] {
  const more = to.slice(0, Math.max(0, to.length - from.length));
  const fewer = Math.max(0, from.length - to.length);
  return lines.map((line) =>
    line.trim() === '' ? '' : more + line.slice(Math.min(fewer, indentOf(line).length)),
  );
}
