import { Cancelled, HumanError, messageOf } from '../domain/work';
import { readPlainFile } from '../files/plainFile';
import { type CommandContext, EXIT } from './context';
import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';

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

const interrupts = ['SIGINT', 'SIGTERM'] as const;

/**
 * Milliseconds that an interrupted command may take to end cleanly. The next command removes what
 * it leaves after that, as after a kill.
 */
const graceTime = 4500;

/**
 * The signal that tells commands to stop, which fires at the first interrupt. A second interrupt
 * ends the process at once. In any case it ends within five seconds.
 */
export function interruptSignal(): AbortSignal {
  const abort = new AbortController();
  for (const name of interrupts) {
    process.on(name, () => {
      if (abort.signal.aborted) endAtOnce();
      // oxlint-disable-next-line no-restricted-properties -- no text of a stranger
      process.stderr.write('\nstopping… (interrupt again to stop immediately)\n');
      setTimeout(endAtOnce, graceTime).unref();
      abort.abort();
    });
  }
  return abort.signal;
}

/**
 * Ends this process. `process.exit` waits for operations of Node's threads, such as reading a file
 * from a dead server. In that case another process has to end this one.
 */
function endAtOnce(): never {
  // From now on, another interrupt ends the process on its own.
  for (const name of interrupts) process.removeAllListeners(name);
  const program = `
    process.stdin.resume().on('end', () => process.exit());
    setTimeout(() => process.kill(${process.pid}, 'SIGINT'), 500);
  `;
  try {
    // The standard input of the other process ends together with this process.
    spawn(process.execPath, ['-e', program], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    }).on('error', () => undefined);
  } catch {
    // Without the other process, `process.exit` has to suffice.
  }
  process.exit(EXIT.interrupted);
}
