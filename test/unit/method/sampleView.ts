import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openDataset } from '../../../src/dataset/dataset';
import type { Instance } from '../../../src/domain/instance';
import { silent } from '../../../src/domain/work';
import type { Engine } from '../../../src/engine/engine';
import { localEngine } from '../../../src/engine/local/localEngine';
import { runStore } from '../../../src/evaluation/testRun';
import type { FilesOnR } from '../../../src/method/agents/filesOnR';
import { modelView, type ModelView } from '../../../src/method/modelView';
import type { TreeSource } from '../../../src/repository/source';
import { prepareTrees, type Trees } from '../../../src/repository/trees';
import { sharedStorage } from '../../sharedStorage';
import { loadParser } from '../python/loadParser';
import { environments } from '../../../src/environments/environments';

const sample = resolve('media', 'sample');

export interface ViewForTests {
  readonly view: ModelView;
  readonly instance: Instance;
  readonly trees: Trees;
  /** The storage folder, which is removed afterwards. */
  readonly storage: string;
  /** Files to edit in memory. */
  files(): FilesOnR;
}

/**
 * A view of the bundled instance, or of another one, for a test file. It is available once tests
 * begin.
 */
export function viewForTests(
  change: (
    instance: Instance,
    storage: string,
  ) => Promise<{ instance: Instance; source?: string }> = (instance) =>
    Promise.resolve({ instance }),
): ViewForTests {
  const made: { -readonly [Key in keyof ViewForTests]?: ViewForTests[Key] } = {
    files() {
      const { view, storage } = made;
      if (view === undefined || storage === undefined) throw new Error('no test runs');
      return view.openFiles({ storage, instance: 'tallybook' });
    },
  };
  let engine: Promise<Engine> | undefined;
  before(async function () {
    const storage = await mkdtemp(join(tmpdir(), 'swt-bench-view-'));
    made.storage = storage;
    const dataset = await openDataset(join(sample, 'instance.jsonl'), {
      storage,
      reporter: silent,
    });
    const [bundled] = await dataset.read(['tallybook__tallybook-217']);
    if (bundled === undefined) throw new Error('the bundled instance is not there');
    const { instance, source } = await change(bundled, storage);
    const from: TreeSource = { kind: 'snapshot', from: source ?? join(sample, 'repository') };
    // Nothing runs in trees, so that files which take the instance as it is share them.
    const treesStorage = instance === bundled ? sharedStorage() : storage;
    const trees = await prepareTrees(instance, from, treesStorage, { reporter: silent });
    const view = await modelView(instance, {
      trees,
      python: await loadParser(),
      engine: () =>
        (engine ??= localEngine({ environments, storage, tracer: resolve('src/engine/tracer') })),
      store: runStore(storage),
      permit: () => undefined,
    });
    Object.assign(made, { view, instance, trees });
  });
  after(async () => {
    await made.view?.dispose();
    await (await engine)?.dispose();
    if (made.storage !== undefined) await rm(made.storage, { recursive: true, force: true });
  });
  return made as ViewForTests;
}

/** A patch that adds a file. */
export const addedFile = (
  path: string,
  ...lines: string[]
): string => `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;
