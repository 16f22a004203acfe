import type { Frame, Side } from '../domain/outcome';
import type { Trees } from '../repository/trees';
import type { Ending } from './process';
import type { TestPlan } from './testCommand';
import type { Trace } from './trace/readTrace';

/** Where tests run. One interface for local, docker, and what comes later. */
export interface Engine {
  readonly name: 'local';
  /** What the tests run with; its digest is part of the key of every kept run. */
  readonly environment: Environment;
  /**
   * A pair of sandboxes, R and R∘X*, each a copy of its tree that is kept until `dispose`.
   * @throws HumanError, Cancelled
   */
  openPair(trees: Trees, signal?: AbortSignal): Promise<Pair>;
}

export interface Environment {
  /** Such as `CPython 3.11.7`. */
  readonly description: string;
  /** Path of the interpreter where the tests run. */
  readonly interpreter: string;
  /** Version of pytest, or undefined when it cannot be imported. */
  readonly pytest: string | undefined;
  /** Changes with the interpreter, the installed packages and the tracer. */
  readonly digest: string;
}

export interface Pair {
  readonly base: Sandbox;
  readonly fixed: Sandbox;
  /** Stops what runs and removes the copies. */
  dispose(): Promise<void>;
}

/** Tests left a sandbox in a state that it cannot be put back from: a new pair has to be opened. */
export class SandboxUnusable extends Error {
  override readonly name = 'SandboxUnusable';
}

export interface Sandbox {
  readonly side: Side;
  /**
   * Puts the copy back to its tree and applies the candidate.
   *
   * @throws GitError when it does not apply, HumanError when the disk is full, Cancelled,
   *   SandboxUnusable
   */
  load(patch: string, signal?: AbortSignal): Promise<void>;
  /** Runs tests on what is loaded. Never throws for what the tests do. */
  run(request: RunRequest): Promise<RunRecord>;
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
  readonly trace: Trace;
}

export type { Frame };
