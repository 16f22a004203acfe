import assert from 'node:assert/strict';
import { MarkupKind, SymbolKind, type CodeAction } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { CheckContext } from '../../../src/language/features/check';
import { codeActions } from '../../../src/language/features/codeActions';
import { definition } from '../../../src/language/features/definition';
import { shownDiagnostics } from '../../../src/language/features/diagnostics';
import { hover } from '../../../src/language/features/hover';
import { documentSymbols, foldingRanges } from '../../../src/language/features/symbols';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';
import { check, marked, only, surroundingsOf, testFile } from './surroundings';

let python: PythonParser;
let tree: CheckContext;
const ticks = 'def tricky():\n    """\n````\n[x](command:y)\n    """\n';
before(async () => {
  python = await loadParser();
  tree = surroundingsOf(
    { 'tests/test_a.py': testFile, 'src/b.py': ticks, 'tests/test_odd.py': 'x = "\udcff"\n' },
    python,
  );
});
after(() => python.dispose());

const rewrite = (place: string, ...code: string[]): string =>
  ['diff', 'tests/test_a.py', 'rewrite', place, ...code, 'end diff', ''].join('\n');

describe('diagnostics of a custom diff', () => {
  const told = async (text: string, languageId?: string): Promise<unknown[]> =>
    shownDiagnostics(await check(text, tree, languageId)).map(
      ({ code, severity, range, source }) => {
        assert.equal(source, 'swt-bench');
        return [code, severity, range.start, range.end];
      },
    );

  it('are none for an empty document and for a diff that is right', async () => {
    assert.deepEqual(await told(''), []);
    assert.deepEqual(await told(rewrite('9', 'def test_alone():', '    assert 4')), []);
  });

  it('stand where the engine says, a warning about files outside the tests among them', async () => {
    const text = 'diff\n  src/b.py\nrewrite\n1\ndef tricky():\n    pass\nend diff\n';
    assert.deepEqual(await told(text), [
      ['outside-tests', 2, { line: 1, character: 2 }, { line: 1, character: 10 }],
    ]);
  });

  it('stand at the lines of a Markdown document', async () => {
    const text =
      '# A\n\n- b\n  ```custom-diff\n  diff\n  tests/none.py\n  rewrite\n  3\n  def f():\n      pass\n  end diff\n  ```\n';
    const [first] = await told(text, 'markdown');
    assert.deepEqual(first, [
      'unknown-file',
      1,
      { line: 5, character: 2 },
      { line: 5, character: 15 },
    ]);
  });

  it('tell of a text without any block in the words of the engine', async () => {
    const [only] = shownDiagnostics(await check('just prose\n', tree));
    assert.equal(only?.severity, 1);
    assert.match(JSON.stringify(only?.message), /custom format/);
  });

  it('say what to do behind what is wrong', async () => {
    const [first] = shownDiagnostics(await check(rewrite('2', 'def test_on():', '    pass'), tree));
    assert.match(JSON.stringify(first?.message), /test_on.*test_one/s);
  });
});

describe('code actions of a custom diff', () => {
  const at = (line: number) => ({ start: { line, character: 0 }, end: { line, character: 0 } });
  const actions = async (
    text: string,
    line: number,
    only?: string[],
    languageId = 'swt-custom-diff',
  ): Promise<CodeAction[]> =>
    codeActions({ uri: 'file:///a', text }, await check(text, tree, languageId), at(line), {
      diagnostics: [],
      ...(only !== undefined && { only }),
    });

  it('mend what is wrong, so that it is right afterwards', async () => {
    const text = 'diff\ntests/test_a.py\nrewrite\n9\ndef test_alone():\n    assert 4\n';
    const line = shownDiagnostics(await check(text, tree))[0]?.range.start.line ?? 0;
    const [fix] = await actions(text, line, ['quickfix']);
    assert.equal(fix?.diagnostics?.[0]?.code, 'missing-end');
    const document = TextDocument.create('file:///a', 'swt-custom-diff', 1, text);
    const mended = TextDocument.applyEdits(document, fix.edit?.changes?.['file:///a'] ?? []);
    assert.equal(mended, `${text}end diff\n`);
    assert.deepEqual(shownDiagnostics(await check(mended, tree)), []);
  });

  it('offer for each keyword that is none what may be meant', async () => {
    const text = rewrite('9', 'def test_alone():', '    assert 4').replace('rewrite', 'replace');
    const fixes = await actions(text, 2, ['quickfix']);
    assert.ok(fixes.length > 0);
    assert.deepEqual(await actions(text, 0, ['quickfix']), []);
  });

  it('use the diff as a whole, the fence of a Markdown document alone', async () => {
    const right = rewrite('9', 'def test_alone():', '    assert 4');
    const used = await actions(right, 0);
    assert.deepEqual(
      used.map(({ title, command }) => [title, command?.command, command?.arguments]),
      [
        ['Apply to workspace', 'swt-bench.applyCustomDiff', [{ uri: 'file:///a' }]],
        ['Preview', 'swt-bench.previewCustomDiff', [{ uri: 'file:///a' }]],
        ['Convert to unified diff', 'swt-bench.convertCustomDiff', [{ uri: 'file:///a' }]],
      ],
    );
    const fenced = await actions(`\n\`\`\`custom-diff\n${right}\`\`\`\n`, 3, undefined, 'markdown');
    const lines = right.split('\n').length - 1;
    assert.deepEqual(fenced[0]?.command?.arguments, [
      { uri: 'file:///a', range: { start: 2, end: 2 + lines } },
    ]);
  });

  it('do not use a diff with an error, and say which', async () => {
    const used = await actions(rewrite('9', 'def nothing_like_it():', '    pass'), 0, ['refactor']);
    assert.equal(used.length, 3);
    for (const each of used) {
      assert.equal(each.command, undefined);
      assert.match(each.disabled?.reason ?? '', /^Line 5: .*nothing_like_it/);
    }
  });

  it('are none in an empty document', async () => {
    assert.deepEqual(await actions('', 0), []);
  });
});

describe('hover on a custom diff', () => {
  const shown = async (text: string, kind: MarkupKind = MarkupKind.Markdown) => {
    const at = marked(text);
    const found = await hover(await check(at.text, tree), at.position, tree, kind);
    const contents = found?.contents;
    return contents === undefined || typeof contents === 'string' || Array.isArray(contents)
      ? undefined
      : (contents as { value: string }).value;
  };

  it('shows the code that will be replaced, on the code and on the place', async () => {
    const wanted =
      'Replaces lines 2 to 3:\n\n```python\n    def test_one(self):\n        assert 1\n```';
    assert.equal(await shown(rewrite('3', 'def te|st_one(self):', '    assert 9')), wanted);
    assert.equal(await shown(rewrite('3|', 'def test_one(self):', '    assert 9')), wanted);
    assert.equal(
      await shown(rewrite('3|', 'def test_one(self):', '    pass'), MarkupKind.PlainText),
      'Replaces lines 2 to 3:\n\n    def test_one(self):\n        assert 1',
    );
  });

  it('shows the replaced code although another block has an error', async () => {
    const wrong = rewrite('1', 'def unknown_name():', '    pass');
    const text = wrong + rewrite('9', 'def test_alo|ne():', '    pass');
    assert.match((await shown(text)) ?? '', /^Replaces lines 9 to 10:/);
  });

  it('shows where an insertion goes', async () => {
    const text = 'diff\ntests/test_a.py\ninsert\nE|OF\ndef test_more():\n    pass\nend diff\n';
    assert.match((await shown(text)) ?? '', /^Goes in at the end of the file:\n\n```python\n/);
  });

  it('lets no text of the tree out of its fence', async () => {
    const text = 'diff\nsrc/b.py\nrewrite\n1|\ndef tricky():\n    pass\nend diff\n';
    const value = (await shown(text)) ?? '';
    const lines = value.split('\n');
    assert.equal(lines[2], '`````python');
    assert.deepEqual(
      lines.flatMap((line, i) => (line === '`````' ? [i] : [])),
      [lines.length - 1],
    );
  });

  it('shows what a file holds, and that there is none', async () => {
    const file = (await shown(rewrite('3', 'x').replace('tests/', 'te|sts/'))) ?? '';
    assert.match(
      file,
      /^10 lines, a test file\.\n\n```text\n {4}1 {2}class TestThing\n {4}2 {4}def test_one\n/,
    );
    assert.match(
      (await shown('diff\nno|ne.py\ninsert\nEOF\nx = 1\nend diff\n')) ?? '',
      /^There is no such file/,
    );
  });

  it('shows bytes that are no UTF-8 as editors do', async () => {
    const text = 'diff\ntests/test_odd.py\ninsert\n1|\ny = 1\nend diff\n';
    assert.match((await shown(text)) ?? '', /x = "\ufffd"/);
  });

  it('has nothing to show outside of blocks and beyond the tree', async () => {
    assert.equal(await shown('pro|se\n'), undefined);
    assert.match(
      (await shown('diff\n../../etc/pass|wd\nrewrite\n1\nx\nend diff\n')) ?? '',
      /no such file/,
    );
  });
});

describe('definitions of a custom diff', () => {
  const leads = async (text: string): Promise<[string, number, number][]> => {
    const at = marked(text);
    const links = await definition(await check(at.text, tree), at.position, tree);
    return links.map(({ targetUri, targetSelectionRange: { start } }) => [
      targetUri.replace('file:///tree/', ''),
      start.line,
      start.character,
    ]);
  };

  it('lead from a path to the file, and from a name to what it replaces', async () => {
    const file = 'tests/test_a.py';
    assert.deepEqual(await leads(rewrite('6', 'x').replace('test_a', 'te|st_a')), [[file, 0, 0]]);
    assert.deepEqual(await leads(rewrite('1', 'def test_|two(self):', '    pass')), [[file, 4, 8]]);
    assert.deepEqual(await leads(rewrite('1', 'class Test|Thing:', '    pass')), [[file, 0, 6]]);
    assert.deepEqual(await leads(rewrite('1', 'def test_two(self):', '    pa|ss')), []);
  });

  it('lead from the place of an insertion to where it goes', async () => {
    const text = 'diff\ntests/test_a.py\ninsert\n9|\ndef test_more():\n    pass\nend diff\n';
    assert.deepEqual(await leads(text), [['tests/test_a.py', 8, 0]]);
    assert.deepEqual(await leads(text.replace('9|', '9').replace('test_more', 'test_|more')), [
      ['tests/test_a.py', 8, 0],
    ]);
  });

  it('lead nowhere for files that are not there', async () => {
    assert.deepEqual(await leads('diff\nnone.p|y\ninsert\nEOF\nx = 1\nend diff\n'), []);
  });
});

describe('the outline of a custom diff', () => {
  const text =
    rewrite('2', '    def test_one(self):', '        call(', '            1,', '        )', '') +
    rewrite('9', 'class A:', '    def m(self):', '        pass', '', 'class B:', '    pass') +
    'diff\nsrc/b.py\nins';

  it('is of files, and of blocks in them', () => {
    const seen = documentSymbols(only(text)).map(({ name, kind, children = [] }) => [
      name,
      kind,
      children.map((each) => [each.name, each.detail, each.kind]),
    ]);
    assert.deepEqual(seen, [
      [
        'tests/test_a.py',
        SymbolKind.File,
        [
          ['test_one', 'rewrite 2', SymbolKind.Method],
          ['A, B', 'rewrite 9', SymbolKind.Class],
        ],
      ],
      ['src/b.py', SymbolKind.File, [['ins', undefined, SymbolKind.Namespace]]],
    ]);
  });

  it('has children within their parents, and selections within both', () => {
    type Symbols = ReturnType<typeof documentSymbols>;
    const before = (a: { line: number; character: number }, b: typeof a): boolean =>
      a.line < b.line || (a.line === b.line && a.character <= b.character);
    const within = (symbols: Symbols): void => {
      for (const { range, selectionRange, children = [] } of symbols) {
        for (const inner of [selectionRange, ...children.map((each) => each.range)]) {
          assert.ok(before(range.start, inner.start) && before(inner.end, range.end));
        }
        within(children);
      }
    };
    within(documentSymbols(only(text)));
    within(documentSymbols(only('diff\n\n\n')));
  });

  it('folds blocks and what they define', () => {
    const folds = foldingRanges(only(text)).map(({ startLine, endLine }) => [startLine, endLine]);
    assert.deepEqual(
      folds.sort(([a = 0], [b = 0]) => a - b),
      [
        [0, 9],
        [4, 7],
        [10, 20],
        [14, 16],
        [15, 16],
        [18, 19],
        [21, 23],
      ],
    );
  });
});
