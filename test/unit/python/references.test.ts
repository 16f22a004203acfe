import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findReferences, type Reference } from '../../../src/python/references';
import { everydayRuns } from '../../everyday';
import { assertLinear } from '../../scannedCharacters';

/** References in the form `text → meaning`. */
function found(text: string): string[] {
  return findReferences(text).map(
    (each) => `${text.slice(each.start, each.end)} → ${meaning(each)}`,
  );
}

function meaning(reference: Reference): string {
  if (reference.kind === 'dotted') return reference.name;
  const { path, line, name, repository } = reference;
  return [
    repository === undefined ? '' : `${repository}:`,
    path,
    line === undefined ? '' : `@${line}`,
    name === undefined ? '' : `#${name}`,
  ].join('');
}

describe('findReferences', () => {
  it('finds paths as people write them', () => {
    const cases: [text: string, ...expected: string[]][] = [
      ['see sympy/core/basic.py.', 'sympy/core/basic.py → sympy/core/basic.py'],
      ['(`./src/x.py`)', './src/x.py → ./src/x.py'],
      ['in .\\src\\a b\\x.py', 'b\\x.py → b/x.py'],
      ['at C:\\Py\\lib\\x.py:12!', 'C:\\Py\\lib\\x.py:12 → /Py/lib/x.py@12'],
      ['a/b.py:12: in f', 'a/b.py:12 → a/b.py@12'],
      ['a/b.py:12:5 E501', 'a/b.py:12:5 → a/b.py@12'],
      ['a/b.py:12-20', 'a/b.py:12-20 → a/b.py@12'],
      ['a/b.py#L12-L15', 'a/b.py#L12-L15 → a/b.py@12'],
      ['a/b.py, line 12, in f', 'a/b.py, line 12 → a/b.py@12'],
      ['`a/b.py` (line 12)', 'a/b.py` (line 12 → a/b.py@12'],
      ['a/b.py at line 12', 'a/b.py at line 12 → a/b.py@12'],
      ['pdb: a/b.py(12)f()', 'a/b.py(12) → a/b.py@12'],
      ['line 77 of `a/b.py`', 'a/b.py → a/b.py@77'],
      ['a/b.py::TestA::test_b[1]', 'a/b.py::TestA::test_b → a/b.py#TestA.test_b'],
      ['--- a/x/b.py\n+++ b/x/b.py', 'a/x/b.py → a/x/b.py', 'b/x/b.py → b/x/b.py'],
      ['~/code/x.py in f()', '~/code/x.py → ~/code/x.py'],
      ['edit setup.cfg and basic.py', 'setup.cfg → setup.cfg', 'basic.py → basic.py'],
      ['a/b.py:0', 'a/b.py:0 → a/b.py'],
    ];
    for (const [text, ...expected] of cases) assert.deepEqual(found(text), expected, text);
  });

  it('finds the files of a traceback', () => {
    const text = [
      'Traceback (most recent call last):',
      '  File "<stdin>", line 1, in <module>',
      '  File "/usr/lib/python3/site-packages/sympy/core/basic.py", line 123, in subs',
      '  File "C:\\Program Files\\Python\\sympy\\core\\expr.py", line 7',
    ].join('\n');
    assert.deepEqual(found(text), [
      '/usr/lib/python3/site-packages/sympy/core/basic.py", line 123 → /usr/lib/python3/site-packages/sympy/core/basic.py@123',
      'C:\\Program Files\\Python\\sympy\\core\\expr.py", line 7 → C:/Program Files/Python/sympy/core/expr.py@7',
    ]);
  });

  it('finds the file behind a link to GitHub and nothing in other addresses', () => {
    assert.deepEqual(
      found(
        'https://github.com/sympy/sympy/blob/master/sympy/core/basic.py#L12, ' +
          'https://raw.githubusercontent.com/a/b/v1/c%20d/e.py ' +
          'https://docs.python.org/3/library/os.path.html www.example.com/a.b me@flask.org',
      ),
      [
        'https://github.com/sympy/sympy/blob/master/sympy/core/basic.py#L12 → sympy:sympy/core/basic.py@12',
        'https://raw.githubusercontent.com/a/b/v1/c%20d/e.py → b:c d/e.py',
      ],
    );
  });

  it('finds dotted names', () => {
    assert.deepEqual(
      found(
        '`sympy.core.basic.Basic.subs` and flask.Blueprint(), :class:`~django.db.models.F`. ' +
          '@pytest.fixture x=sympy.pi-sympy.E',
      ),
      [
        'sympy.core.basic.Basic.subs → sympy.core.basic.Basic.subs',
        'flask.Blueprint() → flask.Blueprint',
        'django.db.models.F → django.db.models.F',
        'pytest.fixture → pytest.fixture',
        'sympy.pi → sympy.pi',
        'sympy.E → sympy.E',
      ],
    );
  });

  it('finds nothing in what only looks like a reference', () => {
    for (const text of [
      'e.g. i.e. a.k.a. 1.2.3 v1.2 2.5.x ...',
      'www.example.com example.com',
      'self.args cls.x f(x).core.basic x[0].a.b',
      'and/or either/or 1/2 //comment',
      'File "<string>", line 1',
      '',
    ]) {
      assert.deepEqual(found(text), [], text);
    }
  });

  it('gives ranges in order, inside any text, and never throws', () => {
    const part = fc.constantFrom(
      ...[
        'a',
        'Z',
        '.',
        '/',
        '\\',
        ':',
        '::',
        '.py',
        'File "',
        '"',
        ', line ',
        '1',
        '#L',
        '\n',
        ' ',
      ],
      ...[
        'https://',
        'github.com/',
        'a/b/blob/m/',
        'file:///',
        '%',
        '~',
        '@',
        '(',
        ')',
        '-',
        'é',
        '😀',
      ],
      ...['C:\\', 'c:/', '$', '()', 'line 1 of '],
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(part, { maxLength: 40 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (issue) => {
        let end = 0;
        for (const each of findReferences(issue)) {
          assert.ok(each.start >= end && each.end > each.start && each.end <= issue.length);
          end = each.end;
        }
      }),
      { numRuns: everydayRuns(2000) },
    );
  });

  it('looks at each character of hostile texts a number of times that does not grow', () => {
    for (const unit of [
      ...[
        'a',
        '.',
        'a.',
        '/',
        'a/',
        '\\',
        '-',
        '~',
        '@',
        'a@',
        ':',
        '1',
        ' ',
        '"',
        'File "',
        'File "a',
      ],
      ...[
        'a.py',
        'a.py:',
        'a.py::b',
        '/a.py',
        'c:/a.py',
        'line 1 of ',
        'https://',
        'https://a/',
        '#L1',
      ],
      ...['https://github.com/a/b/blob/', '%', 'a.py, ', 'a.py (', 'é', '()', 'a()', '~/', '.py '],
    ]) {
      assertLinear(unit, findReferences);
    }
  });
});
