import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyPatch } from '../../../src/patch/applyPatch';
import { toUnified } from './formats';
import type { Conversion } from '../../../src/patch/toUnified';
import { parseUnified } from '../../../src/patch/parseUnified';
import type { PythonParser } from '../../../src/python/parser';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';
import { at, block, file, type Files } from './customSample';

let python: PythonParser;
before(async function () {
  python = await loadParser();
});
after(() => python.dispose());

function convert(
  files: Files,
  text: string,
  format: 'auto' | 'custom' = 'auto',
): Promise<Conversion> {
  return toUnified(text, {
    format,
    python,
    tree: { read: (path) => Promise.resolve(files[path]) },
  });
}

/** The files after a conversion, which must succeed. */
async function result(files: Files, text: string): Promise<Files> {
  const { patch, diagnostics } = await convert(files, text);
  assert.notEqual(patch, '', JSON.stringify(diagnostics, undefined, 2));
  const applied = await applyPatch(parseUnified(patch), (path) => Promise.resolve(files[path]));
  assert.ok(applied.ok);
  return { ...files, ...Object.fromEntries(applied.files) };
}

async function told(files: Files, text: string): Promise<string[]> {
  const { diagnostics } = await convert(files, text);
  return diagnostics.map((d) => `${d.severity} ${d.line}: ${d.message}`);
}

const edited = async (text: string, before = file): Promise<string> =>
  (await result({ [at]: before }, text))[at] ?? '';

describe('the custom format', function () {
  it('is that of the paper: its own example', async () => {
    const before =
      'def test_euclidean(a, b):\n    assert euclidean(0, 0) == 0\n    assert euclidean(1, 1) == 1\n\n' +
      '@pytest.mark.parametrize("a, b", [(0, 0)])\ndef test_gcd(a, b):\n    assert gcd(a, b) == expected\n';
    const text =
      'The tests:\n```custom-diff\ndiff\ndemo/file.py\nrewrite\n1\ndef test_euclidean(a, b):\n' +
      '    assert euclidean(100, 10) == 10\nend diff\ndiff\ndemo/file.py\ninsert\nEOF\n' +
      '@pytest.mark.parametrize("a, b", [(1, 0)])\ndef test_lcm(a, b):\n    assert lcm(a, b)\nend diff\n```\nDone.\n';
    const files = await result({ 'demo/file.py': before }, text);
    assert.equal(
      files['demo/file.py'],
      'def test_euclidean(a, b):\n    assert euclidean(100, 10) == 10\n\n' +
        '@pytest.mark.parametrize("a, b", [(0, 0)])\ndef test_gcd(a, b):\n    assert gcd(a, b) == expected\n' +
        '\n\n@pytest.mark.parametrize("a, b", [(1, 0)])\ndef test_lcm(a, b):\n    assert lcm(a, b)\n',
    );
  });

  it('replaces the function with its decorators, and nothing else', async () => {
    assert.equal(
      await edited(block(at, 'rewrite', 10, '@new\n@er\nasync def test_one(x):\n    return 3')),
      file.replace(
        '@dec\ndef test_one(x):\n    return 1  # old\n    # end of one\n',
        '@new\n@er\nasync def test_one(x):\n    return 3\n',
      ),
    );
  });

  it('finds a method by name, nearest to the line, at whatever indentation it is given', async () => {
    const changed = file.replace('return 2', 'return 4');
    for (const code of [
      'def test_one(self):\n    return 4',
      '    def test_one(self):\n        return 4',
      '\tdef test_one(self):\n\t\treturn 4',
    ]) {
      assert.equal(await edited(block(at, 'rewrite', 25, code)), changed);
      // A function that takes self is a method even if the line points elsewhere.
      assert.equal(await edited(block(at, 'rewrite', 10, code)), changed);
    }
    const two = '    def test_two(self):\n        raise E';
    assert.match(
      await edited(block(at, 'rewrite', 31, two)),
      /class TestB:\n {4}def test_two\(self\):\n {8}raise E\n$/,
    );
    assert.match(
      await edited(block(at, 'rewrite', 'BOF', two)),
      /Doc of A."""\n\n {4}def test_two\(self\):\n {8}raise E\n\n {4}def test_one/,
    );
    assert.deepEqual(await told({ [at]: file }, block(at, 'rewrite', 31, two)), [
      `info 5: ${at} has 2 of the name test_two; TestB.test_two in line 30 is the nearest to 31`,
    ]);
  });

  it('leaves text in strings as it is when it indents', async () => {
    const code =
      'def test_two(self):\n    """Doc.\n\n    More.\n    """\n    x = """\n  two\n"""\n    return x';
    const text = await edited(block(at, 'rewrite', 20, code));
    assert.ok(
      text.includes(
        '    def test_two(self):\n        """Doc.\n\n        More.\n        """\n        x = """\n  two\n"""\n        return x\n',
      ),
      text,
    );
  });

  it('rewrites each function of a block, with what stands between them', async () => {
    const code = 'HELP = 1\n\ndef test_one(x):\n    return HELP\n\ndef extra():\n    pass';
    const text = await edited(block(at, 'rewrite', 10, code));
    assert.ok(
      text.includes(
        '# about one\nHELP = 1\n\ndef test_one(x):\n    return HELP\n\ndef extra():\n    pass\n\n\nclass TestA',
      ),
      text,
    );
    assert.deepEqual(await told({ [at]: file }, block(at, 'rewrite', 10, code)), [
      'warning 7: test_one loses @dec',
      `warning 10: ${at} has no function extra`,
    ]);
  });

  it('does not double comments that the block repeats', async () => {
    const code = '# about one\n@dec\ndef test_one(x):\n    return 5';
    assert.equal((await edited(block(at, 'rewrite', 10, code))).match(/# about one/g)?.length, 1);
  });

  it('warns when a rewritten class loses methods', async () => {
    const text = block(
      at,
      'rewrite',
      15,
      'class TestA(Base):\n    def test_one(self):\n        pass',
    );
    assert.deepEqual(await told({ [at]: file }, text), ['warning 5: Class TestA loses test_two']);
  });

  it('adds imports that are missing to the imports', async () => {
    const code =
      'import os\nimport sys\nfrom m import (\n    b,\n    c as d,\n)\nfrom __future__ import annotations\n\ndef test_new():\n    pass';
    const text = await edited(block(at, 'insert', 'EOF', code));
    assert.ok(
      text.startsWith(
        '#!/usr/bin/env python\n"""Doc."""\n\nfrom __future__ import annotations\nimport os\nfrom m import a, b  # names\nimport sys\nfrom m import c as d\n\nLIMIT',
      ),
      text,
    );
    assert.ok(text.endsWith('        pass\n\n\ndef test_new():\n    pass\n'), text);
  });

  it('adds an import once that several blocks begin with', async () => {
    const code = (name: string): string => `from m import a, c\n\ndef ${name}():\n    pass`;
    const text = await edited(
      block(at, 'insert', 'EOF', code('test_x')) + block(at, 'rewrite', 10, code('test_one')),
    );
    assert.equal(text.match(/^from m import/gm)?.length, 2);
    assert.match(text, /^from m import c$/m);
  });

  it('keeps line ends that are mixed', async () => {
    const mixed = 'x = 1\r\ny = 2\ndef f():\r\n    pass\r\nz = 3\n';
    assert.equal(
      await edited(block(at, 'rewrite', 3, 'def f():\n    return'), mixed),
      mixed.replace('pass', 'return'),
    );
  });

  it('inserts at the end, the beginning and a line, apart from what is there', async () => {
    const code = 'def test_new():\n    pass';
    const lines = async (place: string | number, c = code): Promise<string> =>
      edited(block(at, 'insert', place, c));
    assert.equal(await lines('EOF'), `${file}\n\n${code}\n`);
    assert.equal(
      await lines('BOF'),
      file
        .replace('# names\n', `# names\n\n\n${code}\n`)
        .replace('pass\n\nLIMIT', 'pass\n\n\nLIMIT'),
    );
    assert.equal(await lines(1), await lines('BOF'));
    // Inside a function or class, insert after it. At its first line, insert before it and its
    // comments.
    assert.equal(await lines(11), file.replace('# end of one\n', `# end of one\n\n\n${code}\n`));
    assert.equal(await lines(9), file.replace('# about one\n', `\n${code}\n\n\n# about one\n`));
    assert.equal(await lines(999), await lines('EOF'));
  });

  it('inserts a method into the class around the line, or the last one', async () => {
    const code = '    def test_new(self):\n        pass';
    const lines = async (place: string | number, c = code): Promise<string> =>
      edited(block(at, 'insert', place, c));
    assert.equal(await lines('EOF'), `${file}\n${code}\n`);
    assert.equal(await lines(22), file.replace('return text\n', `return text\n\n${code}\n`));
    assert.equal(await lines(25), await lines(22));
    assert.equal(await lines(27), file.replace('return 2\n', `return 2\n\n${code}\n`));
    assert.equal(await lines(15), file.replace('    @mark', `${code}\n\n    @mark`));
    const bare = 'def test_new(self):\n    pass';
    assert.equal(await lines('EOF', bare), await lines('EOF'));
    assert.deepEqual(await told({ [at]: file }, block(at, 'insert', 'EOF', bare)), [
      'warning 5: test_new takes self, so it goes into class TestB',
    ]);
    assert.deepEqual(await told({ [at]: 'x = 1\n' }, block(at, 'insert', 'EOF', bare)), [
      'warning 5: test_new takes self, but there is no class at EOF',
    ]);
  });

  it('keeps several insertions at one place in their order', async () => {
    const text = await edited(
      block(at, 'insert', 'EOF', 'def test_x(): pass') +
        block(at, 'insert', 'EOF', 'def test_y(): pass'),
    );
    assert.ok(text.endsWith('pass\n\n\ndef test_x(): pass\n\n\ndef test_y(): pass\n'), text);
  });

  it('makes new files, also from several blocks', async () => {
    const code = 'import os\n\ndef test_x():\n    pass';
    const files = await result(
      {},
      block('a/test_n.py', 'insert', 'EOF', code) +
        block('a/test_n.py', 'insert', 'EOF', 'def test_y(): pass') +
        block('a/data.txt', 'insert', 1, 'some: text'),
    );
    assert.equal(files['a/test_n.py'], `${code}\n\n\ndef test_y(): pass\n`);
    assert.equal(files['a/data.txt'], 'some: text\n');
  });

  it('keeps CRLF, tabs and a missing newline at the end', async () => {
    const crlf = file.replaceAll('\n', '\r\n');
    const code = 'def test_one(self):\n    return 4';
    assert.equal(
      await edited(block(at, 'rewrite', 25, code), crlf),
      crlf.replace('return 2', 'return 4'),
    );
    const tabs = 'class A:\n\tdef f(self):\n\t\tif 1:\n\t\t\tpass\n';
    assert.equal(
      await edited(block(at, 'rewrite', 2, 'def f(self):\n    if 2:\n        pass'), tabs),
      tabs.replace('if 1', 'if 2'),
    );
    assert.equal(
      await edited(block(at, 'insert', 'EOF', 'def g(): pass'), 'x = 1'),
      'x = 1\n\n\ndef g(): pass\n',
    );
    assert.equal(
      await edited(block(at, 'rewrite', 1, 'def f(): return 2'), 'def f(): return 1\nx = 1'),
      'def f(): return 2\nx = 1',
    );
  });

  it('mends a missing end, at the next block, the fence or the end of the text', async () => {
    const open = (name: string): string => `diff\n${at}\ninsert\nEOF\ndef ${name}():\n    last()\n`;
    for (const text of [
      open('a') + open('b'),
      `\`\`\`\n${open('a')}${open('b')}\`\`\`\nProse.\n`,
      (open('a') + open('b')).trimEnd(),
    ]) {
      assert.ok(
        (await edited(text)).endsWith('\n\n\ndef a():\n    last()\n\n\ndef b():\n    last()\n'),
        text,
      );
      assert.equal(
        (await told({ [at]: file }, text)).filter((t) => t.startsWith('warning')).length,
        2,
      );
    }
    const fenced = block(at, 'insert', 'EOF', 'def f():\n    """\n```\n    x\n```\n    """');
    assert.ok((await edited(`\`\`\`\n${fenced}\`\`\`\n`)).endsWith('```\n    x\n```\n    """\n'));
    assert.ok(
      (await edited(block(at, 'insert', 'EOF', '```python\ndef f(): pass\n```'))).endsWith(
        '\n\ndef f(): pass\n',
      ),
    );
  });

  it('applies all blocks or none, and says what is wrong with each', async () => {
    const good = block(at, 'insert', 'EOF', 'def f(): pass');
    const cases: [string, RegExp][] = [
      [block(at, 'replace', 1, 'def f(): pass'), /error 9: Unknown keyword "replace"/],
      [
        block(at, 'insert', 'def f():', '    pass'),
        /error 9: The block does not say where to insert/,
      ],
      [
        block(at, 'rewrite', 1, 'def test_on():\n    pass'),
        /error 11: .* has no function test_on$/,
      ],
      [block('no.py', 'rewrite', 1, 'def f(): pass'), /error 8: There is no file no.py/],
      [block('../x.py', 'insert', 'EOF', 'def f(): pass'), /error 8: "..\/x.py" cannot be patched/],
      [block(at, 'rewrite', 10, 'x = 1'), /error 11: The block to rewrite contains no function/],
      [block(at, 'insert', 'EOF', 'def f(:\n    pass'), /error 11: The code has a syntax error/],
      [block(at, 'insert', 'EOF', ''), /error 7: The block contains no code/],
      [`diff\n${at}\n`, /error 8: The block ends before its code/],
      [
        block(at, 'rewrite', 15, 'class TestA:\n    pass') +
          block(at, 'rewrite', 25, 'def test_one(self):\n    pass'),
        /error 14: Another block changes line/,
      ],
    ];
    for (const [bad, message] of cases) {
      const { patch, diagnostics } = await convert({ [at]: file }, good + bad, 'custom');
      assert.equal(patch, '', bad);
      const all = diagnostics.map((d) => `${d.severity} ${d.line}: ${d.message}`);
      assert.ok(
        all.some((line) => message.test(line)),
        `${bad}\n${all.join('\n')}`,
      );
    }
    const { diagnostics } = await convert(
      { [at]: file },
      block(at, 'rewrite', 1, 'def test_tw(): pass'),
    );
    assert.match(diagnostics[0]?.hint ?? '', /^Did you mean TestA.test_two \(line 19\)/);
  });

  it('warns of a function that hides another', async () => {
    assert.deepEqual(
      await told({ [at]: file }, block(at, 'insert', 'EOF', 'def test_one(x):\n    pass')),
      [`warning 5: ${at} has test_one in line 10 already; the later one hides the other`],
    );
  });

  it('never throws and never changes lines that no block names, whatever is damaged', async () => {
    const whole =
      block(at, 'rewrite', 10, 'def test_one(x):\n    return 3') +
      block(at, 'insert', 'EOF', 'def g():\n    pass');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(16), fc.constantFrom('cut', 'double', 'indent', 'garble')), {
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
          const { patch } = await convert({ [at]: file }, lines.join('\n'), 'custom');
          if (patch === '') return;
          const parsed = parseUnified(patch);
          for (const f of parsed.files) {
            if (f.newPath !== at) assert.equal(f.kind, 'added');
            for (const l of f.hunks.flatMap((h) => h.lines)) {
              if (l.kind === 'removed')
                assert.ok((l.oldLine ?? 0) >= 8 && (l.oldLine ?? 0) <= 12, patch);
            }
          }
        },
      ),
      { numRuns: everydayRuns(300) },
    );
  });
});
