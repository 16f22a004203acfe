import assert from 'node:assert/strict';
import fc from 'fast-check';
import { atOnce } from '../../../src/domain/work';
import { changedTestsSteps } from '../../../src/python/changedTests';
import type { PythonParser } from '../../../src/python/parser';
import { findTests, importsPytest } from '../../../src/python/tests';
import { everydayRuns } from '../../everyday';
import { loadParser } from './loadParser';

const path = 'tests/test_a.py';
let python: PythonParser;
before(async function () {
  python = await loadParser();
});
after(() => python.dispose());

const found = (source: string): string[] =>
  findTests(python, source, { path }).map(
    (test) => `${test.id.replace(`${path}::`, '')} ${test.style}`,
  );

describe('findTests', () => {
  it('finds what pytest collects', () => {
    assert.deepEqual(
      found(
        'def test_a(): pass\nasync def test_b(): pass\n@mark\ndef testc(): pass\ndef helper(): pass\n' +
          'def test_outer():\n    def test_inner(): pass\n' +
          'class TestA:\n    def test_x(self): pass\n    class TestIn:\n        def test_y(self): pass\n' +
          '    def other(self): pass\n' +
          'class TestInit:\n    def __init__(self): pass\n    def test_no(self): pass\n' +
          'class TestNew:\n    def __new__(cls): pass\n    def test_no(self): pass\n' +
          'class TestValue:\n    @property\n    def test_no(self): pass\n    @test_no.setter\n    def test_no(self, value): pass\n' +
          'class Helper:\n    def test_no(self): pass\n' +
          'class TestOff:\n    __test__ = False\n    def test_no(self): pass\n' +
          '@pytest.fixture\ndef test_data(): pass\n@fixture(scope="module")\ndef test_more(): pass\n',
      ),
      [
        'test_a pytest',
        'test_b pytest',
        'testc pytest',
        'test_outer pytest',
        'TestA::test_x pytest',
        'TestA::TestIn::test_y pytest',
      ],
    );
  });

  it('finds subclasses of TestCase, also through classes of the file', () => {
    assert.deepEqual(
      found(
        'class Base(unittest.TestCase):\n    def setUp(self): pass\n' +
          'class FooTests(Mixin, Base):\n    def test_x(self): pass\n    async def test_y(self): pass\n' +
          'class ViewTests(TransactionTestCase):\n    def testCamel(self): pass\n    def not_one(self): pass\n' +
          'class Loop(Loop):\n    def test_no(self): pass\n' +
          'class TestInit(TestCase):\n    def __init__(self, n): pass\n    def test_yes(self): pass\n' +
          'class Outer:\n    class T(TestCase):\n        def test_no(self): pass\n',
      ),
      [
        'FooTests::test_x unittest',
        'FooTests::test_y unittest',
        'ViewTests::testCamel unittest',
        'TestInit::test_yes unittest',
      ],
    );
  });

  it('gives place and text, of the last definition of a name', () => {
    const source =
      'class TestA:\n    def test_x(self):\n        old\n\n    @mark("é😀")\n    def test_x(self):\n        assert 1\n\n    y = 2\n';
    const tests = findTests(python, source, { path });
    assert.equal(tests.length, 1);
    assert.deepEqual(tests[0], {
      id: 'tests/test_a.py::TestA::test_x',
      name: 'test_x',
      style: 'pytest',
      defLine: 6,
      range: {
        startLine: 5,
        endLine: 7,
        start: source.indexOf('@mark'),
        end: source.indexOf('assert 1') + 8,
      },
      column: 4,
      className: 'TestA',
      classLines: [{ defLine: 1, endLine: 9 }],
      text: '@mark("é😀")\n    def test_x(self):\n        assert 1',
    });
  });

  it('says whether a source imports pytest', () => {
    assert.equal(importsPytest('class A(TestCase):\n    def test_x(self): pass\n'), false);
    assert.equal(importsPytest('import os, pytest\nclass A(TestCase): pass\n'), true);
    assert.equal(importsPytest('from pytest import mark\n'), true);
    assert.equal(importsPytest('import pytest_helper\n'), false);
  });
});

const changedTests = (...of: Parameters<typeof changedTestsSteps>) =>
  atOnce(changedTestsSteps(...of));

describe('changedTests', function () {
  const changes = (
    before: string | undefined,
    after: string,
  ): { added: string[]; changed: string[]; removed: string[] } => {
    const result = changedTests(python, before, after, { path });
    const names = (tests: typeof result.added): string[] =>
      tests.map((test) => test.id.replace(`${path}::`, ''));
    return {
      added: names(result.added),
      changed: names(result.changed),
      removed: names(result.removed),
    };
  };

  const base =
    'import os\n\nLIMIT = 3\n\ndef helper():\n    return LIMIT\n\ndef other():\n    return 1\n\n' +
    '@pytest.fixture\ndef data():\n    return other()\n\n' +
    'def test_a():\n    assert helper()\n\ndef test_b(data):\n    assert data\n\ndef test_c():\n    assert 1  # one\n\n' +
    'class A(TestCase):\n    size = 1\n\n    def setUp(self):\n        self.x = 1\n\n    def assertFoo(self):\n        pass\n\n' +
    '    def test_x(self):\n        self.assertFoo()\n\n    def test_y(self):\n        pass\n';

  const edit = (from: string, to: string): ReturnType<typeof changes> => {
    assert.ok(base.includes(from));
    return changes(base, base.replace(from, to));
  };
  const only = (...changed: string[]): ReturnType<typeof changes> => ({
    added: [],
    changed,
    removed: [],
  });

  it('takes every test of a new file for added', () => {
    assert.deepEqual(changes(undefined, 'def test_a(): pass\n'), {
      added: ['test_a'],
      changed: [],
      removed: [],
    });
  });

  it('sees nothing in moves, comments, imports, blank lines and docstrings', () => {
    assert.deepEqual(edit('import os\n', '"""Doc."""\nimport os, sys\n# note\n\n\n'), only());
    assert.deepEqual(edit('assert 1  # one', 'assert 1  # two'), only());
    const moved =
      base.replace('def test_c():\n    assert 1  # one\n\n', '') +
      '\n\ndef test_c():\n    assert 1\n';
    assert.deepEqual(changes(base, moved), only());
  });

  it('sees added, changed and removed tests', () => {
    assert.deepEqual(edit('    assert 1  # one', '    assert 2'), only('test_c'));
    assert.deepEqual(edit('def test_c', 'def test_d'), {
      added: ['test_d'],
      changed: [],
      removed: ['test_c'],
    });
    assert.deepEqual(edit('def test_c', '@mark\ndef test_c'), only('test_c'));
    assert.deepEqual(
      edit('    def test_y(self):', '    def test_z(self): pass\n    def test_y(self):'),
      {
        added: ['A::test_z'],
        changed: [],
        removed: [],
      },
    );
  });

  it('follows helpers, fixtures and constants to the tests that mention them', () => {
    assert.deepEqual(edit('LIMIT = 3', 'LIMIT = 4'), only('test_a'));
    assert.deepEqual(edit('return LIMIT', 'return LIMIT + 1'), only('test_a'));
    assert.deepEqual(edit('    return 1\n', '    return 2\n'), only('test_b'));
    assert.deepEqual(edit('return other()', 'return 5'), only('test_b'));
    // Whichever way round the file has the helpers.
    const chain = ['def d(): return 1\n', 'def c(): d()\n', 'def b(): c()\n', 'def a(): b()\n'];
    for (const helpers of [chain, [...chain].reverse()]) {
      const text = `${helpers.join('')}def test_a(): a()\ndef test_b(): pass\n`;
      assert.deepEqual(changes(text, text.replace('return 1', 'return 2')), only('test_a'));
    }
    assert.deepEqual(
      edit('    def assertFoo(self):\n        pass', '    def assertFoo(self):\n        1'),
      only('A::test_x'),
    );
  });

  it('takes what runs around tests to change all of them', () => {
    assert.deepEqual(edit('self.x = 1', 'self.x = 2'), only('A::test_x', 'A::test_y'));
    assert.deepEqual(edit('size = 1', 'size = 2'), only('A::test_x', 'A::test_y'));
    assert.deepEqual(
      edit('class A(TestCase)', 'class A(M, TestCase)'),
      only('A::test_x', 'A::test_y'),
    );
    assert.equal(edit('import os\n', 'import os\npytestmark = mark.slow\n').changed.length, 5);
    assert.equal(
      edit('import os\n', 'import os\n@pytest.fixture(autouse=True)\ndef env(): pass\n').changed
        .length,
      5,
    );
    assert.equal(edit('import os\n', 'import os\ndef setUpModule(): pass\n').changed.length, 5);
    for (const name of ['setUpClass', 'setUpTestData', 'asyncSetUp', 'teardown_method']) {
      const ofClass = (code: string): string =>
        base.replace('    size = 1', `    size = 1\n\n    def ${name}(self):\n        ${code}`);
      const both = only('A::test_x', 'A::test_y');
      assert.deepEqual(changes(ofClass('1'), ofClass('2')), both, name);
      assert.deepEqual(changes(ofClass('1'), base), both, `${name} goes`);
    }
    for (const gone of ['pytestmark = mark.slow\n', 'def tearDownModule(): pass\n']) {
      assert.equal(changes(base.replace('\n', `\n${gone}`), base).changed.length, 5, gone);
    }
  });

  it('tells what it cannot give to any test', () => {
    const result = changedTests(python, base, `${base}\nsys.path.append("x")\n`, { path });
    assert.deepEqual([result.changed.length, result.moduleCode], [0, true]);
    assert.deepEqual(
      changedTests(python, base, base.replace('LIMIT = 3', 'LIMIT = 4'), { path }).helpers,
      ['LIMIT'],
    );
  });

  it('sees moved statements although the words stay the same', () => {
    assert.deepEqual(
      changes(
        'def test_a():\n    if x:\n        a()\n        b()\n',
        'def test_a():\n    if x:\n        a()\n    b()\n',
      ),
      only('test_a'),
    );
  });

  it('never throws, and sees nothing between a text and itself', () => {
    const piece = fc.constantFrom(
      'def test_a():',
      '    pass',
      'class A(TestCase):',
      '    def test_x(self):',
      '        x = """',
      '"""',
      '@dec',
      '# c',
      'x = (',
      'import a',
      '',
      '\t',
      'async def test_b(): pass',
      'if x:',
      'é = "😀"',
    );
    const text = fc.array(piece, { maxLength: 15 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (a, b) => {
        const same = changedTests(python, a, a, { path });
        assert.deepEqual([same.added, same.changed, same.removed], [[], [], []]);
        const diff = changedTests(python, a, b, { path });
        const ids = (source: string): Set<string> =>
          new Set(findTests(python, source, { path }).map((test) => test.id));
        assert.deepEqual(
          new Set([...ids(b)].filter((id) => !ids(a).has(id))),
          new Set(diff.added.map((test) => test.id)),
        );
        for (const test of findTests(python, b, { path })) {
          assert.equal(b.slice(test.range.start, test.range.end), test.text);
        }
      }),
      { numRuns: everydayRuns(300) },
    );
  });

  it('are found by their lines in a source with a syntax error', () => {
    const source = [
      'import unittest\n\n\nclass A(unittest.TestCase):',
      '    def test_a(self):\n        self.assertEqual(1, 1)\n\nNEW\n',
      '    def test_b(self):\n        pass\n\n\nclass B:\n    def test_no(self):\n        pass\n\n',
      'def test_z():\n    assert 1\n',
    ].join('\n');
    const broken = [
      '    def test_new(self)\n        x = 1',
      '    def test_new(self):\n        x = (1',
      '    async def test_new(self\n        pass',
      '    def test_new(self):\n        x = {1: [2',
      '    def test_new(self):\n    x = 1',
    ];
    for (const code of broken) {
      const found = findTests(python, source.replace('NEW', code), { path: 't.py' });
      assert.deepEqual(
        found.map(({ id }) => id),
        ['t.py::A::test_a', 't.py::A::test_new', 't.py::A::test_b', 't.py::test_z'],
        code,
      );
      assert.equal(found[1]?.defLine, 8);
    }
  });
});
