import type { Instance } from '../domain/instance';
import type { StackFrame, Outcome, Side } from '../domain/outcome';
import { HumanError } from '../domain/humanError';
import type { Reporter } from '../domain/reporter';
import type { Trees } from '../repository/trees';
import type { Ending } from './process';
import type { TestPlan } from './testPlan';
import type { ExecutionTrace } from './tracer/readTrace';

/**
 * The engines, and what everything outside of their folders asks of them. `openEngine.ts` opens them, and
 * `package.json` offers them as `swt-bench.engine`.
 */
const engines = {
  local: { inContainers: false },
  docker: { inContainers: true },
} as const;
export type EngineName = keyof typeof engines;
export const engineNames = Object.keys(engines) as readonly EngineName[];

/** Whether tests run in containers: apart from this machine, in images, and with limits. */
export const runsInContainers = (name: EngineName): boolean => engines[name].inContainers;

/** The engine that is offered where the local one does not do. */
export const containerEngine = 'docker' satisfies EngineName;

/** What there is to run tests with. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface EngineWork {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/**
 * Who is told what the tests of a place print and do. A model reads it, so that nothing may reach it from
 * beyond R; a grade is read by people.
 */
export const audiences = ['grading', 'model'] as const;
export type Audience = (typeof audiences)[number];

export interface PrepareWork extends EngineWork {
  /** `grading` when absent. */
  readonly audience?: Audience | undefined;
}

/** Where tests run. One interface for local, docker, and what comes later. */
export interface Engine {
  readonly name: EngineName;
  /** For people, such as `local engine, CPython 3.11.7, pytest 8.3.5`. */
  readonly description: string;
  /** What every instance's tests run with, where that is the same for all. */
  readonly environment?: Environment;
  /** What tests run on, where the engine says so itself: it may be another machine than this one. */
  readonly machine?: Machine;
  /**
   * Finds or makes what the tests of an instance run in: with docker an image is pulled or built, which
   * may take minutes. Asked again it is at hand. A place has one audience, which is part of its digest
   * where it makes a difference: neither pairs nor kept runs of a model and of a grade are shared then.
   *
   * @throws HumanError, Cancelled
   */
  prepare(instance: Instance, trees: Trees, work: PrepareWork): Promise<TestPlace>;
  /** Removes whatever is left of the pairs of this engine. No pair is opened after it. */
  dispose(): Promise<void>;
}

/** Where the tests of one instance run. */
export interface TestPlace {
  /** What the tests run with; its digest is part of the key of every kept run. */
  readonly environment: Environment;
  /**
   * The same as it stands now, where it can change while the engine is open: asked before each run.
   *
   * @throws HumanError when it cannot be used any more
   */
  current?(): Promise<Environment>;
  /**
   * A pair of sandboxes, R and R∘X*, each a copy of its tree that is kept until `dispose`; or only those
   * of `sides`.
   *
   * @throws HumanError, Cancelled
   */
  openPair<S extends Side = Side>(work: EngineWork, sides?: readonly S[]): Promise<Sandboxes<S>>;
}

export interface Environment {
  /** Such as `CPython 3.11.7`. */
  readonly description: string;
  /** Path of the interpreter where the tests run. */
  readonly interpreter: string;
  /** Such as `3.11.7`. */
  readonly pythonVersion: string;
  /** Version of pytest, or undefined when it cannot be imported. */
  readonly pytest: string | undefined;
  /** Version of tox, or undefined when it or tox-current-env cannot be imported. */
  readonly tox?: string | undefined;
  /** Image of the container, by name, where there is one. */
  readonly image?: string;
  /** Changes with the interpreter, the installed packages and the tracer. */
  readonly digest: string;
}

/** Sandboxes of some sides. */
export type Sandboxes<S extends Side> = Readonly<Record<S, Sandbox>> & {
  /** Stops what runs and removes the copies. */
  dispose(): Promise<void>;
};

export type Pair = Sandboxes<Side>;

/** Sandboxes by their sides; the caller has opened one for each side of `S`. */
export const sandboxesOf = <S extends Side>(
  opened: readonly Sandbox[],
): Readonly<Record<S, Sandbox>> =>
  Object.fromEntries(opened.map((each) => [each.side, each])) as Record<S, Sandbox>;

/**
 * A sandbox is of no more use: tests left it in a state that it cannot be put back from, or what it
 * runs in is gone. A new pair has to be opened. The message says what happened, and where.
 */
export class SandboxUnusable extends HumanError {}

export interface Sandbox {
  readonly side: Side;
  /**
   * Puts the copy back to its tree and applies the candidate.
   *
   * @throws GitError when it does not apply, HumanError when the disk is full, Cancelled,
   *   SandboxUnusable
   */
  load(patch: string, signal?: AbortSignal): Promise<void>;
  /**
   * Runs tests on what is loaded. What they do shows in the record.
   * @throws SandboxUnusable when the engine that runs it has gone; HumanError when the tests changed what
   *   all tests run with
   */
  run(request: RunRequest): Promise<RunRecord>;
  /**
   * Hands what `run` would start to a debugger of this machine, which starts it by itself. Nothing is
   * counted meanwhile. Absent where no debugger of this machine reaches the sandbox.
   *
   * @param start resolves when the debugger has ended; what it leaves running is killed then
   */
  debug?:
    | ((
        request: Pick<RunRequest, 'plan' | 'hashSeed'>,
        start: (program: DebuggedProgram) => Promise<void>,
      ) => Promise<ExecutionTrace>)
    | undefined;
}

/** A program that a debugger is to start: it has an interpreter of its own to start it with. */
export interface DebuggedProgram {
  readonly interpreter: string;
  /** Arguments after the interpreter. */
  readonly args: readonly string[];
  readonly cwd: string;
  /** All variables that it is to have. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the tree, with the candidate. */
  readonly tree: string;
  /** Folder of this run only, removed when the debugger has ended. */
  readonly scratch: string;
}

export interface RunRequest {
  readonly plan: TestPlan;
  /** File to lines whose executions are counted, numbered as on this side. */
  readonly countLines: ReadonlyMap<string, readonly number[]>;
  readonly timeoutSeconds: number;
  /** `PYTHONHASHSEED` of the run; 0 when absent. */
  readonly hashSeed?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: ((text: string) => void) | undefined;
  /** Told of outcomes while it runs, where the engine sees them; `trace` has the last word. */
  readonly onOutcome?: ((test: string, outcome: Outcome) => void) | undefined;
}

/** Everything that came of one run on one side. */
export interface RunRecord {
  readonly ending: Ending;
  readonly exitCode: number | undefined;
  readonly killedBy: string | undefined;
  readonly startError: string | undefined;
  /** Output, bounded; what the log parser of the reference harness would read. */
  readonly log: string;
  readonly seconds: number;
  readonly trace: ExecutionTrace;
  /**
   * Where it ran, as absolute paths that its output may name: the folder of the tree first, then folders
   * around it. Another run of the same may have others.
   */
  readonly folders?: readonly string[];
  /** What a reader should know of the run besides, such as a limit that it ran into. */
  readonly remarks?: readonly string[];
}

export type { StackFrame };
