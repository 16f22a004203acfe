import assert from 'node:assert/strict';
import fc from 'fast-check';
import { blockAction, namesIn, outermost, blockRole } from '../../../src/language/features/blocks';
import { customDiffAt, customDiffsIn, linesIn, rangeIn } from '../../../src/language/customDiffs';
import { textEdits } from '../../../src/language/features/edits';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { only } from './surroundings';
import { applyLineEdits } from '../patch/lineEdits';

describe('custom diffs of a document', () => {
  it('is the whole of a .swtdiff', () => {
    const diff = only('diff\r\na.py\r\n');
    assert.deepEqual(diff.lines, ['diff', 'a.py', '']);
    assert.equal(diff.start, 0);
    assert.equal(diff.fenced, false);
  });

  it('are the fences of the language in Markdown, and no others', () => {
    const text = [
      '```custom-diff', // 0
      'diff',
      '```',
      '````python',
      '```custom-diff',
      '````',
      '- in a list',
      '  ~~~custom-diff title', // 7
      '  diff',
      '    indented',
      '',
      '  ~~~',
      '``` `custom-diff` ```',
      '```Custom-Diff', // 13
      'not closed',
    ].join('\n');
    const diffs = customDiffsIn(text, 'markdown');
    assert.deepEqual(
      diffs.map(({ start, lines, indent }) => ({ start, lines, indent })),
      [
        { start: 1, lines: ['diff'], indent: '' },
        { start: 8, lines: ['diff', '  indented', ''], indent: '  ' },
        { start: 14, lines: ['not closed'], indent: '' },
      ],
    );
    const second = diffs[1];
    assert.ok(second);
    assert.deepEqual(rangeIn(second, 2, 2, 10), {
      start: { line: 9, character: 4 },
      end: { line: 9, character: 12 },
    });
    assert.deepEqual(linesIn(second, 1, 3).end, { line: 10, character: 0 });
    assert.equal(customDiffAt(diffs, 9), second);
    assert.equal(customDiffAt(diffs, 7), undefined);
  });

  it('has a role for every line, in half-written blocks too', () => {
    const text = ['prose', 'diff', 'a.py', '', 'rewrite', '3', 'def f():', '    pass', 'end diff'];
    const roles = (lines: string[]): string[] => {
      const diff = only(lines.join('\n'));
      return lines.map((_, i) => blockRole(diff.lines, diff.blocks, i + 1).role);
    };
    assert.deepEqual(roles([...text, '']), [
      ...['outside', 'start', 'path', 'keyword', 'keyword', 'place', 'code', 'code', 'end'],
      'outside',
    ]);
    assert.deepEqual(roles(['diff', '']), ['start', 'path']);
    assert.deepEqual(roles(['diff', 'a.py', '']), ['start', 'path', 'keyword']);
    assert.deepEqual(roles(['diff', 'a.py', 'rewrite', '']), ['start', 'path', 'keyword', 'place']);
    assert.equal(roles(['diff', 'a.py', 'insert', 'EOF', '']).at(-1), 'code');
  });

  it('knows the names a block defines while its code is broken', () => {
    const diff = only(
      'diff\na.py\nRewrite\n3\n    @mark(\n    async  def tést_a(self:\n        def inner():\n    class B\nend diff\n',
    );
    const [block] = diff.blocks;
    assert.ok(block);
    assert.equal(blockAction(block), 'rewrite');
    const names = namesIn(diff.lines, block);
    assert.deepEqual(
      names.map(({ kind, name, line, from, to }) => [kind, name, line, from, to]),
      [
        ['function', 'tést_a', 6, 15, 21],
        ['function', 'inner', 7, 12, 17],
        ['class', 'B', 8, 10, 11],
      ],
    );
    assert.deepEqual(
      outermost(names).map((each) => each.name),
      ['tést_a', 'B'],
    );
  });
});

describe('edits of lines', () => {
  it('change a document as the engine says, whatever it ends with', () => {
    const line = fc.constantFrom('a', 'b', '', '  c');
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.nat(6),
        fc.nat(3),
        fc.array(line, { maxLength: 3 }),
        (lines, ended, from, count, added) => {
          const text = lines.join('\n') + (ended ? '\n' : '');
          // The engine does not count an empty last line without a line end.
          fc.pre(ended || lines.at(-1) !== '');
          const total = lines.length;
          const start = Math.min(from, total) + 1;
          const change = { from: start, to: Math.min(start + count, total + 1), lines: added };
          const document = TextDocument.create('file:///a', 'swt-custom-diff', 1, text);
          const edited = TextDocument.applyEdits(document, textEdits(text, only(text), [change]));
          // The editor handles blank lines at the very end.
          const plain = (each: string): string => each.replace(/\n*$/, '');
          assert.equal(plain(edited), plain(applyLineEdits(text, [change])));
        },
      ),
    );
  });

  it('keep to the indentation of a fence and to the line ends of the document', () => {
    const text = '- x\r\n  ```custom-diff\r\n  diff\r\n  ```\r\n';
    const [edit] = textEdits(text, only(text, 'markdown'), [{ from: 2, to: 2, lines: ['a', ''] }]);
    assert.deepEqual(edit, {
      range: { start: { line: 3, character: 0 }, end: { line: 3, character: 0 } },
      newText: '  a\r\n\r\n',
    });
  });
});
