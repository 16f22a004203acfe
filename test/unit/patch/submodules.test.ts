import assert from 'node:assert/strict';
import { withoutSubmodules } from '../../../src/patch/testFiles';

describe('a patch without its submodules', () => {
  const file = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+160000\n';
  const one = 'Subproject commit f55c19a46e80b6fded80758fe5d2aa556d73f06f';
  const index = 'index f55c19a..0000000 160000\n';
  const added = `diff --git a/nested b/nested\nnew file mode 160000\nindex 0000000..f55c19a\n--- /dev/null\n+++ b/nested\n@@ -0,0 +1 @@\n+${one}\n`;
  const names = '--- a/nested\n+++ b/nested\n';
  const changed = `diff --git a/nested b/nested\n${index}${names}@@ -1 +1 @@\n-${one}\n+${one}-dirty\n`;
  const deleted = `diff --git a/nested b/nested\ndeleted file mode 160000\nindex f55c19a..0000000\n--- a/nested\n+++ /dev/null\n@@ -1 +0,0 @@\n-${one}\n`;

  it('is the same where there are none', () => {
    assert.deepEqual(withoutSubmodules(file), { text: file, left: [] });
    assert.deepEqual(withoutSubmodules('160000'), { text: '160000', left: [] });
  });

  for (const [what, part] of Object.entries({ added, changed, deleted })) {
    it(`has the rest, and names it: ${what}`, () => {
      for (const text of [part + file, file + part]) {
        assert.deepEqual(withoutSubmodules(text), { text: file, left: ['nested'] });
      }
      assert.deepEqual(withoutSubmodules(file + part + file).text, file + file);
      assert.deepEqual(withoutSubmodules(part), { text: '', left: ['nested'] });
    });
  }
});
