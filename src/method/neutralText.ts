import { homedir } from 'node:os';
import type { TestResult } from '../domain/outcome';
import type { RunRecord } from '../engine/engine';

/** What stands in the place of a path that leads out of the tree, whichever it is. */
const outside = '[path]';

/**
 * Takes out of a text what another run of the same would have otherwise: the folder of the tree, so that
 * paths are relative to it, and other places of this machine. It goes by where the run took place and by
 * how paths of Python are written, never by what the text says.
 *
 * @param record the run that the text is of
 */
export function neutralText(text: string, { folders = [] }: Pick<RunRecord, 'folders'>): string {
  const [tree, ...around] = folders;
  let neutral = text;
  if (tree !== undefined) {
    neutral = neutral.replaceAll(`${tree}/`, '').replaceAll(`${tree}\\`, '');
    neutral = neutral.replace(wholePath(tree), '.');
  }
  // Of a library, what is below its folder says which it is.
  neutral = neutral.replace(
    /(?<![\w.+@-])(?:[A-Za-z]:)?(?:[\\/][\w.+@ -]+)*[\\/]lib(?:64)?[\\/]python3?[\d.]*[\\/](?:(?:site|dist)-packages[\\/])?/g,
    '[python]/',
  );
  // An interpreter that complains gives its own path first.
  neutral = neutral.replace(/^(?:[A-Za-z]:)?[\\/][^\s:]*python[\d.]*(?:\.exe)?(?=: )/gm, 'python');
  for (const folder of [...around, homedir()]) {
    if (folder.length > 1) neutral = neutral.replace(below(folder), outside);
  }
  // Where an object lies in memory, in its default representation.
  return neutral.replace(/(?<= at )0x[\da-fA-F]{6,16}(?=>)/g, '0x…');
}

/** The same for the output of a runner, of which the times are taken out as well. */
export function neutralLog(log: string, record: Pick<RunRecord, 'folders'>): string {
  return neutralText(log, record).replace(
    /(?<![\w.])\d+(?:\.\d+)?(?= ?(?:s|secs?|seconds?)\b)/g,
    '…',
  );
}

/** The same for the outcome of a test, without how long it took. */
export function neutralResult(
  { seconds: _, frames, comparison, ...result }: TestResult,
  record: Pick<RunRecord, 'folders'>,
): TestResult {
  const neutral = (text: string): string => neutralText(text, record);
  const { exception, message, details } = result;
  return {
    ...result,
    test: neutral(result.test),
    ...(exception !== undefined && { exception: neutral(exception) }),
    ...(message !== undefined && { message: neutral(message) }),
    ...(details !== undefined && { details: neutral(details) }),
    ...(frames !== undefined && {
      frames: frames.map((frame) => ({ ...frame, path: neutral(frame.path) })),
    }),
    ...(comparison !== undefined && {
      comparison: {
        expected: neutral(comparison.expected),
        actual: neutral(comparison.actual),
      },
    }),
  };
}

const escaped = (path: string): string => path.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const wholePath = (path: string): RegExp => new RegExp(`${escaped(path)}(?![\\w.-])`, 'g');

/** A folder and whatever is below it, as far as one can tell where a path ends. */
const below = (folder: string): RegExp =>
  new RegExp(`${escaped(folder)}(?![\\w.-])(?:[\\\\/][^\\s"'\`,:;()\\[\\]{}<>|]*)*`, 'g');
