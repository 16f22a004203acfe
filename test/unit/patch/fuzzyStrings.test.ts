import assert from 'node:assert/strict';
import { convertFuzzy } from '../../../src/patch/fuzzy/convertFuzzy';

/** The result of a fuzzy diff on one file. */
async function after(path: string, before: string, hunk: readonly string[]): Promise<string> {
  const text = `--- a/${path}\n+++ b/${path}\n@@ @@\n${hunk.join('\n')}\n`;
  const { files, diagnostics } = await convertFuzzy(text, {
    read: (asked) => Promise.resolve(asked === path ? before : undefined),
  });
  const made = files.get(path);
  assert.ok(made !== undefined, JSON.stringify(diagnostics));
  return made;
}

const tree = [
  'class TestText:',
  '    def test_one(self):',
  '        first = render()',
  '        second = render()',
  '        assert first == second',
  '',
];
/** The diff has the method at the margin, without its indentation. */
const context = [' def test_one(self):', '     first = render()', '     second = render()'];

describe('text of strings in a fuzzy diff that is indented otherwise than the tree', () => {
  it('stays where it is data, and the code around it moves', async () => {
    const made = await after('test_a.py', tree.join('\n'), [
      ...context,
      '+    third = """',
      '+flush',
      '+  two',
      '+"""',
      '+    assert third',
      '     assert first == second',
    ]);
    assert.ok(
      made.includes('        third = """\nflush\n  two\n"""\n        assert third\n'),
      made,
    );
  });

  it('follows the code where it is a docstring', async () => {
    const made = await after('test_a.py', tree.join('\n'), [
      ' def test_one(self):',
      '+    """Doc.',
      '+',
      '+    More.',
      '+    """',
      '     first = render()',
      '     second = render()',
      '     assert first == second',
    ]);
    assert.ok(made.includes('        """Doc.\n\n        More.\n        """\n        first'), made);
  });

  it('goes by the text beside it that the tree has as well', async () => {
    const before = [
      ...tree.slice(0, 4),
      '        third = """',
      '        kept',
      '        """',
      '        assert first == second',
      '',
    ].join('\n');
    const hunk = (text: string): string[] => [
      ...context,
      '     third = """',
      ` ${text}kept`,
      `+${text}more`,
      ` ${text}"""`,
      '     assert first == second',
    ];
    const moved = await after('test_a.py', before, hunk('    '));
    assert.ok(moved.includes('        kept\n        more\n        """\n'), moved);
    const stayed = await after('test_a.py', before, hunk('        '));
    assert.ok(stayed.includes('        kept\n        more\n        """\n'), stayed);
  });

  it('is not looked for in files that are not Python', async () => {
    const made = await after('notes.txt', tree.join('\n'), [
      ...context,
      '+    third = """',
      '+    text',
      '     assert first == second',
    ]);
    assert.ok(made.includes('        third = """\n        text\n'), made);
  });
});
