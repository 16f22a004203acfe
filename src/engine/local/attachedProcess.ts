import type { Socket } from 'node:net';
import { startProgram } from '../../files/startProgram';
import type { AttachedProgram } from '../sandbox/agentProtocol';

/** A program of this machine, as the agent of the local engine runs. */
export interface AttachedProcess extends AttachedProgram {
  /** Resolves when it has ended, or cannot be started, with the reason. */
  readonly ended: Promise<ProcessEnd>;
  kill(): void;
  /** Whether this process waits for it before it ends on its own. */
  hold(isHeld: boolean): void;
}

interface ProcessEnd {
  readonly exitCode: number | undefined;
  readonly killedBy: string | undefined;
  readonly startError: string | undefined;
}

/**
 * Starts a program in a process group of its own, with nothing of this environment. An interrupt
 * from the terminal does not end it together with this process.
 *
 * @throws HumanError when the system starts no more programs
 */
export function attachProcess(program: string, args: readonly string[]): AttachedProcess {
  const child = startProgram(program, args, {
    cwd: process.platform === 'win32' ? undefined : '/',
    // Python on Windows does not start without it.
    env: process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] } : {},
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  let complaint = '';
  child.stderr.on('data', (data: Buffer) => {
    complaint = (complaint + data.toString('utf8')).slice(-2000);
  });
  // A program that is gone closes its end.
  for (const stream of child.stdio) stream?.on('error', () => undefined);
  const nothing = { exitCode: undefined, killedBy: undefined, startError: undefined };
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', ({ message }) => {
      if (child.pid === undefined) resolve({ ...nothing, startError: message });
    });
    child.once('exit', (code, signal) =>
      resolve({ ...nothing, exitCode: code ?? undefined, killedBy: signal ?? undefined }),
    );
  });
  return {
    output: child.stdout,
    ended,
    write(data, done) {
      if (!child.stdin.writable) return done();
      child.stdin.write(data, () => done());
    },
    complaint: () => complaint.trim(),
    close() {
      child.stdin.end();
      child.stdout.destroy();
    },
    kill: () => void child.kill('SIGKILL'),
    hold(isHeld) {
      const word = isHeld ? 'ref' : 'unref';
      child[word]();
      for (const stream of [child.stdin, child.stdout, child.stderr]) {
        (stream as Partial<Pick<Socket, typeof word>>)[word]?.();
      }
    },
  };
}
