import assert from 'node:assert/strict';
import manifest from '../../../../package.json';
import {
  changeCoverageOf,
  type CoveredLine,
  type LineState,
} from '../../../../src/domain/changeCoverage';
import {
  changedFileNodes,
  changeCoverageHeader,
  changeCoverageNodesBelow,
  changeCoverageState,
  changeCoverageTreeRow,
  lineOfRow,
  nodeOfLine,
  parentOfNode,
  type ChangeCoverageNode,
} from '../../../../src/editor/coverage/changeCoverageTreeRow';
import { coverageHoverParts } from '../../../../src/editor/coverage/coverageText';
import { contextKeys, coverageCommandIds } from '../../../../src/editor/shell/names';
import { parseUnified } from '../../../../src/patch/parseUnified';
import { shown } from './shownVerdicts';

const { files } = parseUnified(`diff --git a/zoo.py b/zoo.py
--- a/zoo.py
+++ b/zoo.py
@@ -1,2 +1,3 @@
 def open():
-    return 1
+    gate()
+    return 2
diff --git a/cat.py b/tom.py
similarity index 50%
rename from cat.py
rename to tom.py
--- a/cat.py
+++ b/tom.py
@@ -1,2 +1,2 @@
 def purr():
-    return 1
+    return 2
`);

const line = (
  change: CoveredLine['change'],
  path: string,
  number: number,
  state: LineState,
): CoveredLine => ({
  path,
  line: number,
  text: `    line ${number}  `,
  change,
  state,
  counts: { base: 0, candidate: 0, golden: 1 },
  coveredBy: [],
  executions: {},
});
const gone = line('removed', 'zoo.py', 2, 'already covered');
const gate = line('added', 'zoo.py', 2, 'not executable');
const two = line('added', 'zoo.py', 3, 'missed');
const purred = line('removed', 'cat.py', 2, 'newly covered');
const purrs = line('added', 'tom.py', 2, 'missed');
const coverage = changeCoverageOf([purrs, two, gate, purred, gone]);

const top = (missedOnly = false): ChangeCoverageNode[] =>
  changedFileNodes(coverage, files, missedOnly);
const file = (lines: readonly CoveredLine[]): ChangeCoverageNode => ({
  kind: 'file',
  path: 'zoo.py',
  lines,
});
/** The state and the lines of each row below a file. */
const states = (of: ChangeCoverageNode) =>
  changeCoverageNodesBelow(of).map((node) =>
    node.kind === 'state' ? [node.state, node.lines] : assert.fail(node.kind),
  );

describe('the rows of the Change Coverage view', () => {
  it('are the files of the golden diff in its order, a renamed one under its new name', () => {
    assert.deepEqual(top(), [
      { kind: 'file', path: 'zoo.py', lines: [gone, gate, two] },
      { kind: 'file', path: 'tom.py', lines: [purred, purrs] },
    ]);
  });

  it('are files with missed lines, and these alone, where no other line is asked for', () => {
    assert.deepEqual(top(true), [
      { kind: 'file', path: 'zoo.py', lines: [two] },
      { kind: 'file', path: 'tom.py', lines: [purrs] },
    ]);
    const allCovered = changeCoverageOf([purred]);
    assert.deepEqual(changedFileNodes(allCovered, files, true), []);
  });

  it('keep the two names of a renamed file while the golden patch is not read', () => {
    assert.deepEqual(
      changedFileNodes(changeCoverageOf([purred, purrs]), [], false).map(
        (node) => node.kind === 'file' && node.path,
      ),
      ['cat.py', 'tom.py'],
    );
  });

  it('are below a file the states that it has, missed lines first', () => {
    const covered = line('added', 'zoo.py', 4, 'newly covered');
    assert.deepEqual(states(file([gone, gate, covered, two])), [
      ['missed', [two]],
      ['newly covered', [covered]],
      ['already covered', [gone]],
      ['not executable', [gate]],
    ]);
    assert.deepEqual(states(file([gone, two])), [
      ['missed', [two]],
      ['already covered', [gone]],
    ]);
  });

  it('are below a state its lines, which are leaves', () => {
    const [state] = changeCoverageNodesBelow(file([two, gate]));
    assert.ok(state !== undefined);
    const lines = changeCoverageNodesBelow(state);
    assert.deepEqual(lines, [{ kind: 'line', line: two }]);
    assert.deepEqual(lines.flatMap(changeCoverageNodesBelow), []);
  });
});

describe('a row of the Change Coverage view', () => {
  it('counts the covered lines of a file', () => {
    const covered = line('added', 'zoo.py', 4, 'newly covered');
    assert.deepEqual(changeCoverageTreeRow(file([gone, gate, covered, two]), false), {
      label: 'zoo.py',
      id: 'zoo.py',
      description: '1/3',
      tooltip: 'zoo.py\n1 of 3 executable lines newly covered',
      icon: { id: 'file-code' },
      children: 'unfolded',
      spoken: 'zoo.py, 1 of 3 executable lines newly covered',
    });
  });

  it('counts the missed lines of a file where only these are listed', () => {
    const { description, tooltip, spoken } = changeCoverageTreeRow(file([two]), true);
    assert.equal(description, '1');
    assert.equal(tooltip, 'zoo.py\n1 line missed');
    assert.equal(spoken, 'zoo.py, 1 line missed');
  });

  it('names a state beside its mark, and folds what cannot be covered', () => {
    const [missed, idle] = changeCoverageNodesBelow(file([two, gate]));
    assert.ok(missed !== undefined && idle !== undefined);
    assert.deepEqual(changeCoverageTreeRow(missed, false), {
      label: 'missed',
      id: 'zoo.py\nmissed',
      description: '1',
      state: 'missed',
      children: 'unfolded',
      spoken: 'missed: 1 line',
    });
    const { state, children } = changeCoverageTreeRow(idle, false);
    assert.deepEqual([state, children], ['not executable', 'folded']);
  });

  it('names a line by its side, shows its code, and opens it', () => {
    const node: ChangeCoverageNode = { kind: 'line', line: two };
    assert.deepEqual(changeCoverageTreeRow(node, false), {
      label: 'R∘X* 3',
      id: 'added 3 zoo.py',
      description: 'line 3',
      hover: coverageHoverParts(two),
      state: 'missed',
      contextValue: 'missedLine',
      command: {
        command: coverageCommandIds.openLine,
        title: 'Open Changed Line',
        arguments: [node],
      },
      spoken: 'R∘X* 3, ✗ missed: executed by the golden tests, not by yours, line 3',
    });
    assert.equal(
      changeCoverageTreeRow({ kind: 'line', line: gone }, false).contextValue,
      'changedLine',
    );
  });

  it('has an id of its own', () => {
    const all: ChangeCoverageNode[] = [];
    const walk = (nodes: readonly ChangeCoverageNode[]): void => {
      for (const node of nodes) {
        all.push(node);
        walk(changeCoverageNodesBelow(node));
      }
    };
    walk(top());
    const ids = all.map((node) => changeCoverageTreeRow(node, false).id);
    assert.equal(ids.length, 2 + 5 + 5);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('is found for a line, with the rows above it', () => {
    const node = nodeOfLine(top(), two);
    assert.deepEqual(node, { kind: 'line', line: two });
    const state = parentOfNode(top(), node);
    assert.equal(state?.kind === 'state' && state.state, 'missed');
    const above = state === undefined ? undefined : parentOfNode(top(), state);
    assert.equal(above?.kind === 'file' && above.path, 'zoo.py');
    assert.equal(above === undefined ? above : parentOfNode(top(), above), undefined);
    // Of a renamed file, whose removed lines have its old name.
    assert.deepEqual(nodeOfLine(top(), purred), { kind: 'line', line: purred });
    assert.equal(nodeOfLine(top(true), purred), undefined, 'only missed lines are listed');
  });

  it('leads a command to its line', () => {
    assert.equal(lineOfRow({ kind: 'line', line: two }), two);
    assert.equal(lineOfRow(file([two])), undefined);
    assert.equal(lineOfRow(undefined), undefined);
    assert.equal(lineOfRow('line'), undefined);
  });
});

describe('the header of the Change Coverage view', () => {
  it('is ΔC alone while lines are missed and the verdict is current', () => {
    const covered = changeCoverageOf([purred, two]);
    assert.deepEqual(changeCoverageHeader(covered, true), {
      description: 'ΔC 50 % 1/2',
      message: '',
    });
  });

  it('says that no line is missed, and that the candidate was edited since', () => {
    const all = changeCoverageOf([purred, gate]);
    assert.deepEqual(changeCoverageHeader(all, true), {
      description: 'ΔC 100 % 1/1',
      message: 'No line is missed.',
    });
    assert.equal(
      changeCoverageHeader(all, false).message,
      'No line is missed. Out of date: edited after this run. Run the tests again.',
    );
    assert.equal(
      changeCoverageHeader(coverage, false).message,
      'Out of date: edited after this run. Run the tests again.',
    );
  });
});

describe('the state of the Change Coverage view', () => {
  const { evaluated } = shown();
  const without = shown({ changeCoverage: undefined }).evaluated;

  it('is why there are no lines, or that there are some', () => {
    assert.equal(changeCoverageState({ last: undefined, revealed: true }), 'none');
    assert.equal(changeCoverageState({ last: without, revealed: true }), 'unknown');
    assert.equal(changeCoverageState({ last: without, revealed: false }), 'unknown');
    assert.equal(changeCoverageState({ last: evaluated, revealed: false }), 'hidden');
    assert.equal(changeCoverageState({ last: evaluated, revealed: true }), 'lines');
  });

  it('has a welcome text wherever there are no lines', () => {
    const whens = manifest.contributes.viewsWelcome.map(({ when }) => when ?? '');
    for (const state of ['none', 'unknown', 'hidden']) {
      const condition = new RegExp(`${contextKeys.coverage} == ${state}\\b`);
      assert.ok(
        whens.some((when) => condition.test(when)),
        state,
      );
    }
  });
});
