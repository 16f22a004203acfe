import type { Instance } from '../domain/instance';
import { HumanError } from '../domain/humanError';
import type { Engine, EngineName } from '../engine/engine';
import type { RunStore } from '../evaluation/runStore';
import { openSession, type InstanceSession } from '../evaluation/session';
import type { PythonParser } from '../python/parser';
import { folderTree } from '../repository/folderTree';
import { plainApply } from '../repository/golden';
import type { Trees } from '../repository/trees';
import { aliasOf } from './alias';
import { readOnR, runOnR, type ReadOnR, type RunOnR, type RunOnROptions } from './runOnR';
import { TestsCannotRun } from './testsOfModels';
import { treeOfR, type TreeOfR } from './treeOfR';

/**
 * What a method, a tool or a model may know of an instance, and all that they are given of it. It holds
 * neither X* nor T*, no outcome on R∘X*, no list of FAIL_TO_PASS or PASS_TO_PASS, no hints and no number
 * of the pull request: this file is where they are left behind. Nothing that it gives depends on them,
 * and nothing is filtered by them: of two instances that differ in nothing else the views are the same.
 */
export interface ModelView {
  /** Stands for the id of the instance, which has the number of the pull request (see `aliasOf`). */
  readonly alias: string;
  /** `owner/name`. */
  readonly repo: string;
  /** The issue text as its author wrote it. Untrusted. */
  readonly issue: string;
  readonly tree: TreeOfR;
  readonly python: PythonParser;
  /** What a candidate is on R: whether it applies (W), and its tests. Runs and changes nothing. */
  read(
    candidate: string,
    options?: Pick<RunOnROptions, 'format' | 'testsOnly' | 'signal'>,
  ): Promise<ReadOnR>;
  /**
   * Runs tests on R with a candidate, which may be empty, and nowhere else. By default the tests that
   * the candidate adds or changes.
   *
   * @throws HumanError when a test that is asked for is not there; TestsCannotRun when nothing can be run,
   *   or they may not run; Cancelled
   */
  runOnR(candidate: string, options: RunOnROptions): Promise<RunOnR>;
  /** Stops what runs and removes the sandboxes. */
  dispose(): Promise<void>;
}

export interface ModelViewParts {
  /** Of R, only `base` is looked at. */
  readonly trees: Trees;
  readonly python: PythonParser;
  /** Asked for when something is run for the first time; the caller disposes of it. */
  readonly engine: () => Promise<Engine>;
  readonly store: RunStore;
  /**
   * Asked before each run, also of one that is kept.
   *
   * @param engine what they would run on, where it is open
   * @throws HumanError when tests of models may not run here, with what to do about it
   */
  readonly permit: (engine: EngineName | undefined) => void;
}

/** The view of an instance. R is kept from being freed until it is disposed of. */
export async function modelView(instance: Instance, parts: ModelViewParts): Promise<ModelView> {
  const { python, store, permit } = parts;
  let running: EngineName | undefined;
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
  const opened = await openSession({
    instance: withoutAnswer(instance),
    trees,
    engine: openedLater(engine),
    python,
    store: apart(store),
    sides: ['base'],
  });
  const session: InstanceSession = {
    ...opened,
    // What a candidate names is read before anybody has checked it: nothing beyond R may answer.
    readFileOfR: async (path) => {
      const text = await files.read(path);
      return files.links.has(path) ? undefined : text;
    },
  };
  return {
    alias: aliasOf(instance),
    repo,
    issue,
    tree,
    python,
    read: (candidate, options = {}) => readOnR(session, candidate, options),
    runOnR: async (candidate, options) => {
      try {
        permit(running);
      } catch (error) {
        throw error instanceof HumanError ? new TestsCannotRun(error.what, error.next) : error;
      }
      return runOnR(session, candidate, options);
    },
    dispose: () => session.dispose(),
  };
}

/** An engine that is opened when something is prepared: methods that run nothing need none. */
const openedLater = (open: () => Promise<Engine>): Engine => ({
  name: 'local',
  description: 'opened when tests run',
  prepare: async (instance, trees, work) =>
    (await open()).prepare(instance, trees, { ...work, audience: 'model' }),
  dispose: () => Promise.resolve(),
});

/** Runs of models are kept apart: whether one of a person is kept, and what it saw, is no matter of theirs. */
const apart = (store: RunStore): RunStore => ({
  getOrRun: (key, ...rest) =>
    store.getOrRun({ ...key, environment: `${key.environment} of models` }, ...rest),
});

/** R on both sides: neither a sandbox nor the folders beside it have anything of R∘X*. */
const treesOfR = ({ base, source, digest }: Trees): Trees => ({
  base,
  fixed: base,
  source,
  digest: { base: digest.base, fixed: digest.base },
  appliedWith: plainApply,
});

/** What an engine needs of an instance to run its tests. */
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
    // Its scripts, commands and lists of tests hold T*.
    ...(environment !== undefined && {
      environment: {
        ...(image !== undefined && { image }),
        ...(folder !== undefined && { folder }),
        ...(setupCommit !== undefined && { setupCommit }),
      },
    }),
  };
}
