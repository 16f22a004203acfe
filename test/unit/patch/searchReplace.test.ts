import assert from 'node:assert/strict';
import fc from 'fast-check';
import { convertSearchReplace } from '../../../src/patch/searchReplace/convertSearchReplace';
import type { Conversion } from '../../../src/patch/reading/conversion';
import { everydayRuns } from '../../everyday';
import { makeGitTree, type GitTree } from './gitTree';
import { applyLineEdits } from './lineEdits';

type Files = Record<string, string | undefined>;

const convert = (files: Files, text: string): Promise<Conversion> =>
  convertSearchReplace(text, {
    read: (path) => Promise.resolve(files[path]),
    paths: () => Promise.resolve(Object.keys(files)),
  });

const block = (search: string, replace: string): string =>
  `<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\n`;

const at = 'tests/test_f.py';
const file = [
  'import os',
  '',
  '',
  'class TestA:',
  '    def test_one(self):',
  '        x = 1',
  '        return x',
  '',
  '    def test_two(self):',
  '        x = 2',
  '        return x',
  '',
  '',
  'def test_three():',
  '    """Title',
  '    =======',
  '    """',
  '    return [',
  '        1,',
  '    ]',
  '',
].join('\n');

async function edited(text: string, before = file): Promise<string | undefined> {
  const { files, diagnostics } = await convert({ [at]: before }, text);
  assert.ok(files.has(at), JSON.stringify(diagnostics, undefined, 2));
  return files.get(at);
}

async function told(text: string, before: Files = { [at]: file }): Promise<string[]> {
  const { diagnostics } = await convert(before, text);
  return diagnostics.map((d) => `${d.severity} ${d.line} ${d.code}: ${d.message}`);
}

describe('convertSearchReplace', function () {
  let tree: GitTree;
  before(() => {
    tree = makeGitTree();
  });
  after(() => tree.remove());

  it('replaces equal lines, and what it gives git takes', async () => {
    const text = `${at}\n${block('        x = 1\n', '        x = 10\n        y = 1\n')}${block('import os\n', '')}`;
    const { patch, diagnostics, files } = await convert({ [at]: file }, text);
    assert.deepEqual(diagnostics, []);
    tree.write({ [at]: file });
    assert.equal(tree.apply(patch), undefined);
    assert.equal(tree.read(at), files.get(at));
    assert.equal(
      files.get(at),
      file.replace('x = 1\n', 'x = 10\n        y = 1\n').replace('import os\n', ''),
    );
  });

  it('names the lines where several places are equal, and how to tell them apart', async () => {
    const text = `${at}\n${block('        return x\n', '        return y\n')}`;
    assert.deepEqual(await told(text), [
      `error 2 ambiguous: ${at}: the SEARCH part occurs at lines 7 and 11`,
    ]);
    const { diagnostics } = await convert({ [at]: file }, text);
    const fixes = diagnostics[0]?.fixes ?? [];
    assert.equal(fixes.length, 2);
    assert.equal(
      await edited(applyLineEdits(text, fixes[1]?.edits ?? [])),
      file.replace('x = 2\n        return x', 'x = 2\n        return y'),
    );
  });

  it('takes the place at the line that a block names', async () => {
    const roo = (line: number): string =>
      `${at}\n${block(`:start_line:${line}\n-------\n        return x\n`, '        return y\n')}`;
    const whole = file.split('\n');
    assert.equal(await edited(roo(11)), whole.with(10, '        return y').join('\n'));
    assert.equal(await edited(roo(7)), whole.with(6, '        return y').join('\n'));
    assert.deepEqual(await told(roo(1)), [
      `error 2 ambiguous: ${at}: the SEARCH part occurs at lines 7 and 11`,
    ]);
  });

  it('prefers lines that no earlier block has written', async () => {
    const text = `${at}\n${block('import os\n', 'import os\n    ]\n')}${block('    ]\n', '    ][0]\n')}`;
    assert.equal(
      await edited(text),
      file.replace('import os\n', 'import os\n    ]\n').replace(/ {4}\]\n$/, '    ][0]\n'),
    );
  });

  it('works on what earlier blocks have made', async () => {
    const text = `${at}\n${block('import os\n', 'import sys\n')}${block('import sys\n', 'import re\n')}`;
    assert.equal(await edited(text), file.replace('import os', 'import re'));
  });

  it('takes lines whose indentation is off as a whole, and indents the code alike', async () => {
    const wanted = file.replace(
      '        x = 2\n        return x\n',
      '        x = 2\n        if x:\n            return x\n',
    );
    for (const [name, search, replace] of [
      ['none', 'x = 2\nreturn x\n', 'x = 2\nif x:\n    return x\n'],
      ['less', '    x = 2\n    return x\n', '    x = 2\n    if x:\n        return x\n'],
      [
        'more',
        `${' '.repeat(12)}x = 2\n${' '.repeat(12)}return x\n`,
        `${' '.repeat(12)}x = 2\n${' '.repeat(12)}if x:\n${' '.repeat(16)}return x\n`,
      ],
      ['tabs', '\t\tx = 2\n\t\treturn x\n', '\t\tx = 2\n\t\tif x:\n\t\t\treturn x\n'],
      [
        'the first line trimmed',
        'x = 2\n        return x\n',
        'x = 2\n        if x:\n            return x\n',
      ],
      [
        'blank lines and blanks at ends',
        '\n        x = 2  \n        return x\n\n\n',
        '\n        x = 2\n        if x:\n            return x\n\n\n',
      ],
    ] as const) {
      const text = `${at}\n${block(search, replace)}`;
      assert.equal(await edited(text), wanted, name);
      assert.deepEqual(await told(text), [
        `warning 2 white-space: The SEARCH part differs from lines 10 to 11 of ${at} in whitespace; theirs is kept`,
      ]);
    }
  });

  it('finds lines that are alike, and keeps those that stay as they are', async () => {
    const text = `${at}\n${block(
      '    def test_two(self):\n        # the value\n        x = 2\n        return x\n',
      '    def test_two(self):\n        # the value\n        x = 3\n        return x\n',
    )}`;
    assert.equal(await edited(text), file.replace('x = 2', 'x = 3'));
    assert.match(
      (await told(text))[0] ?? '',
      /^warning 2 low-confidence: .* lines 9 to 11 .*not the same/,
    );
  });

  it('takes dots for lines that are left out', async () => {
    const text = `${at}\n${block(
      'def test_three():\n...\n    return [\n        1,\n',
      'def test_three():\n...\n    return [\n        2,\n',
    )}`;
    assert.equal(await edited(text), file.replace('1,', '2,'));
  });

  it('tells a heading in the code from the line between the parts', async () => {
    const text = `${at}\n${block('    """Title\n    =======\n    """\n', '    """Title!\n    =======\n    """\n')}`;
    assert.equal(await edited(text), file.replace('Title', 'Title!'));
  });

  it('shows the nearest lines where nothing is found, with a fix that works', async () => {
    const text = `${at}\n${block('        x = compute(2, 3)\n        return x + 1\n', '        pass\n')}`;
    const { diagnostics, patch } = await convert({ [at]: file }, text);
    assert.equal(patch, '');
    assert.equal(diagnostics[0]?.code, 'not-found');
    const there = await told(`${at}\n${block('nothing like it at all\n', 'import os\n')}`);
    assert.match(there[0] ?? '', /the REPLACE part is, at line 1$/);
    const close = `${at}\n${block('    def test_two(other):\n        y = 2\n        return y\n', '    pass\n')}`;
    const refused = await convert({ [at]: file }, close);
    const [fix] = refused.diagnostics[0]?.fixes ?? [];
    assert.ok(fix !== undefined, JSON.stringify(refused.diagnostics));
    assert.notEqual((await convert({ [at]: file }, applyLineEdits(close, fix.edits))).patch, '');
  });

  it('makes a new file of an empty SEARCH, and adds to one that is there', async () => {
    const made = await convert({}, `a/n.py\n${block('', 'x = 1\n')}`);
    assert.equal(made.files.get('a/n.py'), 'x = 1\n');
    tree.write({ 'a/n.py': undefined });
    assert.equal(tree.apply(made.patch), undefined);
    assert.equal(await edited(`${at}\n${block('', 'y = 1\n')}`), `${file}y = 1\n`);
    assert.deepEqual(await told(`${at}\n${block('', 'y = 1\n')}`), [
      `warning 2 file-exists: ${at} exists already, so the lines of the block are added at its end`,
    ]);
  });

  it('keeps line ends: CRLF, mixed, and none at the end', async () => {
    const text = `${at}\n${block('b\n', 'B\nC\n')}`;
    assert.equal(await edited(text, 'a\r\nb\r\nc\r\n'), 'a\r\nB\r\nC\r\nc\r\n');
    assert.equal(await edited(text, 'a\r\nb\nc\r\n'), 'a\r\nB\nC\nc\r\n');
    assert.equal(await edited(text, 'a\nb'), 'a\nB\nC');
    assert.equal(await edited(text, '\ufeffb\nc\n'), '\ufeffB\nC\nc\n');
  });

  it('refuses unknown and unsafe paths, and gives nothing where one block fails', async () => {
    const good = `${at}\n${block('import os\n', '')}`;
    for (const [bad, code] of [
      [`tests/test_g.py\n${block('x\n', 'y\n')}`, 'unknown-file'],
      [`../x.py\n${block('', 'y\n')}`, 'unsafe-path'],
      [`/etc/x.py\n${block('', 'y\n')}`, 'unsafe-path'],
      [`n.py\n${block('', '')}`, 'missing-code'],
    ] as const) {
      const { patch, files, diagnostics } = await convert({ [at]: file }, good + bad);
      assert.deepEqual([patch, files.size], ['', 0]);
      assert.ok(
        diagnostics.some((d) => d.severity === 'error' && d.code === code),
        JSON.stringify(diagnostics),
      );
    }
    const { diagnostics } = await convert({ [at]: file }, `test_f.py\n${block('import os\n', '')}`);
    assert.equal(diagnostics[0]?.hint, `Did you mean ${at}?`);
    const fixed = applyLineEdits(
      `test_f.py\n${block('import os\n', '')}`,
      diagnostics[0]?.fixes?.[0]?.edits ?? [],
    );
    assert.equal(await edited(fixed), file.replace('import os\n', ''));
  });

  it('carries any edit of any lines over, whatever they look like', async () => {
    const line = fc.constantFrom(
      'a',
      '  b',
      'c  ',
      '',
      '=======',
      '```',
      'def f():',
      '\tx',
      'é\udc80',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.nat(11),
        fc.nat(4),
        fc.array(line, { maxLength: 4 }),
        async (lines, start, count, added) => {
          const from = Math.min(start, lines.length - 1);
          const to = Math.min(lines.length, from + count + 1);
          const before = lines.map((each) => `${each}\n`).join('');
          const after = [...lines.slice(0, from), ...added, ...lines.slice(to)];
          const text = `${at}\n${block(
            lines
              .slice(from, to)
              .map((each) => `${each}\n`)
              .join(''),
            added.map((each) => `${each}\n`).join(''),
          )}`;
          const { files, diagnostics } = await convert({ [at]: before }, text);
          // A result without a diagnostic is exactly what was asked for: every guess is reported.
          if (files.size === 0 || diagnostics.length > 0) return;
          assert.equal(files.get(at), after.map((each) => `${each}\n`).join(''), text);
        },
      ),
      { numRuns: everydayRuns(500) },
    );
  });

  it('never throws and never touches other files, whatever is damaged', async () => {
    const whole = `${at}\n${block('        x = 2\n        return x\n', '        return 2\n')}other.py\n${block('', 'x = 1\n')}`;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(12), fc.constantFrom('cut', 'double', 'indent', 'garble')), {
          minLength: 1,
          maxLength: 3,
        }),
        async (damage) => {
          let lines = whole.split('\n');
          for (const [i, how] of damage) {
            const line = lines[i] ?? '';
            const put = {
              cut: [],
              double: [line, line],
              indent: [`  ${line}`],
              garble: [line.slice(1)],
            }[how];
            lines = [...lines.slice(0, i), ...put, ...lines.slice(i + 1)];
          }
          const { files, diagnostics } = await convert({ [at]: file }, lines.join('\n'));
          const after = files.get(at);
          if (after === undefined) return;
          assert.ok(
            after.startsWith(file.slice(0, file.indexOf('        x = 2'))) ||
              diagnostics.length > 0,
            after,
          );
          assert.ok(after.includes('def test_three():'), after);
        },
      ),
      { numRuns: everydayRuns(300) },
    );
  });
});
