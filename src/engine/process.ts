import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { messageOf } from '../domain/problem';
import { limits } from '../domain/reason';
import { BoundedOutput, streamLimit } from './boundedOutput';
import { keeperArguments, readWire } from './keeper';
import { killEverything, killGroup, stillRunning } from './killing';

export interface ProcessRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Bytes of output after which the run is stopped. */
  readonly outputLimit: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Python 3.6 or later that keeps the run together on Linux. Without it, a process is missed that left
   * its group, lost its parent and does not have the environment of the run.
   */
  readonly keeper?: string | undefined;
  /** Told when the program starts and when nothing of it is left. */
  readonly guardian?:
    | { started(mark: string, pid: number, isKept: boolean): void; ended(mark: string): void }
    | undefined;
  /** Receives output as it comes, the first 2 MiB of it. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** How a process came to its end. */
export const endings = ['exited', ...limits, 'cancelled', 'not started'] as const;
export type Ending = (typeof endings)[number];

export interface ProcessResult {
  readonly ending: Ending;
  /** Exit status, or undefined when a signal ended the process or it never started. */
  readonly exitCode: number | undefined;
  readonly killedBy: string | undefined;
  /** Why it could not be started. */
  readonly startError: string | undefined;
  /** stdout and stderr as they came, the middle of a very long output left out. */
  readonly output: string;
  /** Bytes written in all, kept or not. */
  readonly outputBytes: number;
  readonly seconds: number;
  /** Processes that outlived the main one and were killed. */
  readonly leftBehind: number;
}

/** Milliseconds that a keeper is given to stop its run; it gives up by itself after ten seconds. */
const keeperPatience = 12_000;

/** The longest delay of a timer; a longer one would fire at once. */
const longestDelay = 2 ** 31 - 1;

/** All processes of one run carry this in their environment, so that they are found wherever they went. */
export const runMark = 'SWT_BENCH_RUN';

/**
 * Runs a program and everything it starts, until it ends, its time is up, it writes too much, or the
 * caller cancels. When it returns nothing of the run is alive. Never throws for what the program does.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  const mark = randomUUID();
  const started = performance.now();
  const output = new BoundedOutput();
  let ending: Ending = 'exited';

  if (request.signal?.aborted === true) return unstarted('cancelled', undefined);
  const isKept =
    request.keeper !== undefined && process.platform === 'linux' && request.argv.length > 0;
  const [program, ...args] =
    isKept && request.keeper !== undefined
      ? [request.keeper, ...keeperArguments(request.argv)]
      : request.argv;
  let child;
  try {
    child = spawn(program ?? '', args, {
      cwd: request.cwd,
      env: { ...request.env, [runMark]: mark },
      stdio: isKept ? ['ignore', 'pipe', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe'],
      // A group of its own: a test that signals its group does not reach us, and ours reaches all.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  } catch (error) {
    // An argument list that is too long, for example, does not come as an `error` event.
    return unstarted('not started', messageOf(error));
  }

  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('a program without pipes');
  const wire = child.stdio[3] instanceof Duplex ? child.stdio[3] : undefined;
  const told = wire === undefined ? undefined : readWire(wire);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (child.pid !== undefined) request.guardian?.started(mark, child.pid, isKept);

  let stopping: Promise<number> | undefined;
  const stop = (why: Ending): void => {
    if (stopping !== undefined) return;
    ending = why;
    if (wire !== undefined) {
      // The keeper stops what runs. Not read on, but not closed before: a program would report that.
      wire.end();
      stdout.pause();
      stderr.pause();
      stopping = within(keeperPatience, ended).then((inTime) =>
        inTime ? 0 : killEverything(child.pid, mark),
      );
      return;
    }
    // At once, before the pipes close: a program that sees them closed would report that instead.
    killGroup(child.pid);
    stopping = killEverything(child.pid, mark);
    // What is written after this moment is not read: a pipe held open elsewhere must not hold us.
    stdout.destroy();
    stderr.destroy();
  };

  let streamed = 0;
  for (const stream of [stdout, stderr]) {
    const decoder = new StringDecoder('utf8'); // a character may be cut in two by the pipe
    stream.on('data', (chunk: Buffer) => {
      output.add(chunk);
      if (request.onOutput !== undefined && streamed < streamLimit) {
        streamed += chunk.length;
        const text = decoder.write(chunk);
        if (text !== '') request.onOutput(text);
      }
      if (output.bytes > request.outputLimit) stop('too much output');
    });
  }

  const timer = setTimeout(
    () => stop('timed out'),
    Math.min(request.timeoutSeconds * 1000, longestDelay),
  );
  const cancel = (): void => stop('cancelled');
  request.signal?.addEventListener('abort', cancel, { once: true });
  const own = await new Promise<Pick<ProcessResult, 'exitCode' | 'killedBy' | 'startError'>>(
    (resolve) => {
      child.once('error', (error) => {
        if (child.pid === undefined) {
          resolve({ exitCode: undefined, killedBy: undefined, startError: error.message });
        }
      });
      child.once('exit', (code, signal) => {
        resolve({
          exitCode: code ?? undefined,
          killedBy: signal ?? undefined,
          startError: undefined,
        });
      });
    },
  );
  clearTimeout(timer);
  request.signal?.removeEventListener('abort', cancel);

  // Whatever the main process left running (daemons, background jobs) goes with it.
  let killed = (await stopping) ?? 0;
  const kept = await report(own.startError === undefined ? told : undefined);
  wire?.destroy();
  killed += kept?.killed ?? 0;
  if (kept?.complete !== true && (stopping === undefined || isKept)) {
    killed += await killEverything(child.pid, mark);
  }
  const { exitCode, killedBy, startError } = kept ?? own;
  request.guardian?.ended(mark);
  if (ending === 'exited') await drained(stdout, stderr);
  // Whoever got out of the run with the pipe in hand must not keep us reading.
  stdout.destroy();
  stderr.destroy();
  return {
    ending: startError === undefined ? ending : 'not started',
    exitCode,
    killedBy,
    startError,
    output: output.text(),
    outputBytes: output.bytes,
    seconds: (performance.now() - started) / 1000,
    leftBehind: ending === 'exited' ? killed : 0,
  };
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

/** What the keeper told, which has ended: all of it is under way, unless something holds the wire. */
async function report<T>(told: Promise<T> | undefined): Promise<T | undefined> {
  return told !== undefined && (await within(1000, told)) ? told : undefined;
}

/** Whether work ends within so many milliseconds. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const inTime = await Promise.race([work.then(() => true), limit]);
  clearTimeout(timer);
  return inTime;
}

/** Waits until both streams have been read to their end, for a second at most. */
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

export { stillRunning };
