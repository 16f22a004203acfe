import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import { HumanError, messageOf } from '../../domain/work';
import { limits } from '../../domain/verdict';
import { startProgram } from '../../files/startProgram';
import { BoundedOutput, streamLimit } from './boundedOutput';
import { attachProcess, type AttachedProcess } from '../local/attachedProcess';
import { pythonProgram } from '../pythonProgram';
import { openAgentProtocol, type AgentProtocol, type FrameHeader } from '../sandbox/agentProtocol';

export interface ProcessRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Bytes of output after which the run is stopped. */
  readonly outputLimit: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * A Python 3.6 or later, with which the agent runs the program and ends all of its processes.
   * Without it, processes escape that have left the group of the program.
   */
  readonly python?: string | undefined;
  /** Has agents that are started already. */
  readonly agents?: ReadyAgents | undefined;
  /** Its interpreter was started for this very run. */
  readonly loaded?: LoadedAgent | undefined;
  /** The test files of the run, for that interpreter. */
  readonly tests?: readonly string[] | undefined;
  /**
   * Set where the next program may be started before it is known: it runs tests in a CPython that
   * waits for them (swt_ahead.py).
   */
  readonly ahead?:
    | {
        /** The variables that differ from run to run; the others have to be the same. */
        readonly variables: ReadonlySet<string>;
        /** Some of these while it waits. */
        readonly meanwhile: Readonly<Record<string, string>>;
        /** What is installed, as far as it is known: another has other code to import. */
        readonly environment: string;
      }
    | undefined;
  /** Folder that the agent removes when this process ends during the run. */
  readonly folder?: string | undefined;
  /** Programs on the loopback that run beside it, with the variables that only they get. */
  readonly services?: readonly StartedService[] | undefined;
  readonly serviceEnv?: Readonly<Record<string, string>> | undefined;
  /** Receives the first 2 MiB of output as they arrive. */
  readonly onOutput?: ((text: string) => void) | undefined;
  /** Learns what the system lacks for ending and limiting runs. */
  readonly onLacks?: ((what: readonly string[]) => void) | undefined;
}

/** A service that is started for one run. */
export interface StartedService {
  readonly name: string;
  readonly argv: readonly string[];
  readonly port: number;
  /** Variables of the program by which it finds the service. */
  readonly env: Readonly<Record<string, string>>;
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
  /** Further facts, such as a service that did not start. */
  readonly remarks: readonly string[];
}

/** Milliseconds that an agent has to stop its run; it gives up on its own after ten seconds. */
const stopTimeout = 12_000;

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
  const { python, signal } = request;
  if (signal?.aborted === true) return unstarted('cancelled');
  const started = performance.now();
  const run = new Run(request);
  const result = await (python === undefined ? withoutAgent(run) : withAgent(run, python));
  return { ...result, seconds: (performance.now() - started) / 1000 };
}

/**
 * Ends what another program has left of a run, by the mark in its environment.
 *
 * @param python see {@link ProcessRequest}
 * @param pid its main process, where that is known
 */
export async function endRun(python: string, mark: string, pid?: number): Promise<void> {
  const wire = openAgentProtocol(startAgent(python));
  wire.send({ kind: 'kill', mark, ...(pid !== undefined && { pid }) });
  for (;;) {
    const frame = await wire.receive();
    if (frame === undefined || frame.header.kind !== 'ready') break;
  }
  wire.close();
}

function newAgent(python: string): Omit<ReadyAgent, 'ahead'> {
  const program = startAgent(python);
  return { program, wire: openAgentProtocol(program), mark: randomUUID() };
}

const startAgent = (python: string): AttachedProcess =>
  attachProcess(python, ['-I', '-S', pythonProgram('agent', 'swt_local.py')]);

/** An agent that waits for its run. */
interface ReadyAgent {
  readonly program: AttachedProcess;
  readonly wire: AgentProtocol;
  readonly mark: string;
  /** What the waiting program was started with, where one was. */
  readonly ahead: string | undefined;
}

/** An agent whose interpreter has loaded what tests import of R: see swt_warm.py. */
export type LoadedAgent = Omit<ReadyAgent, 'ahead'>;

/**
 * Starts an agent whose interpreter loads modules of R.
 *
 * @param program what will run, with the arguments that are known
 * @returns the seconds that it took; or why it cannot be done
 */
export async function preloadModules(
  python: string,
  request: Pick<ProcessRequest, 'argv' | 'cwd' | 'env' | 'signal' | 'timeoutSeconds'>,
): Promise<{ readonly agent: LoadedAgent; readonly seconds: number } | { readonly why: string }> {
  const { argv, cwd, env, signal } = request;
  const isCancelled = (): boolean => signal?.aborted === true;
  if (isCancelled()) return { why: 'nobody waits for it' };
  const agent = newAgent(python);
  const { program, wire, mark } = agent;
  const close = (): void => wire.close();
  signal?.addEventListener('abort', close, { once: true });
  try {
    const marked = { ...env, [runMark]: mark };
    const loads = request.timeoutSeconds;
    wire.send({ kind: 'prepare', argv, cwd, env: marked, mark, loads });
    for (;;) {
      const frame = await wire.receive();
      if (frame === undefined || isCancelled()) {
        close();
        return { why: isCancelled() ? 'nobody waits for it' : 'its process ended' };
      }
      const { header } = frame;
      if (header.kind === 'loaded' && header.why === null && header.seconds !== null) {
        program.hold(false);
        return { agent, seconds: header.seconds };
      }
      if (header.kind === 'loaded' || header.kind === 'failed') {
        close();
        return { why: header.why ?? 'its process ended' };
      }
    }
  } finally {
    signal?.removeEventListener('abort', close);
  }
}

/** What two programs have in common of which one may wait for the run of the other. */
const commonOf = ({ argv, cwd, env, ahead }: ProcessRequest) => ({
  argv: argv.slice(0, 3),
  cwd,
  env: Object.fromEntries(
    Object.entries(env).filter(([name]) => ahead?.variables.has(name) !== true),
  ),
  environment: ahead?.environment,
});

/**
 * Keeps one agent ready for the next run, which then need not wait for an interpreter to start. Each
 * serves a single run, since tests are the children of theirs.
 */
export class ReadyAgents {
  private ready: ReadyAgent | undefined;
  private isOver = false;

  /** @param python see {@link ProcessRequest} */
  constructor(private readonly python: () => string) {}

  /**
   * Starts an agent, where none is ready.
   *
   * @param like a run before, whose program is started again for the next one if that may be
   */
  prepare(like?: ProcessRequest): void {
    if (this.isOver || this.ready !== undefined) return;
    try {
      const agent = newAgent(this.python());
      const { program, wire, mark } = agent;
      const common = like?.ahead === undefined ? undefined : commonOf(like);
      if (common !== undefined) {
        const env = { ...common.env, ...like?.ahead?.meanwhile, [runMark]: mark };
        wire.send({ kind: 'prepare', ...common, env, mark });
      }
      program.hold(false);
      const ready = { ...agent, ahead: common && JSON.stringify(common) };
      this.ready = ready;
      void program.ended.then(() => this.forget(ready));
    } catch {
      // The next run says why none can start.
    }
  }

  /** The one that is ready for a run of its own. */
  take(run: ProcessRequest): ReadyAgent | undefined {
    const { ready } = this;
    this.ready = undefined;
    if (ready?.ahead !== undefined && ready.ahead !== JSON.stringify(commonOf(run))) {
      ready.wire.close();
      return undefined;
    }
    ready?.program.hold(true);
    return ready;
  }

  dispose(): void {
    this.isOver = true;
    this.ready?.wire.close();
    this.ready = undefined;
  }

  private forget(ended: ReadyAgent): void {
    if (this.ready === ended) this.ready = undefined;
  }
}

/** A run under way: its output so far, and why it is being stopped. */
class Run {
  readonly output = new BoundedOutput();
  stopped: Ending | undefined;
  /** Bytes passed to `onOutput` so far. */
  private streamed = 0;
  private readonly decoder = new StringDecoder('utf8'); // a piece may split a character
  private stop: (why: Ending) => void = () => undefined;

  constructor(readonly request: ProcessRequest) {}

  add(piece: Buffer): void {
    const { onOutput, outputLimit } = this.request;
    if (this.stopped !== undefined) return;
    this.output.add(piece);
    if (onOutput !== undefined && this.streamed < streamLimit) {
      this.streamed += piece.length;
      const text = this.decoder.write(piece);
      if (text !== '') onOutput(text);
    }
    if (this.output.bytes > outputLimit) this.stop('too much output');
  }

  /** Does some work, and meanwhile calls `stop` once if the run is to end before it does so itself. */
  async during<T>(stop: (why: Ending) => void, work: () => Promise<T>): Promise<T> {
    const { timeoutSeconds, signal } = this.request;
    this.stop = (why) => {
      if (this.stopped !== undefined) return;
      this.stopped = why;
      stop(why);
    };
    const cancel = (): void => this.stop('cancelled');
    const timer = setTimeout(
      () => this.stop('timed out'),
      Math.min(timeoutSeconds * 1000, longestDelay),
    );
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  result(of: Partial<ProcessResult>): ProcessResult {
    return {
      ...unstarted('exited'),
      ending: this.stopped ?? 'exited',
      output: this.output.text(),
      outputBytes: this.output.bytes,
      ...of,
    };
  }
}

const unstarted = (ending: Ending, startError?: string): ProcessResult => ({
  ...{ ending, exitCode: undefined, killedBy: undefined, startError },
  ...{ output: '', outputBytes: 0, seconds: 0, leftBehind: 0, remarks: [] },
});

/** Lets an agent of its own run a program. */
async function withAgent(run: Run, python: string): Promise<ProcessResult> {
  const { agents, loaded } = run.request;
  loaded?.program.hold(true);
  const ready = loaded ?? agents?.take(run.request);
  const result = ready === undefined ? undefined : await ranBy(ready, run, python);
  // One that was waiting may be gone, since nothing keeps tests from its process.
  const ended = result ?? (await ranBy(newAgent(python), run, python));
  agents?.prepare(run.request);
  return ended ?? run.result({ ending: 'not started', startError: 'the agent did not start' });
}

/** @returns undefined where the agent was gone before it started the program */
async function ranBy(
  { program, wire, mark }: Omit<ReadyAgent, 'ahead'>,
  run: Run,
  python: string,
): Promise<ProcessResult | undefined> {
  const { request } = run;
  let giveUp: NodeJS.Timeout | undefined;
  const stop = (why: Ending): void => {
    wire.send({ kind: 'stop', why });
    giveUp = setTimeout(() => program.kill(), stopTimeout);
  };
  try {
    return await run.during(stop, async () => {
      wire.send({
        ...{ kind: 'run', argv: request.argv, cwd: request.cwd, mark, folder: request.folder },
        env: { ...request.env, [runMark]: mark },
        tests: request.tests ?? [],
        services: request.services ?? [],
        serviceEnv: { ...request.serviceEnv, [runMark]: mark },
        // Takes effect only when this process cannot stop the run.
        seconds: Math.min(request.timeoutSeconds, 1e9) + 30,
      });
      const { done, pid } = await answered(wire, run);
      if (done !== undefined) return resultOf(done, run);
      // Tests may kill the agent, which is their parent.
      const { exitCode, killedBy, startError } = await program.ended;
      if (pid === undefined) {
        const why = startError ?? program.complaint().split('\n').at(-1) ?? '';
        if (run.stopped === undefined && why === '') return undefined;
        return run.result({ ending: run.stopped ?? 'not started', startError: why || undefined });
      }
      await endRun(python, mark, pid);
      return run.result({ exitCode, killedBy });
    });
  } finally {
    clearTimeout(giveUp);
    wire.close();
  }
}

type Done = Extract<FrameHeader, { kind: 'done' }>;

/** Passes output on until the agent is done, or gone. */
async function answered(
  wire: AgentProtocol,
  run: Run,
): Promise<{ readonly done?: Done; readonly pid?: number | undefined }> {
  let pid: number | undefined;
  for (;;) {
    const frame = await wire.receive();
    if (frame === undefined) return { pid };
    const { header, payload } = frame;
    if (header.kind === 'ready' && header.lacks.length > 0) run.request.onLacks?.(header.lacks);
    if (header.kind === 'started') pid = header.pid;
    if (header.kind === 'output') run.add(payload);
    if (header.kind === 'failed') throw new Error(`the agent failed: ${header.why}`);
    if (header.kind === 'done') return { done: header };
  }
}

function resultOf(done: Done, run: Run): ProcessResult {
  const remarks = done.remarks ?? [];
  if (done.ending === 'not started') {
    return run.result({ ending: 'not started', startError: done.why, remarks });
  }
  const ending = run.stopped === 'cancelled' ? run.stopped : (done.limit ?? run.stopped);
  const exitCode = done.exit ?? undefined;
  return run.result({
    ending: ending ?? endings.find((each) => each === done.ending) ?? 'exited',
    ...{ exitCode, remarks },
    // One that was still running was killed.
    killedBy:
      exitCode === undefined ? signalName(done.signal ?? constants.signals.SIGKILL) : undefined,
    leftBehind: ending === undefined ? (done.left ?? 0) : 0,
  });
}

/** The name of a signal by its number on this machine. */
export const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, each]) => each === number)?.[0] ?? `signal ${number}`;

/** Runs a program where there need be no Python, such as npm. Its process group ends with it. */
async function withoutAgent(run: Run): Promise<ProcessResult> {
  const { argv, cwd, env } = run.request;
  const [program = '', ...args] = argv;
  let child: ReturnType<typeof startProgram>;
  try {
    child = startProgram(program, args, {
      ...{ cwd, env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true },
      detached: process.platform !== 'win32',
    });
  } catch (error) {
    if (error instanceof HumanError) throw error;
    // Some errors are thrown rather than emitted as an `error` event.
    return unstarted('not started', messageOf(error));
  }
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (piece: Buffer) => run.add(piece));
  const end = (): void => endGroup(child.pid);
  return run.during(end, async () => {
    const ended = await new Promise<Partial<ProcessResult>>((resolve) => {
      child.once('error', ({ message }) => {
        if (child.pid === undefined) resolve({ ending: 'not started', startError: message });
      });
      child.once('exit', () => {
        end();
        // A process that escaped with the pipe open must not keep us waiting.
        setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream?.destroy()), 1000);
      });
      child.once('close', (code, signal) =>
        resolve({ exitCode: code ?? undefined, killedBy: signal ?? undefined }),
      );
    });
    return run.result(ended);
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  if (process.platform === 'win32') {
    execFile('taskkill', ['/pid', String(pid), '/T', '/F'], () => undefined);
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
