import assert from 'node:assert/strict';
import { toUnified, type AskedFormat } from './formats';
import type { Conversion } from '../../../src/patch/toUnified';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';
import { applyLineEdits } from './lineEdits';

const path = 'tests/test_a.py';
const source = "def test_a():\n    '''Text.'''\n    x = 1\n    return x\n";

/** A unified diff that inserts lines after `x = 1`. */
const adding = (lines: readonly string[], name = path): string =>
  [
    `--- a/${name}`,
    `+++ b/${name}`,
    `@@ -3,2 +3,${2 + lines.length} @@`,
    '     x = 1',
    ...lines.map((line) => `+    ${line}`),
    '     return x',
    '',
  ].join('\n');

const escaped = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

describe('entities of HTML in lines that are added', function () {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  const convert = (text: string, format: AskedFormat = 'auto', name = path): Promise<Conversion> =>
    toUnified(text, {
      format,
      python,
      tree: { read: (asked) => Promise.resolve(asked === name ? source : undefined) },
    });
  const told = ({ diagnostics }: Conversion): string[] =>
    diagnostics.map((d) => `${d.severity} ${d.line}-${d.endLine ?? d.line} ${d.code}`);
  const sourceWith = (lines: readonly string[]): string =>
    source.replace('x = 1\n', `x = 1\n${lines.map((line) => `    ${line}\n`).join('')}`);

  it('are taken for characters where one stands in the code and no character as it is', async () => {
    const cases = [
      ['assert x < 2'],
      ['assert x >= 1 and f"{x}" != "<a> & b"'],
      ["y = '&amp;'", 'x |= 1 & 3'],
      ['y = "a"'],
    ];
    for (const lines of cases) {
      for (const format of ['unified', 'fuzzy'] as const) {
        const result = await convert(escaped(adding(lines)), format);
        assert.equal(result.files.get(path), sourceWith(lines), lines.join());
        assert.deepEqual(told(result), ['warning 5-5 malformed'], lines.join());
      }
    }
    const custom = escaped(
      `diff\n${path}\ninsert\nEOF\ndef test_b():\n    assert 1 < 2\nend diff\n`,
    );
    assert.match((await convert(custom)).files.get(path) ?? '', /assert 1 < 2$/m);
    // Only the code of the block is escaped, not its marks.
    const block = `${path}\n<<<<<<< SEARCH\n    x = 1\n=======\n    x = 1\n    y = x &lt; 2\n>>>>>>> REPLACE\n`;
    assert.equal((await convert(block)).files.get(path), sourceWith(['y = x < 2']));
  });

  it('stay, with a warning that mends them, where they may be meant', async () => {
    const cases = [
      ["assert f(x) == 'a &amp; b'"],
      ["'''", 'Tom &amp; Jerry', "'''"],
      ['# x &lt; 2'],
      // Partly escaped, or not at all: unchanged, it is not code that anyone means.
      ['assert x &lt; 2', "assert f('<')"],
      ['assert x &lt; 2', 'y = x & 1'],
      ['y = &quot;a&quot;', 'z = "a"'],
      ['y = &#39;a', "z = 'a'"],
    ];
    for (const lines of cases) {
      const text = adding(lines);
      const result = await convert(text);
      assert.equal(result.files.get(path), sourceWith(lines), lines.join());
      const at = 5 + lines.findIndex((line) => line.includes('&'));
      assert.deepEqual(told(result), [`warning ${at}-${at} html-entities`], lines.join());
      const [warning] = result.diagnostics;
      assert.match(warning?.message ?? '', new RegExp(`^Line ${at} would be added`));
      const [fix] = warning?.fixes ?? [];
      assert.ok(fix);
      const mended = await convert(applyLineEdits(text, fix.edits));
      assert.doesNotMatch(mended.files.get(path) ?? '', /&\w+;|&#\d+;/);
    }
  });

  it('name all lines they stand in', async () => {
    const names = async (count: number): Promise<string | undefined> => {
      const lines = Array.from({ length: count }, (_, i) => `y${i} = '&amp;'`);
      return (await convert(adding(lines))).diagnostics[0]?.message.replace(/ would.*/, '');
    };
    assert.equal(await names(2), 'Lines 5 and 6');
    assert.equal(await names(5), 'Lines 5, 6, 7, 8 and 9');
    assert.equal(await names(7), 'Lines 5, 6, 7, 8, 9 and 2 more');
  });

  it('are nothing to speak of in strings beside characters as they are', async () => {
    for (const lines of [
      ["assert escape('<') == '&lt;'"],
      ['assert page == "<p>&quot;</p>"  # &amp;'],
      ["'''", '<p>&nbsp;</p>', "'''"],
    ]) {
      const result = await convert(adding(lines));
      assert.equal(result.files.get(path), sourceWith(lines));
      assert.deepEqual(told(result), []);
    }
  });

  it('prove nothing in a file that is not Python', async () => {
    const name = 'tests/page.txt';
    const result = await convert(adding(['x &lt; 2'], name), 'auto', name);
    assert.equal(result.files.get(name), sourceWith(['x &lt; 2']));
    assert.deepEqual(told(result), ['warning 5-5 html-entities']);
  });

  it('are left alone in lines that the tree has', async () => {
    const text = adding(["y = '&amp;'", 'z = 1']);
    const once = (await convert(text)).files.get(path) ?? '';
    const tree = { read: () => Promise.resolve(once) };
    const again = text
      .replace("+    y = '&amp;'", "     y = '&amp;'")
      .replace('-3,2 +3,4', '-3,3 +3,4');
    const result = await toUnified(
      again.replace('z = 1', 'w = 1').replace(/ {4}return x/, '    z = 1'),
      {
        format: 'auto',
        python,
        tree,
      },
    );
    assert.match(result.files.get(path) ?? '', /y = '&amp;'\n {4}w = 1\n {4}z = 1/);
    assert.deepEqual(told(result), []);
  });
});
