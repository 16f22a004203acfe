import { homedir } from 'node:os';
import type { TestResult } from '../../domain/outcome';
import type { RunRecord } from '../../engine/engine';

/** Replaces every path that leads out of the tree. */
const outside = '[path]';

/**
 * Removes from a text whatever differs between two equal runs. Paths become relative to the tree,
 * and other places on this machine are replaced. It relies on where the run took place and on the
 * form of Python's paths, never on what the text says.
 *
 * @param record the run that produced the text
 */
export function neutralText(text: string, { folders = [] }: Pick<RunRecord, 'folders'>): string {
  const [tree, ...around] = folders;
  let neutral = text;
  if (tree !== undefined) {
    neutral = neutral.replaceAll(`${tree}/`, '').replaceAll(`${tree}\\`, '');
    neutral = neutral.replace(wholePath(tree), '.');
  }
  // For a library, the path below its folder tells which one it is.
  neutral = neutral.replace(
    /(?<![\w.+@-])(?:[A-Za-z]:)?(?:[\\/][\w.+@ -]+)*[\\/]lib(?:64)?[\\/]python3?[\d.]*[\\/](?:(?:site|dist)-packages[\\/])?/g,
    '[python]/',
  );
  // An interpreter puts its own path before an error message.
  neutral = neutral.replace(/^(?:[A-Za-z]:)?[\\/][^\s:]*python[\d.]*(?:\.exe)?(?=: )/gm, 'python');
  for (const folder of [...around, homedir()]) {
    if (folder.length > 1) neutral = neutral.replace(below(folder), outside);
  }
  // The memory address in the default representation of an object.
  return neutral.replace(/(?<= at )0x[\da-fA-F]{6,16}(?=>)/g, '0x…');
}

/** As `neutralText`, for the output of a runner; it also replaces the times. */
export function neutralLog(log: string, record: Pick<RunRecord, 'folders'>): string {
  return neutralText(log, record).replace(
    /(?<![\w.])\d+(?:\.\d+)?(?= ?(?:s|secs?|seconds?)\b)/g,
    '…',
  );
}

/** As `neutralText`, for the outcome of a test; it also drops the duration. */
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

/** Matches a folder and any path below it, as far as the end of a path can be told. */
const below = (folder: string): RegExp =>
  new RegExp(`${escaped(folder)}(?![\\w.-])(?:[\\\\/][^\\s"'\`,:;()\\[\\]{}<>|]*)*`, 'g');
