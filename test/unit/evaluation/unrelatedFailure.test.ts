import assert from 'node:assert/strict';
import type { TestResult } from '../../../src/domain/outcome';
import { unrelatedFailure } from '../../../src/evaluation/unrelatedFailure';

const test = 'tests/test_a.py::A::test_x';
const inTest = [{ path: 'tests/test_a.py', line: 3, function: 'test_x' }];
const inCode = [...inTest, { path: 'pkg/parser.py', line: 40, function: 'parse' }];

const failed = (
  exception: string,
  message: string,
  more: Partial<TestResult> = {},
): TestResult => ({
  test,
  outcome: 'failed',
  phase: 'call',
  exception,
  message,
  frames: inTest,
  ...more,
});

describe('a failure that looks unrelated to the issue', () => {
  for (const [exception, message, reason, missing] of [
    ['ModuleNotFoundError', "No module named 'pkg.later'", 'import error', 'pkg.later'],
    ['ImportError', 'No module named later', 'import error', 'later'],
    [
      'ImportError',
      "cannot import name 'later' from 'pkg' (/work/pkg/__init__.py)",
      'import error',
      'pkg.later',
    ],
    ['ImportError', "cannot import name 'later'", 'import error', 'later'],
    [
      'ImportError',
      "cannot import name 'a' from partially initialized module 'pkg' (most likely due to a circular import)",
      'import error',
      'pkg.a',
    ],
    ['NameError', "name 'later' is not defined", 'undefined name', 'later'],
    ['AttributeError', "module 'pkg' has no attribute 'later'", 'undefined name', 'pkg.later'],
    ['AttributeError', "type object 'Ledger' has no attribute 'of'", 'undefined name', 'Ledger.of'],
    ['AttributeError', "'Ledger' object has no attribute 'sum'", 'undefined name', 'Ledger.sum'],
    [
      'TypeError',
      "allocate() got an unexpected keyword argument 'by'",
      'undefined name',
      'allocate(by=…)',
    ],
    [
      'TypeError',
      "Ledger.__init__() got an unexpected keyword argument 'by'",
      'undefined name',
      'Ledger.__init__(by=…)',
    ],
    [
      'TypeError',
      "A.test_x() missing 1 required positional argument: 'tmp_path'",
      'fixture error',
      'tmp_path',
    ],
    [
      'TypeError',
      "test_x() missing 2 required positional arguments: 'one' and 'two'",
      'fixture error',
      'one and two',
    ],
    ['SyntaxError', 'invalid syntax (test_a.py, line 3)', 'syntax error', undefined],
  ] as const) {
    it(`${exception}: ${message}`, () => {
      assert.deepEqual(
        unrelatedFailure(failed(exception, message)),
        missing === undefined ? { reason } : { reason, missing },
      );
    });
  }

  it('knows a fixture that is not there, and a set-up that raises', () => {
    const setup = { outcome: 'error', phase: 'setup' } as const;
    assert.deepEqual(
      unrelatedFailure(failed('FixtureLookupError', "fixture 'ledger' not found", setup)),
      { reason: 'fixture error', missing: 'ledger' },
    );
    assert.deepEqual(unrelatedFailure(failed('KeyError', "'x'", setup)), {
      reason: 'fixture error',
    });
    const conftest = [{ path: 'tests/conftest.py', line: 9, function: 'ledger' }];
    assert.deepEqual(unrelatedFailure(failed('KeyError', "'x'", { ...setup, frames: conftest })), {
      reason: 'fixture error',
    });
  });

  it('takes a file that cannot be collected for one whose test is at fault', () => {
    const collect = { outcome: 'error', phase: 'collect', frames: inCode } as const;
    assert.deepEqual(
      unrelatedFailure(failed('ModuleNotFoundError', "No module named 'later'", collect)),
      { reason: 'import error', missing: 'later', importedBy: 'pkg/parser.py' },
    );
  });

  it('is none that the code under test raises', () => {
    for (const [exception, message] of [
      ['NameError', "name 'x' is not defined"],
      ['AttributeError', "'Ledger' object has no attribute 'sum'"],
      ['TypeError', "f() got an unexpected keyword argument 'by'"],
      ['ImportError', "cannot import name 'x' from 'pkg'"],
      ['SyntaxError', 'invalid syntax'],
    ] as const) {
      assert.equal(unrelatedFailure(failed(exception, message, { frames: inCode })), undefined);
    }
    const setup = { outcome: 'error', phase: 'setup', frames: inCode } as const;
    assert.equal(unrelatedFailure(failed('KeyError', "'x'", setup)), undefined);
  });

  it('is none that an issue may well be about', () => {
    for (const [exception, message] of [
      ['AssertionError', 'assert 1 == 2'],
      ['AttributeError', "'NoneType' object has no attribute 'sum'"],
      ['TypeError', "unsupported operand type(s) for +: 'int' and 'str'"],
      ['TypeError', "parse() missing 1 required positional argument: 'text'"],
      ['ValueError', "name 'x' is not defined"],
    ] as const) {
      assert.equal(unrelatedFailure(failed(exception, message)), undefined, message);
    }
    const setup = { outcome: 'error', phase: 'setup' } as const;
    assert.equal(unrelatedFailure(failed('AssertionError', 'assert 1 == 2', setup)), undefined);
  });

  it('is none of a test that did not fail', () => {
    for (const outcome of ['passed', 'skipped', 'xfailed', 'missing'] as const) {
      assert.equal(unrelatedFailure(failed('NameError', "name 'x'", { outcome })), undefined);
    }
  });
});
