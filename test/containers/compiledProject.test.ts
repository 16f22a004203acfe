import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { environments } from '../../src/environments/environments';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import type { Engine } from '../../src/engine/engine';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import { prepareTrees } from '../../src/repository/trees';
import { runCode } from '../contract/run';
import {
  needDocker,
  removeImagesOf,
  removeImagesOfRepository,
  testSettings,
} from './dockerForTests';

const owner = `fast${randomBytes(4).toString('hex')}`;
const repo = `${owner}/project`;

/** A module in C with one number, which a header gives a part of. */
const moduleOf = (name: string, value: number): string => `#include <Python.h>
#include "shared.h"
static struct PyModuleDef about = {PyModuleDef_HEAD_INIT, "_${name}", 0, -1, 0};
PyMODINIT_FUNC PyInit__${name}(void) {
    PyObject *made = PyModule_Create(&about);
    PyModule_AddIntConstant(made, "value", ${value} + SHARED);
    return made;
}
`;

const files: Record<string, string> = {
  'setup.py': `from setuptools import Extension, setup
setup(
    name="fast", version="1.0", packages=["fast"],
    ext_modules=[Extension("fast._" + name, ["fast/_%s.c" % name]) for name in "abc"],
)
`,
  'fast/__init__.py': '',
  'fast/shared.h': '#define SHARED 0\n',
  ...Object.fromEntries(['a', 'b', 'c'].map((name) => [`fast/_${name}.c`, moduleOf(name, 1)])),
  'tests/test_fast.py': 'from fast import _a\n\n\ndef test_a():\n    assert _a.value == 1\n',
};

/** X* of the instances: another number in one module. */
const goldenPatch = `diff --git a/fast/_c.c b/fast/_c.c
--- a/fast/_c.c
+++ b/fast/_c.c
@@ -4,5 +4,5 @@
 PyMODINIT_FUNC PyInit__c(void) {
     PyObject *made = PyModule_Create(&about);
-    PyModule_AddIntConstant(made, "value", 1 + SHARED);
+    PyModule_AddIntConstant(made, "value", 42 + SHARED);
     return made;
 }
`;

const headerPatch = `diff --git a/fast/shared.h b/fast/shared.h
--- a/fast/shared.h
+++ b/fast/shared.h
@@ -1 +1 @@
-#define SHARED 0
+#define SHARED 100
`;

describe('instances of a compiled project', () => {
  let folder: string;
  let storage: string;
  let engine: Engine;

  before(async function () {
    await needDocker(this, ['3.9']);
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-compiled-'));
    storage = join(folder, 'storage');
    const assets = resolve('src/engine');
    engine = await openEngine({
      engines,
      environments,
      name: 'docker',
      storage,
      assets,
      values: { docker: testSettings() },
    });
  });

  after(async () => {
    await engine?.dispose();
    for (const number of [1, 2]) await removeImagesOf(`${owner}__project-${number}`);
    await removeImagesOfRepository(repo);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  async function placeOf(number: number, more: Readonly<Record<string, string>> = {}) {
    const source = join(folder, `source-${number}`);
    for (const [path, text] of Object.entries({ ...files, ...more })) {
      await mkdir(dirname(join(source, path)), { recursive: true });
      await writeFile(join(source, path), text);
    }
    const instance: Instance = {
      ...{ id: `${owner}__project-${number}`, repo, baseCommit: 'a'.repeat(40), version: '1.0' },
      ...{ issue: 'c is 1', hints: '', createdAt: '2023-06-01T00:00:00Z' },
      ...{ goldenPatch, goldenTests: '', failToPass: undefined, passToPass: undefined },
    };
    const work = { reporter: silent };
    const trees = await prepareTrees(instance, { kind: 'snapshot', from: source }, storage, work);
    const place = await engine.prepare(instance, trees, work);
    const log = join(storage, 'images', 'logs', `${instance.id}.log`);
    const said = /compiled (\d+) sources, and took (\d+) objects/.exec(await readFile(log, 'utf8'));
    return { place, compiled: Number(said?.[1]), reused: Number(said?.[2]) };
  }

  const values = 'from fast import _a, _b, _c; print(_a.value, _b.value, _c.value)';

  it('compile only what differs, and X* and candidates are built as well @full', async () => {
    const first = await placeOf(1);
    assert.deepEqual([first.compiled, first.reused], [3, 0]);
    const second = await placeOf(2, { 'fast/_b.c': moduleOf('b', 7) });
    assert.deepEqual([second.compiled, second.reused], [1, 2]);

    const pair = await second.place.openPair({ reporter: silent });
    try {
      const seen = async (side: 'base' | 'fixed'): Promise<string> =>
        (await runCode(pair[side], values)).log.trim();
      await pair.base.load('');
      await pair.fixed.load('');
      assert.equal(await seen('base'), '1 7 1');
      assert.equal(await seen('fixed'), '1 7 42');
      // No source includes the header by what the set-up program says of it.
      await pair.base.load(headerPatch);
      await pair.fixed.load(headerPatch);
      assert.equal(await seen('base'), '101 107 101');
      assert.equal(await seen('fixed'), '101 107 142');
    } finally {
      await pair.dispose();
    }
  });
});
