import assert from 'node:assert/strict';
import fc from 'fast-check';
import { correctLocation, type EditedPlaces } from '../../../src/study/resolution/correctLocation';
import { applyPatch } from '../../../src/patch/applyPatch';
import { makeUnified } from '../../../src/patch/makeUnified';
import { parseUnified } from '../../../src/patch/parseUnified';
import type { PythonParser } from '../../../src/python/parser';
import { editedPlaces } from '../../../src/repair/judging/editedPlaces';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';

const source = [
  'import os', // 1
  '', // 2
  'LIMIT = 3', // 3
  '', // 4
  'class A:', // 5
  '    size = 1', // 6
  '', // 7
  '    def one(self):', // 8
  '        return 1', // 9
  '', // 10
  '    def two(self):', // 11
  '        def inner():', // 12
  '            return 2', // 13
  '        return inner()', // 14
  '', // 15
  'def free():', // 16
  '    return 3', // 17
  '',
].join('\n');

describe('the places that a patch edits', () => {
  let python: PythonParser;
  before(async () => (python = await loadParser()));
  const read = (path: string): Promise<string | undefined> =>
    Promise.resolve(path === 'a.py' ? source : undefined);
  const placesOf = async (patch: string): Promise<EditedPlaces[]> => {
    const applied = await applyPatch(parseUnified(patch), read);
    assert.ok(applied.ok);
    return editedPlaces(applied.placed, read, python);
  };
  const edit = (change: (lines: string[]) => void): string => {
    const lines = source.split('\n');
    change(lines);
    return makeUnified([{ path: 'a.py', before: source, after: lines.join('\n') }]);
  };
  const shown = async (patch: string) =>
    (await placesOf(patch)).map(({ path, lines, gaps, functions }) => [
      path,
      [...lines],
      [...gaps],
      [...functions].sort(),
    ]);

  it('are lines, and the innermost functions, classes or the module around them', async () => {
    const changed = edit((lines) => {
      for (const line of [3, 6, 9, 13, 14, 17]) lines[line - 1] += ' # x';
    });
    assert.deepEqual(await shown(changed), [
      ['a.py', [3, 6, 9, 13, 14, 17], [], ['', 'A', 'A.one', 'A.two', 'A.two.inner', 'free']],
    ]);
  });

  it('are gaps where it only adds lines', async () => {
    const inside = edit((lines) => lines.splice(8, 0, '        x = 1'));
    assert.deepEqual(await shown(inside), [['a.py', [], [8], ['A.one']]]);
    const atTheEnd = edit((lines) => lines.splice(9, 0, '        x = 1'));
    assert.deepEqual(await shown(atTheEnd), [['a.py', [], [9], ['A.one']]]);
    const afterIt = edit((lines) => lines.splice(9, 0, '    x = 1'));
    assert.deepEqual(await shown(afterIt), [['a.py', [], [9], ['A']]]);
    const first = edit((lines) => lines.splice(0, 0, '# x'));
    assert.deepEqual(await shown(first), [['a.py', [], [0], ['']]]);
  });

  it('are lines of R also where a hunk says other numbers', async () => {
    const moved = edit((lines) => (lines[12] += ' # x')).replace('@@ -10,', '@@ -9,');
    assert.match(moved, /@@ -9,/);
    assert.deepEqual(await shown(moved), [['a.py', [13], [], ['A.two.inner']]]);
  });

  it('leave out tests, and have a file that it adds', async () => {
    const files = makeUnified([
      { path: 'tests/test_a.py', before: undefined, after: 'x = 1\n' },
      { path: 'b.py', before: undefined, after: 'x = 1\n' },
      { path: 'notes.txt', before: undefined, after: 'x\n' },
    ]);
    assert.deepEqual(
      (await placesOf(files)).map(({ path, functions }) => [path, [...functions]]),
      [
        ['b.py', ['']],
        ['notes.txt', ['']],
      ],
    );
  });
});

describe('correct location', () => {
  const places = (
    path: string,
    lines: readonly number[],
    gaps: readonly number[] = [],
    functions: readonly string[] = [],
  ): EditedPlaces => ({
    path,
    lines: new Set(lines),
    gaps: new Set(gaps),
    functions: new Set(functions),
  });

  it('covers an insertion by one in the same gap, or by an edit of a line beside it', () => {
    const golden = [places('a.py', [], [4], ['f'])];
    const line = (mine: EditedPlaces): boolean => correctLocation([mine], golden).line;
    assert.ok(line(places('a.py', [], [4], ['f'])));
    assert.ok(line(places('a.py', [4])));
    assert.ok(line(places('a.py', [5])));
    assert.ok(!line(places('a.py', [3, 6], [3, 5])));
    assert.ok(!line(places('b.py', [4], [4])));
  });

  it('agrees with a second implementation, and a superset has every granularity', () => {
    const some = fc.record({
      path: fc.constantFrom('a', 'b'),
      lines: fc.uniqueArray(fc.integer({ min: 1, max: 6 })),
      gaps: fc.uniqueArray(fc.integer({ min: 0, max: 6 })),
      functions: fc.uniqueArray(fc.constantFrom('f', 'g', '')),
    });
    const patch = fc.uniqueArray(some, { selector: ({ path }) => path, maxLength: 2 });
    type Patch = typeof patch extends fc.Arbitrary<infer T> ? T : never;
    const named = (of: Patch, key: 'lines' | 'functions'): string[] =>
      of.flatMap((each) => each[key].map((name) => `${each.path}:${name}`));
    const within = (small: readonly string[], large: readonly string[]): boolean =>
      small.every((each) => large.includes(each));
    const naive = (mine: Patch, golden: Patch) => {
      const file = within(
        golden.map(({ path }) => path),
        mine.map(({ path }) => path),
      );
      const touched = mine.flatMap(({ path, lines, gaps }) => [
        ...gaps.map((gap) => `${path}:${gap}`),
        ...lines.flatMap((line) => [`${path}:${line - 1}`, `${path}:${line}`]),
      ]);
      const gaps = golden.flatMap(({ path, gaps: all }) => all.map((gap) => `${path}:${gap}`));
      return {
        file,
        function: file && within(named(golden, 'functions'), named(mine, 'functions')),
        line: file && within(named(golden, 'lines'), named(mine, 'lines')) && within(gaps, touched),
      };
    };
    const asPlaces = (of: Patch): EditedPlaces[] =>
      of.map((each) => places(each.path, each.lines, each.gaps, each.functions));
    fc.assert(
      fc.property(patch, patch, (mine, golden) => {
        assert.deepEqual(correctLocation(asPlaces(mine), asPlaces(golden)), naive(mine, golden));
        assert.deepEqual(correctLocation(asPlaces(mine), asPlaces(mine)), {
          file: true,
          function: true,
          line: true,
        });
      }),
      { numRuns: everydayRuns(1000) },
    );
  });
});
