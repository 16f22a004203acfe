import type { Readable } from 'node:stream';
import type { Instance } from '../domain/instance';
import type { Trees } from '../repository/trees';
import type { DockerConnection } from './docker/connection/connect';
import type { DockerSettings } from './docker/dockerSettings';
import type { EngineWork, MovedDay } from './engine';
import type { ServiceName } from './sandbox/services';

/**
 * What engines have of `environments/`. An engine is opened with it, so that an engine knows
 * nothing of recipes, and the local engine loads nothing that makes images.
 */
export interface EnvironmentMaker {
  /** What tests of an instance need around them, beyond what is installed. */
  surroundings(instance: Pick<Instance, 'repo' | 'version'>): {
    /** The tag of the one commit in the repositories that tests see, such as `v4.3.0`. */
    readonly tag: string | undefined;
    /** Whether tests connect to hosts outside of the sandbox. */
    readonly network: boolean;
  };
  /** Names under which R may be imported, as an index compares them. */
  projectNames(instance: Instance, tree: string): Promise<readonly string[]>;
  /**
   * The virtual environment of an instance.
   *
   * @throws HumanError when Python, uv or a package is not available; Cancelled
   */
  virtualEnvironment(
    request: VirtualEnvironmentRequest,
    work: EngineWork,
  ): Promise<VirtualEnvironment>;
  /**
   * The interpreter with a service, installed once for all instances.
   *
   * @throws HumanError when there is no fitting Python or the index has no package, Cancelled
   */
  serviceEnvironment(
    name: ServiceName,
    storage: string,
    signal: AbortSignal | undefined,
  ): Promise<string>;
  /**
   * Finds or makes the image of an instance.
   *
   * @throws HumanError naming what is not available, and the log; Cancelled. No unfinished image is
   * left.
   */
  instanceImage(request: ImageRequest, work: EngineWork): Promise<InstanceImage>;
  /**
   * Puts R into an image that someone else made, compiled and closed to the user of the tests.
   *
   * @throws HumanError when the image has no usable Python or cannot be changed
   */
  fillImage(commands: ImageCommands, request: FillRequest): Promise<FilledImage>;
}

export interface VirtualEnvironmentRequest {
  readonly instance: Instance;
  /** The pristine tree of R, which is copied, never written to. */
  readonly tree: string;
  /** The storage folder. */
  readonly storage: string;
  /** True if the user asked for a rebuild: a modified environment must then not be reused. */
  readonly isForPerson?: boolean;
}

export interface VirtualEnvironment {
  readonly interpreter: string;
  /** Absent where packages are as of the instance's day. */
  readonly moved?: MovedDay | undefined;
}

/** Name of the variable with the folders of the tree under test, as PYTHONPATH has them. */
export const treeVariable = 'SWT_BENCH_TREE';

/**
 * File of a virtual environment that makes the tree importable at the end of the path, as an
 * editable installation does, also for a program that a test starts without PYTHONPATH.
 */
export const treeLink = 'swt-bench-tree.pth';

/**
 * Folder beside the packages of a virtual environment with the files that building R wrote into its
 * tree, such as `_version.py`. An installation in place leaves them there, and code imports them.
 */
export const writtenFolder = 'swt-bench-written';

export interface ImageRequest {
  readonly connection: DockerConnection;
  readonly instance: Instance;
  readonly trees: Trees;
  readonly settings: DockerSettings;
  /** The storage folder. */
  readonly storage: string;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** The image that the sandboxes of an instance are made from. */
export interface InstanceImage {
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Origin of its environment. */
  readonly from: 'row' | 'prebuilt' | 'built';
  /** Folder of the repository in it. */
  readonly folder: string;
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /** Python version, such as `3.9.2`. */
  readonly pythonVersion: string;
  /** Versions of the packages that runners need. */
  readonly packages: Readonly<Record<string, string>>;
  /** Number of the user (and of the group) of the tests; 0 where the image allows nothing else. */
  readonly user: number;
  /**
   * The command that installs the repository again without a network. It runs as root in the
   * folder.
   */
  readonly install?: readonly string[];
  /** Absent where its packages are as of the instance's day, or of no day. */
  readonly moved?: MovedDay | undefined;
  /** Digest of everything that tests could see, and of nothing else. */
  readonly digest: string;
}

/** Commands in something that is, or becomes, the image of an instance. */
export interface ImageCommands {
  /** Runs a command to its end, whatever its exit status. */
  attempt(argv: readonly string[], command?: Command): Promise<Ended>;
  /**
   * Runs a command that has to succeed, and returns its standard output.
   *
   * @param doing purpose of the command, as in "could not …"
   * @throws HumanError with the last of its output
   */
  run(argv: readonly string[], doing: string, command?: Command): Promise<string>;
  /** Unpacks an archive below a folder that exists. */
  put(archive: Buffer | Readable, folder?: string): Promise<void>;
}

/** How a command runs in an image. */
export interface Command {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Number of the user that runs the command; 0 by default. */
  readonly user?: number;
  /**
   * Whether the command runs code of a repository or of its requirements. Such code runs as a user
   * without rights, under a supervisor, and none of its processes survives. In a container of
   * a build, `superviseWith` is called first.
   */
  readonly isForeign?: boolean;
  /** Purpose of the command, as in "could not …". */
  readonly doing?: string;
}

/** The end of a command. */
export interface Ended {
  readonly code: number;
  /** The last of its output, standard error included. */
  readonly output: string;
  /** The last of its standard output alone. */
  readonly standard: string;
}

export interface FillRequest {
  readonly instance: Instance;
  readonly trees: Trees;
  /** Folder of R in the image. */
  readonly folder: string;
  /** Name of the image, for messages. */
  readonly image: string;
  /** PATH of the image. */
  readonly path: string;
}

/** What an image is once R is in it and its surroundings are closed. */
export interface FilledImage {
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /** What that interpreter reports. */
  readonly after: {
    readonly version: string;
    /** Installed packages, as `name==version`. */
    readonly packages: readonly string[];
  };
  /** Number of the user of tests. */
  readonly user: number;
  /** The command that installs R again; empty where R is not installed. */
  readonly install: readonly string[];
}
