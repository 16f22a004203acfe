import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { formatting } from '../../../src/language/features/formatting';
import { customDiffsIn } from '../../../src/language/customDiffs';
import { parseCustom } from '../../../src/patch/custom/parseCustom';
import { everydayRuns } from '../../everyday';

function formatted(text: string, languageId = 'swt-custom-diff'): string {
  const document = TextDocument.create('file:///a', languageId, 1, text);
  const edits = customDiffsIn(text, languageId).flatMap((diff) => formatting(text, diff));
  return TextDocument.applyEdits(document, edits);
}

describe('formatting a custom diff', () => {
  it('writes headers as the paper does and leaves the code', () => {
    const text =
      'Prose.\n\n\ndiff \n\n`./tests/a.py`\nREWRITE\n\nline 12\n\n\ndef  f( ):\n\n\n    pass  \n\nEnd Diff\n\n\n\ndiff\nb.py\ninsert\neof\nx = 1\nend diff\ndiff\nb.py\nrewrite\n3 - 4 lf\nend diff\n';
    assert.equal(
      formatted(text),
      'Prose.\n\n\ndiff\ntests/a.py\nrewrite\n12\ndef  f( ):\n\n\n    pass  \nend diff\n\ndiff\nb.py\ninsert\nEOF\nx = 1\nend diff\n\ndiff\nb.py\nrewrite\n3-4 LF\nend diff\n',
    );
  });

  it('leaves blocks that cannot be read, and prose between blocks', () => {
    for (const text of [
      'diff\n"a.py"\nreplace\n3\ncode\nend diff\n',
      'diff\n"a.py"\n\nrewrite\nhere\ncode\nend diff\n',
      'diff\na.py\nrewrite\n\n',
      'diff\na.py\nrewrite\n3\n\n',
      'diff\na.py\nrewrite\n3\nx\nend diff\n\nand\n\ndiff\na.py\nrewrite\n9\ny\nend diff\n',
    ]) {
      assert.equal(formatted(text), text);
    }
  });

  it('formats inside the fences of Markdown only', () => {
    const text =
      'diff\n\nx\n\n- a\n  ```custom-diff\n  diff\n  "a.py"\n\n  insert\n  bof\n  x\n  end diff\n  ```\n';
    assert.equal(
      formatted(text, 'markdown'),
      'diff\n\nx\n\n- a\n  ```custom-diff\n  diff\n  a.py\n  insert\n  BOF\n  x\n  end diff\n  ```\n',
    );
  });

  it('changes nothing of what a diff means, and nothing the second time', () => {
    const line = fc.constantFrom(
      ...[
        'diff',
        'diff',
        '"a.py"',
        './b.py',
        'rewrite',
        'INSERT',
        '12',
        'eof',
        'end diff',
        '',
        '  ',
      ],
      ...[
        'def f():',
        '    pass',
        'class A:',
        'end  diff',
        '```',
        '3-4',
        '5 | def g():',
        '~7',
        'prose',
      ],
    );
    const block = fc
      .tuple(
        fc.constantFrom('a.py', '`b.py`', './c.py'),
        fc.constantFrom('rewrite', 'Insert'),
        fc.constantFrom('3', 'EOF', 'bof', 'line 8', '4-5', '5-4 crlf'),
        fc.array(line, { maxLength: 5 }),
      )
      .map(([path, action, place, code]) => ['diff', path, '', action, place, ...code, 'end diff']);
    const text = fc
      .array(fc.oneof(block, fc.array(line, { maxLength: 6 })), { maxLength: 4 })
      .map((parts) => parts.flat().join('\n'));
    const meaning = (each: string): unknown =>
      parseCustom(each).blocks.map(({ path, action, place, code }) => ({
        path,
        action,
        place,
        code,
      }));
    fc.assert(
      fc.property(text, (before) => {
        const after = formatted(before);
        assert.deepEqual(meaning(after), meaning(before));
        assert.equal(formatted(after), after);
      }),
      {
        numRuns: everydayRuns(500),
        examples: [['diff\na.py\n\nrewrite\n3\n```\ndiff\ndiff\ndiff\nend diff\neof']],
      },
    );
  });
});
