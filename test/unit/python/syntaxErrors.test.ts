import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PythonParser, syntaxFaults } from '../../../src/python/parser';
import { loadParser } from './loadParser';

describe('syntax errors of a source', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });

  it('are found at their lines', () => {
    for (const [source, line] of [
      ['def a(:\n    pass\n', 1],
      ['import b\n\ndef a():\n    x = f(1, 2\n    assert x\n\ndef c():\n    pass\n', 4],
      ['def a()\n    pass\n', 1],
      ['def a():\n    x = "abc\n    y = 1\n', 2],
      ['class A:\n    def a(self):\n        assert 1 ==\n\n    def b(self):\n        pass\n', 3],
      ['def a():\n    """doc\n    x = 1\n', 2],
      ['def a():\n    x = 1\n      y = 2\n', 3],
      ['def a():\n        x = 1\n    y = 2\n', 3],
      ['x = 1\n\ndef a():\npass\n', 3],
      ['if x:\n    # nothing\n\nelse:\n    y\n', 1],
    ] as const) {
      assert.equal(syntaxFaults(python, source)[0]?.line, line, source);
    }
  });

  it('are none in sources of any Python', async () => {
    const folder = join('src', 'engine', 'tracer');
    const names = (await readdir(folder)).filter((name) => name.endsWith('.py'));
    assert.ok(names.length > 5);
    const sources = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    for (const source of [
      ...sources,
      'print "two"\nraise A, "b"\n',
      'match x:\n    case [1, *_] if y: pass\ntype X = int\n',
      'def a(): pass; x = 1\n"""a\nb"""; y = 2\n\n# end\n',
      'if x:\n\ty = 1\n        # a comment anywhere\n\tz = 2\n',
      'class A:\n    # first\n    @b\n    def c(self):\n        pass\n\n  # last\n    d = [\n1,\n]\n',
      '',
    ]) {
      assert.deepEqual(syntaxFaults(python, source), [], source.slice(0, 200));
    }
  });

  it('are found in code that nests without end', () => {
    assert.ok(syntaxFaults(python, `x = ${'('.repeat(50_000)}\n`).length > 0);
  });
});
