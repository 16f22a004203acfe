import assert from 'node:assert/strict';
import { TestBases, testFile, type ComparableTestFile } from '../../../src/python/changedTests';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from './loadParser';

const path = 'tests/test_a.py';
const source = `"""About."""
import pytest

LIMIT = 3


def low():
    return LIMIT


def make():
    return low()


def unused():
    return 0


@pytest.fixture
def cat():
    return 1


def test_make():
    assert make()


def test_cat(cat):
    assert cat


def test_alone():
    assert 1


class Base:
    size = 1


class TestA(Base):
    colour = 'red'

    def setup_method(self):
        self.x = 1

    def check(self):
        assert self.x

    def test_x(self):
        self.check()

    def test_y(self):
        assert self.x
`;
const all = ['test_make', 'test_cat', 'test_alone', 'TestA::test_x', 'TestA::test_y'];

describe('what tests depend on in their file', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });

  const read = (text: string): ComparableTestFile =>
    python.parse(text, (root) => testFile(root, text, path));
  const basesOf = (text: string): ReadonlyMap<string, string> => new TestBases().of(read(text));
  const edited = (from: string, to: string): string => {
    const after = source.replace(from, to);
    assert.notEqual(after, source);
    return after;
  };
  /**
   * Tests of the source whose digest changes with an edit, computed both anew and incrementally.
   */
  const changed = (after: string): string[] => {
    const bases = new TestBases();
    const before = bases.of(read(source));
    const now = bases.of(read(after));
    assert.deepEqual(now, basesOf(after));
    assert.deepEqual(bases.of(read(source)), before);
    return [...before.keys()]
      .filter((id) => now.has(id) && now.get(id) !== before.get(id))
      .map((id) => id.slice(path.length + 2));
  };

  it('has a digest for each test', () => {
    const bases = basesOf(source);
    assert.deepEqual(
      [...bases.keys()],
      all.map((name) => `${path}::${name}`),
    );
    for (const digest of bases.values()) assert.match(digest, /^[0-9a-f]{64}$/);
  });

  for (const [what, from, to, tests] of [
    ['a helper', 'return low()', 'return low() + 1', ['test_make']],
    ['a helper of a helper', 'return LIMIT', 'return 2', ['test_make']],
    ['a constant', 'LIMIT = 3', 'LIMIT = 4', ['test_make']],
    ['a fixture', 'return 1', 'return 2', ['test_cat']],
    ['a class attribute', "'red'", "'blue'", ['TestA::test_x', 'TestA::test_y']],
    ['what runs before each test', 'self.x = 1', 'self.x = 2', ['TestA::test_x', 'TestA::test_y']],
    ['a base class', 'size = 1', 'size = 2', ['TestA::test_x', 'TestA::test_y']],
    ['a method that one test calls', 'assert self.x\n', 'assert not self.x\n', ['TestA::test_x']],
    ['what is removed', 'LIMIT = 3\n', '', ['test_make']],
    ['code of the module', 'LIMIT = 3\n', 'LIMIT = 3\nprint(1)\n', all],
    ['a fixture that every test gets', '@pytest.fixture\n', '@pytest.fixture(autouse=True)\n', all],
  ] as const) {
    it(`is another when ${what} was edited, for those that use it`, () => {
      assert.deepEqual(changed(edited(from, to)), tests);
    });
  }

  for (const [what, from, to] of [
    ['another test', 'assert 1\n', 'assert 2\n'],
    ['a new test', 'class Base', 'def test_new():\n    assert make()\n\n\nclass Base'],
    ['a new test of the class', '    def test_y', '    def test_z(self): pass\n\n    def test_y'],
    ['a removed test', 'def test_alone():\n    assert 1\n', ''],
    ['a comment', 'LIMIT = 3\n', '# why three\n\nLIMIT = 3  # or so\n'],
    ['a comment in the class', '    def test_x', '    # next\n    def test_x'],
    ['a helper that none uses', 'return 0', 'return 5'],
    ['a removed helper that none uses', 'def unused():\n    return 0\n\n\n', ''],
    ['the text that the file begins with', 'About', 'Of'],
  ] as const) {
    it(`is the same after an edit of ${what}`, () => {
      assert.deepEqual(changed(edited(from, to)), []);
    });
  }

  it('is the same where helpers have moved', () => {
    const moved = `${edited('def make():\n    return low()\n\n\n', '')}\n\ndef make():\n    return low()\n`;
    assert.deepEqual(changed(moved), []);
  });

  it('follows what a test itself names', () => {
    assert.deepEqual(changed(edited('assert 1\n', 'assert unused()\n')), ['test_alone']);
  });

  it('is not known of a broken file, and known again when it is mended', () => {
    const bases = new TestBases();
    const before = bases.of(read(source));
    assert.equal(bases.of(read(edited('assert cat\n', 'assert cat(\n'))).size, 0);
    assert.deepEqual(bases.of(read(source)), before);
  });
});
