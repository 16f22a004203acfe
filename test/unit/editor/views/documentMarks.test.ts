import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../../../package.json';
import {
  lineStates,
  changeCoverageOf,
  type CoveredLine,
  type LineState,
} from '../../../../src/domain/changeCoverage';
import type { CoverageMarks } from '../../../../src/editor/coverage/coverageMarks';
import {
  coveredLineAt,
  gutterLook,
  documentMarks,
  hasGutterOfR,
  placeOnSide,
  type MarkedDocument,
} from '../../../../src/editor/coverage/documentMarks';
import { parseUnified } from '../../../../src/patch/parseUnified';

const patch = `diff --git a/cat.py b/tom.py
similarity index 50%
rename from cat.py
rename to tom.py
--- a/cat.py
+++ b/tom.py
@@ -1,3 +1,4 @@
 def purr():
-    return 1
+    loud()
+    return 2
 end()
`;
const files = parseUnified(patch).files;

const line = (change: CoveredLine['change'], number: number, state: LineState): CoveredLine => ({
  path: change === 'removed' ? 'cat.py' : 'tom.py',
  line: number,
  text: '',
  change,
  state,
  counts: { base: 0, candidate: 0, golden: 1 },
  coveredBy: [],
  executions: {},
});
const gone = line('removed', 2, 'missed');
const [loud, two] = [line('added', 2, 'newly covered'), line('added', 3, 'missed')] as const;
const coverage = changeCoverageOf([gone, loud, two]);

const base: MarkedDocument = { side: 'base', path: 'cat.py' };
const fixed: MarkedDocument = { side: 'fixed', path: 'tom.py' };
/** The file of R with two lines typed before all others. */
const workspace: MarkedDocument = {
  workspacePath: 'cat.py',
  map: new Map([
    [1, 3],
    [2, 4],
    [3, 5],
  ]),
};

/** The states of lines, and what notes say, by line. */
const shows = ({ states, notes }: CoverageMarks) => ({
  states: Object.fromEntries([...states].filter(([, lines]) => lines.length > 0)),
  notes: notes.map((note) => [note.line, note.lines]),
});

describe('marks of change coverage in a document', () => {
  it('are the removed lines on R', () => {
    assert.deepEqual(shows(documentMarks(base, coverage, files)), {
      states: { missed: [2] },
      notes: [],
    });
  });

  it('tell no removed lines on R∘X* where a gutter of R shows them', () => {
    assert.deepEqual(shows(documentMarks(fixed, coverage, files, true)).notes, []);
    const sides = { isSideBySide: true, mayBeInline: true, sharesWidth: false };
    assert.equal(hasGutterOfR(true, sides), true);
    assert.equal(hasGutterOfR(false, sides), false, 'R∘X* by itself');
    assert.equal(hasGutterOfR(true, { ...sides, isSideBySide: false }), false);
    const narrow = { ...sides, sharesWidth: true };
    assert.equal(hasGutterOfR(true, narrow), false, 'beside the issue it is inline');
    assert.equal(hasGutterOfR(true, { ...narrow, mayBeInline: false }), true);
  });

  it('are the added lines on R∘X*, with removed ones told above them', () => {
    assert.deepEqual(shows(documentMarks(fixed, coverage, files)), {
      states: { 'newly covered': [2], missed: [3] },
      notes: [[1, [gone]]],
    });
  });

  it('are the removed lines in the workspace where they stand now, with added ones told there', () => {
    assert.deepEqual(shows(documentMarks(workspace, coverage, files)), {
      states: { missed: [4] },
      notes: [[4, [loud, two]]],
    });
  });

  it('are without notes while the golden patch is not read', () => {
    assert.deepEqual(shows(documentMarks(fixed, coverage, undefined)), {
      states: { 'newly covered': [2], missed: [3] },
      notes: [],
    });
  });

  it('are none in a file that the golden patch leaves as it is', () => {
    const other: MarkedDocument = { side: 'base', path: 'dog.py' };
    assert.deepEqual(shows(documentMarks(other, coverage, files)), { states: {}, notes: [] });
  });
});

describe('the changed line below the cursor', () => {
  const at = (document: MarkedDocument, number: number): CoveredLine | undefined => {
    const place = placeOnSide(document, number);
    return place === undefined ? undefined : coveredLineAt(coverage, place);
  };

  it('is that of the side which the document shows', () => {
    assert.equal(at(base, 2), gone);
    assert.equal(at(fixed, 2), loud);
    assert.equal(at(fixed, 3), two);
    assert.equal(at(workspace, 4), gone);
  });

  it('is none where the golden patch changes nothing', () => {
    assert.equal(at(base, 1), undefined);
    assert.equal(at({ side: 'base', path: 'dog.py' }, 2), undefined);
    assert.equal(at(workspace, 2), undefined);
  });

  it('has a place on R only where R has the line', () => {
    assert.deepEqual(placeOnSide(workspace, 5), { side: 'base', path: 'cat.py', line: 3 });
    assert.equal(placeOnSide(workspace, 1), undefined);
    assert.deepEqual(placeOnSide(fixed, 99), { side: 'fixed', path: 'tom.py', line: 99 });
  });
});

describe('how states look in the gutter', () => {
  const root = join(__dirname, '..', '..', '..', '..');

  it('is an icon for each, in light and dark', () => {
    const icons = lineStates.map((state) => gutterLook[state].icon);
    assert.equal(new Set(icons).size, lineStates.length);
    for (const icon of icons) {
      for (const theme of ['light', 'dark']) {
        assert.ok(existsSync(join(root, 'media', 'gutter', `${icon}-${theme}.svg`)), icon);
      }
    }
  });

  it('is a colour in the ruler that the manifest defines, but for what is not executable', () => {
    const colours = new Set(manifest.contributes.colors.map(({ id }) => id));
    for (const state of lineStates) {
      const { ruler } = gutterLook[state];
      if (state === 'not executable') assert.equal(ruler, undefined);
      else assert.ok(ruler !== undefined && colours.has(ruler), state);
    }
  });
});
