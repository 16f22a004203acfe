import assert from 'node:assert/strict';
import {
  lineStates,
  type CoveredLine,
  type LineState,
} from '../../../../src/domain/changeCoverage';
import {
  coverageHoverParts,
  lineName,
  noteFor,
  noteHover,
  stateInWords,
  stateName,
} from '../../../../src/editor/coverage/coverageText';

const line = (number: number, state: LineState, more: Partial<CoveredLine> = {}): CoveredLine => ({
  path: 'cat.py',
  line: number,
  text: `    line ${number}`,
  change: 'added',
  state,
  counts: { base: 0, candidate: 1, golden: 2 },
  coveredBy: [],
  executions: {},
  ...more,
});
const removed = { change: 'removed' } as const;

describe('the state of a changed line in words', () => {
  const words: Readonly<Record<LineState, string>> = {
    'newly covered': '✓ newly covered: newly executed by your tests',
    'already covered': '= already covered: already executed by existing tests',
    missed: '✗ missed: executed by the golden tests, not by yours',
    'not executable':
      '· not executable: executed neither by existing tests nor by the golden tests',
  };
  for (const state of lineStates) {
    it(`is ${state}, with its reason`, () => {
      assert.equal(stateInWords(line(1, state)), words[state]);
      assert.equal(stateName(state), state);
    });
  }

  it('says where tests that the candidate removes keep it from counting', () => {
    assert.equal(
      stateInWords(line(1, 'already covered', { lost: true })),
      '= already covered: removed or disabled tests of R executed it at least as often',
    );
  });

  it('names a line by its side', () => {
    assert.equal(lineName(line(58, 'missed')), 'R∘X* 58');
    assert.equal(lineName(line(7, 'missed', removed)), 'R 7');
  });
});

describe('the hover of a changed line', () => {
  it('has its state and its counts', () => {
    assert.deepEqual(coverageHoverParts(line(3, 'missed')), [
      {
        plain:
          '✗ missed: executed by the golden tests, not by yours\n' +
          'Executions on R∘X*: 0 by existing tests, 1 in your test files, 2 in the golden test files\n',
      },
    ]);
    const [said] = coverageHoverParts(line(3, 'missed', removed));
    assert.ok(said !== undefined && 'plain' in said);
    assert.match(said.plain, /^Executions on R: 0 by existing tests/m);
  });

  it('names the tests that ran it, with how often each did where that is known', () => {
    const covered = line(3, 'newly covered', {
      coveredBy: ['a.py::t', 'a.py::u'],
      executions: { 'a.py::t': 4 },
    });
    assert.deepEqual(coverageHoverParts(covered).slice(1), [
      { plain: 'Your tests that execute it, and how often:' },
      { code: '4× a.py::t\na.py::u' },
    ]);
  });

  it('names ten tests, and counts the rest', () => {
    const code = (count: number): string[] => {
      const coveredBy = Array.from({ length: count }, (_, index) => `t${index}`);
      const part = coverageHoverParts(line(3, 'newly covered', { coveredBy })).at(-1);
      assert.ok(part !== undefined && 'code' in part);
      return part.code.split('\n');
    };
    assert.equal(code(10).at(-1), 't9');
    assert.equal(code(12).length, 11);
    assert.equal(code(12).at(-1), 'and 2 more');
  });
});

describe('the note on lines of the other side', () => {
  const added = [line(53, 'missed'), ...[50, 51, 52].map((each) => line(each, 'newly covered'))];
  const told = '+ R∘X*: ✗ missed 53 · ✓ newly covered 50–52';
  const short = '+ R∘X*: ✗ 53 · ✓ 50–52';

  it('has what matters most in front', () => {
    assert.equal(noteFor(added, 10), told);
  });

  it('has the sign of what is removed', () => {
    const lines = [line(4, 'already covered', removed), line(6, 'already covered', removed)];
    assert.equal(noteFor(lines, 0), '− R: = already covered 4, 6');
  });

  it('leaves out what is not executable', () => {
    const lines = [line(1, 'not executable'), line(2, 'missed')];
    assert.equal(noteFor(lines, 0), '+ R∘X*: ✗ missed 2');
  });

  it('has symbols for words where there is no room', () => {
    const room = 100;
    assert.equal(noteFor(added, room - told.length - 1), told);
    assert.equal(noteFor(added, room - told.length), short);
    assert.equal(noteFor(added, 2 * room), short);
  });

  it('has less room for removed lines, which stand in a diff', () => {
    const lines = [line(4, 'missed', removed)];
    const text = '− R: ✗ missed 4';
    assert.equal(noteFor(lines, 54 - text.length - 1), text);
    assert.equal(noteFor(lines, 54 - text.length), '− R: ✗ 4');
  });

  it('has a hover with the texts of the lines, as little indented as they can be', () => {
    const lines = [
      line(9, 'missed', { text: '    if cat:' }),
      line(10, 'not executable', { text: '' }),
      line(11, 'newly covered', {
        text: '        purr()',
        counts: { base: 10, candidate: 20, golden: 30 },
      }),
    ];
    assert.deepEqual(noteHover(lines), [
      { plain: 'Lines of R∘X* that the fix adds here, with their executions:' },
      {
        code: [
          '    9  ✗ missed          0/1/2      if cat:',
          '   10  · not executable  0/1/2      ',
          '   11  ✓ newly covered   10/20/30       purr()',
        ].join('\n'),
      },
      { plain: 'Executions by existing tests / in your test files / in the golden test files' },
    ]);
    assert.deepEqual(noteHover([line(9, 'missed', removed)])[0], {
      plain: 'Lines of R that the fix removes here, with their executions:',
    });
    assert.deepEqual(noteHover([]), []);
  });
});
