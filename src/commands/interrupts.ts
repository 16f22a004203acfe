import { spawn } from 'node:child_process';
import { EXIT } from './context';

const interrupts = ['SIGINT', 'SIGTERM'] as const;

/**
 * Milliseconds that an interrupted command may take to end cleanly. The next command removes what
 * it leaves after that, as after a kill.
 */
const patience = 4500;

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
      process.stderr.write('\nstopping (interrupt again to stop at once)\n');
      setTimeout(endAtOnce, patience).unref();
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
  // From now on, another interrupt ends the process by itself.
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
