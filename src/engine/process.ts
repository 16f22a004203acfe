import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Duplex, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { HumanError, messageOf } from '../domain/work';
import { limits } from '../domain/verdict';
import { startProgram } from '../files/startProgram';
import { BoundedOutput, streamLimit } from './boundedOutput';
import { keeperArguments, readWire } from './keeper';
import { killRun, killGroup } from './killRun';

export interface ProcessRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Bytes of output after which the run is stopped. */
  readonly outputLimit: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * A Python 3.6 or later that keeps track of the run's processes on Linux. Without it, a process
   * escapes that left its group, lost its parent and lacks the environment of the run.
   */
  readonly keeper?: string | undefined;
  /** Notified when the program starts and when none of its processes is left. */
  readonly guardian?:
    | { started(mark: string, pid: number, isKept: boolean): void; ended(mark: string): void }
    | undefined;
  /** Receives the first 2 MiB of output as they arrive. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** How a process ended. */
export const endings = ['exited', ...limits, 'cancelled', 'not started'] as const;
export type Ending = (typeof endings)[number];

export interface ProcessResult {
  readonly ending: Ending;
  /** Exit status, or undefined when a signal ended the process or it never started. */
  readonly exitCode: number | undefined;
  readonly killedBy: string | undefined;
  /** Why the program could not be started. */
  readonly startError: string | undefined;
  /** stdout and stderr in order of arrival, without the middle of a very long output. */
  readonly output: string;
  /** Bytes written in total, including those that were not kept. */
  readonly outputBytes: number;
  readonly seconds: number;
  /** Processes that outlived the main one and were killed. */
  readonly leftBehind: number;
}

/** Milliseconds that a keeper has to stop its run; it gives up by itself after ten seconds. */
const keeperPatience = 12_000;

/** The longest delay of a timer in milliseconds; a longer one would fire at once. */
const longestDelay = 2 ** 31 - 1;

/** Environment variable that all processes of one run carry, so that they can be found. */
export const runMark = 'SWT_BENCH_RUN';

/**
 * Runs a program with all its child processes until it ends, its time is up, it writes too much, or
 * the caller cancels. On return, none of its processes is alive. Never throws because of what the
 * program does.
 *
 * @throws HumanError when the system starts no more programs
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  const mark = randomUUID();
  const started = performance.now();
  const { keeper, argv, signal } = request;
  if (signal?.aborted === true) return unstarted('cancelled', undefined);
  const isKept = keeper !== undefined && process.platform === 'linux' && argv.length > 0;
  let child;
  try {
    const [program = '', ...args] = isKept ? [keeper, ...keeperArguments(argv)] : argv;
    child = startProgram(program, args, {
      cwd: request.cwd,
      env: { ...request.env, [runMark]: mark },
      stdio: isKept ? ['ignore', 'pipe', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe'],
      // A process group of its own. A test that signals its group does not reach us, and our signal
      // reaches all.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  } catch (error) {
    if (error instanceof HumanError) throw error;
    // Some errors are thrown rather than emitted as an `error` event, such as too long an argument
    // list.
    return unstarted('not started', messageOf(error));
  }
  const result = await new RunningProcess(child, request, mark, isKept).result();
  return { ...result, seconds: (performance.now() - started) / 1000 };
}

/** How the main process ended by itself, or why it did not start. */
type OwnEnd = Pick<ProcessResult, 'exitCode' | 'killedBy' | 'startError'>;

class RunningProcess {
  private readonly stdout: Readable;
  private readonly stderr: Readable;
  /** The connection to the keeper, where there is one. */
  private readonly wire: Duplex | undefined;
  private readonly told: ReturnType<typeof readWire> | undefined;
  private readonly ended: Promise<void>;
  private readonly output = new BoundedOutput();
  /** Bytes passed to `onOutput` so far. */
  private streamed = 0;
  private ending: Ending = 'exited';
  /** How many processes were killed; undefined until the run is being stopped. */
  private stopping: Promise<number> | undefined;

  constructor(
    private readonly child: ChildProcess,
    private readonly request: ProcessRequest,
    private readonly mark: string,
    private readonly isKept: boolean,
  ) {
    const { stdout, stderr, stdio, pid } = child;
    if (stdout === null || stderr === null) throw new Error('a program without pipes');
    this.stdout = stdout;
    this.stderr = stderr;
    this.wire = stdio[3] instanceof Duplex ? stdio[3] : undefined;
    this.told = this.wire === undefined ? undefined : readWire(this.wire);
    this.ended = new Promise((resolve) => child.once('exit', () => resolve()));
    if (pid !== undefined) request.guardian?.started(mark, pid, isKept);
    for (const stream of [stdout, stderr]) this.read(stream);
  }

  /** Waits for the end or enforces it, and kills the processes that are left. */
  async result(): Promise<Omit<ProcessResult, 'seconds'>> {
    const { timeoutSeconds, signal, guardian } = this.request;
    const timer = setTimeout(
      () => this.stop('timed out'),
      Math.min(timeoutSeconds * 1000, longestDelay),
    );
    const cancel = (): void => this.stop('cancelled');
    signal?.addEventListener('abort', cancel, { once: true });
    const own = await this.ownEnd();
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);

    // Also kill whatever the main process left running, such as daemons and background jobs.
    let killed = (await this.stopping) ?? 0;
    const kept = await report(own.startError === undefined ? this.told : undefined);
    this.wire?.destroy();
    killed += kept?.killed ?? 0;
    if (kept?.complete !== true && (this.stopping === undefined || this.isKept)) {
      killed += await killRun(this.child.pid, this.mark);
    }
    const { exitCode, killedBy, startError } = kept ?? own;
    guardian?.ended(this.mark);
    if (this.ending !== 'cancelled') this.ending = kept?.limit ?? this.ending;
    if (this.ending === 'exited') await drained(this.stdout, this.stderr);
    // A process that escaped the run with the pipe open must not keep us reading.
    this.stdout.destroy();
    this.stderr.destroy();
    return {
      ending: startError === undefined ? this.ending : 'not started',
      exitCode,
      killedBy,
      startError,
      output: this.output.text(),
      outputBytes: this.output.bytes,
      leftBehind: this.ending === 'exited' ? killed : 0,
    };
  }

  private ownEnd(): Promise<OwnEnd> {
    const { child } = this;
    const nothing = { exitCode: undefined, killedBy: undefined, startError: undefined };
    return new Promise((resolve) => {
      child.once('error', ({ message }) => {
        if (child.pid === undefined) resolve({ ...nothing, startError: message });
      });
      child.once('exit', (code, signal) => {
        resolve({ ...nothing, exitCode: code ?? undefined, killedBy: signal ?? undefined });
      });
    });
  }

  private read(stream: Readable): void {
    const { onOutput, outputLimit } = this.request;
    const decoder = new StringDecoder('utf8'); // the pipe may split a character
    stream.on('data', (chunk: Buffer) => {
      this.output.add(chunk);
      if (onOutput !== undefined && this.streamed < streamLimit) {
        this.streamed += chunk.length;
        const text = decoder.write(chunk);
        if (text !== '') onOutput(text);
      }
      if (this.output.bytes > outputLimit) this.stop('too much output');
    });
  }

  private stop(why: Ending): void {
    if (this.stopping !== undefined) return;
    const { wire, child, mark } = this;
    this.ending = why;
    if (wire !== undefined) {
      // The keeper stops the run. The pipes are only paused, because a program would report a
      // closed pipe.
      wire.end();
      this.stdout.pause();
      this.stderr.pause();
      this.stopping = within(keeperPatience, this.ended).then((inTime) =>
        inTime ? 0 : killRun(child.pid, mark),
      );
      return;
    }
    // Kill before the pipes close, because a program would report a closed pipe.
    killGroup(child.pid);
    this.stopping = killRun(child.pid, mark);
    // Later output is not read: another process may keep the pipe open for ever.
    this.stdout.destroy();
    this.stderr.destroy();
  }
}

function unstarted(ending: Ending, startError: string | undefined): ProcessResult {
  return {
    ending,
    exitCode: undefined,
    killedBy: undefined,
    startError,
    output: '',
    outputBytes: 0,
    seconds: 0,
    leftBehind: 0,
  };
}

/**
 * The report of a keeper that has ended. The whole report is already in the wire, so this waits a
 * second at most, in case another process keeps the wire open.
 */
async function report<T>(told: Promise<T> | undefined): Promise<T | undefined> {
  return told !== undefined && (await within(1000, told)) ? told : undefined;
}

/** Whether the work finishes within so many milliseconds. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const inTime = await Promise.race([work.then(() => true), limit]);
  clearTimeout(timer);
  return inTime;
}

/** Waits a second at most until both streams have been read to their end. */
async function drained(...streams: readonly NodeJS.ReadableStream[]): Promise<void> {
  const ends = streams.map(
    (stream) =>
      new Promise<void>((resolve) => {
        if ((stream as { readableEnded?: boolean }).readableEnded === true) resolve();
        else stream.once('close', resolve).once('end', resolve);
      }),
  );
  await within(1000, Promise.all(ends));
}
