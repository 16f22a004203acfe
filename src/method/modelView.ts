import type { Instance } from '../domain/instance';
import { HumanError } from '../domain/work';
import { posix } from 'node:path';
import type { Engine, EngineWork, WorkspaceWork } from '../engine/engine';
import { quotedForShell } from '../engine/programs';
import { readCodePatch } from '../evaluation/prepareCandidate';
import type { RunStore } from '../evaluation/testRun';
import { openSession, type InstanceSession } from '../evaluation/session';
import { furtherFormats } from '../patch/patchFormats';
import { isTestPath } from '../patch/testFiles';
import type { PythonParser } from '../python/parser';
import { folderTree } from '../repository/folderTree';
import { plainApply, type Trees } from '../repository/trees';
import { aliasOf } from './view/alias';
import {
  readOnR,
  runOnR,
  runScriptOnR,
  type ReadOnR,
  type RunOnR,
  type RunOnROptions,
  type ScriptRun,
} from './view/runOnR';
import { TestsCannotRun } from './testsOfModels';
import { treeOfR, type TreeOfR } from './view/treeOfR';
import { FilesOnR } from './agents/filesOnR';
import { WorkspaceOnR } from './agents/workspaceOnR';

/** Runs on R, one after the other in one sandbox, which stays warm until the disposal. */
export interface RunsOnR {
  /**
   * Runs tests with a candidate, which may be empty, on R only. By default these are the tests that
   * the candidate adds or changes.
   *
   * @throws HumanError when a requested test does not exist; TestsCannotRun when nothing can be
   *   run, or the tests may not run; Cancelled
   */
  runOnR(candidate: string, options: RunOnROptions): Promise<RunOnR>;
  /**
   * Runs a script on R with a code patch, which may be empty.
   *
   * @param patch unified diff on R
   * @throws TestsCannotRun when nothing can be run, or nothing may; Cancelled
   */
  runScript(script: string, patch: string, options: RunOnROptions): Promise<ScriptRun>;
  /** Stops what runs and removes the sandbox. */
  dispose(): Promise<void>;
}

/**
 * All that a method, a tool or a model gets of an instance. It has neither X* nor T*, no outcome on
 * R∘X*, no list of FAIL_TO_PASS or PASS_TO_PASS, no hints and no pull request number. This file
 * leaves them out. Nothing in a view depends on them, and nothing is filtered by them. Two
 * instances that differ only in these have the same view.
 */
export interface ModelView extends RunsOnR {
  /** Replaces the id of the instance, which has the number of the pull request (see `aliasOf`). */
  readonly alias: string;
  /** `owner/name`. */
  readonly repo: string;
  /** The issue text as its author wrote it. Untrusted. */
  readonly issue: string;
  readonly tree: TreeOfR;
  readonly python: PythonParser;
  /** Reads a candidate on R: whether it applies (W), and its tests. Runs and changes nothing. */
  read(
    candidate: string,
    options?: Pick<RunOnROptions, 'format' | 'testsOnly' | 'signal'>,
  ): Promise<ReadOnR>;
  /**
   * A code patch as a unified diff on R, without edits of tests; or why there is none. Runs and
   * changes nothing.
   */
  readCode(text: string, signal?: AbortSignal): ReturnType<typeof readCodePatch>;
  /** Opens a further sandbox, to run something beside what runs here. The caller disposes of it. */
  openRuns(): Promise<RunsOnR>;
  /**
   * Opens a copy of R to work in with a shell. The caller disposes of it.
   *
   * @throws HumanError where the engine has none, Cancelled
   */
  openWorkspace(work: WorkspaceWork): Promise<WorkspaceOnR>;
  /**
   * How tests of R run, by the example of one of its test files; undefined where R has none, or
   * nothing here runs it.
   *
   * @throws HumanError when there is no environment for tests, Cancelled
   */
  testCommand(work: EngineWork): Promise<TestCommand | undefined>;
  /**
   * R to read, search and edit in memory, for agents without a shell.
   *
   * @param keptIn where what is read from R may be kept
   */
  openFiles(keptIn: FilesOnR['keptIn']): FilesOnR;
}

/** A command for people and agents, for a shell in the root of R. */
export interface TestCommand {
  /** Path of the test file that it runs. */
  readonly file: string;
  readonly line: string;
}

export interface ModelViewParts {
  /** The trees of the instance; the view reads only `base`. */
  readonly trees: Trees;
  readonly python: PythonParser;
  /** Opens the engine for the first run; the caller disposes of it. */
  readonly engine: () => Promise<Engine>;
  readonly store: RunStore;
  /**
   * Called before each run, also before one that reuses a kept run.
   *
   * @param engine the engine of the run, if it is open
   * @throws HumanError when tests of models may not run here, with what to do about it
   */
  readonly permit: (engine: string | undefined) => void;
}

/** The view of an instance. Until its disposal, R is not freed. */
export async function modelView(instance: Instance, parts: ModelViewParts): Promise<ModelView> {
  const { python, store, permit } = parts;
  let running: string | undefined;
  const engine = async (): Promise<Engine> => {
    const opened = await parts.engine();
    running = opened.name;
    permit(running);
    return opened;
  };
  const trees = treesOfR(parts.trees);
  const { repo, issue } = instance;
  const files = await folderTree(trees.base);
  const tree = treeOfR(trees.base, files, trees.digest.base);
  const open = async (): Promise<InstanceSession> => ({
    ...(await openSession({
      instance: withoutAnswer(instance),
      trees,
      engine: openedLater(engine),
      python,
      formats: furtherFormats,
      store: apart(store),
      sides: ['base'],
    })),
    // Paths in a candidate are unchecked here, so nothing outside R may be read.
    readFileOfR: async (path) => {
      const text = await files.read(path);
      return files.links.has(path) ? undefined : text;
    },
  });
  const runsOf = (session: InstanceSession): RunsOnR => runsOnR(session, () => permit(running));
  const session = await open();
  return {
    alias: aliasOf(instance),
    repo,
    issue,
    tree,
    python,
    read: (candidate, options = {}) => readOnR(session, candidate, options),
    readCode: (text, signal) => readCodePatch(session, text, { format: 'auto', signal }),
    ...runsOf(session),
    openRuns: async () => runsOf(await open()),
    openWorkspace: async (work) =>
      new WorkspaceOnR(await session.openWorkspace(work), { folder: trees.base, files }),
    testCommand: (work) => testCommandOf(session, tree, work),
    openFiles: (keptIn) => new FilesOnR({ tree, python, files, keptIn }),
  };
}

/**
 * The runs of a session, each of which is permitted first.
 *
 * @param permit throws a HumanError when tests may not run; a method then gets TestsCannotRun
 */
function runsOnR(session: InstanceSession, permit: () => void): RunsOnR {
  const permitted = (): void => {
    try {
      permit();
    } catch (error) {
      throw error instanceof HumanError ? new TestsCannotRun(error.what, error.next) : error;
    }
  };
  return {
    runOnR: async (candidate, options) => {
      permitted();
      return runOnR(session, candidate, options);
    },
    runScript: async (script, patch, options) => {
      permitted();
      return runScriptOnR(session, script, patch, options);
    },
    dispose: () => session.dispose(),
  };
}

/** Names of files that a runner takes for tests. */
const testName = /(?:^|\/)(?:test_[^/]*|[^/]*_test|tests?)\.py$/;

async function testCommandOf(
  session: InstanceSession,
  tree: TreeOfR,
  work: EngineWork,
): Promise<TestCommand | undefined> {
  const file = (await tree.paths()).find((path) => isTestPath(path) && testName.test(path));
  if (file === undefined) return undefined;
  const { plan, environment } = await session.planOnR([file], work);
  if (plan.files.length === 0) return undefined;
  const word = (text: string): string =>
    /^[\w@%+=:,./-]+$/.test(text) ? text : quotedForShell(text);
  const variables = Object.entries(plan.env).map(([name, value]) => `${name}=${word(value)}`);
  const program = [posix.basename(environment.interpreter), ...plan.args].map(word);
  const line = [...variables, ...program].join(' ');
  return { file, line: plan.cwd === '.' ? line : `cd ${word(plan.cwd)} && ${line}` };
}

/** An engine that opens at the first preparation: methods that run nothing need none. */
const openedLater = (open: () => Promise<Engine>): Engine => ({
  name: 'local',
  description: 'opened when tests run',
  prepare: async (instance, trees, work) =>
    (await open()).prepare(instance, trees, { ...work, audience: 'model' }),
  dispose: () => Promise.resolve(),
});

/**
 * Keeps the runs of models apart, so that a model cannot tell whether the user's run is kept, or
 * what it showed.
 */
const apart = (store: RunStore): RunStore => ({
  getOrRun: (key, ...rest) =>
    store.getOrRun({ ...key, environment: `${key.environment} of models` }, ...rest),
});

/**
 * R on both sides, so that neither a sandbox nor the folders beside it contain anything of R∘X*.
 */
const treesOfR = ({ base, source, digest }: Trees): Trees => ({
  base,
  fixed: base,
  source,
  digest: { base: digest.base, fixed: digest.base },
  appliedWith: plainApply,
});

/** The part of an instance that an engine needs to run its tests. */
function withoutAnswer({
  id,
  repo,
  baseCommit,
  version,
  issue,
  createdAt,
  environment,
}: Instance): Instance {
  const { image, folder, setupCommit } = environment ?? {};
  return {
    id,
    repo,
    baseCommit,
    version,
    issue,
    createdAt,
    hints: '',
    goldenPatch: '',
    goldenTests: '',
    failToPass: undefined,
    passToPass: undefined,
    // The row's scripts, commands and lists of tests contain T*.
    ...(environment !== undefined && {
      environment: {
        ...(image !== undefined && { image }),
        ...(folder !== undefined && { folder }),
        ...(setupCommit !== undefined && { setupCommit }),
      },
    }),
  };
}
