import assert from 'node:assert/strict';
import type { StackFrame, TestTransition } from '../../../../src/domain/outcome';
import { hintOn, hintInWords } from '../../../../src/editor/testing/testHints';
import { inlineCommandIds } from '../../../../src/editor/shell/names';
import type { ListedTest } from '../../../../src/editor/testing/candidateTests';
import {
  testProblemFixes,
  testProblemLooks,
  type TestProblemLook,
} from '../../../../src/editor/testing/testProblemLooks';
import { failed, testCase } from './testCases';

const source = { text: 'def test_purr():\n    pass', basis: 'b1' };
const listed = (more: Partial<ListedTest> = {}): ListedTest => ({
  id: 'tests/test_cat.py::test_purr',
  name: 'test_purr',
  style: 'pytest',
  defLine: 7,
  range: { start: 0, end: 1, startLine: 7, endLine: 8 },
  column: 0,
  status: 'added',
  ...source,
  ...more,
});

/** The hints of tests that ran as `source`, each with the same cases. */
const looks = (
  cases: readonly TestTransition[],
  tests: readonly ListedTest[] = [listed()],
  isInside: (path: string) => boolean = () => true,
): TestProblemLook[] => testProblemLooks(tests, { casesOf: () => ({ cases, source }), isInside });

const passing = [testCase({}, {})];

describe('the hints on tests', () => {
  it('say what to do about a test of the candidate that does not reproduce, on its name', () => {
    const hint = hintOn(passing);
    assert.ok(hint !== undefined);
    assert.deepEqual(looks(passing), [
      {
        line: 7,
        from: 'def '.length,
        to: 'def test_purr'.length,
        message: hintInWords(hint),
        code: 'passes on R',
        related: undefined,
      },
    ]);
  });

  it('are none on tests that reproduce or did not run, nor on those that R has too', () => {
    assert.deepEqual(looks([testCase(failed, {})]), []);
    assert.deepEqual(looks([]), []);
    assert.deepEqual(looks(passing, [listed({ status: 'kept' })]), []);
    assert.equal(looks(passing, [listed({ status: 'changed' })]).length, 1);
  });

  it('are gone once the test, or what it uses of its file, is edited', () => {
    assert.deepEqual(looks(passing, [listed({ text: 'def test_purr(): ...' })]), []);
    assert.deepEqual(looks(passing, [listed({ basis: 'b2' })]), []);
  });

  for (const [what, text, column, from] of [
    ['a method', 'def test_purr(self): ...', 4, 8],
    ['a coroutine', 'async def test_purr(): ...', 0, 10],
    ['a test with odd spaces', 'async  def   test_purr(): ...', 0, 13],
    ['a test below decorators', '@defers("def x")\n    def test_purr(): ...', 4, 8],
  ] as const) {
    it(`stand on the name of ${what}`, () => {
      const edited = { text, basis: 'b1' };
      const [look] = testProblemLooks([listed({ ...edited, column })], {
        casesOf: () => ({ cases: passing, source: edited }),
        isInside: () => true,
      });
      assert.deepEqual([look?.from, look?.to], [from, from + 'test_purr'.length]);
    });
  }

  it('lead to where the code of R failed, if the workspace has it', () => {
    const code: StackFrame = { path: 'cat.py', line: 3, function: 'purr' };
    const frames = [{ path: 'tests/test_cat.py', line: 8, function: 'test_purr' }, code];
    const cases = [testCase({ ...failed, frames }, { ...failed, frames })];
    assert.deepEqual(looks(cases)[0]?.related, { place: code, message: 'failed here on R' });
    const [outside] = looks(cases, [listed()], (path) => path !== 'cat.py');
    assert.equal(outside?.code, 'fails on both sides');
    assert.equal(outside.related, undefined);
  });

  it('have fixes that run commands about the test', () => {
    assert.deepEqual(testProblemFixes(), [
      { title: 'Show Test Output of Both Sides', command: inlineCommandIds.showOutputs },
      { title: 'Debug Test on R', command: inlineCommandIds.debugOnR },
    ]);
  });
});
