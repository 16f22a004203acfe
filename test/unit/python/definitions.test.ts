import assert from 'node:assert/strict';
import { findDefinitions } from '../../../src/python/definitions';
import { readModule } from '../../../src/python/module';
import { createPythonParser, type PythonParser } from '../../../src/python/parser';
import { loadParser } from './loadParser';

describe('createPythonParser', function () {
  it('names the file that is missing', async () => {
    await assert.rejects(
      createPythonParser((file) => `/nowhere/${file}`),
      /nowhere\/tree-sitter/,
    );
  });

  it('can be made twice and disposed of', async () => {
    const [one, two] = [await loadParser(), await loadParser()];
    one.dispose();
    assert.equal(
      two.parse('x = 1\n', (root) => root.type),
      'module',
    );
    two.dispose();
  });
});

describe('findDefinitions', () => {
  let python: PythonParser;
  before(async function () {
    python = await loadParser();
  });
  after(() => python.dispose());

  it('finds functions, methods and classes with their ranges', () => {
    const source =
      '# é😀\n@dec(1)\n@other\nasync def f(a, *, b: int = 1, c=2):\n    x = "😀"\n    # end of f\n\n' +
      'class A(m.Base, B[int], metaclass=M):\n    @property\n    def g(self):\n        def inner(): pass\n' +
      '        return 1\n    class In: y = 1\n# after\n';
    const found = findDefinitions(python, source);
    assert.deepEqual(
      found.map((d) => [
        d.kind,
        d.qualifiedName,
        d.range.startLine,
        d.defLine,
        d.range.endLine,
        d.column,
      ]),
      [
        ['function', 'f', 2, 4, 6, 0],
        ['class', 'A', 8, 8, 13, 0],
        ['method', 'A.g', 9, 10, 12, 4],
        ['function', 'A.g.inner', 11, 11, 11, 8],
        ['class', 'A.In', 13, 13, 13, 4],
      ],
    );
    const [f, a, g, inner] = found;
    assert.ok(f && a && g && inner);
    assert.equal(
      source.slice(f.range.start, f.range.end),
      source.slice(source.indexOf('@dec'), source.indexOf('# end of f') + '# end of f'.length),
    );
    assert.deepEqual(f.decorators, ['dec(1)', 'other']);
    assert.deepEqual(f.parameters, ['a', 'b', 'c']);
    assert.equal(f.isAsync, true);
    assert.deepEqual(a.bases, ['m.Base', 'B[int]']);
    assert.deepEqual(g.decorators, ['property']);
    assert.deepEqual([inner.local, g.local], [true, false]);
  });

  it('reads old and new syntax, CRLF, and what is readable of broken code', () => {
    const names = (source: string): string[] =>
      findDefinitions(python, source).map((d) => d.qualifiedName);
    assert.deepEqual(names('print "x"\ndef f(): exec "y"\n'), ['f']);
    assert.deepEqual(names('def f[T](x: T) -> T:\n    match x:\n        case 1: pass\n'), ['f']);
    assert.deepEqual(names('class A:\r\n    def f(self):\r\n        pass\r\n'), ['A', 'A.f']);
    assert.ok(names('def ok():\n    pass\n\nx = (1,\n').includes('ok'));
    assert.deepEqual(names('if x:\n    def f(): pass\nelse:\n    def f(): pass\n'), ['f', 'f']);
  });
});

describe('readModule', () => {
  it('tells imports, strings over lines, and the first syntax error', async () => {
    const python = await loadParser();
    const source =
      '"""Doc\nstring."""\nfrom __future__ import annotations\nimport a.b as c, d\nfrom .x import (e,\n    f as g)\n' +
      'from m import *\ntry:\n    import h\nexcept ImportError:\n    h = None\nx = """1\n2"""\n';
    const module = readModule(python, source);
    assert.deepEqual(
      module.statements.map((s) => s.type),
      ['string', 'import', 'import', 'import', 'import', 'other', 'other'],
    );
    assert.deepEqual(
      module.imports.map((i) => i.names.map((n) => [n.from, n.name, n.alias])),
      [
        [['__future__', 'annotations', '']],
        [
          ['', 'a.b', 'c'],
          ['', 'd', ''],
        ],
        [
          ['.x', 'e', ''],
          ['.x', 'f', 'g'],
        ],
        [['m', '*', '']],
      ],
    );
    assert.deepEqual(
      module.longStrings.map((s) => [s.startLine, s.endLine, s.docstring]),
      [
        [1, 2, true],
        [12, 13, false],
      ],
    );
    assert.equal(module.errorLine, undefined);
    assert.equal(readModule(python, 'x = 1\ndef f(x)\n    return 1\n').errorLine, 2);
    python.dispose();
  });
});
