import assert from 'node:assert/strict';
import { ownTestsOf } from '../../../src/evaluation/prepareCandidate';
import { makeUnified } from '../../../src/patch/unified/makeUnified';
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
});
