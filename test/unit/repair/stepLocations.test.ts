import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { EditedPlaces } from '../../../src/study/resolution/correctLocation';
import { keepsPlaces } from '../../../src/study/resolution/localisation';
import { type KeptCode } from '../../../src/domain/instance';
import type { PythonParser } from '../../../src/python/parser';
import { stepLocations } from '../../../src/repair/judging/stepLocations';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';

const source = [
  'import os', // 1
  '', // 2
  'class A:', // 3
  '    def one(self):', // 4
  '        return 1', // 5
  '', // 6
  '    def two(self):', // 7
  '        return 2', // 8
  '',
].join('\n');

const places = (
  path: string,
  lines: readonly number[],
  gaps: readonly number[],
  functions: readonly string[],
): EditedPlaces => ({
  ...{ path, lines: new Set(lines), gaps: new Set(gaps), functions: new Set(functions) },
});

describe('how far a step localises', () => {
  let python: PythonParser;
  before(async () => (python = await loadParser()));
  const read = (path: string): Promise<string | undefined> =>
    Promise.resolve(path.endsWith('new.py') ? undefined : source);
  const shown = async (files: KeptCode['files'], golden: readonly EditedPlaces[]) => {
    const [found] = await stepLocations([{ step: 'elements', files }], golden, read, python);
    const { file, function: inside, line } = found?.contains ?? {};
    return [found?.lines, file, inside, line];
  };
  const golden = [places('a.py', [5], [8], ['A.one', 'A.two'])];

  it('is by files, innermost functions and lines; a whole file has all of them', async () => {
    assert.deepEqual(await shown([{ path: 'a.py' }, { path: 'b.py' }], golden), [
      ...[16, true, true, true],
    ]);
    assert.deepEqual(await shown([{ path: 'b.py' }], golden), [8, false, false, false]);
    const inPart = (...intervals: [number, number][]) =>
      shown([{ path: 'a.py', intervals }], golden);
    assert.deepEqual(await inPart([4, 4], [7, 7]), [2, true, true, false]);
    assert.deepEqual(await inPart([5, 5]), [1, true, false, false]);
    // A line beside the gap, and an interval beyond the end.
    assert.deepEqual(await inPart([5, 5], [8, 99]), [2, true, true, true]);
    assert.deepEqual(await inPart([5, 5], [9, 99]), [1, true, false, false]);
  });

  it('never reaches a file that X* adds, and code outside of functions with its lines', async () => {
    const added = [places('new.py', [], [0], [''])];
    assert.deepEqual(await shown([{ path: 'new.py' }], added), [0, false, false, false]);
    const top = [places('a.py', [], [1], [''])];
    assert.deepEqual(await shown([{ path: 'a.py', intervals: [[2, 2]] }], top), [
      ...[1, true, true, true],
    ]);
    assert.deepEqual(await shown([{ path: 'a.py', intervals: [[4, 5]] }], top), [
      ...[2, true, false, false],
    ]);
  });

  it('is the same by a naive comparison of every place', () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { maxLength: 4 });
    const names = fc.uniqueArray(fc.constantFrom('', 'f', 'g'), { maxLength: 2 });
    const file = fc.constantFrom('a.py', 'b.py');
    const edited = fc.uniqueArray(
      fc.record({ path: file, lines: numbers, gaps: numbers, functions: names }),
      { selector: ({ path }) => path, maxLength: 2 },
    );
    const kept = fc.uniqueArray(
      fc.record({ path: file, lines: fc.option(numbers), functions: names }),
      { selector: ({ path }) => path, maxLength: 2 },
    );
    fc.assert(
      fc.property(edited, kept, (theirs, mine) => {
        const found = keepsPlaces(
          mine.map(({ path, lines, functions }) => ({
            ...{ path, lines: lines === null ? ('all' as const) : new Set(lines) },
            functions: new Set(functions),
          })),
          theirs.map(({ path, lines, gaps, functions }) => places(path, lines, gaps, functions)),
        );
        let [inFiles, inFunctions, inLines] = [true, true, true];
        for (const { path, lines, gaps, functions } of theirs) {
          const own = mine.find((each) => each.path === path);
          const isWhole = own !== undefined && own.lines === null;
          const has = (line: number): boolean => own?.lines?.includes(line) === true;
          const hasLines =
            own !== undefined && lines.every(has) && gaps.every((gap) => has(gap) || has(gap + 1));
          const hasFunctions =
            own !== undefined && functions.every((name) => own.functions.includes(name));
          if (own === undefined) inFiles = false;
          if (!isWhole && !hasLines) inLines = false;
          if (!isWhole && !hasLines && !hasFunctions) inFunctions = false;
        }
        assert.deepEqual(found, { file: inFiles, function: inFunctions, line: inLines });
      }),
      { numRuns: everydayRuns(2000) },
    );
  });
});
