import assert from 'node:assert/strict';
import { parseCustom } from '../../../src/patch/custom/parseCustom';
import { readBlocks } from '../../../src/patch/custom/readBlocks';
import { writeCustom } from '../../../src/patch/custom/writeCustom';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';
import { at, block, edited, file, fixed, place, the } from './customSample';

describe('a block of the custom format loses no code', function () {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  const code = 'def test_new():\n    pass';

  it('when a lone carriage return puts two functions into what is one line', async () => {
    for (const before of [
      'def a():\r    pass\r\rdef b():\r    pass\r',
      'def b():\r    pass\r\rdef a():\r    pass\r',
      'x = 1\ndef b():\n    pass\rdef a():\n    pass\n',
    ]) {
      const text = block(at, 'rewrite', 4, 'def b():\n    return 1');
      const { diagnostics, edits } = await place(python, { [at]: before }, text);
      assert.deepEqual(edits, [], JSON.stringify(before));
      assert.equal(the(diagnostics, 'does-not-apply').severity, 'error');
    }
    // Characters of two UTF-16 units, a form feed and comments do not count as code.
    const sound = 'X = "\u{1F600}é"\n\x0cdef b(): return "\u{1F600}"  # "\u{1F600}\n\n\ny = 1\n';
    const text = block(at, 'rewrite', 2, 'def b():\n    return 1');
    assert.match(await edited(python, text, sound), /\ndef b\(\):\n {4}return 1\n\n\ny = 1\n$/);
  });

  it('that stands between two lines "end diff"', async () => {
    const one = block(at, 'insert', 'EOF', 'TEXT = 1');
    const text = `${one}\n${code}\nend diff\n${block(at, 'insert', 'BOF', 'y = 1')}`;
    const { diagnostics, blocks } = parseCustom(text);
    assert.equal(blocks.length, 2);
    const problem = the(diagnostics, 'malformed');
    assert.deepEqual([problem.severity, problem.line, problem.endLine], ['error', 8, 10]);
    const mended = fixed(text, problem, 'Remove the "end diff" before these lines');
    assert.deepEqual(parseCustom(mended).diagnostics, []);
    assert.match(await edited(python, mended), /\nTEXT = 1\n\ndef test_new\(\):\n {4}pass\n$/);
    const begun = fixed(text, problem, 'Start a block with these lines');
    assert.deepEqual(
      parseCustom(begun).blocks.map((each) => each.code),
      [['TEXT = 1'], code.split('\n'), ['y = 1']],
    );
    // The head of the first block is missing.
    const lost = the(parseCustom(`${code}\nend diff\n${one}`).diagnostics, 'malformed');
    assert.deepEqual([lost.severity, lost.line, lost.endLine], ['error', 1, 3]);
  });

  it('and "end diff" without code above it is only left out', () => {
    const one = block(at, 'insert', 'EOF', code);
    for (const between of ['', '\n', 'This test fails now.\n', '```\n\nThe end:\n\n']) {
      const text = `${one}${between}end diff\n${one.replace('test_new', 'test_other')}`;
      const { diagnostics, blocks } = parseCustom(text);
      assert.equal(blocks.length, 2);
      const problem = the(diagnostics, 'malformed');
      assert.equal(problem.severity, 'warning');
      assert.deepEqual(parseCustom(fixed(text, problem, 'Remove the line')).diagnostics, []);
    }
  });

  it('of a class when the answer ends within it', async () => {
    const before = 'class A:\n    def a(self):\n        pass\n\n    def b(self):\n        pass\n';
    const cut = `diff\n${at}\nrewrite\n1\nclass A:\n    def a(self):\n        return 1\n`;
    const { diagnostics, edits } = await place(python, { [at]: before }, cut);
    assert.deepEqual(edits, []);
    const problem = the(diagnostics, 'incomplete');
    assert.equal(problem.severity, 'error');
    assert.match(problem.message, /b/);
    // With its end, or with a closing fence, the answer is complete.
    for (const text of [`${cut}end diff\n`, `\`\`\`\n${cut}\`\`\`\n`]) {
      const whole = await place(python, { [at]: before }, text);
      assert.equal(the(whole.diagnostics, 'class-loses-methods').severity, 'warning');
      assert.equal(whole.edits.length, 1);
    }
  });

  it('when the file begins with a byte order mark', async () => {
    const before = '\ufeffimport os\ndef b():\n    pass\n';
    const text = block(at, 'rewrite', 2, 'import os\nimport sys\n\ndef b():\n    return 1');
    assert.equal(
      await edited(python, text, before),
      '\ufeffimport os\nimport sys\n\ndef b():\n    return 1\n',
    );
    const top = await edited(python, block(at, 'insert', 'BOF', code), '\ufeffx = 1\n');
    assert.equal(top, `\ufeff${code}\n\n\nx = 1\n`);
    const first = await edited(python, block(at, 'rewrite', '1-1', 'y = 1'), '\ufeffx = 1\n');
    assert.equal(first, '\ufeffy = 1\n');
    for (const [old, now] of [
      ['\ufeffimport os\nx = 1\n', '\ufeffimport os\nx = 2\n'],
      ['\ufeffx = 1\ny = 2\n', '\ufeffx = 2\ny = 2\n'],
      ['x = 1\ny = 2\n', '\ufeffx = 1\ny = 2\n'],
      [before, before.replace('pass', 'return 2')],
      [undefined, '\ufeffx = 1\n'],
    ] as const) {
      const written = writeCustom([{ path: at, before: old, after: now }], python);
      assert.deepEqual(written.left, [], JSON.stringify([old, now]));
      const { edits } = await place(python, { [at]: old }, written.text);
      assert.equal(edits[0]?.after, now);
    }
  });

  it('when a method goes to the end of a file whose last statement runs the tests', async () => {
    const guarded = `import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n\n\nif __name__ == '__main__':\n    unittest.main()\n`;
    const method = '    def test_b(self):\n        pass';
    for (const where of ['EOF', 11, 9, 8]) {
      const { diagnostics, edits } = await place(
        python,
        { [at]: guarded },
        block(at, 'insert', where, method),
      );
      assert.deepEqual(diagnostics, []);
      assert.equal(
        edits[0]?.after,
        guarded.replace(/pass\n/, `pass\n\n${method}\n`),
        String(where),
      );
    }
    // A function goes to the end, as the block says.
    const end = await edited(python, block(at, 'insert', 'EOF', code), guarded);
    assert.equal(end, `${guarded}\n\n${code}\n`);
  });

  it('when a method has no class there to go to', async () => {
    const before = `${file}\n\nx = 1\n`;
    const text = block(at, 'insert', 'EOF', '    def test_b(self):\n        pass');
    const { diagnostics, edits } = await place(python, { [at]: before }, text);
    assert.deepEqual(edits, []);
    const problem = the(diagnostics, 'no-class-here');
    assert.equal(problem.severity, 'error');
    const mended = fixed(text, problem, 'Insert it into class TestB');
    assert.match(
      await edited(python, mended, before),
      /class TestB:\n.*\n {8}pass\n\n {4}def test_b\(self\):\n {8}pass\n\n\nx = 1\n$/,
    );
    // At the margin, the author may mean a function.
    const flush = block(at, 'insert', 'EOF', 'def test_b(self):\n    pass');
    const placed = await place(python, { [at]: before }, flush);
    assert.equal(the(placed.diagnostics, 'no-class-here').severity, 'warning');
    assert.equal(placed.edits.length, 1);
  });

  it('and counts once when it is given twice, word for word', async () => {
    for (const one of [
      block(at, 'insert', 'EOF', code),
      block(at, 'rewrite', 10, 'def test_one(x):\n    return 4'),
      block(at, 'rewrite', '3-3', 'import sys'),
      block('tests/test_n.py', 'insert', 'EOF', code),
    ]) {
      const once = await place(python, { [at]: file }, one);
      const text = `${one}\n${block('tests/test_o.py', 'insert', 'EOF', 'x = 1')}\n${one}`;
      const { edits, diagnostics, plans } = await place(python, { [at]: file }, text);
      assert.equal(edits[0]?.after, once.edits[0]?.after);
      assert.deepEqual(
        plans.map(({ parts }) => parts.length > 0),
        [true, true, false],
      );
      const problem = the(diagnostics, 'duplicate');
      assert.equal(problem.severity, 'warning');
      const mended = fixed(text, problem, 'Remove the block');
      assert.deepEqual((await place(python, { [at]: file }, mended)).diagnostics, once.diagnostics);
    }
    const two = block(at, 'insert', 'EOF', code) + block(at, 'insert', 'BOF', code);
    assert.equal((await edited(python, two)).split('def test_new').length, 3);
  });

  it('when a new file would lie below one that is there', async () => {
    for (const [path, more] of [
      [`${at}/x.py`, ''],
      ['tests/test_n.py/x.py', block('tests/test_n.py', 'insert', 'EOF', 'x = 1')],
    ] as const) {
      const text = `${more}${block(path, 'insert', 'EOF', 'x = 1')}`;
      const { edits, diagnostics } = await place(python, { [at]: file }, text);
      assert.deepEqual(edits, []);
      assert.equal(the(diagnostics, 'file-exists').severity, 'error');
    }
  });

  it('and decorators that the block leaves out are told, with a fix that keeps them', async () => {
    const text = block(at, 'rewrite', 19, 'async def test_two(self):\n    return 1');
    const { diagnostics } = await place(python, { [at]: file }, text);
    const problem = the(diagnostics, 'loses-decorators');
    assert.equal(problem.severity, 'warning');
    assert.match(problem.message, /^TestA\.test_two loses @mark\("x"\)$/);
    const mended = fixed(text, problem, 'Keep the decorators');
    const after = await place(python, { [at]: file }, mended);
    assert.ok(after.diagnostics.every((each) => each.code !== 'loses-decorators'));
    assert.match(
      after.edits[0]?.after ?? '',
      /\n {4}@mark\("x"\)\n {4}async def test_two\(self\):\n {8}return 1\n/,
    );
  });

  it('of which two parts have one name', async () => {
    const before = 'def a():\n    return 1\n\n\ndef a():\n    return 2\n';
    const text = block(at, 'rewrite', 1, 'def a():\n    return 11\n\n\ndef a():\n    return 22');
    assert.equal(await edited(python, text, before), before.replace(/[12]/g, '$&$&'));
  });

  it('without a word when two blocks add one name in one place', async () => {
    const again = block(at, 'insert', 1, 'def test_new():\n    assert 1');
    const text = block(at, 'insert', 'EOF', code) + again;
    const { diagnostics, edits } = await place(python, { [at]: file }, text);
    assert.equal(edits.length, 1);
    const problem = the(diagnostics, 'name-exists');
    assert.deepEqual([problem.severity, problem.line], ['warning', 12]);
    assert.match(problem.message, /^test_new is added in line 5 as well as in line 12;/);
    const mended = fixed(text, problem, 'Remove the block that adds test_new again');
    assert.deepEqual((await place(python, { [at]: file }, mended)).diagnostics, []);
    // In another class, or as an accessor or overload, a definition does not hide another of the
    // same name.
    const method = (line: number, name: string, above = ''): string =>
      block(at, 'insert', line, `${above}    def ${name}(self):\n        pass`);
    const apart =
      block(at, 'insert', 'EOF', code) +
      method(26, 'test_new') +
      method(31, 'test_new') +
      method(26, 'x', '    @property\n') +
      method(26, 'x', '    @x.setter\n');
    assert.deepEqual((await place(python, { [at]: file }, apart)).diagnostics, []);
  });

  it('and is not read where a line is so long that reading takes minutes', async () => {
    const long = '> '.repeat(20_000);
    for (const action of ['insert', 'rewrite']) {
      const text = block(at, action, 10, `def test_one(x):\n    ${long}`);
      const { diagnostics, edits } = await place(python, { [at]: file }, text);
      assert.deepEqual(edits, []);
      const problem = the(diagnostics, 'python-syntax');
      assert.deepEqual([problem.severity, problem.line], ['error', 6]);
      assert.match(problem.message, /^The line has 40004 characters; code with more than 10000 /);
    }
    const sound = `def test_new():\n    assert f("${long}") == 1`;
    const { diagnostics } = await place(python, { [at]: file }, block(at, 'insert', 'EOF', sound));
    assert.deepEqual(diagnostics, []);
  });

  it('and keeps imports together that go to one place', async () => {
    const before = 'if X:\n    pass\n';
    const text = block(at, 'insert', 'EOF', `from a import B\nimport sys\n\n${code}`);
    assert.equal(
      await edited(python, text, before),
      `from a import B\nimport sys\n\n${before}\n\n${code}\n`,
    );
  });
});

describe('the blocks of a text', () => {
  it('end with their own end, where the next begins, or with the fence around them', () => {
    const fence = '```';
    const text = [
      ...['diff', 'diff', at, 'insert', 'EOF', 'x = 1', fence, 'y = 1', fence],
      ...['diff', at, 'insert', 'EOF', 'z = 1', 'end diff'],
      ...[at, 'insert', 'EOF', 'u = 1', fence],
      ...['diff', 'prose', '1 diff', `2 ${at}`, '3 insert', '4 EOF', '5 v = 1', '6 end diff'],
    ].join('\n');
    assert.deepEqual(
      readBlocks(text).map(({ line, endLine, lines }) => [line, endLine, ...lines]),
      [
        [1, 6, 'x = 1'],
        [10, 15, 'z = 1'],
        [16, 22, 'u = 1', fence, 'diff', 'prose'],
        [23, 28, 'v = 1'],
      ],
    );
  });
});
