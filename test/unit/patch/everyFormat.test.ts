import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyPatch } from '../../../src/patch/applyPatch';
import { toUnified, type PatchFormat } from './formats';
import { writeCustom } from '../../../src/patch/custom/writeCustom';
import { parseUnified } from '../../../src/patch/parseUnified';
import type { FileEdit } from '../../../src/patch/makeUnified';
import type { PythonParser } from '../../../src/python/parser';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';
import {
  asWrittenByHand,
  seeded,
  writeFuzzy,
  writeSearchReplace,
  writeUnified,
  type Written,
} from './generators';
import { damage, damaged, moduleText } from './pythonTexts';

const path = 'tests/test_a.py';
/** A first line that can identify a place, since a file of blank lines has none. */
const head = 'import pytest\n';

type Write = (
  edits: readonly FileEdit[],
  random: () => number,
  python: PythonParser,
) => Written | string;

const formats: readonly (readonly [string, PatchFormat, PatchFormat | 'auto', Write])[] = [
  ['unified', 'unified', 'auto', (edits) => writeUnified(edits)],
  [
    'unified, written by hand,',
    'unified',
    'auto',
    (edits, random) => asWrittenByHand(writeUnified(edits), random),
  ],
  ['fuzzy', 'fuzzy', 'fuzzy', (edits, random) => writeFuzzy(edits, random)],
  ['custom', 'custom', 'auto', (edits, _, python) => writeCustom(edits, python)],
  [
    'search/replace',
    'search-replace',
    'auto',
    (edits, random) => writeSearchReplace(edits, random),
  ],
];

describe('a random edit of a random Python file', function () {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  for (const [name, format, asked, write] of formats) {
    it(`survives ${name}`, async () => {
      const numRuns = everydayRuns(100);
      let written = 0;
      await fc.assert(
        fc.asyncProperty(moduleText, damage, fc.nat(), async (text, how, seed) => {
          const [before, after] = [head + text, head + damaged(text, how)];
          const found = write([{ path, before, after }], seeded(seed), python);
          const { text: patch, left } =
            typeof found === 'string' ? { text: found, left: [] } : found;
          if (before === after || left.length > 0) return;
          written += 1;
          const read = (asked: string): Promise<string | undefined> =>
            Promise.resolve(asked === path ? before : undefined);
          const result = await toUnified(patch, { format: asked, python, tree: { read } });
          const told = `${patch}\n${JSON.stringify(result.diagnostics, undefined, 2)}`;
          assert.equal(result.format, format, told);
          assert.equal(result.files.get(path), after, told);
          const applied = await applyPatch(parseUnified(result.patch), read);
          assert.ok(applied.ok, told);
          assert.equal(applied.files.get(path), after, told);
        }),
        { numRuns },
      );
      assert.ok(written > numRuns / 2, `only ${written} edits have words in the format`);
    });
  }
});
