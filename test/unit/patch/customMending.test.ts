import assert from 'node:assert/strict';
import { parseCustom } from '../../../src/patch/custom/parseCustom';
import { readBlockParts } from '../../../src/patch/custom/readBlocks';
import { withoutNumbers } from '../../../src/patch/custom/withoutNumbers';
import { hasErrors } from '../../../src/patch/diagnostic';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';
import { at, block, edited, file, fixed, place, the } from './customSample';

describe('what is wrong with a block of the custom format', function () {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  const code = 'def test_new():\n    pass';

  it('is an unknown keyword, with the likelier one first', () => {
    for (const [word, likely] of [
      ['replace', 'rewrite'],
      ['add', 'insert'],
      ['< "rewrite" or "insert" >', 'rewrite'],
    ] as const) {
      const text = block(at, word, 'EOF', code);
      const problem = the(parseCustom(text).diagnostics, 'unknown-keyword');
      assert.equal(problem.severity, 'error');
      assert.equal(problem.line, 3);
      assert.equal(problem.fixes?.[0]?.title, `Write "${likely}"`);
      const mended = parseCustom(fixed(text, problem, `Write "${likely}"`));
      assert.deepEqual(mended.diagnostics, []);
      assert.equal(mended.blocks[0]?.action, likely);
    }
  });

  it('is an unknown or missing place, with fixes that read', () => {
    const unknown = block(at, 'insert', 'after line 12', code);
    const problem = the(parseCustom(unknown).diagnostics, 'unknown-place');
    assert.equal(problem.line, 4);
    assert.equal(parseCustom(fixed(unknown, problem, 'Write 12')).blocks[0]?.place, 12);
    assert.equal(parseCustom(fixed(unknown, problem, 'Write BOF')).blocks[0]?.place, 'BOF');
    const missing = `diff\n${at}\ninsert\n${code}\nend diff\n`;
    const gap = the(parseCustom(missing).diagnostics, 'unknown-place');
    assert.equal(gap.line, 3);
    const { blocks, diagnostics } = parseCustom(fixed(missing, gap, 'Write EOF'));
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(blocks[0]?.code, code.split('\n'));
  });

  it('is a missing keyword or path', () => {
    const noKeyword = `diff\n${at}\n12\n${code}\nend diff\n`;
    const problem = the(parseCustom(noKeyword).diagnostics, 'unknown-keyword');
    const { blocks } = parseCustom(fixed(noKeyword, problem, 'Write "rewrite"'));
    assert.deepEqual([blocks[0]?.action, blocks[0]?.place], ['rewrite', 12]);
    the(parseCustom(`diff\ninsert\nEOF\n${code}\nend diff\n`).diagnostics, 'missing-header');
  });

  it('is mended where only "diff" or "end diff" is missing, or a line of the head stands twice', async () => {
    const whole = block(at, 'insert', 'EOF', code);
    const expected = await edited(python, whole);
    const cases = [
      [whole.replace('end diff\n', ''), 'missing-end', 'Write "end diff" after the code'],
      [whole.replace('diff\n', ''), 'missing-header', 'Write "diff" above the path'],
      [whole.replace('diff\n', 'diff\ndiff\n'), 'duplicate', 'Remove the line'],
      [whole.replace(at, `${at}\n${at}`), 'duplicate', 'Remove the line'],
      [whole.replace('insert', 'insert\ninsert'), 'duplicate', 'Remove the line'],
      [whole.replace('EOF', 'EOF\nEOF'), 'duplicate', 'Remove the line'],
    ] as const;
    for (const [text, kind, title] of cases) {
      const { diagnostics } = parseCustom(text);
      assert.equal(await edited(python, text), expected, text);
      const problem = the(diagnostics, kind);
      assert.equal(problem.severity, 'warning');
      assert.equal(fixed(text, problem, title), whole);
    }
  });

  it('is mended when every line is indented or the text has CRLF', async () => {
    const whole = block(at, 'rewrite', 25, '    def test_one(self):\n        return 4');
    const expected = file.replace('return 2', 'return 4');
    for (const text of [whole.replace(/^(?=.)/gm, '  '), whole.replaceAll('\n', '\r\n')]) {
      assert.equal(await edited(python, text), expected);
    }
  });

  it('is a number before each line, as models echo them', async () => {
    const expected = await edited(
      python,
      block(at, 'rewrite', 25, 'def test_one(self):\n    return 4'),
    );
    const lines = ['    def test_one(self):', '        x = 4', '', '        return 4'];
    const plain = block(at, 'rewrite', 25, lines.join('\n'));
    const numbered = (write: (n: number, line: string) => string): string =>
      block(at, 'rewrite', 25, lines.map((line, i) => write(98 + i, line)).join('\n'));
    for (const text of [
      numbered((n, line) => `${n} ${line}`),
      numbered((n, line) => `${n}| ${line}`),
      numbered((n, line) => `${n}: ${line}`),
      numbered((n, line) => `${n}\t${line}`),
      numbered((n, line) => `${String(n).padStart(6)} | ${line}`),
      numbered((n, line) => `${String(n).padStart(4)} ${line}`),
      numbered((n, line) => (line === '' ? '' : `${n} ${line}`)),
      // The whole block, including its head and end.
      plain
        .trimEnd()
        .split('\n')
        .map((line, i) => `${i + 1} ${line}`)
        .join('\n'),
    ]) {
      assert.equal(
        await edited(python, text),
        expected.replace('return 4', 'x = 4\n\n        return 4'),
        text,
      );
      const problem = the(parseCustom(text).diagnostics, 'numbered-lines');
      assert.equal(problem.severity, 'warning');
    }
    const text = numbered((n, line) => `${n} ${line}`);
    const problem = the(parseCustom(text).diagnostics, 'numbered-lines');
    assert.equal(fixed(text, problem, 'Remove the line numbers'), plain);
    // Only the first line, as in the issue.
    assert.match(
      await edited(python, block(at, 'insert', 'EOF', '12 def test_new():\n    return 12')),
      /\ndef test_new\(\):\n {4}return 12\n$/,
    );
  });

  it('takes no number for one of a line that is not', () => {
    for (const lines of [['x = 1', '2'], ['1', '3'], ['def f():', '    return 1'], ['5'], ['']]) {
      assert.equal(withoutNumbers(lines), undefined, lines.join('|'));
    }
    const data = block('tests/data.txt', 'insert', 'EOF', '1 a\n2 b');
    assert.deepEqual(parseCustom(data).blocks[0]?.code, ['1 a', '2 b']);
  });

  it('leaves the word "diff" in prose alone', async () => {
    const text = `Here is the\n\ndiff\n\nthat you wanted:\n\n${block(at, 'insert', 'EOF', code)}`;
    assert.equal(parseCustom(text).blocks.length, 1);
    assert.deepEqual(parseCustom(text).diagnostics, []);
    assert.match(await edited(python, text), /def test_new/);
  });

  it('reads the parts of a block while it is typed', () => {
    const whole = block(at, 'insert', 'EOF', code);
    const lines = whole.trimEnd().split('\n');
    const missing = lines.map(
      (_, i) => readBlockParts(lines.slice(0, i + 1).join('\n'))[0]?.missing,
    );
    assert.deepEqual(missing, [
      ['path', 'keyword', 'place', 'code', 'end'],
      ['keyword', 'place', 'code', 'end'],
      ['place', 'code', 'end'],
      ['code', 'end'],
      ['end'],
      ['end'],
      [],
    ]);
    const [parts] = readBlockParts(`Prose.\n\n${whole}`);
    assert.deepEqual(parts?.path, { line: 4, column: 0, value: at });
    assert.deepEqual(parts?.code, { from: 7, to: 9 });
    assert.deepEqual([parts?.line, parts?.end, parts?.endLine], [3, 9, 9]);
  });

  it('is a path, with the files that it may stand for', async () => {
    const files = { [at]: file, 'tests/test_other.py': 'x = 1\n' };
    const body = 'def test_one(x):\n    return 3';
    for (const path of ['test_f.py', 'tests/test_ff.py', '/testbed/tests/test_f.py', `a/${at}`]) {
      const text = block(path, 'rewrite', 10, body);
      const { diagnostics, edits } = await place(python, files, text);
      assert.deepEqual(edits, []);
      const [problem] = diagnostics.filter((d) => d.severity === 'error');
      assert.ok(problem?.code === 'unknown-file' || problem?.code === 'unsafe-path');
      const after = await place(python, files, fixed(text, problem, `Write ${at}`));
      assert.ok(!hasErrors(after.diagnostics), path);
      assert.equal(after.edits[0]?.path, at);
    }
    const fresh = await place(python, files, block('test_f.py', 'insert', 'EOF', code));
    assert.equal(the(fresh.diagnostics, 'unknown-file').severity, 'info');
    assert.equal(fresh.edits[0]?.after, `${code}\n`);
  });

  it('is an edit outside the tests, where that is asked for', async () => {
    const text = block('setup.py', 'insert', 'EOF', 'x = 1');
    assert.deepEqual((await place(python, { 'setup.py': 'y = 1\n' }, text)).diagnostics, []);
    const { diagnostics } = await place(python, { 'setup.py': 'y = 1\n' }, text, true);
    assert.deepEqual(
      [the(diagnostics, 'outside-tests').severity, the(diagnostics, 'outside-tests').line],
      ['warning', 2],
    );
    assert.deepEqual(
      (await place(python, {}, block(at, 'insert', 'EOF', code), true)).diagnostics,
      [],
    );
  });

  it('is a name that no function has, with each near one as a fix', async () => {
    const text = block(at, 'rewrite', 1, 'def test_tw(self):\n    pass');
    const { diagnostics, edits } = await place(python, { [at]: file }, text);
    assert.deepEqual(edits, []);
    const problem = the(diagnostics, 'unknown-function');
    assert.equal(problem.line, 5);
    assert.match(problem.hint ?? '', /^Did you mean TestA.test_two \(line 19\)/);
    const mended = fixed(text, problem, 'Rewrite TestB.test_two (line 30)');
    assert.match(
      await edited(python, mended),
      /class TestB:\n {4}def test_two\(self\):\n {8}pass\n$/,
    );
    const added = fixed(text, problem, 'Insert test_tw as a new one');
    assert.match(await edited(python, added), /def test_tw/);
  });

  it('takes the closest name only near the line, and says so', async () => {
    const before = `${file}\n\ndef test_euclidean():\n    pass\n`;
    const text = (line: number | string): string =>
      block(at, 'rewrite', line, 'def test_euclidian():\n    return 1');
    for (const where of [34, 25, 'EOF']) {
      const { diagnostics, edits } = await place(python, { [at]: before }, text(where));
      const problem = the(diagnostics, 'closest-name');
      assert.equal(problem.severity, 'warning');
      assert.match(problem.message, /no function test_euclidian; test_euclidean in line 34/);
      assert.equal(
        edits[0]?.after,
        before.replace('test_euclidean():\n    pass', 'test_euclidian():\n    return 1'),
      );
      const renamed = fixed(text(where), problem, 'Rewrite test_euclidean (line 34)');
      assert.deepEqual((await place(python, { [at]: before }, renamed)).diagnostics, []);
    }
    for (const where of ['BOF', 23]) {
      const far = await place(python, { [at]: before }, text(where));
      assert.equal(the(far.diagnostics, 'unknown-function').severity, 'error');
      assert.deepEqual(far.edits, []);
    }
    // Names that differ in a number belong to different tests.
    const numbers = 'def test_issue_12():\n    pass\n';
    const other = block(at, 'rewrite', 1, 'def test_issue_13():\n    pass');
    the((await place(python, { [at]: numbers }, other)).diagnostics, 'unknown-function');
  });

  it('is a syntax error, in the block or in what becomes of the file', async () => {
    const bad = await place(
      python,
      { [at]: file },
      block(at, 'insert', 'EOF', 'def f(:\n    pass'),
    );
    assert.equal(the(bad.diagnostics, 'python-syntax').line, 5);
    assert.deepEqual(bad.edits, []);
    for (const code of ['def f():\n    x\n  y', 'def f():\n    x\n      y', 'x = 1\n  y = 2']) {
      const odd = await place(python, { [at]: file }, block(at, 'insert', 'EOF', code));
      assert.ok([6, 7].includes(the(odd.diagnostics, 'python-syntax').line), code);
    }
    const half = 'try:\n    def f(): pass\nexcept E:\n    pass\n';
    const text = block(at, 'rewrite', 2, '    def f(): pass\nx = 1');
    const split = await place(python, { [at]: half }, text);
    assert.equal(the(split.diagnostics, 'python-syntax').severity, 'error');
    assert.deepEqual(split.edits, []);
  });

  it('places what it can of several blocks, and none of them is applied', async () => {
    const text =
      block(at, 'rewrite', 10, 'def test_one(x):\n    return 3') + block(at, 'add', 1, code);
    const { plans, diagnostics } = await place(python, { [at]: file }, text);
    assert.ok(hasErrors(diagnostics));
    const [part] = plans[0]?.parts ?? [];
    assert.deepEqual([part?.kind, part?.from, part?.to], ['rewrite', 9, 13]);
    assert.equal(part?.definition?.qualifiedName, 'test_one');
    assert.deepEqual(part?.source, { from: 5, to: 7 });
  });
});
