import assert from 'node:assert/strict';
import type { StackFrame } from '../../../../src/domain/outcome';
import {
  failureMessagesOn,
  failureMessagesOnBoth,
} from '../../../../src/editor/testing/failureMessages';
import { failed, testCase, unread } from './testCases';

const inside = (): boolean => true;
const test: StackFrame = { path: 'tests/test_cat.py', line: 3, function: 'test_purr' };
const code: StackFrame = { path: 'cat.py', line: 7, function: 'purr' };

describe('messages of the Testing view', () => {
  it('tell the transition and the failure of each side', () => {
    const told = failureMessagesOnBoth(
      testCase({ ...failed, details: 'E  1 != 2' }, { ...failed, seconds: 0.5 }),
      inside,
    );
    assert.deepEqual(
      told.map(({ text }) => text),
      [
        'on R: AssertionError: 1 != 2\n✗ F→F: fails on R and on R∘X*\nfailed on R\n\nE  1 != 2',
        'on R∘X*: AssertionError: 1 != 2\n✗ F→F: fails on R and on R∘X*\nfailed on R∘X* in 0.50 s',
      ],
    );
  });

  it('are of the sides that failed only', () => {
    const texts = (...of: Parameters<typeof testCase>): string[] =>
      failureMessagesOnBoth(testCase(...of), inside).map(({ text }) => text);
    assert.deepEqual(texts({}, {}), []);
    assert.deepEqual(texts({}, { outcome: 'error' }), [
      'on R∘X*: error\n✗ P→F: passes on R, fails on R∘X*\nerror on R∘X*',
    ]);
    assert.deepEqual(texts({ outcome: 'skipped' }, { outcome: 'missing' }), []);
  });

  it('are one for a syntax error, at its line', () => {
    const told = [{ text: 'Syntax error: invalid syntax. No test in this file can run.', line: 9 }];
    for (const found of [
      failureMessagesOnBoth(testCase(unread, unread), inside),
      failureMessagesOn('base', testCase(unread, unread).base, inside),
    ]) {
      assert.deepEqual(
        found.map(({ text, line }) => ({ text, line })),
        told,
      );
    }
  });

  it('of one side say nothing of the other', () => {
    const { base, fixed } = testCase(failed, {});
    assert.deepEqual(
      failureMessagesOn('base', base, inside).map(({ text }) => text),
      ['on R: AssertionError: 1 != 2\nfailed on R'],
    );
    assert.deepEqual(failureMessagesOn('fixed', fixed, inside), []);
  });

  it('say the side and the cause first, also before values', () => {
    const comparison = { expected: '2', actual: '1' };
    const other = { expected: '3', actual: '2' };
    const elsewhere = { ...test, line: 9 };
    const told = failureMessagesOnBoth(
      testCase(
        { ...failed, comparison, frames: [test, code] },
        { ...failed, message: '2 != 3', comparison: other, frames: [elsewhere] },
      ),
      inside,
    );
    // VS Code marks a line with its first message, and one with values by the values alone.
    assert.deepEqual(
      told.map(({ text, line, comparison: values }) => [text.split('\n')[0], line, values]),
      [
        ['on R: expected 2, got 1', 3, undefined],
        ['Expected and actual value on R', 3, comparison],
        ['on R∘X*: expected 3, got 2', 9, undefined],
        ['Expected and actual value on R∘X*', 9, other],
      ],
    );
  });

  it('stand at the line of the test that failed', () => {
    const { base } = testCase({ ...failed, frames: [test, code] }, {});
    const [told] = failureMessagesOn('base', base, inside);
    assert.equal(told?.line, 3);
    const [bare] = failureMessagesOn('base', testCase(failed, {}).base, inside);
    assert.equal(bare?.line, undefined);
    assert.equal(bare?.comparison, undefined);
    assert.deepEqual(bare?.stack, []);
  });

  it('list frames innermost first, with places that the workspace has', () => {
    const { base, fixed } = testCase(
      { ...failed, frames: [test, code] },
      { ...failed, frames: [test, code] },
    );
    const inTest = { label: 'test_purr', place: { path: 'tests/test_cat.py', line: 3 } };
    const inCode = { label: 'purr', place: { path: 'cat.py', line: 7 } };
    const nowhere = { label: 'purr (cat.py:7)', place: undefined };
    assert.deepEqual(failureMessagesOn('base', base, inside)[0]?.stack, [inCode, inTest]);
    assert.deepEqual(
      failureMessagesOn('fixed', fixed, inside)[0]?.stack,
      [nowhere, inTest],
      'the workspace is R, and the code of R∘X* need not be there',
    );
    assert.deepEqual(
      failureMessagesOn('base', base, (path) => path !== 'cat.py')[0]?.stack,
      [nowhere, inTest],
      'what leads out of the workspace has no link',
    );
  });
});
