import assert from 'node:assert/strict';
import type { PythonParser } from '../../../../src/python/parser';
import { findTests } from '../../../../src/python/tests';
import { loadParser } from '../../python/loadParser';
import { transitions, type Transition } from '../../../../src/domain/outcome';
import {
  caseItemLooks,
  isTestClass,
  sortTextOf,
  testItemLabel,
  testItemSpoken,
  testItemState,
  testTree,
  type TestNodes,
} from '../../../../src/editor/testing/testItemLook';
import { failed, testCase } from './testCases';

const id = 'tests/test_cat.py::test_purr';
const test = { name: 'test_purr', status: 'added' } as const;

describe('the row of a test in the Testing view', () => {
  it('has no result before the test ran', () => {
    assert.equal(testItemLabel(test, []), 'new · test_purr');
  });

  it('has the result in front', () => {
    assert.match(testItemLabel(test, [testCase(failed, {})]), /^F→P {2}new · test_purr$/);
    const cases = [testCase({}, {}, `${id}[1]`), testCase(failed, {}, `${id}[2]`)];
    assert.match(testItemLabel(test, cases), /^1 P→P, 1 F→P {2}new · test_purr$/);
  });

  it('says how a test of the candidate differs from R, and nothing of a test that R has too', () => {
    assert.equal(testItemLabel({ ...test, status: 'changed' }, []), 'changed · test_purr');
    assert.equal(testItemLabel({ ...test, status: 'kept' }, []), 'test_purr');
  });

  it('is read with name, result in words, and difference from R', () => {
    assert.equal(testItemSpoken(test, []), 'test_purr. new');
    assert.equal(
      testItemSpoken(test, [testCase(failed, {})]),
      'test_purr. reproduces the issue: fails on R, passes on R∘X*. new',
    );
  });
});

describe('the tree of a file in the Testing view', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  const path = 'tests/test_cat.py';
  const treeOf = (source: string, order: 'file' | 'reversed' = 'file'): TestNodes => {
    const tests = findTests(python, source, { path }).map((each) => ({
      ...each,
      status: 'kept' as const,
      basis: undefined,
    }));
    return testTree(order === 'file' ? tests : tests.reverse());
  };
  const drawn = (nodes: TestNodes, indent = ''): string[] =>
    nodes.flatMap((node) =>
      isTestClass(node)
        ? [`${indent}${node.name} ${node.lines?.defLine}-${node.lines?.endLine}`].concat(
            drawn(node.children, `${indent}  `),
          )
        : `${indent}${node.name}`,
    );
  const source = [
    'def test_first():',
    '    pass',
    '@mark',
    'class TestCat:',
    '    def test_purr(self): pass',
    '    class TestTom:',
    '        def test_hiss(self): pass',
    '    def test_sleep(self): pass',
    'def test_last():',
    '    pass',
    '',
  ].join('\n');
  const wanted = [
    'test_first',
    'TestCat 4-8',
    '  test_purr',
    '  TestTom 6-7',
    '    test_hiss',
    '  test_sleep',
    'test_last',
  ];

  it('has classes in each other, in the order of the file, whatever the order of the list is', () => {
    assert.deepEqual(drawn(treeOf(source)), wanted);
    assert.deepEqual(drawn(treeOf(source, 'reversed')), wanted);
  });

  it('has ids that no test has, even where a class and a function share a name', () => {
    const [one, other] = treeOf(
      'class test_cat(TestCase):\n    def test_a(self): pass\ndef test_cat(): pass\n',
    );
    assert.deepEqual([one?.id, other?.id], [`${path}::test_cat::`, `${path}::test_cat`]);
  });

  it('is complete where only the lines of tests can be read', () => {
    const broken = treeOf(
      'class TestCat:\n    def test_a(self):\n        x = (\n    def test_b(self): pass\n',
    );
    const names = drawn(broken).map((line) => line.replace(/ \S+-\S+$/, ''));
    assert.deepEqual(names, ['TestCat', '  test_a', '  test_b']);
  });

  it('keeps that order where lines have one digit or two', () => {
    const order = [9, 10, 100].map((defLine) => sortTextOf({ defLine }));
    assert.deepEqual([...order].sort(), order);
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
