import assert from 'node:assert/strict';
import { transitions, type Transition } from '../../../../src/domain/outcome';
import {
  caseItemLooks,
  sortTextOfTest,
  sortTextOfUnchangedTests,
  testItemLabel,
  testItemSpoken,
  testItemState,
  unchangedTestsLabel,
} from '../../../../src/editor/testing/testItemLook';
import { failed, testCase } from './testCases';

const id = 'tests/test_cat.py::test_purr';
const test = { id, name: 'test_purr', status: 'added' } as const;

describe('the row of a test in the Testing view', () => {
  it('begins with the name before the test ran', () => {
    assert.equal(testItemLabel(test, []), 'test_purr · new · tests/test_cat.py');
  });

  it('has the result in front of the name', () => {
    assert.match(testItemLabel(test, [testCase(failed, {})]), /^F→P {2}test_purr · new/);
    const cases = [testCase({}, {}, `${id}[1]`), testCase(failed, {}, `${id}[2]`)];
    assert.match(testItemLabel(test, cases), /^1 P→P, 1 F→P {2}test_purr · new/);
  });

  it('says how a test of the candidate differs from R, and in which class and file it is', () => {
    const changed = {
      ...test,
      status: 'changed',
      className: 'TestCat::TestTom::TestKitten',
    } as const;
    assert.equal(
      testItemLabel(changed, []),
      'test_purr · changed · TestCat › TestTom › TestKitten · tests/test_cat.py',
    );
  });

  it('says only the class of a test that R has too, which is below the row of its file', () => {
    const kept = { ...test, status: 'kept' } as const;
    assert.equal(testItemLabel(kept, []), 'test_purr');
    assert.equal(testItemLabel({ ...kept, className: 'TestCat' }, []), 'test_purr · TestCat');
    assert.equal(unchangedTestsLabel('tests/test_cat.py'), 'tests/test_cat.py · unchanged tests');
  });

  it('is read with name, result in words, and file', () => {
    assert.equal(testItemSpoken(test, []), 'test_purr. new. tests/test_cat.py');
    assert.equal(
      testItemSpoken(test, [testCase(failed, {})]),
      'test_purr. reproduces the issue: fails on R, passes on R∘X*. new. tests/test_cat.py',
    );
  });

  it('stands in the order of its file, before the rows of files', () => {
    const rows = [
      sortTextOfTest('a.py', { defLine: 9 }),
      sortTextOfTest('a.py', { defLine: 10 }),
      sortTextOfTest('b.py', { defLine: 1 }),
      sortTextOfUnchangedTests('a.py'),
      sortTextOfUnchangedTests('b.py'),
    ];
    assert.deepEqual([...rows].reverse().sort(), rows);
  });
});

describe('the rows of the cases of a test', () => {
  it('are none for a test without parameters', () => {
    assert.deepEqual(caseItemLooks(id, [testCase(failed, {})]), []);
    assert.deepEqual(caseItemLooks(id, []), []);
  });

  it('have the parameters behind the result, in the order in which they ran', () => {
    const cases = [testCase(failed, {}, `${id}[z]`), testCase({}, {}, `${id}[a]`)];
    assert.deepEqual(caseItemLooks(id, cases), [
      { id: `${id}[z]`, label: 'F→P  [z]', sortText: '000000' },
      { id: `${id}[a]`, label: 'P→P  [a]', sortText: '000001' },
    ]);
  });

  it('stay in that order when there are more than ten', () => {
    const cases = Array.from({ length: 12 }, (_, index) => testCase({}, {}, `${id}[${index}]`));
    const order = caseItemLooks(id, cases).map(({ sortText }) => sortText);
    assert.deepEqual([...order].sort(), order);
  });
});

describe('the state of a row after a run on both sides', () => {
  const statesOf = (
    status: 'added' | 'changed' | 'kept' | undefined,
    strict?: Parameters<typeof testItemState>[2],
  ) =>
    Object.fromEntries(
      transitions.map((transition) => [
        transition,
        testItemState(status, { test: id, transition }, strict),
      ]),
    );
  const ofCandidate: Readonly<Record<Transition, ReturnType<typeof testItemState>>> = {
    'F→P': 'passed',
    'F→F': 'failed',
    'P→P': 'failed',
    'P→F': 'failed',
    'F→-': 'failed',
    'P→-': 'failed',
    '-→P': 'failed',
    '-→F': 'failed',
    '-→-': 'skipped',
  };

  it('is passed only for a test of the candidate that reproduces', () => {
    assert.deepEqual(statesOf('added'), ofCandidate);
    assert.deepEqual(statesOf('changed'), ofCandidate);
  });

  it('is passed for a test of R that passes on both sides too', () => {
    assert.deepEqual(statesOf('kept'), { ...ofCandidate, 'P→P': 'passed' });
  });

  it('is not red where the candidate reproduces without it, and a P→P is a pass', () => {
    const success = { failToPass: ['tests/test_cat.py::test_other'], anyToFail: [] };
    assert.deepEqual(statesOf('added', success), {
      ...Object.fromEntries(transitions.map((each) => [each, 'skipped'])),
      'F→P': 'passed',
      'P→P': 'passed',
    });
  });

  it('is failed only for the tests that keep the candidate from success', () => {
    const broken = { failToPass: ['tests/test_cat.py::test_other'], anyToFail: [id] };
    assert.equal(testItemState('added', { test: id, transition: 'P→F' }, broken), 'failed');
    assert.equal(testItemState('kept', { test: id, transition: 'F→F' }, broken), 'failed');
    const another = { test: `${id}_again`, transition: 'F→F' } as const;
    assert.equal(
      testItemState('kept', another, broken),
      'skipped',
      'it failed without the candidate too',
    );
  });

  it('is failed for all that do not reproduce where nothing does', () => {
    const none = { failToPass: [], anyToFail: [] };
    assert.deepEqual(statesOf('added', none), ofCandidate);
  });

  it('of a test of R is neutral where the candidate does not change it', () => {
    const none = { failToPass: [], anyToFail: [] };
    assert.deepEqual(statesOf('kept', none), {
      ...Object.fromEntries(transitions.map((each) => [each, 'skipped'])),
      'F→P': 'passed',
      'P→P': 'passed',
    });
  });

  it('is that of a test of the candidate where the test is not listed any more', () => {
    assert.deepEqual(statesOf(undefined), ofCandidate);
  });
});
