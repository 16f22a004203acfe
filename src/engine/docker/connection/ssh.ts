import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { startProgram } from '../../../files/startProgram';
import { Duplex } from 'node:stream';
import { writeAddress, type EngineAddress } from './engineAddress';
import { EngineGone, lineOfProblem } from './engineProblem';

type Program = 'docker' | 'podman';

type SshAddress = Extract<EngineAddress, { kind: 'ssh' }>;

/** The other machine does not have the engine's own program. */
export class NoProgramThere extends EngineGone {}

/**
 * Connects to the engine of another machine through the user's own `ssh`. As with the docker
 * command, the user's ssh configuration, agent and known hosts apply.
 * https://github.com/docker/cli/blob/master/cli/connhelper/connhelper.go
 *
 * @param program connects to the engine there: `docker`, or `podman` where only that is installed
 */
export function dialThroughSsh(
  address: SshAddress,
  env: NodeJS.ProcessEnv,
  program: Program,
): Duplex {
  return new SshConnection(address, env, program);
}

/**
 * Arguments of `ssh`. `parseAddress` checks that host and user are plain names, so neither can be
 * an option.
 */
export function sshArguments(address: SshAddress, program: Program): string[] {
  const { user, host, port, remoteSocket } = address;
  const place =
    remoteSocket === undefined
      ? []
      : [program === 'podman' ? '--url' : '--host', `unix://${remoteSocket}`];
  return [
    // ssh must not ask for a password or about a host key, since there is no terminal.
    ...['-T', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=15'],
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...['--', host, program, ...place, 'system', 'dial-stdio'],
  ];
}

/** A duplex stream that an HTTP agent can use in place of a socket. */
class SshConnection extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #address: SshAddress;
  readonly #program: Program;
  #complaint = '';
  #ended = false;
  #exit: number | string | undefined;

  constructor(address: SshAddress, env: NodeJS.ProcessEnv, program: Program) {
    super({ allowHalfOpen: true });
    this.#address = address;
    this.#program = program;
    const child = startProgram('ssh', sshArguments(address, program), {
      env,
      stdio: 'pipe',
      windowsHide: true,
      // An interrupt from the terminal must reach only this process, which still has containers to
      // remove.
      detached: process.platform !== 'win32',
    });
    this.#child = child;
    child.on('error', (error) => this.destroy(this.#notStarted(error)));
    child.on('exit', (code, signal) => {
      this.#exit = code ?? signal ?? 'nothing';
      // The last output of ssh may still be in the pipe.
      setImmediate(() => this.#finish());
    });
    child.stdout.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) child.stdout.pause();
    });
    child.stdout.on('end', () => {
      this.#ended = true;
      this.#finish();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString('utf8')).slice(-4096);
    });
    // Errors of the streams are ignored: the end of the process says more than a failed write.
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.on('error', () => undefined);
    }
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#child.stdin.write(chunk, () => done());
  }

  override _final(done: () => void): void {
    this.#child.stdin.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#child.kill();
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    done(error);
  }

  /** Ends the connection once both the stream and the process have ended. */
  #finish(): void {
    if (!this.#ended || this.#exit === undefined || this.destroyed) return;
    if (this.#exit === 0) this.push(null);
    else this.destroy(this.#problem(this.#exit));
  }

  #notStarted(error: NodeJS.ErrnoException): EngineGone {
    if (error.code !== 'ENOENT') return new EngineGone(`ssh does not start: ${error.message}`);
    return new EngineGone('ssh is not on PATH', 'Install OpenSSH');
  }

  #problem(exit: number | string): EngineGone {
    const reason = lineOfProblem(this.#complaint.trim().split('\n').slice(-2).join('; '));
    const { host } = this.#address;
    const text = reason === '' ? `ssh ended with ${exit}` : reason;
    const login = `Run in a terminal: ssh ${host} ${this.#program} version`;
    if (exit === 127 || /command not found|not recognized as/i.test(reason)) {
      return new NoProgramThere(
        `${this.#program} was not found on ${host}: ${text}`,
        `Install it there, on the PATH of ssh commands. ${login}`,
      );
    }
    if (/permission denied \(|too many authentication failures/i.test(reason)) {
      return new EngineGone(
        `ssh cannot log in to ${host}: ${text}`,
        `Set up a login without prompts, with a key in an agent (ssh-add, ssh-copy-id). ${login}`,
      );
    }
    if (/host key verification failed/i.test(reason)) {
      return new EngineGone(
        `ssh does not know ${host}'s host key: ${text}`,
        `Log in once in a terminal to accept it: ssh ${host}`,
      );
    }
    return new EngineGone(`lost connection to ${writeAddress(this.#address)}: ${text}`, login);
  }

  // Methods that an HTTP agent also calls on its sockets.
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.end(() => this.destroy());
  }
  ref(): this {
    this.#each((part) => part.ref?.());
    return this;
  }
  unref(): this {
    this.#each((part) => part.unref?.());
    return this;
  }
  #each(act: (part: { ref?: () => unknown; unref?: () => unknown }) => void): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const part of [this.#child, stdin, stdout, stderr]) act(part as object);
  }
}
