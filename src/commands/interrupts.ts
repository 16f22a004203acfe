import { spawn } from 'node:child_process';
import { EXIT } from './context';

const interrupts = ['SIGINT', 'SIGTERM'] as const;

/**
 * Milliseconds that an interrupted command may take to end cleanly. What it leaves after that is removed
 * by the next one, as after a kill.
 */
const patience = 4500;

/**
 * The signal that tells commands to stop. It fires at the first interrupt; the second one does not wait,
 * nor does anybody wait longer than five seconds.
 */
export function interruptSignal(): AbortSignal {
  const abort = new AbortController();
  for (const name of interrupts) {
    process.on(name, () => {
      if (abort.signal.aborted) endAtOnce();
      process.stderr.write('\nstopping (once more to stop at once)\n');
      setTimeout(endAtOnce, patience).unref();
      abort.abort();
    });
  }
  return abort.signal;
}

/**
 * Ends this process. Node's own way out waits for what its threads have begun, such as reading a file
 * of a server that is gone: then another process has to end this one.
 */
function endAtOnce(): never {
  // What is sent from now on ends it by itself.
  for (const name of interrupts) process.removeAllListeners(name);
  const program = `
    process.stdin.resume().on('end', () => process.exit());
    setTimeout(() => process.kill(${process.pid}, 'SIGINT'), 500);
  `;
  try {
    // Its standard input ends when this process does.
    spawn(process.execPath, ['-e', program], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    }).on('error', () => undefined);
  } catch {
    // Without it, the usual way out has to do.
  }
  process.exit(EXIT.interrupted);
}
