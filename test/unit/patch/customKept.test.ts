import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readBlocksOfLines, type BlocksRead } from '../../../src/patch/custom/readBlocks';
import { parseCustom } from '../../../src/patch/custom/parseCustom';
import { editFile } from '../../../src/patch/custom/customEdits';
import { findFault, readModule } from '../../../src/python/module';
import { PartedModule } from '../../../src/python/partedModule';
import type { PythonParser } from '../../../src/python/parser';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';

const lines = [
  'diff',
  'tests/test_a.py',
  'insert',
  'rewrite',
  'EOF',
  '3',
  '3-4',
  'def f():',
  '    return 1',
  'end diff',
  '12 diff',
  '13 tests/test_a.py',
  '```',
  '',
  'prose',
];
const whole = ['diff', 'tests/test_a.py', 'rewrite', '3', 'def f():', '    return 1', 'end diff'];
const someLines = fc
  .array(
    fc.oneof(
      fc.constant(whole),
      fc.constantFrom(...lines).map((line) => [line]),
    ),
    {
      maxLength: 30,
    },
  )
  .map((parts) => parts.flat());

describe('what is kept of a custom diff that is being written', () => {
  it('is what reading it anew gives', () => {
    const edit = fc.record({
      at: fc.nat({ max: 60 }),
      removed: fc.nat({ max: 4 }),
      added: fc.array(fc.constantFrom(...lines), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(someLines, fc.array(edit, { maxLength: 4 }), (text, edits) => {
        let now = text;
        let read: BlocksRead = readBlocksOfLines(now);
        for (const { at, removed, added } of edits) {
          now = now.toSpliced(Math.min(at, now.length), removed, ...added);
          read = readBlocksOfLines(now, read);
          assert.deepEqual(read.blocks, readBlocksOfLines(now).blocks);
        }
      }),
      { numRuns: everydayRuns(1000) },
    );
  });

  it('holds the very blocks that stand where they stood', () => {
    const text = [...whole, '', ...whole, '', ...whole, '', ...whole, ''];
    const before = readBlocksOfLines(text);
    const after = readBlocksOfLines(text.with(21, '    return 2'), before);
    assert.notDeepEqual(after.blocks[2], before.blocks[2]);
    for (const i of [0, 3]) assert.equal(after.blocks[i], before.blocks[i]);
  });
});

/** Parts of a module without errors, with positions where an insertion can go wrong. */
const pieces = [
  'import os\n',
  '"""d"""; x = (\n    1,\n)\n',
  'x = 1 \\\n\n',
  'text = """\n# not a comment\n"""\n',
  '# about it\n',
  'def f(a):\n    return a\n',
  'def f(a): return a; b = (\n    2)\n',
  '@dec\nasync def g():\n    def f():\n        pass\n    # end\n',
  'class A:\n    """# doc\n    # of A"""\n    x = 1\n\n    # about f\n    def f(self):\n        return 1\n\n    @property\n    def p(self): return 2\n',
  'class B: \\\n    pass\n',
  'class C:\n  y = """\n  # text"""\n  def f(self):\n    if y:\n      def g(): pass\n',
  'if __name__ == "__main__":\n    main()\n',
  '\n',
];
const codes = [
  'def f():\n    return """\nflush"""',
  'def f(a, b): pass',
  'class A:\n    def f(self):\n        pass',
  '    def f(self):\n        pass\n\n    def new(self):\n        x = (1,\n  2)',
  '    y = 3',
  '    def f(self): pass\nx = 1',
  'import os\nfrom m import n\n\ndef new():\n  if 1:\n    pass',
  'def p(self):\n    return 3  # \\',
  'class B:\n    z = 1\n\n\ndef g():\n    pass',
  'def t():\n\treturn 1',
];

describe('placing blocks of the custom format', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  const block = fc.record({
    action: fc.constantFrom('rewrite', 'insert'),
    place: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom('EOF', 'BOF')),
    code: fc.constantFrom(...codes),
  });
  const modules = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
    .map((all) => all.join(''));

  it('never makes a syntax error of sound code in a sound file without a word', () => {
    let changed = 0;
    fc.assert(
      fc.property(modules, fc.array(block, { minLength: 1, maxLength: 3 }), (before, all) => {
        if (findFault(python, before) !== undefined) return;
        const text = all
          .map(({ action, place, code }) => `diff\na.py\n${action}\n${place}\n${code}\nend diff\n`)
          .join('');
        const { blocks } = parseCustom(text);
        const { after } = editFile({ path: 'a.py', before, blocks, python });
        if (after === undefined) return;
        changed += 1;
        assert.equal(findFault(python, after), undefined, `${text}\n=====\n${after}`);
      }),
      { numRuns: everydayRuns(1500) },
    );
    assert.ok(changed > everydayRuns(300), `${changed} files were changed`);
  });

  it('knows of a file read in parts what it knows of the whole', () => {
    // Each ends with a line end: what the grammar reads from joined words is not a name.
    const broken = [
      ...['def (\n', 'class A\n', '"""\n', ')\n'],
      ...['def f(x)\n  return\n', 'def\u00a0f(): pass\n'],
    ];
    const texts = fc
      .array(fc.constantFrom(...pieces, ...broken), { maxLength: 8 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(texts, fc.constantFrom('f', 'A', 'g', 'new'), (source, name) => {
        const eager = readModule(python, source);
        const named = eager.definitions.filter((each) => each.name === name);
        assert.deepEqual(new PartedModule(python, source).named(name), named);
        const parted = new PartedModule(python, source);
        assert.equal(parted.hasError, eager.errorLine !== undefined);
        assert.deepEqual(parted.imports, eager.imports);
        assert.deepEqual(parted.guarded, eager.guarded);
        assert.equal(parted.errorLine, eager.errorLine);
        const down = [...new PartedModule(python, source).modules(1)];
        assert.deepEqual(
          down.flatMap((module) => module.statements),
          eager.statements,
        );
      }),
      { numRuns: everydayRuns(600) },
    );
  });
});
