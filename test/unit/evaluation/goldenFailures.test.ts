import assert from 'node:assert/strict';
import type { TestResult } from '../../../src/domain/outcome';
import {
  environmentCauseOf,
  goldenFailuresNote,
} from '../../../src/evaluation/runs/goldenFailures';

const failed = (exception: string, message: string, details = ''): TestResult => ({
  ...{ test: 't.py::test_secret', outcome: 'failed' },
  ...{ exception, message, details },
});

describe('golden tests that fail on R∘X*', () => {
  const causes: readonly [string, TestResult, string | undefined][] = [
    ['a host', failed('gaierror', '[Errno -3] Temporary failure in name resolution'), 'network'],
    [
      'a program',
      failed('FileNotFoundError', "[Errno 2] No such file or directory: 'dot'"),
      'program',
    ],
    [
      'a file of the tree',
      failed('FileNotFoundError', "[Errno 2] No such file or directory: '/t/dot/a.txt'"),
      undefined,
    ],
    ['a locale', failed('locale.Error', 'unsupported locale setting'), 'locale'],
    [
      'a warning',
      failed('DeprecationWarning', '`np.bool` is a deprecated alias'),
      'warning as error',
    ],
    [
      'SQLite behind an ORM',
      failed(
        'django.db.utils.OperationalError',
        'malformed JSON',
        'Traceback:\n  File "django/db/backends/sqlite3/base.py", line 1',
      ),
      'SQLite',
    ],
    [
      'a name of a package',
      failed('AttributeError', "module 'collections' has no attribute 'Mapping'"),
      'changed interface',
    ],
    ['an assertion', failed('AssertionError', 'assert 1 == 2'), undefined],
    [
      'an assertion whose code speaks of a network',
      failed('AssertionError', 'assert 1 == 2', '    raise URLError("x")\nE   assert 1 == 2'),
      undefined,
    ],
  ];
  for (const [what, result, cause] of causes) {
    it(`${cause ?? 'nothing'} for ${what}`, () => assert.equal(environmentCauseOf(result), cause));
  }

  const instance = { repo: 'django/django', version: '3.1', createdAt: '2020-01-12T04:21:15Z' };
  const note = (failing: readonly TestResult[], pythonVersion: string) =>
    goldenFailuresNote(failing, 3, { instance, environment: { pythonVersion } });

  it('are said with causes and what to do, and without what the tests say', () => {
    const said = note(
      [failed('OperationalError', 'malformed JSON'), failed('AssertionError', 'assert hidden')],
      '3.11.7',
    );
    assert.equal(
      said,
      '2 of 3 golden tests fail with the fix in this environment, so no candidate can be compared with them. ' +
        'Likely cause: they fail in SQLite, whose version depends on the interpreter (1); ' +
        'CPython 3.11 was released on 2022-10-24, after the instance was created (2020-01-12). ' +
        'Try this: choose an interpreter from the time of the instance; ' +
        "choose CPython 3.6, which this version's recipe uses",
    );
    assert.doesNotMatch(said, /secret|hidden|malformed/);
  });

  it('are said without a cause where nothing points to one', () => {
    assert.equal(
      note([failed('AssertionError', 'assert 1 == 2')], '3.8.20'),
      '1 of 3 golden tests fails with the fix in this environment, so no candidate can be compared with it; ' +
        'no known environment problem explains it. Validate the instance to see the failures',
    );
    assert.equal(note([], '3.8.20'), undefined);
  });
});
