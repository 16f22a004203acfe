import assert from 'node:assert/strict';
import { parseSearchReplace } from '../../../src/patch/searchReplace/parseSearchReplace';
import { applyLineEdits } from './lineEdits';

const block = (search: string, replace: string): string =>
  `<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\n`;

const at = 'tests/test_f.py';

describe('parseSearchReplace', () => {
  const body = block('a\n', 'b\n');
  for (const [name, text] of [
    ['in the line before', `${at}\n${body}`],
    ['before the fence, as aider asks', `${at}\n\`\`\`python\n${body}\`\`\`\n`],
    ['before the fence, with a blank line', `${at}\n\n\`\`\`python\n${body}\`\`\`\n`],
    ['as Agentless asks', `\`\`\`python\n### ${at}\n${body}\`\`\`\n`],
    ['in the info string', `\`\`\`python ${at}\n${body}\`\`\`\n`],
    ['in the info string alone', `\`\`\`${at}\n${body}\`\`\`\n`],
    ['in the info string with a colon', `\`\`\`python:${at}\n${body}\`\`\`\n`],
    ['as a title', `\`\`\`python title="${at}"\n${body}\`\`\`\n`],
    ['in bold', `**${at}**:\n${body}`],
    ['in backticks', `\`${at}\`\n${body}`],
    ['as a field', `File: ${at}\n${body}`],
    ['in a sentence', `Then, in \`${at}\`:\n\n${body}`],
    ['in a fence of its own', `\`\`\`\n${at}\n\`\`\`\n\`\`\`python\n${body}\`\`\`\n`],
    ['with Windows line ends', `${at}\n${body}`.replaceAll('\n', '\r\n')],
    ['with fewer marks', `${at}\n${body.replace(/([<=>])\1{6}/g, '$1$1$1$1$1')}`],
    ['with more marks', `${at}\n${body.replace(/([<=>])\1{6}/g, '$1$1$1$1$1$1$1$1$1')}`],
    ['with the marks of Cline', `${at}\n------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n`],
    ['with the words of before', `${at}\n<<<<<<< ORIGINAL\na\n=======\nb\n>>>>>>> UPDATED\n`],
  ] as const) {
    it(`reads a path ${name}`, () => {
      const { blocks, diagnostics } = parseSearchReplace(text);
      assert.deepEqual(diagnostics, []);
      assert.deepEqual(
        blocks.map(({ path, body: lines, dividers }) => [path, lines, dividers]),
        [[at, ['a', /={5,9}/.exec(text)?.[0], 'b'], [1]]],
      );
    });
  }

  for (const [name, line] of [
    ['behind a slash', 'tests/my file.py'],
    ['in bold', '**my tests/test a.py**'],
    ['in backticks', '`my tests/test a.py`'],
    ['as a field', 'File: my tests/test a.py'],
    ['as a title', '```python title="my tests/test a.py"'],
    ['in the info string', '```python tests/my file.py'],
  ] as const) {
    it(`reads a path with blanks ${name}`, () => {
      const path = /(?:my )?tests\/[\w ]+\.py/.exec(line)?.[0];
      assert.equal(parseSearchReplace(`${line}\n${body}`).blocks[0]?.path, path);
    });
  }

  it('takes no prose for a path with blanks', () => {
    for (const prose of [
      'Now change tests/a.py',
      'See tests/a.py and tests/b.py',
      'In a/b, use c.py',
    ]) {
      const { blocks } = parseSearchReplace(`${at}\n${body}\n${prose}\n${body}`);
      assert.equal(blocks[1]?.path, at, prose);
    }
  });

  it('reads the line that Roo Code writes', () => {
    const text = `${at}\n<<<<<<< SEARCH\n:start_line:7\n:end_line:7\n-------\na\n=======\nb\n>>>>>>> REPLACE\n`;
    const [read] = parseSearchReplace(text).blocks;
    assert.deepEqual([read?.startLine, read?.bodyLine, read?.body], [7, 6, ['a', '=======', 'b']]);
  });

  it('carries a path on to the blocks behind it', () => {
    const { blocks } = parseSearchReplace(
      `${at}\n${body}${body}\nProse.\n\n${body}b/c.py\n${body}`,
    );
    assert.deepEqual(
      blocks.map(({ path }) => path),
      [at, at, at, 'b/c.py'],
    );
  });

  it('says where a block lacks its path, its middle or its end', () => {
    const cases: [string, string][] = [
      [body, 'error 1 missing-header'],
      [`${at}\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n`, 'error 2 incomplete'],
      [`${at}\n<<<<<<< SEARCH\na\n=======\nb\n`, 'error 2 incomplete'],
      [`${at}\n<<<<<<< SEARCH\na\n`, 'error 2 incomplete'],
      [`${at}\n\`\`\`\n<<<<<<< SEARCH\na\n=======\nb\n\`\`\`\n`, 'warning 3 missing-end'],
    ];
    for (const [text, wanted] of cases) {
      const { diagnostics } = parseSearchReplace(text);
      assert.deepEqual(
        diagnostics.map((d) => `${d.severity} ${d.line} ${d.code}`),
        [wanted],
        text,
      );
    }
  });

  it('mends a missing end by its fix', () => {
    const text = `${at}\n\`\`\`\n<<<<<<< SEARCH\na\n=======\nb\n\`\`\`\n`;
    const [fix] = parseSearchReplace(text).diagnostics[0]?.fixes ?? [];
    const whole = applyLineEdits(text, fix?.edits ?? []);
    assert.deepEqual(parseSearchReplace(whole).diagnostics, []);
    assert.deepEqual(parseSearchReplace(whole).blocks[0]?.body, ['a', '=======', 'b']);
  });
});
