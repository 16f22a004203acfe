import type { Event, WorkspaceFolder } from 'vscode';
import type { Instance } from '../../domain/instance';
import type { Side } from '../../domain/outcome';
import type { Engine } from '../../engine/engine';
import type { ModelView } from '../../method/modelView';
import type { PythonParser } from '../../python/parser';
import type { PythonTest } from '../../python/tests';
import type { WorkspaceMarker } from '../../repository/workspace';
import type { Trees } from '../../repository/trees';
import type { Evaluated, KnownCases, Preliminary } from '../verdict/evaluated';
import type { InstanceRuns } from './instanceRuns';

/*
 * What parts of the editor need of the open instance, as narrow roles. `OpenInstance` implements
 * all of them. A part names the roles that it needs, and a test implements them with plain objects.
 */

/** What the instance is, and where R and R∘X* are. */
export interface InstanceSource {
  readonly folder: WorkspaceFolder;
  readonly marker: WorkspaceMarker;
  /** Whether the instance is the one that comes with the extension. */
  readonly isBundled: boolean;
  /** @throws HumanError when the dataset or the row is gone */
  instance(): Promise<Instance>;
  /** The name that models see in place of its id. @throws HumanError as `instance` */
  readonly alias: () => Promise<string>;
  /** The pristine trees of R and R∘X*. */
  trees(): Promise<Trees>;
  /** A file of a side, for the golden diff; empty when that side has no such file. */
  fileOfSide(side: Side, path: string): Promise<string>;
  /** tree-sitter, loaded at the first use. */
  python(): Promise<PythonParser>;
}

/** Whether X*, T* and later hints are shown. */
export interface Revealing {
  readonly marker: WorkspaceMarker;
  /** Whether they are shown; remembered for the instance. */
  readonly revealed: boolean;
  /** Whether they were ever shown, which limits what a verdict proves. */
  readonly wasRevealed: boolean;
  readonly onDidChange: Event<void>;
  /** Asks before revealing. @returns whether they are revealed now */
  reveal(title: string): Promise<boolean>;
}

/** What is known of the candidate in the workspace: the last verdict, and the run under way. */
export interface LatestVerdict {
  readonly onDidChange: Event<void>;
  /** Fires when `isCurrent` or the set of unsaved editors may have changed. */
  readonly onDidEdit: Event<void>;
  /** The last verdict, if any; undefined while its edits are gone from the workspace. */
  readonly last: Evaluated | undefined;
  /** Whether the workspace differs from R. */
  readonly hasCandidate: boolean;
  /** Results of the run under way; undefined when none runs, or nothing is known yet. */
  readonly soFar: Preliminary | undefined;
  /** Whether something runs, or waits for its turn. */
  readonly isRunning: boolean;
  /** Whether all that runs is cancelled and is being stopped. */
  readonly isCancelling: boolean;
  /**
   * The preparation before anything can run, such as building an image; undefined when there is
   * none.
   */
  readonly step: string | undefined;
  /** The engine and the environment of the tests; undefined before its first use. */
  readonly environment: string | undefined;
  /**
   * The cases of one test function, and the test's text when they ran. They come from the run under
   * way if it has them, else from the last verdict. A renamed test has the cases of its old name.
   */
  casesOf(test: string): KnownCases;
  /** Updates the tests that exist now, so that renamed ones keep their cases. */
  tellTests(tests: readonly PythonTest[]): void;
  /** Whether the last verdict is about the workspace as it is saved now. */
  isCurrent(): Promise<boolean>;
}

/** The files of R in the workspace, and the author's changes to them. */
export interface FilesOfR {
  readonly folder: WorkspaceFolder;
  /** The author's changes in the workspace, as a patch on R. */
  candidatePatch(signal?: AbortSignal): Promise<string>;
  /** Paths of the files of R, relative to the workspace. */
  filesOfR(): Promise<string[]>;
  /** A file of R by its relative path, as an editor shows it; undefined when R has none. */
  fileOfR(path: string): Promise<string | undefined>;
  /** As `fileOfR`, for many files at once; files that R does not have are absent. */
  manyOfR(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** As `fileOfR`, with its exact bytes (see patch/bytes.ts). */
  textOfR(path: string): Promise<string | undefined>;
}

/** Where tests of the instance run. */
export interface TestsOfInstance {
  readonly folder: WorkspaceFolder;
  /** Runs the tests of the instance, one run at a time. */
  readonly runs: InstanceRuns;
  /** The engine, which the window disposes of. @throws HumanError when it is unavailable */
  engine(): Promise<Engine>;
  /**
   * What models may know of the instance, shared by every caller; the window disposes of it.
   *
   * @throws HumanError
   */
  modelView(): Promise<ModelView>;
}
