import { randomBytes } from 'node:crypto';
import { readdir, symlink, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import type { Engine, Pair, TestPlace } from '../../src/engine/engine';
import { engines, engineNames, runsInContainers } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import type { DockerSettings } from '../../src/engine/docker/dockerSettings';
import type { Trees } from '../../src/repository/trees';
import {
  containersOf,
  needDocker,
  removeImagesOf,
  testSettings,
} from '../containers/dockerForTests';
import { podsOf } from '../containers/platforms';
import { plain, useExample, write, type Example } from '../processes/exampleRepository';
import { pytestEnvironment } from '../environments';
import { environments } from '../../src/environments/environments';

/** A text that is in no file visible on R. */
export const secret = 'only_the_fix_says_this';

export const counted = `def purr():
    total = 0
    for each in range(3):
        total += 1
    return 1
`;

const setup = 'from setuptools import setup\nsetup(name="cat", version="1", py_modules=["cat"])\n';

/** A patch that adds a file with one test of unittest. */
export const candidate = (
  body: string,
  path = 'tests/test_new.py',
): string => `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,5 @@
+import unittest
+from cat import purr
+class A(unittest.TestCase):
+    def test_a(self):
+        ${body}
`;

/** A file name that is not UTF-8. */
export const latinName = Buffer.from([...Buffer.from('caf'), 0xe9, ...Buffer.from('.txt')]);

/** One engine with an instance: the example repository with additions. */
export interface Subject {
  readonly name: string;
  readonly instance: Instance;
  readonly trees: Trees;
  readonly storage: string;
  readonly engine: Engine;
  readonly place: TestPlace;
  /**
   * Another engine with the same settings, except the given ones of docker; the test disposes of
   * it.
   */
  open(more?: Partial<DockerSettings>, isAwaited?: boolean): Promise<Engine>;
  /** Names of existing sandboxes. */
  sandboxes(): Promise<string[]>;
}

/** The engines of this machine: a cluster is one where its variable names an image for the pods. */
const enginesHere = engineNames().filter(
  (name) => name !== 'kubernetes' || process.env['SWT_BENCH_CLUSTER_IMAGE'] !== undefined,
);

/**
 * Declares the same tests for every engine of this machine.
 *
 * @param body declares them; call `subject` only once they run
 */
export function onEachEngine(title: string, body: (subject: () => Subject) => void): void {
  for (const name of enginesHere) onEngine(name, title, body);
}

/** As `onEachEngine`, for the engines that run tests in containers. */
export function onEachInContainers(
  title: string,
  body: (subject: () => Subject) => void,
  settings: Partial<DockerSettings> = {},
): void {
  for (const name of enginesHere.filter(runsInContainers)) onEngine(name, title, body, settings);
}

/** Declares tests for one engine; `settings` are those of the docker engine. */
export function onEngine(
  name: string,
  title: string,
  body: (subject: () => Subject) => void,
  settings: Partial<DockerSettings> = {},
): void {
  describe(`${title}, ${name} engine`, function () {
    let example: Example;
    let subject: Subject | undefined;
    if (name === 'docker') {
      before(async function () {
        await needDocker(this);
      });
    }
    useExample((made) => (example = made));
    before(async function () {
      const python = name === 'local' ? await pytestEnvironment(this) : undefined;
      subject = await makeSubject(name, example, python, testSettings(settings));
    });
    after(async () => {
      await subject?.engine.dispose();
      if (name === 'docker' && subject !== undefined) await removeImagesOf(subject.instance.id);
    });
    body(() => {
      if (subject === undefined) throw new Error('asked for before the tests run');
      return subject;
    });
  });
}

async function makeSubject(
  name: string,
  example: Example,
  python: string | undefined,
  docker: DockerSettings,
): Promise<Subject> {
  const { origin } = example;
  plain(origin, 'checkout', '-q', example.base);
  await write(origin, {
    'cat.py': counted,
    'gone.txt': 'x\n',
    'setup.py': setup,
    'run me.sh': '#!/bin/sh\n',
    'lone/deep/kept.txt': 'x\n',
  });
  plain(origin, 'add', '-A', '-f');
  plain(origin, 'commit', '-qm', 'more');
  const baseCommit = plain(origin, 'rev-parse', 'HEAD');
  await write(origin, {
    'cat.py': counted.replace('return 1', `return 2  # ${secret}`),
    [`${secret}.py`]: `${secret} = 1\n`,
    // The only changed file in its folder.
    [`lone/deep/${secret}.txt`]: 'x\n',
  });
  await unlink(join(origin, 'gone.txt'));
  await unlink(join(origin, 'link.py'));
  await symlink('dos.txt', join(origin, 'link.py'));
  plain(origin, 'add', '-A', '-f');
  plain(origin, 'update-index', '--chmod=+x', 'run me.sh');
  // Not trimmed, unlike the result of `plain`.
  const goldenPatch = `${plain(origin, 'diff', '--cached', '--binary')}\n`;
  plain(origin, 'reset', '-q', '--hard', baseCommit);

  const storage = await example.storage();
  const id = `octo__cat-${randomBytes(4).toString('hex')}`;
  const image = process.env['SWT_BENCH_CLUSTER_IMAGE'];
  const more = {
    ...(name === 'kubernetes' && image !== undefined && { environment: { image } }),
    ...{ id, baseCommit, goldenPatch, createdAt: '2023-06-01T00:00:00Z', version: '1.2' },
    goldenTests: candidate('self.assertEqual(purr(), 2)', 'tests/test_golden.py'),
  };
  const instance = example.instance(more);
  const trees = await example.prepare({ kind: 'commit', from: origin }, storage, more);
  const open = (more: Partial<DockerSettings> = {}, isAwaited = false): Promise<Engine> =>
    openEngine({
      ...{ engines, isAwaited },
      environments,
      name,
      storage,
      assets: resolve('src/engine'),
      values: {
        local: { python },
        // Two pairs and a spare have to find room on two small nodes.
        docker: { ...docker, ...(name === 'kubernetes' && { cpus: 0.25 }), ...more },
      },
    });
  const engine = await open();
  const place = await engine.prepare(instance, trees, { reporter: silent });
  // A cluster keeps the sandboxes that the instance was prepared in for its first pair.
  const spare = new Set(await (sandboxesOn[name]?.(id, storage) ?? []));
  const openPair = place.openPair.bind(place);
  Object.assign(place, {
    openPair: (...asked: Parameters<typeof openPair>) => {
      spare.clear();
      return openPair(...asked);
    },
  });
  return {
    ...{ name, instance, trees, storage, engine, place, open },
    sandboxes: async () =>
      (await (sandboxesOn[name]?.(id, storage) ?? [])).filter((each) => !spare.has(each)),
  };
}

/** The sandboxes of an instance that an engine has, by their names. */
const sandboxesOn: Readonly<
  Record<string, (instance: string, storage: string) => Promise<string[]>>
> = {
  local: (_, storage) => readdir(join(storage, 'pairs')).catch((): string[] => []),
  docker: (instance) => containersOf(instance),
  kubernetes: (instance) => podsOf(instance),
};

/** Opens a pair before the tests of a `describe` and disposes of it afterwards. */
export function usePair(subject: () => Subject): PairInUse {
  let pair: Pair | undefined;
  const open = async (): Promise<void> => {
    await pair?.dispose();
    pair = await subject().place.openPair({ reporter: silent });
  };
  before(open);
  after(async () => {
    await pair?.dispose();
  });
  const inUse = (): Pair => {
    if (pair === undefined) throw new Error('asked for before the tests run');
    return pair;
  };
  return Object.assign(inUse, { again: open });
}

/** The pair of a `describe`. */
export interface PairInUse {
  (): Pair;
  /** Replaces the pair with a new one. */
  again(): Promise<void>;
}
