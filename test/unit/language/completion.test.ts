import assert from 'node:assert/strict';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { CompletionItem, TextEdit } from 'vscode-languageserver';
import fc from 'fast-check';
import type { CheckContext } from '../../../src/language/features/check';
import { completion } from '../../../src/language/features/completion';
import type { PythonParser } from '../../../src/python/parser';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';
import { marked, only, surroundingsOf, testFile } from './surroundings';

let python: PythonParser;
let tree: CheckContext;
before(async () => {
  python = await loadParser();
  tree = surroundingsOf(
    {
      'setup.py': '',
      'README.md': '',
      'src/a.py': 'def helper():\n    pass\n',
      'tests/unit/test_a.py': testFile,
      'tests/test_b.py': '',
      '../outside.py': '',
    },
    python,
  );
});
after(() => python.dispose());

async function items(
  text: string,
  { snippets = true, languageId = 'swt-custom-diff' } = {},
): Promise<CompletionItem[]> {
  const at = marked(text);
  const found = await completion(only(at.text, languageId), at.position, tree, { snippets });
  // In the order of editors.
  return [...found.items].sort((a, b) =>
    (a.sortText ?? a.label) < (b.sortText ?? b.label) ? -1 : 1,
  );
}

const labels = async (text: string): Promise<string[]> =>
  (await items(text)).map((item) => item.label);

/** The text after a person chose the item of this name. */
async function chosen(text: string, label: string, languageId?: string): Promise<string> {
  const item = (await items(text, languageId === undefined ? {} : { languageId })).find(
    (each) => each.label === label,
  );
  assert.ok(item, label);
  const document = TextDocument.create('file:///a', 'swt-custom-diff', 1, marked(text).text);
  return TextDocument.applyEdits(document, [item.textEdit as TextEdit]);
}

const half = 'diff\ntests/unit/test_a.py\n';

describe('completion in a custom diff', () => {
  it('offers paths behind diff, those of tests first, what is no Python last, and none beyond the tree', async () => {
    assert.deepEqual(await labels('diff\n|'), [
      'tests/test_b.py',
      'tests/unit/test_a.py',
      'setup.py',
      'src/a.py',
      'README.md',
    ]);
    assert.deepEqual(await labels('diff\na.p|'), ['tests/unit/test_a.py', 'src/a.py']);
    assert.equal(await chosen('diff\n"te|st', 'tests/test_b.py'), 'diff\ntests/test_b.py');
    assert.deepEqual(await labels('diff\nnothing|'), []);
  });

  it('offers a path before a block that is whole', async () => {
    const text = 'diff\n|\n\ndiff\nsrc/a.py\nrewrite\n1\ndef helper():\n    pass\nend diff\n';
    assert.equal((await labels(text)).length, 5);
  });

  it('offers keywords behind the path', async () => {
    assert.deepEqual(await labels(`${half}|`), ['insert', 'rewrite']);
    assert.equal(await chosen(`${half}rew|`, 'rewrite'), `${half}rewrite`);
  });

  it('offers places behind the keyword: lines of what is there', async () => {
    assert.deepEqual(await labels(`${half}rewrite\n|`), ['1', '2', '5', '9', 'BOF', 'EOF']);
    const inserting = await items(`${half}insert\n|\n`);
    assert.deepEqual(
      inserting.map(({ label, detail }) => `${label}: ${detail}`),
      [
        'EOF: The end of the file',
        'BOF: The beginning of the file, after the imports',
        '3: After TestThing.test_one',
        '6: At the end of class TestThing',
        '10: After test_alone',
      ],
    );
    assert.deepEqual(await labels('diff\nnone.py\ninsert\n|'), ['EOF', 'BOF']);
  });

  it('offers names of the file behind def and class, the nearest first', async () => {
    const code = `${half}rewrite\n9\n`;
    assert.deepEqual(await labels(`${code}def |`), ['test_alone', 'test_two', 'test_one']);
    assert.deepEqual(await labels(`${code}@mark\n    async def te|`), [
      'test_alone',
      'test_two',
      'test_one',
    ]);
    assert.deepEqual(await labels(`${code}class |\nend diff\n`), ['TestThing']);
    assert.equal(
      await chosen(`${code}    def te|st(self):`, 'test_one'),
      `${code}    def test_one(self):`,
    );
    assert.deepEqual(await labels('diff\nREADME.md\ninsert\n1\ndef |'), []);
  });

  it('offers the present code of what is to be rewritten', async () => {
    const code = `${half}rewrite\n3\n`;
    assert.equal(
      await chosen(`${code}|`, 'def test_one'),
      `${code}    def test_one(self):\n        assert 1`,
    );
    assert.deepEqual(await labels(`${code}def test_one(self):\n|\nend diff\n`), []);
    assert.deepEqual(await labels(`${half}insert\n3\n|`), ['end diff']);
  });

  it('keeps to the indentation of a fence', async () => {
    const fence = '- a\n  ```custom-diff\n  diff\n  tests/unit/test_a.py\n  rewrite\n  3\n';
    assert.equal(
      await chosen(`${fence}  |\n  \`\`\`\n`, 'def test_one', 'markdown'),
      `${fence}      def test_one(self):\n          assert 1\n  \`\`\`\n`,
    );
  });

  it('offers the end of a block that has none', async () => {
    const code = `${half}rewrite\n3\ndef test_one(self):\n    pass\n`;
    assert.equal(await chosen(`${code}end|`, 'end diff'), `${code}end diff`);
    assert.deepEqual(await labels(`${code}en|\nend diff\n`), []);
  });

  it('offers a whole block where none is', async () => {
    const all = await items('|');
    assert.deepEqual(
      all.map((item) => item.label),
      ['diff … rewrite', 'diff … insert', 'diff'],
    );
    assert.match(
      (all[0]?.textEdit as TextEdit | undefined)?.newText ?? '',
      /^diff\n\$\{1:.*\}\nrewrite\n/,
    );
    assert.deepEqual(
      (await items('di|', { snippets: false })).map((item) => item.label),
      ['diff'],
    );
    assert.deepEqual(await labels('Some prose|'), []);
  });

  it('has an answer everywhere, whatever is written', async () => {
    const line = fc.constantFrom(
      ...['diff', 'tests/unit/test_a.py', 'rewrite', 'insert', '3', 'EOF', 'def ', '', 'end diff'],
      ...['```', 'class A:', '    def x', '../../x', '12 diff', '\u{1d4b3}', '5-4', 'diff diff'],
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 9 }),
        fc.nat(9),
        fc.nat(12),
        async (lines, at, x) => {
          const diff = only(lines.join('\n'));
          const position = { line: Math.min(at, diff.lines.length - 1), character: x };
          const found = await completion(diff, position, tree, { snippets: true });
          for (const { textEdit } of found.items) {
            const { range } = textEdit as TextEdit;
            assert.equal(range.start.line, position.line);
            assert.equal(range.end.line, position.line);
          }
        },
      ),
      { numRuns: everydayRuns(300) },
    );
  });
});
