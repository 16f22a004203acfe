import assert from 'node:assert/strict';
import { goldenSetOf, goldenTestsOf, type GoldenTests } from '../../src/evaluation/goldenTests';
import { readWithin } from '../../src/evaluation/session';
import { GoldenPatchUnfit, applyToTree } from '../../src/repository/trees/golden';
import { copyTree } from '../../src/repository/trees/copyTree';
import type { Instance } from '../../src/domain/instance';
import { join } from 'node:path';
import { added, goldenPatch, useExample, type Example } from './exampleRepository';

describe('the golden tests', function () {
  let example: Example;
  useExample((made) => (example = made));

  const test = 'tests/test_cat.py';
  const edit = `diff --git a/${test} b/${test}
--- a/${test}
+++ b/${test}
@@ -1,2 +1,5 @@
 def test_purr():
     pass
+
+def test_two():
+    pass
`;
  /** T* of a row as a session has it, after it was applied to both sides. */
  const golden = async (goldenTests: string, row: Partial<Instance> = {}): Promise<GoldenTests> => {
    const storage = await example.storage();
    const trees = await example.prepare({ kind: 'commit', from: example.origin }, storage, {
      goldenPatch,
      ...row,
    });
    const instance = example.instance({ goldenTests, goldenPatch, ...row });
    const found = await goldenTestsOf(instance, trees, (path) => readWithin(trees.base, path));
    if ('problem' in found || found.patch === '') return found;
    for (const side of ['base', 'fixed'] as const) {
      const copy = join(storage, side);
      await copyTree(trees[side], copy);
      await applyToTree(copy, found.patch);
    }
    return found;
  };

  it('are those of the row where they apply as they are', async () => {
    assert.deepEqual(await golden(edit), { patch: edit, files: [test] });
    assert.deepEqual(await golden(''), { patch: '', files: [] });
  });

  for (const [what, patch, way] of [
    ['line ends of another system', edit.replaceAll('\n', '\r\n'), 'git apply --ignore-whitespace'],
    ['another context', edit.replace(' def test_purr', ' def test_hum'), 'git apply -C1'],
  ] as const) {
    it(`have the ways of X* where they have ${what}`, async () => {
      const found = await golden(patch);
      assert.ok(!('problem' in found), JSON.stringify(found));
      assert.deepEqual([found.files, found.appliedWith], [[test], way]);
      assert.match(found.patch, /^\+def test_two/m);
    });
  }

  for (const [what, patch, why] of [
    [
      'a binary part without its content',
      `${edit}diff --git a/tests/a.png b/tests/a.png\nnew file mode 100644\nindex 0000000..1234567\nBinary files /dev/null and b/tests/a.png differ\n`,
      /to R \(.*a\.png/,
    ],
    ['a line that R does not have', edit.replace(' def test_purr', '-def nothing'), /to R \(/],
    ['a path outside of the tree', added('../evil.py'), /to R \(/],
    ['a line that X* changes', goldenPatch, /to R∘X\* \(/],
    ['no diff', 'tests', /to R \(/],
  ] as const) {
    it(`cannot be had where they have ${what}`, async () => {
      const found = await golden(patch);
      assert.match('problem' in found ? found.problem : JSON.stringify(found), why);
      const session = { instance: { id: 'a' }, goldenTests: () => Promise.resolve(found) };
      await assert.rejects(goldenSetOf(session), GoldenPatchUnfit);
    });
  }

  it('of data alone run the files of the lists', async () => {
    const data = added('tests/cases.json');
    const listed = {
      failToPass: [`${test}::test_purr[a::b]`, 'tests/gone.py::test_x', '../cat.py::test_x'],
      passToPass: [`${test}::A::test_y`, 'test_z'],
    };
    assert.deepEqual(await golden(data, listed), { patch: data, files: [test] });
    const django = { failToPass: ['test_purr (test_cat.A)', 'test_x (tests.gone.A)'] };
    assert.deepEqual(await golden(data, django), { patch: data, files: [test] });
    assert.deepEqual(await golden(data), { patch: data, files: [] });
    assert.deepEqual(await golden(edit, { failToPass: ['cat.py::test'] }), {
      patch: edit,
      files: [test],
    });
  });
});
