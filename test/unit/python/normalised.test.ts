import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { normalisedPython } from '../../../src/python/normalised';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from './loadParser';

/** Sources, each beside one that differs from it. */
const pairs: readonly (readonly [string, string])[] = [
  ['x = 1  # one\n\n\ny = (2)\n', 'x = 1\ny = 2\n'],
  ['def f(a, b,):\n    """Says."""\n    return a\n', 'def f(a, b):\n    return a\n'],
  ['def f():\n  return "a"\n', "def f():\n    return 'a'\n"],
  ['"""Module."""\nimport a\n', 'import a\n'],
  ['class A:\n    "Of a class."\n    x = 1\n', 'class A:\n    x = 1\n'],
  ['f(1, 2, )\n', 'f(1,2)\n'],
  ['from a import (b, c)\n', 'from a import b, c\n'],
  ['x = a + \\\n    b\n', 'x = a + b\n'],
  ['a; b\n', 'a\nb\n'],
  ['x = [1, 2,]\n', 'x = [1, 2]\n'],
  ['x = a[1:]\n', 'x = a[:1]\n'],
  ['x = a[1,]\n', 'x = a[1]\n'],
  ['x = (a,)\n', 'x = (a)\n'],
  ['x = (a + b) * c\n', 'x = a + b * c\n'],
  ['if a:\n    b\n    c\n', 'if a:\n    b\nc\n'],
  ['x = f(a)\n', 'x = f(*a)\n'],
  ['x = "# no comment"\n', 'x = ""\n'],
  ["x = 'it''s'\n", 'x = "it" "s!"\n'],
  ['x = f"{a!r}"\n', 'x = f"{b!r}"\n'],
  ['def f():\n    x = "stays"\n    return x\n', 'def f():\n    return x\n'],
  ['for a in b:\n    pass\nelse:\n    c\n', 'for a in b:\n    pass\nc\n'],
  ['x = not a\n', 'x = a\n'],
  ['x = a if b else c\n', 'x = b if a else c\n'],
  ['x: int = 1\n', 'x = 1\n'],
  ['async def f(): pass\n', 'def f(): pass\n'],
  ['x = b"a"\n', 'x = "a"\n'],
  ['x = {1: 2}\n', 'x = {1, 2}\n'],
  ['raise A\n', 'raise A from B\n'],
];

describe('normalised Python', () => {
  let python: PythonParser;
  before(async () => (python = await loadParser()));
  const equal = (a: string, b: string, names = false): boolean =>
    normalisedPython(python, a, { names }) === normalisedPython(python, b, { names });

  it('is equal just where Python’s own trees are, without docstrings', () => {
    // The second implementation: the module ast.
    const script = `
import ast, json, sys
def plain(source):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, 'body', None)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, 'value', None), str):
                del body[0]
    return ast.dump(tree)
print(json.dumps([plain(a) == plain(b) for a, b in json.loads(sys.stdin.read())]))
`;
    const wanted = JSON.parse(
      execFileSync('python3', ['-c', script], { input: JSON.stringify(pairs), encoding: 'utf8' }),
    ) as boolean[];
    const found = pairs.map(([a, b]) => equal(a, b));
    assert.deepEqual(found, wanted);
    assert.ok(wanted.includes(true) && wanted.includes(false));
  });

  const script = `from shop import Basket as B
total = 0
def count(basket, *more, start=0):
    for item, (price, _) in basket.items():
        total = start + price
    return [x for x in more if x]
class Case(Base):
    limit = 3
    def run(self):
        with open('a') as f: return f.read(count(B(total=total)))
`;
  const rename = (text: string, from: string, to: string): string =>
    text.replace(new RegExp(`(?<![.\\w])${from}(?!\\w|=[^=])`, 'g'), to);

  it('may leave out the names that a source gives, and no others', () => {
    for (const own of ['B', 'count', 'basket', 'more', 'item', 'price', 'x', 'f', 'Case', 'self']) {
      const other = rename(script, own, 'other_name');
      assert.notEqual(other, script);
      assert.ok(equal(script, other, true), own);
      assert.ok(!equal(script, other), own);
    }
    for (const [from, to] of [
      ['shop', 'store'],
      ['Basket', 'Bag'],
      ['items()', 'pairs()'],
      ['open(', 'read('],
      ['limit', 'most'],
      ['def run', 'def test'],
      ['(total=', '(sum='],
      ['Base)', 'Case2)'],
      ['if x', 'if item'],
    ] as const) {
      const other = script.replace(from, to);
      assert.notEqual(other, script);
      assert.ok(!equal(script, other, true), from);
    }
  });

  it('of something that is no Python is its lines', () => {
    assert.ok(equal('this is (no\n\nPython  \n', 'this is (no\nPython\n'));
    assert.ok(!equal('this is (no', 'that is (no'));
    const deep = `x = ${'('.repeat(3000)}1${')'.repeat(3000)}\n`;
    assert.equal(typeof normalisedPython(python, deep), 'string');
  });
});
