import assert from 'node:assert/strict';
import type { PythonParser } from '../../../src/python/parser';
import { editedTests } from '../../../src/python/changedTests';
import { loadParser } from './loadParser';

const source = `"""About."""
import pytest

LIMIT = 3


@pytest.fixture
def cat():
    return 1


def helper():
    return LIMIT


@pytest.mark.parametrize('n', [1, 2])
def test_one(n):
    assert n


class TestA:
    def setup_method(self):
        self.x = 1

    def test_two(self):
        assert self.x
`;

describe('editedTests', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  const edit = (from: string | RegExp, to: string) => {
    const after = source.replace(from, to);
    assert.notEqual(after, source);
    return editedTests(python, source, after, { path: 'tests/test_a.py' });
  };

  it('names the tests whose code was edited, and how far the others moved', () => {
    const { edited, removed, onlyTests, moved } = edit(
      'assert n\n',
      'assert n\n    assert n > 0\n',
    );
    assert.deepEqual(edited, ['tests/test_a.py::test_one']);
    assert.deepEqual(removed, []);
    assert.equal(onlyTests, true);
    assert.deepEqual([...moved], [['tests/test_a.py::TestA::test_two', 1]]);
  });

  it('names added and removed tests', () => {
    const added = edit('class TestA', 'def test_new():\n    pass\n\n\nclass TestA');
    assert.deepEqual(added.edited, ['tests/test_a.py::test_new']);
    assert.equal(added.onlyTests, true);
    const removed = edit(/ {4}def test_two[^]*$/, '');
    assert.deepEqual(removed.removed, ['tests/test_a.py::TestA::test_two']);
    assert.equal(removed.onlyTests, true);
    const renamed = edit('test_two', 'test_three');
    assert.deepEqual(renamed.edited, ['tests/test_a.py::TestA::test_three']);
    assert.deepEqual(renamed.removed, ['tests/test_a.py::TestA::test_two']);
  });

  it('finds nothing in comments and blank lines outside of tests', () => {
    const { edited, onlyTests, moved } = edit('LIMIT = 3\n', '# why three\n\nLIMIT = 3\n');
    assert.deepEqual(edited, []);
    assert.equal(onlyTests, true);
    assert.equal(moved.get('tests/test_a.py::test_one'), 2);
  });

  for (const [what, from, to] of [
    ['an import', 'import pytest', 'import pytest, os'],
    ['a constant', 'LIMIT = 3', 'LIMIT = 4'],
    ['a fixture', 'return 1', 'return 2'],
    ['a helper', 'return LIMIT', 'return 0'],
    ['a decorator of a test', '[1, 2]', '[1, 2, 3]'],
    ['what runs before each test', 'self.x = 1', 'self.x = 2'],
    ['the bases of a class', 'class TestA:', 'class TestA(object):'],
    ['the text that the file begins with', 'About', 'Of'],
  ] as const) {
    it(`says that ${what} was edited, which all tests may depend on`, () => {
      assert.equal(edit(from, to).onlyTests, false);
    });
  }
});
