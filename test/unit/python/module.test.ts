import assert from 'node:assert/strict';
import fc from 'fast-check';
import { moduleIn, readModule, segmentsOf } from '../../../src/python/module';
import type { PythonParser } from '../../../src/python/parser';
import { everydayRuns } from '../../everyday';
import { loadParser } from './loadParser';

const pieces = [
  'def f(a, b=(1, 2)):\n    return a\n',
  'async def g():\n    await x\n',
  'class A(B):\n    """é 𝒳\n\ndef doc():\n    """\n\n    @mark\n    def m(self):\n        pass\n    # below\n',
  '@mark\n@other(\n    1,\n)\n# why\nclass C:\n    pass\n',
  '@one\ndef d(): return "#"; x = 1\n',
  'import os\nfrom a import (\n    b,\n    c as d,\n)\n',
  'try:\n    import json\nexcept ImportError:\n    json = None\nelse:\n    y = 1\n',
  'text = """\ndef not_one():\n    pass\n@x\nclass Nor:\n    """\n',
  "raw = r'\\' + '\"\"\"' + '''\nclass X:'''\n",
  'x = [\n1,\n2]\n',
  'x = a \\\n@ b\n',
  'm = (a\n@ b)\n',
  'f"{x!r:>{width}} {y["z"]}"\n',
  '# def c():\n',
  '    # indented\n',
  '\n',
  '\n\n',
  'if 1:\n    def inner():\n        pass\n',
  'print "old"\n',
  'defined = 1\nclassy = 2\n',
  'class D: x = 1\n',
];
const breaks = ['(', '"', '"""', ')', ':', 'def', 'class A', '@', '    ', '\\', '\t', 'é', '\r\n'];

describe('the outline of a module', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  it('is, read in parts, what it is of the whole when there is no syntax error', () => {
    let sound = 0;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (all) => {
        const source = all.join('');
        const whole = python.parse(source, moduleIn);
        if (whole.errorLine !== undefined) return;
        sound += 1;
        assert.deepEqual(readModule(python, source), whole);
      }),
      { numRuns: everydayRuns(400) },
    );
    assert.ok(sound > everydayRuns(200), `${sound} sources had no syntax error`);
  });

  it('holds every letter of the source in one part, whatever it is', () => {
    const text = fc.array(fc.constantFrom(...pieces, ...breaks), { maxLength: 12 });
    fc.assert(
      fc.property(text, (all) => {
        const source = all.join('');
        const parts = segmentsOf(source);
        assert.equal(parts.map((each) => each.text).join(''), source);
        for (const { start, line } of parts) {
          assert.equal(line, source.slice(0, start).split('\n').length - 1);
        }
        readModule(python, source);
      }),
      { numRuns: everydayRuns(400) },
    );
  });

  it('finds what stands around an error', () => {
    const source =
      'class A:\n    def one(self):\n        pass\n\n\ndef broken(\n    x = (1,\n\n\n@mark\ndef two():\n    pass\n';
    const { definitions, errorLine } = readModule(python, source);
    assert.deepEqual(
      definitions.filter((each) => each.name !== 'broken').map((d) => [d.qualifiedName, d.defLine]),
      [
        ['A', 1],
        ['A.one', 2],
        ['two', 11],
      ],
    );
    assert.ok(errorLine !== undefined && errorLine >= 6 && errorLine <= 9, String(errorLine));
  });
});
