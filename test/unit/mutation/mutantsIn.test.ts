import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { withFault } from '../../../src/mutation/mutant';
import type { Node, PythonParser } from '../../../src/python/parser';
import { mutantsIn, type MadeMutant } from '../../../src/mutation/mutantsIn';
import { mutationOperators } from '../../../src/mutation/operators';
import { sampleOf } from '../../../src/mutation/mutantsOf';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';

const package_ = join(__dirname, '..', '..', '..', 'media', 'sample', 'repository', 'tallybook');
const files = readdirSync(package_).map((name) => readFileSync(join(package_, name), 'utf8'));

/** Code with everything that an operator looks at, and with what it must leave alone. */
const constructs = `"""Docstring."""
from __future__ import annotations
import os

@cached(size=2)
class A(B):
    """Docstring."""
    limit: "int" = 0x1F
    name = b"x"

    def f(self, a: int = 3, *rest, flag=True):
        x = a is not None and b not in (1, 2.5) or not a
        y: int = -1
        x += 1; x <<= 2
        first, second = rest
        a = b = f"{a!r} and {b + 1}" "tail"
        for i, j in zip(a, b):
            if a < b <= c:
                break
            elif (y := 3) and ready(i):
                continue
        try:
            total = [k for k in a if k if not k]
        except ValueError as error:
            raise X("m", '') from error
        except (A, B):
            del total
        while pending(): pass
        assert x, "m"
        got = yield 3
        g(x) ; "x %d" % 3
        self.items.sort(
            key=lambda each: each +
            1,
        )
        return-a if(q)else"b"

async def g():
    async for x in y:
        await h()
    return ()
match x:
    case -1 | "a" if z > 1: pass
`;

describe('the mutants of a Python file', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });

  const linesOf = (source: string): Set<number> =>
    new Set(source.split('\n').map((_, index) => index + 1));
  const mutantsOfAll = (source: string): MadeMutant[] => {
    const all = linesOf(source);
    return mutantsIn(python, { path: 'a.py', source }, { changed: all, executable: all });
  };

  it('are those that each operator shows as its example', () => {
    for (const { name, example } of mutationOperators) {
      const [was, is] = example.map(inContext);
      assert.ok(was !== undefined && is !== undefined);
      const own = mutantsOfAll(was).filter(({ operator }) => operator === name);
      assert.ok(
        own.some(({ source }) => source === is),
        `${name}: ${own.map(({ source }) => source).join('\n')}`,
      );
    }
  });

  it('change one syntax node each, and are sound Python', () => {
    const found = new Set<string>();
    for (const source of [...files, constructs]) {
      for (const mutant of mutantsOfAll(source)) {
        found.add(mutant.operator);
        holdsOneChange(source, mutant);
      }
    }
    // No operator is left out by these sources.
    assert.deepEqual([...found].sort(), mutationOperators.map(({ name }) => name).sort());
  });

  it('change one syntax node each in any expression', () => {
    const { expression } = fc.letrec((tie) => ({
      expression: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.constantFrom(
          'a',
          'b.c',
          '1',
          '0x1f',
          '2.5',
          '"s"',
          "b''",
          'True',
          'None',
          'f(a)',
          '[a]',
        ),
        fc
          .tuple(
            tie('expression'),
            fc.constantFrom('+', '-', '*', '//', '**', '%', '|'),
            tie('expression'),
          )
          .map(([left, sign, right]) => `(${String(left)}) ${sign} (${String(right)})`),
        fc
          .tuple(
            tie('expression'),
            fc.constantFrom('<', '>=', '==', 'is not', 'in', 'and', 'or'),
            tie('expression'),
          )
          .map(([left, sign, right]) => `(${String(left)} ${sign}(${String(right)}))`),
        fc
          .tuple(fc.constantFrom('not', '-', '~'), tie('expression'))
          .map(([sign, of]) => `(${sign}(${String(of)}))`),
        fc
          .tuple(tie('expression'), tie('expression'), tie('expression'))
          .map(([a, b, c]) => `(${String(a)} if(${String(b)})else ${String(c)})`),
        fc
          .tuple(tie('expression'), tie('expression'))
          .map(([a, b]) => `[x for x in ${String(a)} if(${String(b)})]`),
      ),
    }));
    const statement = fc
      .tuple(expression, fc.constantFrom('x = ', 'x += ', 'return ', 'if ', 'assert ', 'f(), '))
      .map(([of, head]) =>
        head === 'if ' ? `if ${String(of)}:\n    f()\n` : `${head}${String(of)}\n`,
      );
    fc.assert(
      fc.property(statement, (source) => {
        for (const mutant of mutantsOfAll(source)) holdsOneChange(source, mutant);
      }),
      { numRuns: everydayRuns(300) },
    );
  });

  it('are made once each, in the order of their places, and the same each time', () => {
    for (const source of [...files, constructs]) {
      const mutants = mutantsOfAll(source);
      const sources = mutants.map((each) => each.source);
      assert.equal(new Set(sources).size, sources.length);
      assert.ok(!sources.includes(source));
      const lines = mutants.map(({ line }) => line);
      assert.deepEqual(
        lines,
        lines.toSorted((a, b) => a - b),
      );
      assert.deepEqual(mutantsOfAll(source), mutants);
    }
  });

  it('begin in an executable line and change nothing outside changed lines', () => {
    const source = 'def f(a):\n    if a > 1:\n        g(a,\n          2)\n    return a\n';
    const at = (changed: number[], executable: number[]): string[] =>
      mutantsIn(
        python,
        { path: 'a.py', source },
        { changed: new Set(changed), executable: new Set(executable) },
      ).map(({ line, operator }) => `${line} ${operator}`);
    assert.deepEqual(at([], []), []);
    assert.deepEqual(at([2, 3, 4, 5], []), []);
    assert.deepEqual(at([5], [5]), ['5 returned value']);
    assert.deepEqual(at([3], [3]), [], 'the call goes on in a line that X* leaves');
    assert.deepEqual(at([3, 4], [3, 4]), ['3 statement removed', '4 number']);
  });

  it('know the lines of their statements, of compound ones those of the head', () => {
    const source = 'if (a and\n        b):\n    f(1,\n      2)\n';
    const lines = mutantsOfAll(source).map(({ operator, statement }) => [operator, statement]);
    assert.deepEqual(lines, [
      ['condition negated', [1, 2]],
      ['boolean operator', [1, 2]],
      ['statement removed', [3, 4]],
      ['number', [3, 4]],
      ['number', [3, 4]],
    ]);
  });

  it('leave docstrings, annotations, patterns and parts of f-strings alone', () => {
    const source =
      'def f(a: "int" = x):\n    "doc"\n    return f"{a + 1}"\nmatch a:\n  case 1: f(a)\n';
    const faults = mutantsOfAll(source).map(({ before, after }) => [before, after]);
    assert.deepEqual(faults, [
      ['f"{a + 1}"', '""'],
      ['f"{a + 1}"', 'None'],
      ['f(a)', 'pass'],
    ]);
  });

  it('do not exist in a file that is not Python', () => {
    assert.deepEqual(mutantsOfAll('def f(:\n    return 1\n'), []);
  });

  /** Whether the two trees differ in one node alone. */
  function holdsOneChange(source: string, mutant: MadeMutant): void {
    const { source: mutated, operator, after } = mutant;
    const what = `${operator}, ${after}:\n${mutated}`;
    assert.notEqual(mutated, source, what);
    assert.equal(withFault(source, mutant), mutated, what);
    python.parse(mutated, (root) => {
      assert.ok(!root.hasError, what);
      python.parse(source, (original) => assert.equal(changedNodes(original, root), 1, what));
    });
  }
});

/** How many nodes of a tree are others: where one child is, the change lies in it alone. */
function changedNodes(was: Node, is: Node): number {
  if (was.type !== is.type || was.childCount !== is.childCount || was.childCount === 0) {
    return was.type === is.type && was.text === is.text ? 0 : 1;
  }
  let changed = 0;
  for (const [index, child] of was.children.entries()) {
    const other = is.child(index);
    if (child === null || other === null || child.text === other.text) continue;
    changed += changedNodes(child, other);
  }
  return changed;
}

/** The example of an operator as a whole file. */
function inContext(line: string): string {
  if (line.startsWith('except')) return `try:\n    f()\n${line}\n    g()\n`;
  if (line.startsWith('@') || line === '') return `${line}\ndef f():\n    g()\n`;
  if (line === 'break' || line === 'continue') return `while a:\n    ${line}\n`;
  return line.endsWith(':') ? `${line}\n    f()\n` : `${line}\n`;
}

describe('a sample of mutants', () => {
  const mutants = Array.from({ length: 60 }, (_, index) => ({
    ...{ path: 'a.py', line: index, column: 1, operator: 'number', before: '1', after: '2' },
  }));

  it('is as large as the limit, in order, and part of every larger one', () => {
    for (const limit of [1, 7, 30, 59]) {
      const chosen = sampleOf(mutants, limit);
      assert.equal(chosen.length, limit);
      assert.deepEqual(
        chosen,
        mutants.filter((each) => chosen.includes(each)),
      );
      const larger = sampleOf(mutants, limit + 1);
      assert.ok(chosen.every((each) => larger.includes(each)));
    }
    assert.deepEqual(sampleOf(mutants, 60), mutants);
  });

  it('does not prefer the first lines', () => {
    const lines = sampleOf(mutants, 20).map(({ line }) => line);
    const mean = lines.reduce((sum, line) => sum + line, 0) / lines.length;
    assert.ok(mean > 15 && mean < 45, `mean line ${mean}`);
  });
});
