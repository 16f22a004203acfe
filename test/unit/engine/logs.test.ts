import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { knownRepositories, parseLog, testOutput } from '../../../src/engine/runners/parseLog';

/**
 * The expected statuses were also read from each log by the parsers of the reference harness. The
 * tests of `python -m unittest` logs are our own.
 */
function statuses(log: string, repo: string): Record<string, string> {
  return Object.fromEntries(parseLog(log, repo));
}

describe('log parsers of the reference harness', () => {
  const summary = [
    'PASSED tests/test_a.py::test_x',
    'FAILED tests/test_a.py::test_y - assert 1 == 2',
    'ERROR tests/test_b.py - ImportError: no module',
    'SKIPPED [1] tests/test_a.py:3: not today',
    'XFAIL tests/test_a.py::test_z',
    'PASSED tests/test_a.py::test_p[a b]',
    'PASSED',
    '=== 1 failed, 2 passed in 0.1s ===',
  ].join('\n');

  it('pytest: the first two words of a line that begins with a status', () => {
    assert.deepEqual(statuses(summary, 'pallets/flask'), {
      'tests/test_a.py::test_x': 'PASSED',
      'tests/test_a.py::test_y': 'FAILED',
      'tests/test_b.py': 'ERROR',
      '[1]': 'SKIPPED',
      'tests/test_a.py::test_p[a': 'PASSED',
    });
  });

  it('pytest: takes words as they come', () => {
    assert.deepEqual(statuses('PASSEDx y\nFAILED - a - b\nERROR: c\n', 'pytest-dev/pytest'), {
      y: 'PASSEDx',
      a: 'FAILED',
      c: 'ERROR:',
    });
  });

  it('pytest with options: of a path as parameter the last part stays', () => {
    const log = [
      'PASSED t.py::test[/tmp/a/b.txt]',
      'PASSED t.py::test[//tmp/a]',
      'PASSED t.py::test[/a/*]',
      'FAILED t.py::test[x/y] - no',
      'PASSED t.py::plain',
    ].join('\n');
    assert.deepEqual(statuses(log, 'psf/requests'), {
      't.py::test[/b.txt]': 'PASSED',
      't.py::test[//tmp/a]': 'PASSED',
      't.py::test[/a/*]': 'PASSED',
      't.py::test[x/y]': 'FAILED',
      't.py::plain': 'PASSED',
    });
  });

  it('pytest v2: colours are removed, and a line may end with the status', () => {
    const log = [
      '\x1b[32mPASSED\x1b[0m t.py::\x1b[1mtest_a\x1b[0m',
      't.py::test_b PASSED',
      't.py::test_c FAILED',
      'PASSED',
      'one two PASSED',
    ].join('\n');
    assert.deepEqual(statuses(log, 'sphinx-doc/sphinx'), {
      't.py::test_a': 'PASSED',
      't.py::test_b': 'PASSED',
      't.py::test_c': 'FAILED',
      one: 'two',
    });
  });

  it('matplotlib: mouse buttons are numbers', () => {
    const log = 'PASSED t.py::test[MouseButton.LEFT-MouseButton.RIGHT]';
    assert.deepEqual(statuses(log, 'matplotlib/matplotlib'), { 't.py::test[1-3]': 'PASSED' });
  });

  it('seaborn: passes in both styles, failures from the summary, nothing else', () => {
    const log = [
      't.py::test_a PASSED [ 10%]',
      't.py::test_b FAILED [ 20%]',
      'PASSED t.py::test_c',
      'FAILED t.py::test_d - no',
      'ERROR t.py::test_e',
      'FAILED',
      ' PASSED ',
    ].join('\n');
    assert.deepEqual(statuses(log, 'mwaskom/seaborn'), {
      't.py::test_a': 'PASSED',
      't.py::test_c': 'PASSED',
      't.py::test_d': 'FAILED',
    });
  });

  it('Django: whatever stands between the name and the status', () => {
    const log = [
      'test_a (m.A) ... ok',
      'test_b (m.A)',
      'What it is about. ... FAIL',
      'test_c (m.A) ... printed',
      'more',
      'ok',
      "test_d (m.A) ... skipped 'no database'",
      'test_e (m.A.test_e) ... ERROR',
      '======',
      'FAIL: test_b (m.A)',
      'ERROR: test_a (m.A)',
      'ERROR: test_d (m.A) test_e (m.A)',
    ].join('\n');
    assert.deepEqual(statuses(log, 'django/django'), {
      'test_a (m.A)': 'ERROR',
      'test_b (m.A)': 'FAILED',
      'test_d (m.A)': 'SKIPPED',
      'test_e (m.A.test_e)': 'ERROR',
    });
  });

  it('Django: FAIL is no status of a line, so that a status is taken from further on', () => {
    assert.deepEqual(statuses('test_a (m.A) ... FAIL\ntest_b (m.A) ... ok\n', 'django/django'), {
      'test_a (m.A)': 'PASSED',
    });
  });

  it('SymPy: verbose lines, and headings of failures', () => {
    const log = [
      'sympy/core/tests/test_a.py[4] ',
      'test_ok ok',
      'test_bad F',
      'test_worse E',
      'test_slow Slow w                      [FAIL]',
      '________________________________',
      '____ sympy/core/tests/test_b.py:test_other ____',
      'Traceback',
      '',
    ].join('\n');
    assert.deepEqual(statuses(log, 'sympy/sympy'), {
      test_other: 'FAILED',
      test_ok: 'PASSED',
      test_bad: 'FAILED',
      test_worse: 'ERROR',
    });
  });

  it('SymPy: the last status of a log counts where white space follows it', () => {
    for (const end of ['\n', ' ']) {
      assert.deepEqual(statuses(`test_ok ok${end}`, 'sympy/sympy'), { test_ok: 'PASSED' });
    }
    assert.deepEqual(statuses('test_one ok test_two ok', 'sympy/sympy'), { test_one: 'PASSED' });
  });

  it('reproduction script: the first exit status', () => {
    const read = (log: string) => [...parseLog(log, 'any', { mode: 'reproduction-script' })];
    assert.deepEqual(read('+ python3 x.py\n+ echo 0\n0\n'), [['reproduction_script', 'PASSED']]);
    assert.deepEqual(read('+ echo 1\n+ echo 0\n'), [['reproduction_script', 'FAILED']]);
    assert.deepEqual(read('nothing of it'), []);
  });

  it('knows the repositories that the harness knows', () => {
    assert.equal(knownRepositories.length, 19);
  });

  it('gives something for any text, in time that grows with it', () => {
    const words = fc.constantFrom(
      ...[
        'PASSED',
        'FAILED',
        'test_a',
        '(m.A)',
        '...',
        'ok',
        'ERROR:',
        '_',
        '.py:',
        '[',
        '\n',
        ' ',
      ],
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(words, fc.string()), { maxLength: 50 }),
        fc.constantFrom(...knownRepositories, 'unknown/unknown'),
        (parts, repo) => {
          assert.ok(parseLog(parts.join(' '), repo) instanceof Map);
        },
      ),
    );
    for (const repo of ['django/django', 'sympy/sympy', 'unknown/unknown']) {
      for (const part of ['test_a (m.A) ... ', 'test_', '_\n_ .py:', 'ERROR: test_a ', '... ok']) {
        parseLog(part.repeat(20_000), repo);
      }
    }
  });
});

describe('logs of repositories that the harness does not know', () => {
  it('pytest, when there is any line of its summary', () => {
    assert.deepEqual(statuses('PASSED t.py::test_a\ntest_b (m.B) ... ok\n', 'a/b'), {
      't.py::test_a': 'PASSED',
    });
  });

  it('pytest, with whole names', () => {
    const log = [
      'PASSED t.py::test_a[x y]',
      'PASSED t.py::test_a[x - z]',
      'FAILED t.py::test_a[x - y] - assert [1] == [2]',
      'FAILED t.py::test_b - assert a[1] - 2',
      'ERROR t.py::test_c[[x]] - OSError',
      'ERROR t.py - ImportError: no x',
      'XFAIL t.py::test_d - not yet',
      'XFAIL t.py::test_e',
      'XPASS t.py::test_f[a b] ',
      'SKIPPED [2] t.py:3: not - today',
      'PASSED ',
    ].join('\n');
    assert.deepEqual(statuses(log, 'a/b'), {
      't.py::test_a[x y]': 'PASSED',
      't.py::test_a[x - z]': 'PASSED',
      't.py::test_a[x - y]': 'FAILED',
      't.py::test_b': 'FAILED',
      't.py::test_c[[x]]': 'ERROR',
      't.py': 'ERROR',
      't.py::test_d': 'XFAIL',
      't.py::test_e': 'XFAIL',
      't.py::test_f[a b]': 'XPASS',
      '[2]': 'SKIPPED',
    });
    assert.equal(statuses(log, 'pallets/flask')['t.py::test_a[x'], 'FAILED');
  });

  it('pytest with colours, -v, workers and what a test prints before its status', () => {
    const log = [
      '============================= test session starts ==============================',
      '\u001b[32mPASSED\u001b[0m t.py::printed',
      't.py::test_a[1 + 1] \u001b[32mPASSED\u001b[0m\u001b[32m                          [ 50%]\u001b[0m',
      't.py::test_a[x PASSED y] FAILED                                  [100%]',
      't.py::test_s SKIPPED (a PASSED b)                                [100%]',
      't.py::test_live hello',
      '-------------------------------- live log call ---------------------------------',
      'INFO     root:t.py:3 hello',
      'XFAIL (why)                                                      [100%]',
      '[gw0] [ 50%] PASSED t.py::test_w[x y] ',
      '[gw1] [100%] FAILED t.py::test_v ',
      '=================================== FAILURES ===================================',
      't.py::no PASSED [ 50%]',
      '=========================== short test summary info ============================',
      '\u001b[31mFAILED\u001b[0m t.py::\u001b[1mtest_v\u001b[0m - assert 1 - 1',
      '========================= 1 failed, 1 passed in 0.01s ==========================',
      'PASSED t.py::at_exit',
    ].join('\n');
    assert.deepEqual(statuses(log, 'a/b'), {
      't.py::test_a[1 + 1]': 'PASSED',
      't.py::test_a[x PASSED y]': 'FAILED',
      't.py::test_s': 'SKIPPED',
      't.py::test_live': 'XFAIL',
      't.py::test_w[x y]': 'PASSED',
      't.py::test_v': 'FAILED',
    });
  });

  it('pytest: a test fails with one of its subtests, and printed lines are no outcomes', () => {
    const log = [
      'T.py::test_p SUBPASSED(i=0)                                      [100%]',
      't.py::T::test_v SUBFAILED[text](i=1)                             [100%]',
      't.py::T::test_v PASSED                                           [100%]',
      '----------------------------- Captured stdout call -----------------------------',
      'PASSED t.py::test_printed',
      '=========================== short test summary info ============================',
      'PASSED t.py::T::test_sub',
      'XFAIL at setup of t.py::test_notrun - [NOTRUN] why',
      'ERROR at teardown of t.py::test_end - OSError',
      'SUBFAILED(i=1) t.py::T::test_sub - AssertionError: 1 == 1',
      '[text] (i=1) SUBFAIL t.py::T::test_old - assert 0',
    ].join('\n');
    const expected = {
      't.py::T::test_v': 'FAILED',
      't.py::T::test_sub': 'FAILED',
      't.py::test_notrun': 'XFAIL',
      't.py::test_end': 'ERROR',
      't.py::T::test_old': 'FAILED',
    };
    assert.deepEqual(statuses(log, 'a/b'), expected);
    const printed = log.split('\n').slice(3, 5).join('\n');
    assert.deepEqual(statuses(printed, 'a/b'), {});
  });

  it('unittest -v', () => {
    const log = [
      'test_a (tests.test_a.A.test_a) ... ok',
      'test_b (tests.test_a.A.test_b) ... FAIL',
      'test_c (tests.test_a.A.test_c) ... ERROR',
      "test_d (tests.test_a.A.test_d) ... skipped 'not today'",
      'test_e (tests.test_a.A.test_e) ... expected failure',
      'test_f (tests.test_a.A.test_f) ... unexpected success',
      'test_g (tests.test_a.A.test_g)',
      'Says what it is. ... ok',
      'test_h (tests.test_a.A.test_h) ... it prints',
      'and prints',
      'ok',
      'setUpClass (tests.test_a.B) ... ERROR',
      '',
      '='.repeat(70),
      'FAIL: test_b (tests.test_a.A.test_b)',
      '-'.repeat(70),
      'ok',
      'FAIL: test_s (tests.test_a.A.test_s) (i=1)',
      'ERROR: test_t (tests.test_a.A.test_t) (i=1)',
      'FAIL: test_t (tests.test_a.A.test_t) (i=2)',
      'Ran 9 tests in 0.01s',
    ].join('\n');
    assert.deepEqual(statuses(log, 'a/b'), {
      'test_a (tests.test_a.A.test_a)': 'PASSED',
      'test_b (tests.test_a.A.test_b)': 'FAILED',
      'test_c (tests.test_a.A.test_c)': 'ERROR',
      'test_d (tests.test_a.A.test_d)': 'SKIPPED',
      'test_e (tests.test_a.A.test_e)': 'XFAIL',
      'test_f (tests.test_a.A.test_f)': 'FAILED',
      'test_g (tests.test_a.A.test_g)': 'PASSED',
      'test_h (tests.test_a.A.test_h)': 'PASSED',
      'setUpClass (tests.test_a.B)': 'ERROR',
      'test_s (tests.test_a.A.test_s)': 'FAILED',
      'test_t (tests.test_a.A.test_t)': 'ERROR',
    });
  });

  it('unittest without -v gives what failed', () => {
    const log =
      'F.\nERROR root no such thing\n' +
      '='.repeat(70) +
      '\nFAIL: test_a (t.A)\nERROR: test_b (t.A)\n';
    assert.deepEqual(statuses(log, 'a/b'), { 'test_a (t.A)': 'FAILED', 'test_b (t.A)': 'ERROR' });
  });
});

describe('the part of a saved log that the harness reads', () => {
  it('begins after the test command and ends before the coverage', () => {
    const log = [
      'PASSED installation',
      '+ python3 /root/trace.py --count -C coverage.cover -m pytest',
      'PASSED t.py::test_a',
      '+ cat coverage.cover',
      'PASSED nothing',
    ].join('\n');
    assert.equal(testOutput(log), 'PASSED t.py::test_a');
  });

  it('is all of a log without either, with line ends as Python reads them', () => {
    assert.equal(testOutput('a\r\nb\rc\n'), 'a\nb\nc\n');
  });
});

describe('logs that the runners of repositories have written', () => {
  const folder = join(__dirname, 'logs');
  const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as {
    log: string;
    repo: string;
    statuses: Record<string, string>;
  }[];
  for (const { log, repo, statuses: theirs } of expected) {
    it(`are read as the parsers of the reference harness read them: ${log}`, () => {
      const text = readFileSync(join(folder, `${log}.txt`), 'utf8');
      assert.deepEqual(statuses(testOutput(text), repo), theirs);
      assert.ok(Object.keys(theirs).length > 3);
    });
  }
});
