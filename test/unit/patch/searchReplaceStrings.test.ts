import assert from 'node:assert/strict';
import fc from 'fast-check';
import { openQuotes, readPythonStrings } from '../../../src/patch/reading/pythonStrings';
import { convertSearchReplace } from '../../../src/patch/searchReplace/convertSearchReplace';
import { everydayRuns } from '../../everyday';

const path = 'tests/test_text.py';

async function edited(
  before: string,
  search: string,
  replace: string,
  name = path,
): Promise<{ after: string | undefined; told: string[] }> {
  const text = `${name}\n<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\n`;
  const tree = { read: (asked: string) => Promise.resolve(asked === name ? before : undefined) };
  const { files, diagnostics } = await convertSearchReplace(text, tree);
  const told = diagnostics.map((d) => `${d.severity} ${d.line}-${d.endLine ?? d.line} ${d.code}`);
  return { after: files.get(name), told };
}

const moved = 'warning 2-';

describe('search/replace that indents anew', () => {
  const before = [
    'class TestText:',
    '    def test_text(self):',
    '        """What is told.',
    '',
    '        More of it.',
    '        """',
    '        text = """',
    'flush',
    '    in by four',
    '"""',
    '        assert tell() == text',
    '',
  ].join('\n');
  const search = [
    'def test_text(self):',
    '    """What is told.',
    '',
    '    More of it.',
    '    """',
    '    text = """',
    'flush',
    '    in by four',
    '"""',
    '    assert tell() == text',
    '',
  ].join('\n');

  it('leaves the text of strings that stands in the file as it is', async () => {
    const { after, told } = await edited(
      before,
      search,
      search.replace('tell() ==', 'tell(1) ==').replace('flush\n', 'flush\nmore flush\n'),
    );
    assert.equal(
      after,
      before.replace('tell() ==', 'tell(1) ==').replace('flush\n', 'flush\nmore flush\n'),
    );
    assert.deepEqual(told, [`${moved}25 white-space`]);
  });

  it('moves a string back that was moved with the code, and what is added to it', async () => {
    const shifted = before.replace('flush', '    flush').replace('    in by', '        in by');
    const whole = shifted.replace('\n"""\n', '\n    """\n');
    const dedented = whole.replace(/^ {4}/gm, '').replace('class TestText:\n', '');
    const { after } = await edited(whole, dedented, dedented.replace('flush\n', 'flush\nmore\n'));
    assert.equal(after, whole.replace('flush\n', 'flush\n    more\n'));
  });

  it('indents a new docstring with its function, and no other new string, which it says', async () => {
    const file = 'class A:\n    def a(self):\n        x = 1\n        return x\n';
    const { after, told } = await edited(
      file,
      'def a(self):\n    x = 1\n    return x\n',
      'def a(self):\n    """Title.\n\n    Text.\n    """\n    x = """\n  data\n"""\n    return x\n',
    );
    assert.equal(
      after,
      'class A:\n    def a(self):\n        """Title.\n\n        Text.\n        """\n' +
        '        x = """\n  data\n"""\n        return x\n',
    );
    assert.deepEqual(told, ['warning 2-16 white-space', 'info 13-14 white-space']);
  });

  it('knows a string that begins above the lines to search', async () => {
    const file = "class A:\n    a = '''\nb\n  c\n'''\n    d = 1\n    e = 2\n";
    const { after } = await edited(file, "  c\n'''\nd = 1\ne = 2\n", "  c\n'''\nd = 1\ne = 3\n");
    assert.equal(after, file.replace('e = 2', 'e = 3'));
  });

  it('knows a string that an earlier block has written', async () => {
    const file = 'class A:\n    a = 1\n    b = 2\n    c = 3\n';
    const text = [
      path,
      '<<<<<<< SEARCH',
      '    a = 1',
      '=======',
      "    a = '''",
      "b'''",
      '>>>>>>> REPLACE',
      '<<<<<<< SEARCH',
      "b'''",
      'b = 2',
      'c = 3',
      '=======',
      "b'''",
      'b = 2',
      'c = 4',
      '>>>>>>> REPLACE',
      '',
    ].join('\n');
    const { files } = await convertSearchReplace(text, { read: () => Promise.resolve(file) });
    assert.equal(files.get(path), "class A:\n    a = '''\nb'''\n    b = 2\n    c = 4\n");
  });

  it('goes by the one rule that all lines follow where the quotes say otherwise', async () => {
    const file = 'x"""\n    a = 1\n    b = 2\n    c = 3\n';
    const { after } = await edited(file, 'a = 1\nb = 2\nc = 3\n', 'a = 1\nb = 4\nc = 3\n');
    assert.equal(after, file.replace('b = 2', 'b = 4'));
    const { after: second } = await edited(
      file,
      'x"""\n      a = 1\n      b = 2\n      c = 3\n',
      'x"""\n      a = 1\n      b = 4\n      c = 3\n',
    );
    assert.equal(second, file.replace('b = 2', 'b = 4'));
  });

  it('indents every line of what is not Python', async () => {
    const file = "a:\n    b '''\n    c\n    d\n";
    const { after } = await edited(file, "b '''\nc\nd\n", "b '''\nc\ne\n", 'docs/a.txt');
    assert.equal(after, "a:\n    b '''\n    c\n    e\n");
  });

  it('gives back what stands in the file, wherever the code is moved to', async () => {
    const line = fc.constantFrom('x = 1', 'y = """', '"""', "z = '''", "'''", 'text', '  text', '');
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 12 }), async (lines) => {
        // The code gets indentation, the text of strings does not.
        const all = ['a = 0', ...lines];
        const end = openQuotes(all).at(-1) ?? '';
        all.push(...(end === '' ? [] : [end]), 'b = 0');
        const open = openQuotes(all);
        const there = all.map((text, i) => (text === '' || open[i] !== '' ? text : `    ${text}`));
        const file = `class A:\n${there.join('\n')}\n`;
        const asked = `${all.join('\n')}\n`;
        const { after, told } = await edited(file, asked, asked.replace(/b = 0\n$/, 'b = 1\n'));
        assert.equal(after, file.replace(/b = 0\n$/, 'b = 1\n'), told.join());
      }),
      { numRuns: everydayRuns(200) },
    );
  });
});

describe('readPythonStrings', () => {
  it('tells code from strings and comments', () => {
    const cases: [string, Parameters<typeof readPythonStrings>[1], string, string][] = [
      ['a = 1  # "b"', '', 'a = 1  ', ''],
      [`a = 'b"""' + c`, '', `a = ' + c`, ''],
      ['a = """b', '', 'a = "', '"""'],
      [`b''' c"""  + d`, '"""', '  + d', ''],
      [String.raw`a = '\'' + "\\" + b`, '', `a = ' + " + b`, ''],
      [String.raw`\""" a`, '"""', '', '"""'],
      [`it's """`, '', "it'", ''],
      [`'' + """""" + ''`, '', `' + " + '`, ''],
    ];
    for (const [line, open, code, after] of cases) {
      assert.deepEqual(readPythonStrings(line, open), { code, open: after }, line);
    }
  });
});
