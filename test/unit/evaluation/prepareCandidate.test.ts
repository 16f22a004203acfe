import assert from 'node:assert/strict';
import { ownTestsOf } from '../../../src/evaluation/prepareCandidate';
import { makeUnified } from '../../../src/patch/makeUnified';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';

const old = 'def test_a():\n    assert purr() == 1\n\n\ndef test_b():\n    assert purr() == 2\n';
const moved =
  'diff --git a/tests/test_cat.py b/tests/test_tom.py\nsimilarity index 100%\n' +
  'rename from tests/test_cat.py\nrename to tests/test_tom.py\n';

describe('the tests of a candidate', () => {
  let python: PythonParser;
  before(async () => (python = await loadParser()));
  const read = (patch: string, files: readonly string[]) =>
    ownTestsOf(
      {
        python,
        readFileOfR: (path) => Promise.resolve(path === 'tests/test_cat.py' ? old : undefined),
      },
      patch,
      files,
    );

  it('are not those of a file that it only renames', async () => {
    const own = await read(moved, ['tests/test_tom.py']);
    assert.deepEqual(own.functions, []);
    assert.deepEqual(own.removed, []);
    assert.deepEqual(own.all, ['tests/test_tom.py::test_a', 'tests/test_tom.py::test_b']);
    assert.deepEqual(own.before, own.all);
    assert.deepEqual(own.filesOfR, ['tests/test_cat.py']);
    assert.deepEqual([...own.renamed], [['tests/test_cat.py', 'tests/test_tom.py']]);
  });

  it('are not those of a file that it deletes and writes anew elsewhere', async () => {
    const path = 'tests/test_tom.py';
    const patch = makeUnified([
      { path: 'tests/test_cat.py', before: old, after: undefined },
      { path, before: undefined, after: `${old}\n\ndef test_c():\n    assert purr() == 3\n` },
    ]);
    const own = await read(patch, [path]);
    assert.deepEqual(own.functions, [`${path}::test_c`]);
    assert.deepEqual(own.lost, { removed: [], emptied: [] });
    assert.deepEqual([...own.renamed], [['tests/test_cat.py', path]]);
    assert.deepEqual(own.filesOfR, ['tests/test_cat.py']);
  });

  it('are those that it changes in a file that it renames', async () => {
    const edit =
      '--- a/tests/test_cat.py\n+++ b/tests/test_tom.py\n' +
      '@@ -3,4 +3,4 @@\n \n \n def test_b():\n-    assert purr() == 2\n+    assert purr() == 3\n';
    const own = await read(moved.replace('100%', '90%') + edit, ['tests/test_tom.py']);
    assert.deepEqual(own.functions, ['tests/test_tom.py::test_b']);
  });

  it('replace those of a file that it deletes, or moves out of the tests', async () => {
    const tests = ['tests/test_cat.py::test_a', 'tests/test_cat.py::test_b'];
    const added = {
      path: 'tests/test_x.py',
      before: undefined,
      after: 'def test_x():\n    pass\n',
    };
    const gone = { path: 'tests/test_cat.py', before: old, after: undefined };
    for (const patch of [
      makeUnified([added, gone]),
      makeUnified([added]) + moved.replaceAll('tests/test_tom.py', 'cat/tom.py'),
    ]) {
      const own = await read(patch, ['tests/test_x.py']);
      assert.deepEqual(own.functions, ['tests/test_x.py::test_x']);
      assert.deepEqual(own.removed, tests);
      assert.deepEqual(own.before, tests);
      assert.deepEqual(own.filesOfR, ['tests/test_cat.py']);
      assert.equal(own.renamed.size, 0);
    }
  });

  it('are lost where they are removed or emptied, and not where they are renamed or moved', async () => {
    const lostBy = async (after: Readonly<Record<string, string | undefined>>) => {
      const edits = Object.entries(after).map(([path, text]) => ({
        path,
        before: path === 'tests/test_cat.py' ? old : undefined,
        after: text,
      }));
      const files = Object.keys(after).filter((path) => after[path] !== undefined);
      const { lost, moved } = await read(makeUnified(edits), files);
      return { ...lost, moved: Object.fromEntries(moved) };
    };
    const path = 'tests/test_cat.py';
    const [a, b] = [`${path}::test_a`, `${path}::test_b`];
    const nothing = { removed: [], emptied: [], moved: {} };
    assert.deepEqual(await lostBy({ [path]: old.replace('test_a', 'test_z') }), {
      ...nothing,
      moved: { [a]: `${path}::test_z` },
    });
    const [first = '', second = ''] = old.split('\n\n\n');
    assert.deepEqual(await lostBy({ [path]: `${first}\n`, 'tests/test_tom.py': second }), {
      ...nothing,
      moved: { [b]: 'tests/test_tom.py::test_b' },
    });
    assert.deepEqual(await lostBy({ [path]: second }), { ...nothing, removed: [a] });
    assert.deepEqual(await lostBy({ [path]: old.replace('test_a', 'check_a') }), {
      ...nothing,
      removed: [a],
    });
    for (const body of [
      'pass',
      '"later"',
      'assert True',
      '...',
      'return\n    assert purr() == 1',
    ]) {
      assert.deepEqual(
        await lostBy({ [path]: old.replace('assert purr() == 1', body) }),
        { ...nothing, emptied: [a] },
        body,
      );
    }
    for (const change of ['assert purr() == 3', 'return purr()']) {
      assert.deepEqual(
        await lostBy({ [path]: old.replace('assert purr() == 1', change) }),
        nothing,
      );
    }
  });
});
