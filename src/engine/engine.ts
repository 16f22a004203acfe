import type { Instance } from '../domain/instance';
import type { Outcome, Side } from '../domain/outcome';
import { HumanError, type Reporter } from '../domain/work';
import type { Trees } from '../repository/trees';
import type { Ending } from './programs/process';
import type { TestPlan } from './runners/testPlan';
import type { Workspace } from './sandbox/workspace';
import type { ExecutionTrace } from './tracer/readTrace';

export {
  type CommandRequest,
  type CommandResult,
  type ListeningPort,
  type ProgramRequest,
  type RunningProgram,
  type Workspace,
  WorkspaceFileError,
} from './sandbox/workspace';

/** The hardware that tests run on. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface EngineWork {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/**
 * Who receives the output and results of the tests in a place. A model must learn nothing beyond R,
 * whereas people read a grade.
 */
export const audiences = ['grading', 'model'] as const;
export type Audience = (typeof audiences)[number];

export interface WorkspaceWork extends EngineWork {
  /** Folder of this machine that the workspace has at {@link programFolder}, only to read. */
  readonly program?: string | undefined;
}

/** Where a workspace has the program of {@link WorkspaceWork}. */
export const programFolder = '/agent';

export interface PrepareWork extends EngineWork {
  /** `grading` by default. */
  readonly audience?: Audience | undefined;
}

/** Runs tests. */
export interface Engine {
  /** As in its descriptor. */
  readonly name: string;
  /** Description for people, such as `local engine, CPython 3.11.7, pytest 8.3.5`. */
  readonly description: string;
  /** The environment of all tests, if it is the same for every instance. */
  readonly environment?: Environment | undefined;
  /** The machine that tests run on, if the engine reports it; it may differ from this one. */
  readonly machine?: Machine;
  /** Memory that each of its sandboxes may take; undefined where there is no limit. */
  readonly sandboxBytes?: number;
  /**
   * Finds or makes the environment for the tests of an instance. With docker, this pulls or builds
   * an image, which may take minutes; a second call is fast. A place has one audience, which is
   * part of its digest where it makes a difference. A model and a grade then share neither pairs
   * nor kept runs.
   *
   * @throws HumanError, Cancelled
   */
  prepare(instance: Instance, trees: Trees, work: PrepareWork): Promise<TestPlace>;
  /** Seconds that sandboxes ran so far, by node, where tests run on several. */
  nodeSeconds?(): Readonly<Record<string, number>>;
  /** Removes all remaining pairs of this engine. No pair can be opened afterwards. */
  dispose(): Promise<void>;
}

/** Where the tests of one instance run. */
export interface TestPlace {
  /** The environment of the tests; its digest is part of the key of every kept run. */
  readonly environment: Environment;
  /**
   * The present environment, where it can change while the engine is open.
   *
   * @throws HumanError when it cannot be used any more
   */
  current?(): Promise<Environment>;
  /**
   * The environment for a run that follows: as `current`, or at the last check. If it
   * has changed since, the run throws {@link EnvironmentChanged}. Whoever uses a kept run instead
   * asks `current`, unless this one is present.
   */
  latest?(): Promise<LatestEnvironment>;
  /**
   * Opens a pair of sandboxes for R and R∘X*, or only those of `sides`. Each has a copy of its tree
   * that is kept until `dispose`.
   *
   * @throws HumanError, Cancelled
   */
  openPair<S extends Side = Side>(work: EngineWork, sides?: readonly S[]): Promise<Sandboxes<S>>;
  /**
   * Opens a copy of R to work in with a shell. Absent where commands would run on this machine, with
   * nothing between them and the user's files.
   *
   * @throws HumanError, Cancelled
   */
  openWorkspace?: ((work: WorkspaceWork) => Promise<Workspace>) | undefined;
}

/** The day as of which packages were taken, where it is later than that of the instance. */
export interface MovedDay {
  /** Day of the instance, `YYYY-MM-DD`. */
  readonly wanted: string;
  /** The earliest later day that was found to have a solution. */
  readonly taken: string;
}

/** A sentence for readers of results; undefined where the day is that of the instance. */
export const remarkOnDay = (moved: MovedDay | undefined): string | undefined =>
  moved === undefined
    ? undefined
    : `packages are from ${moved.taken} instead of ${moved.wanted}: no earlier packages satisfy R's requirements`;

export interface Environment {
  /** Description for people, such as `CPython 3.11.7`. */
  readonly description: string;
  /** Path of the interpreter where the tests run. */
  readonly interpreter: string;
  /** Python version, such as `3.11.7`. */
  readonly pythonVersion: string;
  /** Versions of the packages that runners need, by their names, as far as it has them. */
  readonly packages: Readonly<Record<string, string>>;
  /** Name of the container's image, where there is a container. */
  readonly image?: string;
  /** Absent where its packages are as of the instance's day, or of no day. */
  readonly movedDay?: MovedDay | undefined;
  /** Digest of the interpreter, the installed packages and the tracer. */
  readonly digest: string;
}

/** See {@link TestPlace.latest}. */
export interface LatestEnvironment {
  readonly environment: Environment;
  /** Whether it was compared just now. */
  readonly isPresent: boolean;
}

/** Sandboxes of some sides. */
export type Sandboxes<S extends Side> = Readonly<Record<S, Sandbox>> & {
  /** Stops running tests and removes the copies. */
  dispose(): Promise<void>;
};

export type Pair = Sandboxes<Side>;

/** The sandboxes by their sides. The caller has opened one for each side of `S`. */
export const sandboxesOf = <S extends Side>(
  opened: readonly Sandbox[],
): Readonly<Record<S, Sandbox>> =>
  Object.fromEntries(opened.map((each) => [each.side, each])) as Record<S, Sandbox>;

/**
 * The engine, or what it needs, was out of reach or answered with a temporary status (429, 5xx). It
 * may soon be back, so the same work is worth a retry.
 */
export class EngineFault extends HumanError {}

/**
 * A sandbox that cannot be used any more. Either tests left it in a state that cannot be undone, or
 * its container or process is gone. A new pair has to be opened. The message says what happened,
 * and where.
 */
export class SandboxUnusable extends EngineFault {}

/**
 * The environment was already another than the caller knew when a run began. The run says nothing;
 * the caller asks for the environment and runs again.
 */
export class EnvironmentChanged extends HumanError {}

export interface Sandbox {
  readonly side: Side;
  /**
   * Restores the copy to its tree and applies the candidate.
   *
   * @throws GitError when the candidate does not apply, HumanError when the disk is full,
   * Cancelled, SandboxUnusable
   */
  load(patch: string, signal?: AbortSignal): Promise<void>;
  /**
   * Runs tests on the loaded tree. The record shows what they do.
   *
   * @throws SandboxUnusable when the engine that runs it has gone; EnvironmentChanged; HumanError
   * when the tests changed the environment that all tests share
   */
  run(request: RunRequest): Promise<RunRecord>;
  /**
   * Prepares a preliminary run: restores the copy and loads what its tests import of R. Absent where
   * nobody waits for runs.
   *
   * @returns why that run begins in a fresh process nevertheless; undefined where it need not
   */
  expect?: ((request: ExpectedRun) => Promise<string | undefined>) | undefined;
  /**
   * Lets a debugger of this machine start the program that `run` would start. Lines are not counted
   * meanwhile. Absent where no debugger of this machine reaches the sandbox.
   *
   * @param start resolves when the debugger has ended; any process that it leaves running is killed
   * then
   */
  debug?:
    | ((
        request: Pick<RunRequest, 'plan' | 'hashSeed'>,
        start: (program: DebuggedProgram) => Promise<void>,
      ) => Promise<ExecutionTrace>)
    | undefined;
}

/** A program for a debugger to start. The debugger uses an interpreter of its own choice. */
export interface DebuggedProgram {
  readonly interpreter: string;
  /** Arguments after the interpreter. */
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the tree, with the candidate. */
  readonly tree: string;
  /** Folder for this run only; it is removed when the debugger has ended. */
  readonly scratch: string;
}

export interface RunRequest {
  readonly plan: TestPlan;
  /** Lines whose executions are counted, by file, numbered as on this side. */
  readonly countLines: ReadonlyMap<string, readonly number[]>;
  readonly timeoutSeconds: number;
  /** `PYTHONHASHSEED` of the run; 0 by default. */
  readonly hashSeed?: number | undefined;
  /** Whether another run decides, so that this one may begin with R loaded: see swt_warm.py. */
  readonly isPreliminary?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: ((text: string) => void) | undefined;
  /** Receives outcomes during the run, where the engine sees them; those in `trace` are final. */
  readonly onOutcome?: ((test: string, outcome: Outcome) => void) | undefined;
}

/** A preliminary run before it is asked for. */
export interface ExpectedRun extends Pick<RunRequest, 'plan' | 'countLines' | 'signal'> {
  /** Test files as they will be, or nearly, by path. Their imports alone are read. */
  readonly texts: ReadonlyMap<string, string>;
}

/** The results of one run on one side. */
export interface RunRecord {
  readonly ending: Ending;
  readonly exitCode: number | undefined;
  readonly killedBy: string | undefined;
  readonly startError: string | undefined;
  /** The output, bounded; the log parser of the reference harness would read this. */
  readonly log: string;
  readonly seconds: number;
  readonly trace: ExecutionTrace;
  /**
   * Absolute paths where the run took place, which its output may contain: the folder of the tree
   * first, then folders around it. They may differ between equal runs.
   */
  readonly folders?: readonly string[];
  /** Further facts that a reader should know about the run, such as a limit that it reached. */
  readonly remarks?: readonly string[];
  /** Why a preliminary run began in a fresh process although one had been prepared. */
  readonly whyFresh?: string | undefined;
}
