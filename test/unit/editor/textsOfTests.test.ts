import assert from 'node:assert/strict';
import { isFresh, type TestSource } from '../../../src/editor/verdict/evaluated';
import { textsOfTests } from '../../../src/editor/testing/textsOfTests';
import { textOf } from '../../../src/patch/bytes';
import { loadParser } from '../python/loadParser';

const before = `def test_kept():
    pass


def test_changed():
    assert 1
`;
const patch = `diff --git a/tests/test_a.py b/tests/test_a.py
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -3,4 +3,4 @@
 
 
 def test_changed():
-    assert 1
+    assert 2
diff --git a/tests/test_b.py b/tests/test_b.py
new file mode 100644
--- /dev/null
+++ b/tests/test_b.py
@@ -0,0 +1,2 @@
+def test_new():
+    assert 3
diff --git a/tests/test_gone.py b/tests/test_gone.py
deleted file mode 100644
--- a/tests/test_gone.py
+++ /dev/null
@@ -1 +0,0 @@
-def test_gone(): pass
`;

describe('texts of tests that a verdict is about', () => {
  const read =
    (files: Readonly<Record<string, string>>) =>
    async (path: string): Promise<string | undefined> =>
      files[path];

  it('are those of the patch, of every test of the touched files', async () => {
    const texts = await textsOfTests(
      {
        python: await loadParser(),
        readFileOfR: read({
          'tests/test_a.py': before,
          'tests/test_gone.py': 'def test_gone(): pass\n',
          'tests/test_other.py': before,
        }),
      },
      patch,
    );
    assert.deepEqual([...texts.keys()].sort(), [
      'tests/test_a.py::test_changed',
      'tests/test_a.py::test_kept',
      'tests/test_b.py::test_new',
    ]);
    assert.match(texts.get('tests/test_a.py::test_changed')?.text ?? '', /assert 2/);
  });

  it('are as an editor shows them', async () => {
    const bytes = Buffer.concat([
      Buffer.from('\ufeffdef test_kept():\n    "caf'),
      Buffer.from([0xe9]),
      Buffer.from('"\n'),
    ]);
    const texts = await textsOfTests(
      {
        python: await loadParser(),
        readFileOfR: read({ 'tests/test_a.py': textOf(bytes) }),
      },
      'diff --git a/tests/test_a.py b/tests/test_a.py\n--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -2 +2,2 @@\n' +
        ` ${textOf(bytes).split('\n')[1]}\n+    pass\n`,
    );
    assert.match(
      texts.get('tests/test_a.py::test_kept')?.text ?? '',
      /^def test_kept\(\):\n {4}"caf\ufffd"/,
    );
  });

  it('are known with what they use of their file, unless Python cannot read it', async () => {
    const python = await loadParser();
    const basisWith = async (line: string): Promise<string | undefined> => {
      const texts = await textsOfTests(
        { python, readFileOfR: read({}) },
        'diff --git a/tests/test_a.py b/tests/test_a.py\nnew file mode 100644\n--- /dev/null\n' +
          `+++ b/tests/test_a.py\n@@ -0,0 +1,4 @@\n+${line}\n+\n+def test_a():\n+    assert N\n`,
      );
      assert.deepEqual([...texts.keys()], ['tests/test_a.py::test_a']);
      return texts.get('tests/test_a.py::test_a')?.basis;
    };
    assert.match((await basisWith('N = 1')) ?? '', /^[0-9a-f]{64}$/);
    assert.equal(await basisWith('N = 1'), await basisWith('N = 1  # one'));
    assert.notEqual(await basisWith('N = 1'), await basisWith('N = 2'));
    assert.equal(await basisWith('N = = 1'), undefined);
  });

  it('are fresh as long as neither the text nor what it uses is another', () => {
    const ran = { text: 'a', basis: '1' };
    const isFreshNow = (source: TestSource | undefined, now: TestSource): boolean =>
      isFresh({ cases: [], source }, now);
    assert.equal(isFreshNow(ran, { ...ran }), true);
    assert.equal(isFreshNow(ran, { ...ran, text: 'b' }), false);
    assert.equal(isFreshNow(ran, { ...ran, basis: '2' }), false);
    assert.equal(isFreshNow(undefined, ran), false);
    // A file is often broken while a person types: that alone says nothing about this test.
    assert.equal(isFreshNow(ran, { ...ran, basis: undefined }), true);
    assert.equal(isFreshNow({ ...ran, basis: undefined }, ran), false);
  });
});
