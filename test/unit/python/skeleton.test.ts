import assert from 'node:assert/strict';
import { declarationsOf, skeletonOf } from '../../../src/python/outline';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from './loadParser';

const source = `"""Docstring."""
import os  # left out

# Kept.
LIMIT = 3  # of all
first, second = 1, 2
print(LIMIT)

if os.name == "nt":
    SEP = "\\\\"

    def only_here():
        return 1


@register
class Shape(Base, metaclass=Meta):
    """Docstring."""

    # A field.
    sides: int = 0
    names = {
        "a": 1,
    }

    @property
    def area(
        self,
        scale: dict = {"a": 1},
    ) -> int:
        # Left out.
        inner = 1

        def nested():
            pass

        return inner

    class Meta:
        ordering = []

    def one(self): return 1


async def wait():
    pass
`;

describe('the skeleton of a source', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });

  it('has headers, fields and comments of module and class level', () => {
    assert.equal(
      skeletonOf(python, source),
      `# Kept.
LIMIT = 3  # of all
first, second = 1, 2
    SEP = "\\\\"
    def only_here():
        ...

@register
class Shape(Base, metaclass=Meta):
    # A field.
    sides: int = 0
    names = {
        "a": 1,
    }
    @property
    def area(
        self,
        scale: dict = {"a": 1},
    ) -> int:
        ...
    class Meta:
        ordering = []
    def one(self): return 1

async def wait():
    ...`,
    );
  });

  it('cuts the middle of a long assignment, and of no other', () => {
    const items = (count: number): string[] =>
      Array.from({ length: count }, (_, at) => `    ${at},`);
    const short = ['A = [', ...items(28), ']'];
    assert.equal(skeletonOf(python, short.join('\n')), short.join('\n'));
    const long = ['A = [', ...items(29), ']'];
    const cut = [...long.slice(0, 10), '...', ...long.slice(-10)];
    assert.equal(skeletonOf(python, long.join('\n')), cut.join('\n'));
  });

  it('reads the readable parts of broken code, and nothing of an empty file', () => {
    assert.equal(skeletonOf(python, ''), '');
    assert.match(skeletonOf(python, 'def sound():\n    pass\n\ndef broken(:\n'), /^def sound\(\):/);
  });

  it('knows the lines of what is declared, with decorators and body', () => {
    const found = declarationsOf(python, source)
      .filter(({ kind }) => kind !== 'comment')
      .map(({ kind, name, startLine, endLine }) => `${kind} ${name} ${startLine}-${endLine}`);
    assert.deepEqual(found, [
      ...['variable LIMIT 5-5', 'variable first 6-6', 'variable second 6-6', 'variable SEP 10-10'],
      ...['function only_here 12-13', 'class Shape 16-42', 'variable Shape.sides 21-21'],
      ...['variable Shape.names 22-24', 'function Shape.area 26-37', 'class Shape.Meta 39-40'],
      ...['variable Shape.Meta.ordering 40-40', 'function Shape.one 42-42', 'function wait 45-46'],
    ]);
  });
});
