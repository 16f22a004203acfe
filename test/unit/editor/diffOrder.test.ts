import assert from 'node:assert/strict';
import type { CoveredLine } from '../../../src/domain/changeCoverage';
import { inDiffOrder, neighbour } from '../../../src/editor/coverage/diffOrder';
import { parseUnified } from '../../../src/patch/parseUnified';

const { files } = parseUnified(`diff --git a/b.py b/b.py
--- a/b.py
+++ b/b.py
@@ -1,4 +1,5 @@
 one
-two
+TWO
+and a half
 three
 four
@@ -11,3 +12,2 @@
 eleven
-twelve
 thirteen
diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
--- a/old.py
+++ b/new.py
@@ -1,2 +1,2 @@
 one
-two
+TWO
`);
const line = (change: 'removed' | 'added', path: string, number: number): CoveredLine => ({
  path,
  line: number,
  text: '',
  change,
  state: 'missed',
  counts: { base: 0, candidate: 0, golden: 1 },
  coveredBy: [],
  executions: {},
});
const shown = [
  line('removed', 'b.py', 2),
  line('added', 'b.py', 2),
  line('added', 'b.py', 3),
  line('removed', 'b.py', 12),
  line('removed', 'old.py', 2),
  line('added', 'new.py', 2),
];
const mixed = [5, 2, 0, 4, 1, 3].flatMap((index) => shown[index] ?? []);

describe('going through lines as the golden diff shows them', () => {
  it('goes by file, then from top to bottom, removed before added', () => {
    assert.deepEqual(inDiffOrder(mixed, files), shown);
  });

  it('begins at the first line, and at the last one backwards', () => {
    assert.equal(neighbour(mixed, files, undefined, 'next'), shown[0]);
    assert.equal(neighbour(mixed, files, undefined, 'previous'), shown.at(-1));
  });

  it('visits each line once and then begins anew, both ways', () => {
    for (const direction of ['next', 'previous'] as const) {
      const visited: CoveredLine[] = [];
      let at: CoveredLine | undefined = direction === 'next' ? shown.at(-1) : shown[0];
      for (let i = 0; i < shown.length; i++) {
        const side = at?.change === 'removed' ? ('base' as const) : ('fixed' as const);
        at = neighbour(mixed, files, at && { side, path: at.path, line: at.line }, direction);
        assert.ok(at);
        visited.push(at);
      }
      assert.deepEqual(visited, direction === 'next' ? shown : [...shown].reverse());
    }
  });

  it('goes on from a line that is not changed, on either side', () => {
    const from = (side: 'base' | 'fixed', number: number) => ({ side, path: 'b.py', line: number });
    assert.equal(neighbour(mixed, files, from('base', 3), 'next'), shown[3]);
    assert.equal(neighbour(mixed, files, from('fixed', 4), 'next'), shown[3]);
    assert.equal(neighbour(mixed, files, from('fixed', 4), 'previous'), shown[2]);
    assert.equal(neighbour(mixed, files, from('base', 1), 'previous'), shown.at(-1));
  });

  it('has nowhere to go without lines', () => {
    assert.equal(neighbour([], files, undefined, 'next'), undefined);
  });
});
