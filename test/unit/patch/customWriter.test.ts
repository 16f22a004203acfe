import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseCustom } from '../../../src/patch/custom/parseCustom';
import { writeCustom } from '../../../src/patch/custom/writeCustom';
import { hasErrors } from '../../../src/patch/diagnostic';
import type { PythonParser } from '../../../src/python/parser';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';
import { at, file, place } from './customSample';
import { damage, damaged, dressed, moduleText } from './pythonTexts';

describe('writeCustom', function () {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  const roundTrip = async (
    before: string | undefined,
    after: string,
    path = at,
  ): Promise<string> => {
    const { text, left } = writeCustom([{ path, before, after }], python);
    assert.deepEqual(left, []);
    const { edits, diagnostics } = await place(python, { [path]: before }, text);
    assert.ok(!hasErrors(diagnostics), `${text}\n${JSON.stringify(diagnostics)}`);
    assert.equal(text === '' ? before : edits[0]?.after, after, text);
    return text;
  };

  it('gives any edit of a Python file back, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(dressed(moduleText), damage, async (before, how) => {
        await roundTrip(before, damaged(before, how));
      }),
      {
        numRuns: everydayRuns(150),
        examples: [
          // A last line that is cut between CR and LF.
          [
            '@mark("x", [\r\n    1,\r\n])\r\ndef test_a():\r\n    return x\r\n',
            [
              [2, 'cut'],
              [4, 'cut'],
            ],
          ],
        ],
      },
    );
  });

  it('gives one file for any other, and new ones', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.option(dressed(moduleText), { nil: undefined }),
        fc.oneof(dressed(moduleText), fc.string(), fc.constantFrom('', '\n', ' ', '\r\n', 'x\r')),
        fc.constantFrom(at, 'tests/data.txt', 'tests/__init__.py'),
        async (before, after, path) => {
          if (after.includes('\0')) return;
          await roundTrip(before, after, path);
        },
      ),
      { numRuns: everydayRuns(150) },
    );
  });

  it('writes whole functions, methods before classes, with new imports at the head', async () => {
    const after = file
      .replace('# names\n', '# names\nimport sys\n')
      .replace('return 2', 'return sys')
      .concat('\n\ndef test_three():\n    pass\n');
    assert.equal(
      await roundTrip(file, after),
      `diff\n${at}\nrewrite\n25\nimport sys\n\n\n    def test_one(self):\n        return sys\nend diff\n` +
        `diff\n${at}\ninsert\nEOF\ndef test_three():\n    pass\nend diff\n`,
    );
    const method = file.replace(
      'class TestB',
      '    def test_n(self):\n        pass\n\n\nclass TestB',
    );
    const { blocks } = parseCustom(
      await roundTrip(file, method.replace('2\n\n\n    def', '2\n\n    def')),
    );
    assert.deepEqual(
      blocks.map((block) => [block.action, block.code[0]]),
      [['insert', '    def test_n(self):']],
    );
  });

  it('writes lines for what is no function, and no more of them than change', async () => {
    assert.equal(
      await roundTrip(file, file.replace('LIMIT = 3', 'LIMIT = 4')),
      `diff\n${at}\nrewrite\n6-6\nLIMIT = 4   # stays\nend diff\n`,
    );
    assert.equal(
      await roundTrip(file, file.replace('LIMIT', '\n\nX = 1\n\nLIMIT')),
      `diff\n${at}\nrewrite\n6-5\n\n\nX = 1\n\nend diff\n`,
    );
    assert.equal(
      await roundTrip(file, file.replace('import os\n', '')),
      `diff\n${at}\nrewrite\n3-3\nend diff\n`,
    );
  });

  it('names what the format has no words for', () => {
    const { text, left } = writeCustom(
      [
        { path: 'a.py', before: 'x\n', after: undefined },
        { path: 'b.png', before: undefined, after: '\0' },
        { path: '../c', before: undefined, after: 'x\n' },
        { path: '"d"', before: undefined, after: 'x\n' },
      ],
      python,
    );
    assert.equal(text, '');
    assert.deepEqual(
      left.map(({ path }) => path),
      ['a.py', 'b.png', '../c', '"d"'],
    );
  });
});
