import type { Instance } from '../domain/instance';
import type { Engine } from '../engine/engine';
import type { RunStore } from '../evaluation/runStore';
import { openSession, type InstanceSession } from '../evaluation/session';
import type { PythonParser } from '../python/parser';
import { folderTree } from '../repository/folderTree';
import type { Trees } from '../repository/trees';
import { readOnR, runOnR, type ReadOnR, type RunOnR, type RunOnROptions } from './runOnR';
import { treeOfR, type TreeOfR } from './treeOfR';
import { withheld } from './withheld';

/**
 * What a method, a tool or a model may know of an instance, and all that they are given of it. It holds
 * neither X* nor T*, no outcome on R∘X*, no list of FAIL_TO_PASS or PASS_TO_PASS and no hints: this file
 * is where they are left behind.
 */
export interface ModelView {
  readonly id: string;
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
   * @throws HumanError when a test that is asked for is not there, or nothing can be run; Cancelled
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
}

/** The view of an instance. R is kept from being freed until it is disposed of. */
export async function modelView(instance: Instance, parts: ModelViewParts): Promise<ModelView> {
  const { python, engine, store } = parts;
  const trees = treesOfR(parts.trees);
  const { id, repo, issue } = instance;
  const files = await folderTree(trees.base);
  const tree = treeOfR(trees.base, files, trees.digest.base);
  const secrets = withheld(
    [instance.goldenPatch, parts.trees.golden ?? '', instance.goldenTests],
    [...(instance.failToPass ?? []), ...(instance.passToPass ?? [])],
    tree,
  );
  const opened = await openSession({
    instance: withoutAnswer(instance),
    trees,
    engine: openedLater(engine),
    python,
    store,
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
    id,
    repo,
    issue,
    tree,
    python,
    read: async (candidate, options = {}) =>
      secrets.without(await readOnR(session, candidate, options), [candidate, issue]),
    runOnR: async (candidate, options) => {
      const result = await runOnR(session, candidate, options);
      return secrets.without(result, [candidate, issue, ...(options.tests ?? [])]);
    },
    dispose: () => session.dispose(),
  };
}

/** An engine that is opened when something is prepared: methods that run nothing need none. */
const openedLater = (open: () => Promise<Engine>): Engine => ({
  name: 'local',
  description: 'opened when tests run',
  prepare: async (instance, trees, work) => (await open()).prepare(instance, trees, work),
  dispose: () => Promise.resolve(),
});

/** R on both sides: neither a sandbox nor the folders beside it have anything of R∘X*. */
const treesOfR = ({ base, source, digest, appliedWith }: Trees): Trees => ({
  base,
  fixed: base,
  source,
  digest: { base: digest.base, fixed: digest.base },
  appliedWith,
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
