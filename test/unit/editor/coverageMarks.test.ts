import assert from 'node:assert/strict';
import type { CoveredLine, LineState } from '../../../src/domain/changeCoverage';
import {
  linesByState,
  marksOfFixed,
  marksOfR,
  marksOfWorkspace,
} from '../../../src/editor/coverage/coverageMarks';

const line = (change: 'removed' | 'added', number: number, state: LineState): CoveredLine => ({
  path: 'a.py',
  line: number,
  text: '',
  change,
  state,
  counts: { base: 0, candidate: 0, golden: 0 },
  coveredBy: [],
  executions: {},
});
/** Lines 3 and 4 become 3 to 5, and two lines follow the old line 9. */
const blocks = [
  { removed: [3, 4], added: [3, 4, 5], oldBefore: 2, newBefore: 2 },
  { removed: [], added: [11, 12], oldBefore: 9, newBefore: 10 },
];
const removed = [line('removed', 3, 'missed'), line('removed', 4, 'newly covered')];
const added = [
  line('added', 3, 'not executable'),
  line('added', 4, 'missed'),
  line('added', 5, 'already covered'),
  line('added', 11, 'missed'),
  line('added', 12, 'missed'),
];
const told = (notes: readonly { line: number; lines: readonly CoveredLine[] }[]) =>
  notes.map((note) => [note.line, note.lines.map((each) => each.line)]);

describe('marks of change coverage', () => {
  it('stand at their own numbers in R and R∘X*', () => {
    const { states, notes } = marksOfR(removed);
    assert.deepEqual(states.get('missed'), [3]);
    assert.deepEqual(states.get('newly covered'), [4]);
    assert.deepEqual(notes, []);
    assert.deepEqual(marksOfFixed(added, removed, blocks).states.get('missed'), [4, 11, 12]);
  });

  it('tell removed lines in R∘X*, in the line above the place where they stood', () => {
    assert.deepEqual(told(marksOfFixed(added, removed, blocks).notes), [[2, [3, 4]]]);
  });

  it('tell them in the first line where the file begins with them', () => {
    const first = [{ removed: [1], added: [], oldBefore: 0, newBefore: 0 }];
    const { notes } = marksOfFixed([], [line('removed', 1, 'missed')], first);
    assert.deepEqual(told(notes), [[1, [1]]]);
  });

  it('tell nothing of a block in which nothing can run', () => {
    const quiet = [line('removed', 3, 'not executable'), line('removed', 4, 'not executable')];
    assert.deepEqual(marksOfFixed(added, quiet, blocks).notes, []);
  });

  it('follow the lines of R in the workspace, and tell there what is added', () => {
    const moved = marksOfWorkspace(removed, added, blocks, (number) => number + 10);
    assert.deepEqual(moved.states.get('missed'), [13]);
    assert.deepEqual(told(moved.notes), [
      [14, [3, 4, 5]],
      [19, [11, 12]],
    ]);
  });

  it('leave out a line of R that was rewritten, and tell the rest at the last one left', () => {
    const place = (number: number): number | undefined =>
      number === 3 || number === 4 ? undefined : number;
    const marks = marksOfWorkspace(removed, added, blocks, place);
    assert.deepEqual([...marks.states.values()].flat(), []);
    assert.deepEqual(told(marks.notes), [
      [2, [3, 4, 5]],
      [9, [11, 12]],
    ]);
  });

  it('sum up neighbours of one state, what is missed first, without what is not executable', () => {
    assert.deepEqual(linesByState(added), [
      {
        state: 'missed',
        runs: [
          [4, 4],
          [11, 12],
        ],
      },
      { state: 'already covered', runs: [[5, 5]] },
    ]);
  });
});
