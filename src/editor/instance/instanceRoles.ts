import type { Event, WorkspaceFolder } from 'vscode';
import type { Instance } from '../../domain/instance';
import type { Side } from '../../domain/outcome';
import type { Engine } from '../../engine/engine';
import type { ModelView } from '../../method/modelView';
import type { PythonParser } from '../../python/parser';
import type { PythonTest } from '../../python/tests';
import type { WorkspaceMarker } from '../../repository/marker';
import type { Trees } from '../../repository/trees';
import type { Evaluated, KnownCases, Preliminary } from '../verdict/evaluated';
import type { InstanceRuns } from './instanceRuns';

/*
 * What parts of the editor need of the open instance, each as narrow as a part can be. `OpenInstance`
 * plays all of these roles; a part names the roles it needs, and a test plays them with plain objects.
 */

/** What the instance is, and where R and R∘X* are. */
export interface InstanceSource {
  readonly folder: WorkspaceFolder;
  readonly marker: WorkspaceMarker;
  /** The instance is the one that comes with the extension. */
  readonly isBundled: boolean;
  /** @throws HumanError when the dataset or the row is gone */
  instance(): Promise<Instance>;
  /** What models are told in the place of its id. @throws HumanError as `instance` */
  readonly alias: () => Promise<string>;
  /** The pristine trees of R and R∘X*. */
  trees(): Promise<Trees>;
  /** A file of a side, for the golden diff; empty where that side has no such file. */
  fileOfSide(side: Side, path: string): Promise<string>;
  /** tree-sitter, loaded when something is to be parsed for the first time. */
  python(): Promise<PythonParser>;
}

/** Whether X*, T* and later hints are shown. */
export interface Revealing {
  readonly marker: WorkspaceMarker;
  /** Whether they are shown; remembered for the instance. */
  readonly revealed: boolean;
  /** Whether they were shown at any time, which says something about a verdict. */
  readonly wasRevealed: boolean;
  readonly onDidChange: Event<void>;
  /** Asks before revealing. @returns whether they are revealed then */
  reveal(title: string): Promise<boolean>;
}

/** What is known of the candidate in the workspace: the last verdict, and the run under way. */
export interface LatestVerdict {
  readonly onDidChange: Event<void>;
  /** What `isCurrent` or unsaved editors say of the last verdict may have changed. */
  readonly onDidEdit: Event<void>;
  /** The last verdict, if any. */
  readonly last: Evaluated | undefined;
  /** What is known of the run under way; undefined when none is, or nothing yet. */
  readonly soFar: Preliminary | undefined;
  /** Something runs, or waits for its turn. */
  readonly isRunning: boolean;
  /** What is done before anything can run, such as building an image; undefined when nothing is. */
  readonly step: string | undefined;
  /** The engine and what the tests run with; undefined before it was needed. */
  readonly environment: string | undefined;
  /**
   * The cases of one test function and the text of the test that they are about: of the run under way
   * where it knows them, else of the last verdict. A renamed test has the cases of its old name.
   */
  casesOf(test: string): KnownCases;
  /** Tells which tests there are now, so that renamed ones are known again. */
  tellTests(tests: readonly PythonTest[]): void;
  /** Whether the workspace, as saved, is still what the last verdict is about. */
  isCurrent(): Promise<boolean>;
}

/** The files of R below the workspace, and what the author has changed of them. */
export interface FilesOfR {
  readonly folder: WorkspaceFolder;
  /** What the author has changed in the workspace, as a patch on R. */
  candidatePatch(signal?: AbortSignal): Promise<string>;
  /** Paths of the files of R, relative to the workspace. */
  filesOfR(): Promise<string[]>;
  /** A file of R by its relative path, as an editor shows it; undefined when R has none. */
  fileOfR(path: string): Promise<string | undefined>;
  /** As `fileOfR`, of many files at once; files that R does not have are absent. */
  manyOfR(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** As `fileOfR`, with its exact bytes (see patch/bytes.ts). */
  textOfR(path: string): Promise<string | undefined>;
}

/** Where tests of the instance run. */
export interface TestsOfInstance {
  readonly folder: WorkspaceFolder;
  /** Runs the tests of the instance, one run after the other. */
  readonly runs: InstanceRuns;
  /** The engine of the window, which disposes of it. @throws HumanError when it cannot be had */
  engine(): Promise<Engine>;
  /**
   * What models may know of the instance, for all that works with one; the window disposes of it.
   *
   * @throws HumanError
   */
  modelView(): Promise<ModelView>;
}
