import assert from 'node:assert/strict';
import { type PythonParser, syntaxFaults } from '../../../src/python/parser';
import { faultyTestsOf, type FaultyTest } from '../../bench/selection/faultyTests';
import { loadParser } from '../python/loadParser';

const source = `import unittest

class CartTest(unittest.TestCase):
    def test_old(self):
        self.assertEqual(1, 1)

    def test_total(self):
        self.assertEqual(
            total([1, 2]),
            3,
        )

    def test_empty(self):
        assert total([]) == 0
        total([])
`;
const path = 'tests/test_cart.py';

describe('faulty forms of golden tests', () => {
  let python: PythonParser;
  let found: { whole: FaultyTest[]; small: FaultyTest[] };
  before(async () => {
    python = await loadParser();
    const added = new Set(Array.from({ length: 9 }, (_, at) => at + 7));
    found = faultyTestsOf(python, [{ path, source, added }]);
  });
  after(() => python.dispose());

  const ofKind = (kind: string): string[] =>
    found.whole.flatMap((each) => (each.kind === kind ? [each.sources.get(path) ?? ''] : []));

  it('has each added test alone, in its lines', () => {
    const [first = '', second = '', ...others] = ofKind('one test alone');
    assert.deepEqual(others, []);
    assert.match(first, /def test_old[^]*def test_total/);
    assert.doesNotMatch(first, /def test_empty/);
    assert.match(second, /def test_old[^]*def test_empty/);
    assert.doesNotMatch(second, /def test_total/);
    const lineOf = (text: string): number =>
      text.slice(0, text.indexOf('def test_empty')).split('\n').length;
    assert.equal(lineOf(second), lineOf(source));
  });

  it('turns added assertions round, leaves one or none, and no other line', () => {
    assert.deepEqual(
      ofKind('one assertion turned round').map((text) => text.replace(/\n/g, '').length),
      [source.replace(/\n/g, '').length + 3, source.replace(/\n/g, '').length + 'not ()'.length],
    );
    const [all = ''] = ofKind('all assertions turned round');
    assert.match(all, /self\.assertNotEqual\(\s*total[^]*assert not \(total\(\[\]\) == 0\)\n/);
    const [none = ''] = ofKind('no assertion');
    assert.match(
      none,
      /def test_total\(self\):\n {8}pass\n+ {4}def test_empty\(self\):\n {8}pass\n {8}total\(\[\]\)\n$/,
    );
    const [, second = ''] = ofKind('one assertion alone');
    assert.match(second, /def test_total\(self\):\n {8}pass\n[^]*assert total\(\[\]\) == 0\n/);
    const [turned = ''] = ofKind('one assertion alone, turned round');
    assert.match(turned, /assertNotEqual[^]*def test_empty\(self\):\n {8}pass\n/);
    for (const { sources } of found.whole) {
      assert.match(
        sources.get(path) ?? '',
        /def test_old\(self\):\n {8}self\.assertEqual\(1, 1\)\n/,
      );
    }
  });

  it('has a failing import, and small faults in T* and in each of its tests', () => {
    const [failing = ''] = ofKind('failing import');
    assert.equal(failing, `import a_module_that_is_not_there\n${source}`);
    const numbers = found.small.filter(({ kind }) => kind === 'number');
    assert.ok(numbers.some(({ sources }) => sources.get(path) === source.replace('3,', '4,')));
    assert.ok(numbers.some(({ sources }) => !sources.get(path)?.includes('def test_empty')));
  });

  it('has every form once, and all are Python', () => {
    const sources = [...found.whole, ...found.small].map((each) => each.sources.get(path) ?? '');
    assert.equal(new Set([...sources, source]).size, sources.length + 1);
    for (const each of sources) assert.deepEqual(syntaxFaults(python, each), []);
  });
});
