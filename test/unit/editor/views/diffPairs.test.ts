import assert from 'node:assert/strict';
import { diffPairs } from '../../../../src/editor/coverage/diffOrder';
import { parseUnified } from '../../../../src/patch/parseUnified';

const pairsOf = (patch: string) => diffPairs(parseUnified(patch).files);

describe('the documents of the golden diff', () => {
  it('are both sides of each file, in the order of the patch, under the names of each side', () => {
    const patch = `diff --git a/zoo.py b/zoo.py
--- a/zoo.py
+++ b/zoo.py
@@ -1 +1 @@
-return 1
+return 2
diff --git a/cat.py b/tom.py
similarity index 100%
rename from cat.py
rename to tom.py
`;
    assert.deepEqual(pairsOf(patch), [
      { base: 'zoo.py', fixed: 'zoo.py' },
      { base: 'cat.py', fixed: 'tom.py' },
    ]);
  });

  it('have the one name of a file that only one side has', () => {
    const patch = `diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+return 1
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-return 1
`;
    assert.deepEqual(pairsOf(patch), [
      { base: 'new.py', fixed: 'new.py' },
      { base: 'gone.py', fixed: 'gone.py' },
    ]);
  });
});
