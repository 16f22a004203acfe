import assert from 'node:assert/strict';
import type { StackFrame, TestResult, TestTransition } from '../../../../src/domain/outcome';
import { hintOn, adviceOn } from '../../../../src/editor/testing/testHints';
import {
  testHoverParts,
  type HoveredTest,
  type TestHoverPart,
} from '../../../../src/editor/testing/testHoverParts';
import { failed, testCase } from './testCases';

const id = 'tests/test_cat.py::test_purr';
const source = { text: 'def test_purr(): ...', basis: 'b1' };
const between = { between: 'paragraphs' } as const;

const hover = (
  cases: readonly TestTransition[],
  more: Partial<HoveredTest> = {},
): TestHoverPart[] | undefined =>
  testHoverParts({
    test: { id, status: 'added', ...source },
    known: { cases, source },
    shown: (each) => each,
    isInside: () => true,
    ...more,
  });

describe('the hover of a test', () => {
  it('is not there before the test ran', () => {
    assert.equal(hover([]), undefined);
  });

  it('tells the transition and both outcomes, with the failure as code', () => {
    assert.deepEqual(hover([testCase({ ...failed, seconds: 0.25 }, {})]), [
      { plain: '✓ F→P  reproduces the issue: fails on R, passes on R∘X*' },
      between,
      { plain: 'failed on R in 0.25 s' },
      { code: 'AssertionError: 1 != 2' },
      between,
      { plain: 'passed on R∘X*' },
    ]);
  });

  it('says first that the test was edited since, and gives no advice then', () => {
    const edited = { id, status: 'added', text: 'def test_purr(): pass', basis: 'b1' } as const;
    assert.deepEqual(hover([testCase({}, {})], { test: edited }), [
      { plain: 'Out of date: edited after this run.' },
      between,
      { plain: '○ P→P  passes on R: does not reproduce the issue' },
      between,
      { plain: 'passed on R' },
      between,
      { plain: 'passed on R∘X*' },
    ]);
  });

  it('ends with what to do about a test of the candidate', () => {
    const cases = [testCase({}, {})];
    const hint = hintOn(cases);
    assert.ok(hint !== undefined);
    assert.deepEqual(hover(cases)?.slice(-2), [{ between: 'sections' }, { plain: adviceOn(hint) }]);
    const kept = { id, status: 'kept', ...source } as const;
    assert.deepEqual(hover(cases, { test: kept })?.at(-1), { plain: 'passed on R∘X*' });
  });

  it('leads to where the code of R failed, and to the test, as far as the workspace has them', () => {
    const code: StackFrame = { path: 'cat.py', line: 7, function: 'purr' };
    const test: StackFrame = { path: 'tests/test_cat.py', line: 3, function: 'test_purr' };
    const frames = [test, code];
    const cases = [testCase({ ...failed, frames }, { ...failed, frames })];
    const places = (isInside: HoveredTest['isInside']) =>
      hover(cases, { isInside })?.filter((part) => 'places' in part);
    assert.deepEqual(
      places(() => true),
      [{ places: [code, test] }],
      'none for R∘X*, which the workspace is not',
    );
    assert.deepEqual(
      places((path) => path === 'cat.py'),
      [{ places: [code] }],
    );
    assert.deepEqual(
      places(() => false),
      [],
    );
    assert.deepEqual(hover(cases)?.slice(3, 7), [
      { code: 'AssertionError: 1 != 2' },
      between,
      { plain: 'Failed at' },
      { places: [code, test] },
    ]);
  });

  it('names each case of a parametrised test, the one that says most first', () => {
    const cases = [testCase({}, {}, `${id}[1]`), testCase(failed, {}, `${id}[2]`)];
    const parts = hover(cases) ?? assert.fail();
    assert.deepEqual(parts[0], {
      plain: '✓ 1 P→P, 1 F→P  reproduces the issue: fails on R, passes on R∘X*',
    });
    assert.deepEqual(
      parts.filter((part) => 'code' in part),
      [{ code: 'F→P  [2]' }, { code: 'AssertionError: 1 != 2' }, { code: 'P→P  [1]' }],
    );
  });

  it('has room for six cases, and counts the rest', () => {
    const cases = (count: number) =>
      Array.from({ length: count }, (_, index) => testCase(failed, {}, `${id}[${index}]`));
    const named = (parts: TestHoverPart[] | undefined): number =>
      parts?.filter((part) => 'code' in part && part.code.startsWith('F→P')).length ?? 0;
    assert.equal(named(hover(cases(6))), 6);
    assert.deepEqual(hover(cases(6))?.at(-1), { plain: 'passed on R∘X*' });
    assert.equal(named(hover(cases(9))), 6);
    assert.deepEqual(hover(cases(9))?.slice(-2), [between, { plain: 'and 3 more cases' }]);
  });

  it('shows of a case what may be shown', () => {
    const shown = (each: TestTransition): TestTransition => ({
      ...each,
      fixed: { ...each.fixed, message: 'hidden' },
    });
    const code = hover([testCase(failed, failed)], { shown })?.filter((part) => 'code' in part);
    assert.deepEqual(code, [
      { code: 'AssertionError: 1 != 2' },
      { code: 'AssertionError: hidden' },
    ]);
  });

  for (const [what, failure, code] of [
    ['its message alone', { message: 'odd' }, 'odd'],
    [
      'an exception that the message names',
      { message: 'KeyError: a', exception: 'KeyError' },
      'KeyError: a',
    ],
    ['the exception without a message', { message: ' ', exception: 'KeyError' }, 'KeyError'],
    ['the details where there is nothing else', { details: 'a log' }, 'a log'],
    ['nothing where nothing is known', {}, undefined],
    ['1500 characters of a long one', { message: 'x'.repeat(1501) }, `${'x'.repeat(1500)}…`],
  ] as const satisfies readonly (readonly [string, Partial<TestResult>, string | undefined])[]) {
    it(`tells of a failure ${what}`, () => {
      const parts = hover([testCase({ outcome: 'failed', ...failure }, {})]);
      const [found] = parts?.filter((part) => 'code' in part) ?? [];
      assert.deepEqual(found, code === undefined ? undefined : { code });
    });
  }
});
