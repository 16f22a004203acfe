import assert from 'node:assert/strict';
import { toUnified, type AskedFormat, recognise } from './formats';
import type { Conversion } from '../../../src/patch/toUnified';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';

let python: PythonParser;
before(async function () {
  python = await loadParser();
});
after(() => python.dispose());

const files: Record<string, string> = {
  'tests/test_a.py': 'def test_a():\n    x = 1\n    assert x < 2\n',
  'tests/test_b.py': 'def test_b():\n    pass\n',
  'src/code.py': 'X = 1\n',
};

function convert(
  text: string,
  format: AskedFormat = 'auto',
  testsOnly = false,
): Promise<Conversion> {
  const tree = { read: (path: string) => Promise.resolve(files[path]) };
  return toUnified(text, { format, tree, python, testsOnly });
}

const told = ({ diagnostics }: Conversion): string[] =>
  diagnostics.map((d) => `${d.severity} ${d.line} ${d.code}`);

const diff = (value: number): string =>
  `--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1,3 +1,3 @@\n def test_a():\n-    x = 1\n+    x = ${value}\n     assert x < 2\n`;
const other =
  '--- a/tests/test_b.py\n+++ b/tests/test_b.py\n@@ -1,2 +1,2 @@\n def test_b():\n-    pass\n+    raise E\n';
const stray = '--- a/src/code.py\n+++ b/src/code.py\n@@ -1 +1 @@\n-X = 1\n+X = 2\n';
const block = (path: string, search: string, replace: string): string =>
  `${path}\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;
const custom = (path: string, value: number): string =>
  `diff\n${path}\nrewrite\n1\ndef test_a():\n    x = ${value}\nend diff\n`;
const fenced = (text: string, info = 'diff'): string => `\`\`\`${info}\n${text}\`\`\`\n`;

async function value(
  text: string,
  format: AskedFormat = 'auto',
): Promise<[string | undefined, string[]]> {
  const converted = await convert(text, format);
  const now = converted.files.get('tests/test_a.py');
  return [/x = (\d+)/.exec(now ?? '')?.[1], told(converted)];
}

describe('recognise', () => {
  it('tells the format of a whole answer', () => {
    const cases: [string, Conversion['format']][] = [
      [`Sure.\n${fenced(block('a.py', 'x', 'y'), 'python')}`, 'search-replace'],
      [block('a.py', 'x', 'y'), 'search-replace'],
      [fenced(diff(2)), 'unified'],
      [
        `${fenced('def test_a():\n    pass\n', 'python')}\n${fenced(custom('a.py', 1), 'custom-diff')}`,
        'custom',
      ],
      // One format inside another: the outer one is meant.
      [custom('a.py', 1).replace('x = 1', `x = """\n${diff(3)}"""`), 'custom'],
      [block('a.py', 'x', diff(3).trimEnd()), 'search-replace'],
      [fenced('def test_a():\n    pass\n', 'python'), 'unknown'],
    ];
    for (const [text, format] of cases) assert.equal(recognise(text, 'auto').format, format, text);
  });

  it('keeps line numbers when it leaves parts out', () => {
    const text = `${fenced(diff(2))}Better:\n${fenced(diff(3))}`;
    const found = recognise(text, 'auto');
    assert.equal(found.text.split('\n').length, text.split('\n').length);
    assert.equal(found.text.split('\n')[17], text.split('\n')[17]);
  });
});

describe('toUnified of whole answers', function () {
  it('takes the blocks together that change different things', async () => {
    const converted = await convert(`First:\n${fenced(diff(5))}Second:\n${fenced(other)}Done.\n`);
    assert.deepEqual([...converted.files.keys()], ['tests/test_a.py', 'tests/test_b.py']);
    assert.deepEqual(
      told(converted).filter((line) => !line.endsWith('undefined')),
      [],
    );
  });

  it('takes the later of two that say the same, and says so', async () => {
    const warned = ['warning 2 several-answers'];
    for (const of of [diff, (n: number) => custom('tests/test_a.py', n)]) {
      const [found, lines] = await value(`${fenced(of(4))}Wait:\n${fenced(of(5))}`);
      assert.deepEqual([found, lines.filter((line) => line.endsWith('answers'))], ['5', warned]);
    }
    const sr = (n: number): string => block('tests/test_a.py', '    x = 1', `    x = ${n}`);
    const [found, lines] = await value(`${fenced(sr(4))}Wait:\n${fenced(sr(5))}`);
    assert.deepEqual([found, lines], ['5', ['warning 3 several-answers']]);
  });

  it('takes the earlier one when the later one is cut off', async () => {
    const cut = diff(5).split('\n').slice(0, 5).join('\n');
    const [found, lines] = await value(`${fenced(diff(4))}Wait:\n\`\`\`diff\n${cut}\n`);
    assert.equal(found, '4');
    assert.ok(lines.includes('warning 12 several-answers'), lines.join('\n'));
  });

  it('leaves patches in the reasoning out when there are others', async () => {
    for (const open of ['<think>\n', '']) {
      const text = `${open}Maybe ${fenced(stray)}\n${diff(7)}</think>\nHere:\n${fenced(diff(8))}`;
      const converted = await convert(text);
      assert.deepEqual([...converted.files.keys()], ['tests/test_a.py']);
      assert.ok(told(converted).some((line) => /^info \d+ several-answers$/.test(line)));
      assert.match(converted.patch, /x = 8/);
    }
    const [found] = await value(`<think>\n${fenced(diff(6))}</think>\nDone.\n`);
    assert.equal(found, '6');
  });

  it('takes the format that comes last, unless the other changes other files', async () => {
    const [found, lines] = await value(
      `${fenced(diff(4))}Or:\n${fenced(block('tests/test_a.py', '    x = 1', '    x = 9'))}`,
    );
    assert.equal(found, '9');
    assert.deepEqual(
      lines.filter((line) => line.includes('several')),
      ['warning 2 several-answers'],
    );
    const mixed = `${fenced(other)}And:\n${fenced(block('tests/test_a.py', '    x = 1', '    x = 9'))}`;
    const converted = await convert(mixed);
    assert.deepEqual([converted.patch, told(converted)], ['', ['error 2 several-answers']]);
    // Unless the format is given.
    assert.equal((await value(mixed, 'search-replace'))[0], '9');
  });

  it('refuses an answer that ends within a hunk', async () => {
    for (const format of ['auto', 'unified', 'fuzzy'] as const) {
      const text = `Here:\n\`\`\`diff\n${diff(4).split('\n').slice(0, 5).join('\n')}`;
      const converted = await convert(text, format);
      assert.equal(converted.patch, '', format);
      assert.ok(told(converted).includes('error 5 incomplete'), told(converted).join('\n'));
    }
  });

  it('is not led astray by a fence around fences, or one in the code', async () => {
    assert.equal((await value(`\`\`\`\`markdown\n${fenced(diff(4))}\`\`\`\`\n`))[0], '4');
    const text = custom('tests/test_a.py', 4).replace('x = 4', 'x = 4\n    y = """\n```\n"""');
    const converted = await convert(fenced(text, ''));
    assert.match(converted.files.get('tests/test_a.py') ?? '', /x = 4\n {4}y = """\n```\n"""/);
  });

  it('mends what a web page or Windows does to a text', async () => {
    const cases: [string, string, string?][] = [
      ['a byte order mark', `\ufeff${diff(4)}`],
      ['Windows line ends', diff(4).replaceAll('\n', '\r\n')],
      [
        'no-break spaces',
        diff(4).replace(/^ /gm, '\u00a0').replaceAll('    ', '\u00a0   '),
        'white-space',
      ],
      ['HTML entities', diff(4).replaceAll('<', '&lt;'), 'malformed'],
      [
        'HTML entities of markers',
        block('tests/test_a.py', '    x = 1', '    x = 4')
          .replaceAll('<', '&lt;')
          .replaceAll('>', '&gt;'),
        'malformed',
      ],
      [
        'no-break spaces in code',
        custom('tests/test_a.py', 4).replace('    x', '\u00a0\u00a0\u00a0\u00a0x'),
        'white-space',
      ],
      ['blank context lines without their blank', diff(4)],
    ];
    for (const [name, text, code] of cases) {
      const [found, lines] = await value(text);
      assert.equal(found, '4', `${name}: ${lines.join('; ')}`);
      if (code !== undefined)
        assert.ok(
          lines.some((line) => line.endsWith(code)),
          `${name}: ${lines.join()}`,
        );
    }
  });

  it('names formats that it does not know', async () => {
    const cases: [string, string][] = [
      [
        '*** Begin Patch\n*** Update File: tests/test_a.py\n@@\n-    x = 1\n+    x = 2\n*** End Patch\n',
        'apply_patch',
      ],
      ['*** tests/test_a.py\n--- tests/test_a.py\n***************\n*** 1,2 ****\n', 'context diff'],
      ['{"path": "a.py", "old_str": "x", "new_str": "y"}', 'editing tool'],
    ];
    for (const [text, name] of cases) {
      const { diagnostics, patch } = await convert(text);
      assert.equal(patch, '');
      assert.equal(diagnostics[0]?.code, 'unknown-format');
      assert.ok(diagnostics[0].message.includes(name), diagnostics[0].message);
    }
  });
});

describe('toUnified of tests only', function () {
  const cases: [AskedFormat, string][] = [
    ['unified', stray + diff(4)],
    ['fuzzy', stray + diff(4)],
    ['unified', stray.replace('-X = 1', '-X = 7') + diff(4)],
    ['custom', custom('src/code.py', 1) + custom('tests/test_a.py', 4)],
    [
      'search-replace',
      block('src/code.py', 'X = 1', 'X = 2') + block('tests/test_a.py', '    x = 1', '    x = 4'),
    ],
    [
      'search-replace',
      block('setup.cfg', 'no such', '') + block('tests/test_a.py', '    x = 1', '    x = 4'),
    ],
  ];
  for (const [i, [format, text]] of cases.entries()) {
    it(`leaves edits of other files out and reports them: ${format} (${i + 1})`, async () => {
      const converted = await convert(text, format, true);
      assert.deepEqual([...converted.files.keys()], ['tests/test_a.py'], told(converted).join());
      assert.equal(converted.left.length, 1);
      assert.equal(
        told(converted).filter((line) => /^warning \d outside-tests$/.test(line)).length,
        1,
      );
      assert.doesNotMatch(converted.patch, /src\/code|setup/);
    });
  }

  it('is an error when nothing stays', async () => {
    const converted = await convert(stray, 'auto', true);
    assert.equal(converted.patch, '');
    assert.deepEqual(told(converted), ['warning 1 outside-tests', 'error 1 outside-tests']);
    assert.deepEqual(converted.left, ['src/code.py']);
  });

  it('leaves a file out that is moved out of the tests', async () => {
    const moved =
      'diff --git a/tests/test_b.py b/src/b.py\nsimilarity index 100%\nrename from tests/test_b.py\nrename to src/b.py\n';
    const converted = await convert(diff(4) + moved, 'auto', true);
    assert.deepEqual([...converted.files.keys()], ['tests/test_a.py']);
    assert.deepEqual(converted.left, ['src/b.py']);
  });

  it('changes nothing of a patch of tests alone', async () => {
    const converted = await convert(diff(4), 'auto', true);
    assert.deepEqual(converted, await convert(diff(4)));
  });
});
