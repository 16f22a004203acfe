import type { Duplex } from 'node:stream';
import { HumanError } from '../../domain/work';
import { endings } from '../programs/process';

/**
 * How a command ended. After `shell ended` the command has ended its shell, with `exit` for instance. The
 * next command starts a new shell in the same folder. After any other ending but `exited` the command was
 * stopped, and its shell continues if it can.
 */
export const commandEndings = [...endings, 'shell ended'] as const;
export type CommandEnding = (typeof commandEndings)[number];

export interface CommandRequest {
  /** Lines for the shell. */
  readonly command: string;
  readonly timeoutSeconds: number;
  /** Bytes of output that are kept: the first half and the last half. */
  readonly keptBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** A program with a stream of its own, as an agent that is spoken to has. */
export interface ProgramRequest extends Omit<CommandRequest, 'command'> {
  /** Words of the command. No shell reads them. */
  readonly argv: readonly string[];
  /** Variables beside those of the shell. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the program as the time limit does, so that what it did can still be collected. */
  readonly end: AbortSignal;
}

/** A program that runs in a workspace. */
export interface RunningProgram {
  /**
   * Its standard input and output, for a protocol of lines: an empty one may come first. What it
   * writes is untrusted.
   */
  readonly stdio: Duplex;
  /** Its end, with what it wrote to standard error. No process that it started is left then. */
  readonly done: Promise<CommandResult>;
}

/** A port of the workspace's own machine (127.0.0.1). */
export interface ListeningPort {
  readonly port: number;
  close(): void;
}

export interface CommandResult {
  readonly ending: CommandEnding;
  /** Undefined when the command was stopped or ended its shell. */
  readonly exitCode: number | undefined;
  /** Standard output and error as they came. Untrusted. */
  readonly output: string;
  /** Folder of the shell after the command: an absolute path. */
  readonly cwd: string;
  /** What else a reader should know, such as a limit that was reached. */
  readonly remarks: readonly string[];
}

/** The difference between a workspace and R. Files that git ignores are among it. */
export interface WorkspaceChanges {
  /** New and changed files by path, with their contents. */
  readonly changed: ReadonlyMap<string, Buffer>;
  /** Paths of R that are gone. */
  readonly removed: readonly string[];
  /** Paths that no patch of tests holds, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** A file of a workspace cannot be read or written, for a reason of the file's. */
export class WorkspaceFileError extends HumanError {}

/**
 * A copy of R to work in: a shell that keeps its folder, its variables and its background processes
 * between commands, and files. It has neither a network nor anything of R∘X*. One call runs at a time.
 * Each method throws SandboxUnusable when the place is gone: a new workspace has to be opened then.
 */
export interface Workspace {
  /** Absolute path of R in the workspace. */
  readonly folder: string;
  /** Absolute path of the home of its user, which is empty at first. */
  readonly home: string;
  /** Runs a command in the shell. What it does shows in the result. */
  run(request: CommandRequest): Promise<CommandResult>;
  /**
   * Starts a program beside which no command runs.
   *
   * @throws SandboxUnusable, Cancelled
   */
  start(request: ProgramRequest): Promise<RunningProgram>;
  /**
   * Forwards connections to a port of the workspace to this process, without any network. They end
   * with the workspace.
   */
  listen(onConnection: (connection: Duplex) => void): Promise<ListeningPort>;
  /**
   * Reads a file.
   *
   * @param path absolute, or relative to R
   * @param limit bytes that are read at most
   * @throws WorkspaceFileError when it is no file or cannot be read
   */
  read(path: string, limit?: number): Promise<Buffer>;
  /**
   * Writes a file, and makes the folders that it needs.
   *
   * @throws WorkspaceFileError when it cannot be written
   */
  write(path: string, content: Buffer): Promise<void>;
  changes(): Promise<WorkspaceChanges>;
  /** Ends the shell with all that it started, and puts R back. */
  reset(signal?: AbortSignal): Promise<void>;
  dispose(): Promise<void>;
}
