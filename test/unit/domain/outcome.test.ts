import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  standing,
  syntaxErrorOf,
  unrelatedReason,
  type Outcome,
  type TestResult,
} from '../../../src/domain/outcome';
import {
  endsInNames,
  fileOf,
  functionOf,
  isBelow,
  namesOf,
  parametersOf,
  scopeOf,
  testId,
} from '../../../src/domain/testId';

const test = 'tests/test_a.py::A::test_x';

function failure(more: Partial<TestResult>): TestResult {
  return { test, outcome: 'failed', phase: 'call', ...more };
}

const inTest = { frames: [{ path: 'tests/test_a.py', line: 3, function: 'test_x' }] };
const inCode = {
  frames: [...inTest.frames, { path: 'pkg/parser.py', line: 40, function: 'parse' }],
};

describe('standing of an outcome under strict grading', () => {
  const expected: Record<Outcome, string> = {
    passed: 'passes',
    xpassed: 'passes',
    failed: 'fails',
    error: 'fails',
    skipped: 'neither',
    xfailed: 'neither',
    missing: 'neither',
  };
  for (const [outcome, reads] of Object.entries(expected)) {
    it(`${outcome}: ${reads}`, () => assert.equal(standing(outcome as Outcome), reads));
  }
});

describe('test ids', () => {
  it('gives the function behind a parametrised case', () => {
    assert.equal(functionOf(`${test}[1-2]`), test);
    assert.equal(functionOf(`${test}[a::b]`), test);
    assert.equal(functionOf(`${test}[[nested] text]`), test);
    assert.equal(functionOf(test), test);
  });

  it('takes brackets of a path for a part of the path', () => {
    assert.equal(functionOf('tests/[old]/test_a.py::test_x[1]'), 'tests/[old]/test_a.py::test_x');
    assert.equal(functionOf('tests/[old]/test_a.py'), 'tests/[old]/test_a.py');
  });

  it('gives the file, also of an id that is a bare file', () => {
    assert.equal(fileOf(test), 'tests/test_a.py');
    assert.equal(fileOf('tests/test_a.py::test_x[a::b]'), 'tests/test_a.py');
    assert.equal(fileOf('tests/test_a.py'), 'tests/test_a.py');
  });

  it('tells what stands below a file or class from what only begins like it', () => {
    assert.equal(isBelow(test, 'tests/test_a.py'), true);
    assert.equal(isBelow(test, 'tests/test_a.py::A'), true);
    assert.equal(isBelow('tests/test_a.py::AB::test_x', 'tests/test_a.py::A'), false);
    assert.equal(isBelow(test, test), false);
  });

  it('drops any parameters and nothing else', () => {
    const name = fc.stringMatching(/^[A-Za-z_]\w{0,10}$/);
    fc.assert(
      fc.property(
        fc.array(name, { minLength: 1, maxLength: 3 }),
        fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('a::b', '[x]-y::z', ']', '::')),
        (names, parameters) => {
          const id = ['tests/test_a.py', ...names].join('::');
          assert.equal(functionOf(`${id}[${parameters}]`), id);
          assert.equal(fileOf(`${id}[${parameters}]`), 'tests/test_a.py');
          assert.equal(functionOf(functionOf(`${id}[${parameters}]`)), id);
          assert.equal(parametersOf(`${id}[${parameters}]`), parameters);
          const withParameters = [...names.slice(0, -1), `${names.at(-1)}[${parameters}]`];
          assert.deepEqual(namesOf(`${id}[${parameters}]`), withParameters);
          assert.equal(testId('tests/test_a.py', ...withParameters), `${id}[${parameters}]`);
          assert.equal(
            scopeOf(`${id}[${parameters}]`),
            testId('tests/test_a.py', ...names.slice(0, -1)),
          );
          assert.equal(endsInNames(`${id}[${parameters}]`, ...names.slice(-2)), true);
        },
      ),
    );
  });
});

describe('failures that look unrelated to the issue', () => {
  const cases: readonly [string, TestResult, string | undefined][] = [
    ['an assertion', failure({ exception: 'AssertionError', ...inTest }), undefined],
    ['an import in the test', failure({ exception: 'ImportError', ...inTest }), 'import error'],
    [
      'a qualified exception name',
      failure({ exception: 'builtins.ModuleNotFoundError', ...inTest }),
      'import error',
    ],
    [
      'an import error raised by the code under test',
      failure({ exception: 'ImportError', ...inCode }),
      undefined,
    ],
    [
      'an import error while collecting, wherever raised',
      failure({ exception: 'ImportError', phase: 'collect', outcome: 'error', ...inCode }),
      'import error',
    ],
    [
      'a collection error known by its text only',
      failure({ phase: 'collect', outcome: 'error', message: "No module named 'nowhere'" }),
      'import error',
    ],
    [
      'a syntax error of the test file',
      failure({ phase: 'collect', outcome: 'error', exception: 'SyntaxError' }),
      'syntax error',
    ],
    [
      'an indentation error known by its text only',
      failure({ phase: 'collect', outcome: 'error', message: 'E   IndentationError: unexpected' }),
      'syntax error',
    ],
    [
      'a syntax error raised by a parser under test',
      failure({ exception: 'SyntaxError', ...inCode }),
      undefined,
    ],
    [
      'an assertion about the text of a syntax error',
      failure({ exception: 'AssertionError', message: "'SyntaxError: x' != 'ok'", ...inTest }),
      undefined,
    ],
    [
      'a fixture that does not exist',
      failure({ phase: 'setup', outcome: 'error', message: "fixture 'tmp_db' not found" }),
      'fixture error',
    ],
    [
      'a misspelt name in the test',
      failure({ exception: 'NameError', ...inTest }),
      'undefined name',
    ],
    ['a name missing in the code', failure({ exception: 'NameError', ...inCode }), undefined],
    ['a passed test', { test, outcome: 'passed', exception: 'ImportError' }, undefined],
    ['a skipped test', { test, outcome: 'skipped', message: 'SyntaxError: x' }, undefined],
    ['a failure of which nothing is known', failure({}), undefined],
  ];
  for (const [name, result, reason] of cases) {
    it(`${name}: ${reason ?? 'not called out'}`, () =>
      assert.equal(unrelatedReason(result), reason));
  }
});

describe('the syntax error of a test file', () => {
  const of = (message: string, exception = 'SyntaxError'): unknown =>
    syntaxErrorOf({ test: 'tests/test_a.py::test_x', outcome: 'error', exception, message });

  it('is read from what pytest and unittest say', () => {
    const there = { path: 'tests/test_a.py', line: 7, problem: 'invalid syntax' };
    const text =
      'File "/r/tests/test_a.py", line 7\n    def f(:\n          ^\nSyntaxError: invalid syntax';
    assert.deepEqual(of(text), there);
    assert.deepEqual(of(text.replace(/^/gm, 'E   ')), there);
    assert.deepEqual(of('invalid syntax (test_a.py, line 7)'), there);
  });

  it('is none where another file, or the code under test, is not Python', () => {
    assert.equal(of('File "/r/tests/helper.py", line 7\nSyntaxError: invalid syntax'), undefined);
    assert.equal(of('invalid syntax (<string>, line 1)'), undefined);
    assert.equal(of('File "/r/tests/test_a.py", line 7\nValueError: x', 'ValueError'), undefined);
  });
});
