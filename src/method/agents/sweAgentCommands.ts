import { posix } from 'node:path';
import { throwIfAborted } from '../../domain/work';
import { WorkspaceFileError } from '../../engine/engine';
import { asShown, bytesOf, textOf } from '../../patch/bytes';
import { bounded } from '../tools/tool';
import { quotedForShell } from '../../engine/programs';
import type { ShellWork, AgentObservation } from './agent';
import type { ShellState } from '../traces/traceSteps';
import { whyStopped } from './whyStopped';
import { newErrorsOf } from './newErrorsOf';

/** The commands as the model sees them. */
export const sweAgentCommandDocs = `open PATH [LINE]
    opens a file in the window, at a line if there is one
goto LINE
    moves the window to a line
scroll_up
scroll_down
    move the window by 98 lines
create PATH
    creates an empty file and opens it
search_dir TERM [DIR]
    searches for text in all files of a directory, by default the current one
search_file TERM [FILE]
    searches for text in a file, by default the open one
find_file NAME [DIR]
    finds files by name, which may contain * and ?
edit START:END
TEXT
end_of_edit
    replaces lines START to END (inclusive) of the open file with TEXT; Python files are checked, and an edit that introduces a new error is rejected
submit
    ends the task and submits your tests`;

/** Lines that the window shows, and how many of them stay when it scrolls. */
const windowLines = 100;
const overlap = 2;

/** Files or lines beyond which a search shows nothing. */
const mostFound = 100;

/** Characters of output that the model is shown. */
const shown = 30_000;

/** A command that cannot be carried out, with the message for the model. */
class Refused extends Error {}

/** What a command gives: text, and what changes of the state. */
interface Done {
  readonly text: string;
  readonly state?: ShellState;
  readonly isSubmission?: boolean;
}

type Command = (args: readonly string[], body: string, work: ShellWork) => Promise<Done>;

/** Does a command of SWE-agent, or gives it to the shell. Each observation ends with the state. */
export async function runSweAgentCommand(
  action: string,
  work: ShellWork,
): Promise<AgentObservation<ShellState>> {
  const [first = '', ...rest] = action.split('\n');
  const [name = '', ...args] = wordsOf(first);
  const command = commands[name];
  // A special command is a line of its own: with anything behind it, the shell says what is wrong.
  const isSpecial = command !== undefined && (name === 'edit' || rest.length === 0);
  let done: Done;
  try {
    done = isSpecial ? await command(args, rest.join('\n'), work) : await inShell(action, work);
  } catch (error) {
    if (!(error instanceof Refused || error instanceof WorkspaceFileError)) throw error;
    done = { text: error.message };
  }
  throwIfAborted(work.signal);
  const state = done.state ?? work.state;
  const text = `${asShown(done.text)}\n(Open file: ${state.openFile ?? 'n/a'})\n(Current directory: ${state.cwd})\n$`;
  return { text, state, isSubmission: done.isSubmission === true };
}

const commands: Readonly<Record<string, Command>> = {
  open: async ([path, line], _, work) => {
    if (path === undefined) throw new Refused('Usage: open PATH [LINE]');
    const openFile = absolute(path, work.state);
    const lines = await linesOf(openFile, work);
    const at = line === undefined ? 1 : wholeNumber(line, 'LINE') - windowLines / 2;
    return windowAt({ ...work.state, openFile }, at, lines);
  },
  goto: async ([line], _, work) => {
    if (line === undefined) throw new Refused('Usage: goto LINE');
    const lines = await linesOf(openFileOf(work.state), work);
    const wanted = wholeNumber(line, 'LINE');
    if (wanted > lines.length) {
      throw new Refused(`LINE must be at most ${lines.length}, the number of lines of the file`);
    }
    // The line is in the upper part of the window, as what follows it is read next.
    return windowAt(work.state, wanted - Math.floor(windowLines / 6), lines);
  },
  scroll_up: (_, __, work) => scroll(work, -(windowLines - overlap)),
  scroll_down: (_, __, work) => scroll(work, windowLines - overlap),
  create: async ([path], _, work) => {
    if (path === undefined) throw new Refused('Usage: create PATH');
    const openFile = absolute(path, work.state);
    if (await isThere(openFile, work)) throw new Refused(`${openFile} already exists`);
    await work.workspace.write(openFile, Buffer.from('\n'));
    return windowAt({ ...work.state, openFile }, 1, ['']);
  },
  search_dir: async ([term, folder = '.'], _, work) => {
    if (term === undefined) throw new Refused('Usage: search_dir TERM [DIR]');
    const where = absolute(folder, work.state);
    // Hidden folders hold no code, .git least of all. A name ends in a zero byte, its count in a line end.
    const grep = `grep -rIcFZ --exclude='.*' --exclude-dir='.?*' -e ${quotedForShell(term)} ${quotedForShell(where)}`;
    const found = [...(await output(grep, work)).matchAll(/([^\0]+)\0(\d+)\n/g)]
      .map(([, path = '', count]) => ({ path, count: Number(count) }))
      .filter(({ count }) => count > 0)
      .sort((one, other) => (one.path < other.path ? -1 : 1));
    if (found.length === 0) throw new Refused(`No matches for ${shownTerm(term)} in ${where}`);
    if (found.length > mostFound) {
      throw new Refused(
        `${shownTerm(term)} is in ${found.length} files of ${where}. Search for something more specific.`,
      );
    }
    const total = found.reduce((sum, { count }) => sum + count, 0);
    const list = found.map(({ path, count }) => `${path} (${count} matches)`);
    return {
      text: [`Found ${total} matches for ${shownTerm(term)} in ${where}:`, ...list].join('\n'),
    };
  },
  search_file: async ([term, file], _, work) => {
    if (term === undefined) throw new Refused('Usage: search_file TERM [FILE]');
    const path = file === undefined ? openFileOf(work.state) : absolute(file, work.state);
    const lines = await linesOf(path, work);
    const found = lines.flatMap((line, index) => (line.includes(term) ? [index] : []));
    if (found.length === 0) throw new Refused(`No matches for ${shownTerm(term)} in ${path}`);
    if (found.length > mostFound) {
      throw new Refused(
        `${shownTerm(term)} is in ${found.length} lines of ${path}. Search for something more specific.`,
      );
    }
    const list = found.map((index) => `Line ${index + 1}:${lines[index] ?? ''}`);
    return {
      text: [`Found ${found.length} matches for ${shownTerm(term)} in ${path}:`, ...list].join(
        '\n',
      ),
    };
  },
  find_file: async ([name, folder = '.'], _, work) => {
    if (name === undefined) throw new Refused('Usage: find_file NAME [DIR]');
    const where = absolute(folder, work.state);
    const find = `find ${quotedForShell(where)} -name .git -prune -o -type f -name ${quotedForShell(name)} -print`;
    const found = (await output(find, work))
      .split('\n')
      .filter((path) => path !== '')
      .sort();
    if (found.length === 0) throw new Refused(`No matches for ${shownTerm(name)} in ${where}`);
    if (found.length > mostFound) {
      throw new Refused(`${found.length} files in ${where} match. Use a more specific name.`);
    }
    return {
      text: [`Found ${found.length} matches for ${shownTerm(name)} in ${where}:`, ...found].join(
        '\n',
      ),
    };
  },
  edit,
  submit: () => Promise.resolve({ text: 'The tests were submitted.', isSubmission: true }),
};

async function edit(args: readonly string[], body: string, work: ShellWork): Promise<Done> {
  const path = openFileOf(work.state);
  const range = /^(\d+):(\d+)$/.exec(args[0] ?? '');
  const end = /^end_of_edit\s*$/m.exec(body);
  if (range === null || args.length !== 1 || end === null) {
    throw new Refused(
      'Usage: edit START:END, then the lines of the text, then end_of_edit on its own line',
    );
  }
  const before = await contentOf(path, work);
  const lines = asLines(before);
  const [start, last] = [Number(range[1]), Math.min(Number(range[2]), lines.length)];
  if (start < 1 || Number(range[2]) < start || start > lines.length) {
    throw new Refused(`START:END must be within 1:${lines.length}, with START first`);
  }
  // Without the line end that is before `end_of_edit`; an edit of nothing removes its lines.
  const text = end.index === 0 ? [] : body.slice(0, end.index - 1).split('\n');
  const edited = [...lines.slice(0, start - 1), ...text, ...lines.slice(last)];
  const after = edited.length === 0 ? '' : `${edited.join('\n')}\n`;
  const errors = path.endsWith('.py') ? await newErrorsOf(before, after, work) : [];
  if (errors.length > 0) {
    const from = Math.max(1, start - 5);
    throw new Refused(
      [
        'The edit was rejected because it introduces errors:',
        ...errors.map((error) => `- ${error}`),
        '',
        'It would have resulted in these lines:',
        '-------------------------------------------------',
        numbered(edited, from, start + text.length + 4),
        '-------------------------------------------------',
        '',
        'The current lines are:',
        '-------------------------------------------------',
        numbered(lines, from, last + 5),
        '-------------------------------------------------',
        'The file is unchanged. Write a correct edit; repeating the same edit gives the same errors.',
      ].join('\n'),
    );
  }
  await work.workspace.write(path, bytesOf(after));
  // The middle of the new lines is in the middle of the window.
  const middle = start + Math.floor(text.length / 2);
  const { text: shownWindow, state } = windowAt(work.state, middle - windowLines / 2, edited);
  return {
    text: `${shownWindow}\nThe file was edited. Check that the lines are correct, and edit again if necessary.`,
    ...(state !== undefined && { state }),
  };
}

/** Gives an action to the shell as it is. */
async function inShell(action: string, work: ShellWork): Promise<Done> {
  const { workspace, task, state, signal } = work;
  const seconds = task.limits.commandSeconds;
  const result = await workspace.run({
    ...{ command: action, timeoutSeconds: seconds, keptBytes: 4 * shown, signal },
  });
  const output = bounded(result.output.replace(/\n$/, ''), shown);
  const stopped = whyStopped(result, seconds);
  const said = [output, ...(stopped === undefined ? [] : [stopped]), ...result.remarks]
    .filter((each) => each !== '')
    .join('\n');
  return {
    text: said === '' ? 'The command ran and printed nothing.' : said,
    state: { ...state, cwd: result.cwd },
  };
}

/** What a command of ours prints, in a shell of its own, so that functions of the agent change nothing. */
async function output(command: string, work: ShellWork): Promise<string> {
  const { workspace, task, signal } = work;
  const result = await workspace.run({
    command: `(unset -f grep find; unalias -a; command ${command} 2>/dev/null)`,
    timeoutSeconds: task.limits.commandSeconds,
    keptBytes: 4_000_000,
    signal,
  });
  const stopped = whyStopped(result, task.limits.commandSeconds);
  if (stopped !== undefined) throw new Refused(stopped);
  return result.output;
}

/** Words of a line, as a shell takes them apart: quotes group, a backslash takes the next sign as it is. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+|["'\\]/g)) {
    words.push(
      word.replace(
        /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g,
        (_, double?: string, single?: string, sign?: string) =>
          double !== undefined ? double.replace(/\\(["\\$`])/g, '$1') : (single ?? sign ?? ''),
      ),
    );
  }
  return words;
}

const absolute = (path: string, state: ShellState): string => posix.resolve(state.cwd, path);

const shownTerm = (term: string): string => JSON.stringify(term);

function openFileOf({ openFile }: ShellState): string {
  if (openFile === undefined) throw new Refused('No file is open. Use open PATH first.');
  return openFile;
}

function wholeNumber(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Refused(`${name} must be a number`);
  return Number(text);
}

/** A file as {@link textOf} gives it, so that an edit keeps the bytes that it does not touch. */
const contentOf = async (path: string, { workspace }: ShellWork): Promise<string> =>
  textOf(await workspace.read(path));

const linesOf = async (path: string, work: ShellWork): Promise<string[]> =>
  asLines(await contentOf(path, work));

const asLines = (text: string): string[] => text.replace(/\n$/, '').split('\n');

const isThere = (path: string, { workspace }: ShellWork): Promise<boolean> =>
  workspace.read(path, 1).then(
    () => true,
    (error: unknown) => {
      if (error instanceof WorkspaceFileError) return false;
      throw error;
    },
  );

async function scroll(work: ShellWork, by: number): Promise<Done> {
  const lines = await linesOf(openFileOf(work.state), work);
  return windowAt(work.state, (work.state.firstLine ?? 1) + by, lines);
}

/** The window of the open file from a line on, or as near to it as there are lines. */
function windowAt(state: ShellState, wanted: number, lines: readonly string[]): Done {
  const first = Math.max(1, Math.min(Math.floor(wanted), lines.length - windowLines + 1));
  const last = Math.min(lines.length, first + windowLines - 1);
  const text = [
    `[File: ${state.openFile ?? ''} (${lines.length} lines total)]`,
    ...(first > 1 ? [`(${first - 1} more lines above)`] : []),
    numbered(lines, first, last),
    ...(last < lines.length ? [`(${lines.length - last} more lines below)`] : []),
  ].join('\n');
  return { text, state: { ...state, firstLine: first } };
}

const numbered = (lines: readonly string[], from: number, to: number): string =>
  lines
    .slice(from - 1, to)
    .map((line, index) => `${from + index}:${line}`)
    .join('\n');
