import { fstatSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Cancelled, HumanError, messageOf } from '../domain/work';
import { readPlainFile } from '../files/plainFile';
import type { CommandContext } from './context';

/** The name of an input in messages: the file, or standard input for `-`. */
export const inputName = (path: string): string => (path === '-' ? 'standard input' : path);

/**
 * The bytes of a file, or of standard input where the path is `-`.
 *
 * @param next what to do when it cannot be read, for the message
 * @throws HumanError when it cannot be read, Cancelled
 */
export async function readInput(
  path: string,
  next: string,
  { signal, stdin }: Pick<CommandContext, 'signal' | 'stdin'>,
): Promise<Buffer> {
  try {
    return await (path === '-' ? stdin(signal) : readPlainFile(path, { named: true, signal }));
  } catch (error) {
    if (signal.aborted) throw new Cancelled();
    throw new HumanError(`${inputName(path)} cannot be read (${messageOf(error)})`, next);
  }
}

/** All that this process gets on standard input. */
export async function standardInput(signal: AbortSignal): Promise<Buffer> {
  // If standard input is a folder, Node returns an empty stream.
  if (fstatSync(0).isDirectory()) throw new Error('it is a folder');
  return buffer(addAbortSignal(signal, process.stdin));
}
