import assert from 'node:assert/strict';
import { harnessTransitions } from '../../../src/domain/harness';
import { parseLog } from '../../../src/engine/runners/parseLog';
import { sweBenchParserOf } from '../../../src/engine/runners/sweBenchParserOf';
import {
  causeOf,
  differingTests,
  failureText,
  type DifferingTest,
  type RowEvidence,
} from '../../bench/fidelity/fidelityCauses';

const nothing = {
  FAIL_TO_PASS: [],
  PASS_TO_PASS: [],
  FAIL_TO_FAIL: [],
  PASS_TO_FAIL: [],
  UNMATCHED: [],
};

const evidence = (known: Partial<RowEvidence> = {}): RowEvidence => ({
  logs: { base: '', fixed: '' },
  bySweBench: undefined,
  isRelease: false,
  again: [],
  otherSeeds: [],
  ...known,
});

const failing = (test: string): DifferingTest => ({
  test,
  listed: 'PASS_TO_PASS',
  here: 'FAIL_TO_FAIL',
});

describe('causes of differences from the lists of a row', () => {
  /** Lists of a log of both sides, as each parser reads it. */
  function read(repo: string, base: string, fixed: string) {
    const parse = sweBenchParserOf({ repo });
    assert.ok(parse);
    return {
      here: harnessTransitions(parseLog(base, repo), parseLog(fixed, repo)),
      bySweBench: harnessTransitions(parse(base), parse(fixed)),
    };
  }

  it('tell where a test stands in both, and leave out what is equal', () => {
    const row = { FAIL_TO_PASS: ['a', 'b'], PASS_TO_PASS: ['c', 'd'] };
    const here = { ...nothing, FAIL_TO_PASS: ['a', 'e'], PASS_TO_PASS: ['b'], PASS_TO_FAIL: ['d'] };
    assert.deepEqual(differingTests(row, here), [
      { test: 'b', listed: 'FAIL_TO_PASS', here: 'PASS_TO_PASS' },
      { test: 'c', listed: 'PASS_TO_PASS', here: 'absent' },
      { test: 'd', listed: 'PASS_TO_PASS', here: 'PASS_TO_FAIL' },
      { test: 'e', listed: 'none', here: 'FAIL_TO_PASS' },
    ]);
  });

  it('know an image that another FreeType drew', () => {
    const test = 'lib/t.py::test_bar[png]';
    const heading = 'Expected freetype version 2.6.1.  Found freetype version 2.10.4.';
    const failure = (text: string) => `${heading}\n______ test_bar[png] ______\nE   ${text}\n`;
    const causeIn = (fixed: string) =>
      causeOf(failing(test), evidence({ logs: { base: '', fixed } }));
    const { cause, detail } = causeIn(failure('ImageComparisonFailure: images not close'));
    assert.equal(cause, "environment other than the harness'");
    assert.match(detail, /FreeType 2\.10\.4, and compared with one of FreeType 2\.6\.1$/);
    assert.equal(causeIn(failure('AssertionError: 1')).cause, 'unexplained');
  });

  it("know the last test of a file of SymPy, which SWE-bench's parser does not read", () => {
    const log = (f: string) =>
      `sympy/core/tests/test_a.py[3] \ntest_one ok\ntest_two ${f}\ntest_last ok          [OK]\n`;
    const logs = { base: log('F'), fixed: log('ok') };
    const { here, bySweBench } = read('sympy/sympy', logs.base, logs.fixed);
    const row = { FAIL_TO_PASS: ['test_two'], PASS_TO_PASS: ['test_one'] };
    const [last, ...others] = differingTests(row, here);
    assert.ok(last);
    assert.deepEqual([last.test, others], ['test_last', []]);
    const { cause, detail } = causeOf(last, evidence({ logs, bySweBench }));
    assert.equal(cause, "artefact of the dataset's log");
    assert.match(detail, /also ends its file \(“ok \[OK\]”\)/);
  });

  it('know the test after a failing one of Django, which SWT-Bench reads as part of it', () => {
    const log = (f: string, more: string) =>
      `test_a (app.T) ... ${f}\ntest_b (app.T) ... ok\ntest_c (app.T) ... ok\n${more}`;
    const logs = { base: log('FAIL', 'FAIL: test_a (app.T)\n'), fixed: log('ok', '') };
    const { here, bySweBench } = read('django/django', logs.base, logs.fixed);
    const row = {
      FAIL_TO_PASS: ['test_a (app.T)'],
      PASS_TO_PASS: ['test_b (app.T)', 'test_c (app.T)'],
    };
    const differing = differingTests(row, here);
    assert.deepEqual(
      differing.map(({ test }) => test),
      ['test_b (app.T)'],
    );
    assert.deepEqual(
      differing.map((each) => causeOf(each, evidence({ logs, bySweBench })).cause),
      ["artefact of the dataset's log"],
    );
  });

  it('compare runs with the same seed before those with others', () => {
    const passes = { ...nothing, PASS_TO_PASS: ['t'] };
    const fails = { ...nothing, FAIL_TO_FAIL: ['t'] };
    const of = (known: Partial<RowEvidence>) => causeOf(failing('t'), evidence(known)).cause;
    assert.equal(of({ again: [passes], otherSeeds: [passes] }), 'flaky');
    assert.equal(of({ again: [fails], otherSeeds: [fails, passes] }), 'hash seed');
    assert.equal(of({ again: [fails], otherSeeds: [fails, fails] }), 'unexplained');
  });

  it('read a missing network or program in the failure of that test only', () => {
    const fixed = [
      '____ test_net ____',
      'E   socket.gaierror: [Errno -2] Name or service not known',
      '____ TestDraw.test_dot ____',
      "E   FileNotFoundError: [Errno 2] No such file or directory: 'dot'",
      '____ test_other ____',
      'E   AssertionError: 1 != 2',
      '==== short test summary info ====',
    ].join('\n');
    const of = (test: string) => causeOf(failing(test), evidence({ logs: { base: '', fixed } }));
    assert.equal(of('tests/t.py::test_net').cause, 'needs the network');
    assert.deepEqual(of('tests/t.py::TestDraw::test_dot'), {
      cause: 'needs a program of the system',
      detail: 'its failure names dot',
    });
    assert.deepEqual(of('tests/t.py::test_other'), {
      cause: 'unexplained',
      detail: 'AssertionError: 1 != 2',
    });
    assert.equal(failureText('tests/t.py::test_gone', fixed), undefined);
  });

  it('need a run with the packages of the harness that agrees', () => {
    const test = { test: 't', listed: 'none', here: 'PASS_TO_PASS' } as const;
    const what = 'the packages of the harness (x==1)';
    const asHarness = (lists: typeof nothing) => evidence({ asHarness: { lists, what } });
    assert.deepEqual(causeOf(test, asHarness({ ...nothing, FAIL_TO_FAIL: ['t'] as never[] })), {
      cause: "environment other than the harness'",
      detail: `agrees with ${what}`,
    });
    const same = asHarness({ ...nothing, PASS_TO_PASS: ['t'] as never[] });
    assert.equal(causeOf(test, same).cause, 'unexplained');
  });

  it('know tests that are skipped for want of a package, by their file', () => {
    const fixed =
      'SKIPPED [1] tests/test_a.py:7: requires bottleneck\n' +
      'SKIPPED [2] tests/test_b.py:9: only on Windows\n';
    const of = (test: string) =>
      causeOf(
        { test, listed: 'PASS_TO_PASS', here: 'absent' },
        evidence({ logs: { base: '', fixed } }),
      );
    assert.deepEqual(of('tests/test_a.py::test_rank'), {
      cause: "environment other than the harness'",
      detail: 'tests of its file are skipped here: requires bottleneck',
    });
    assert.equal(of('tests/test_b.py::test_x').cause, 'unexplained');
  });

  it('blame a release only for tests that one of the two lacks', () => {
    const of = (differing: Omit<DifferingTest, 'test'>, isRelease = true) =>
      causeOf({ test: 't', ...differing }, evidence({ isRelease })).cause;
    assert.equal(of({ listed: 'PASS_TO_PASS', here: 'absent' }), 'release instead of the commit');
    assert.equal(of({ listed: 'none', here: 'PASS_TO_PASS' }), 'release instead of the commit');
    assert.equal(of({ listed: 'PASS_TO_PASS', here: 'FAIL_TO_FAIL' }), 'unexplained');
    assert.equal(of({ listed: 'PASS_TO_PASS', here: 'absent' }, false), 'unexplained');
  });

  it('blame a release for a warning of its series, which the commit no longer has', () => {
    const fixed =
      'ERROR: test_a (app.T)\n----\ndjango.utils.deprecation.RemovedInDjango31Warning: no order\n';
    const differing = {
      test: 'test_a (app.T)',
      listed: 'FAIL_TO_PASS',
      here: 'UNMATCHED',
    } as const;
    const told = causeOf(differing, evidence({ isRelease: true, logs: { base: '', fixed } }));
    assert.equal(told.cause, 'release instead of the commit');
    assert.match(told.detail, /RemovedInDjango31Warning/);
  });

  it('know names that were cut at a space, and parameters that are addresses', () => {
    const cut = causeOf(
      { test: 'a.py::test_msg[args0-No', listed: 'PASS_TO_PASS', here: 'absent' },
      evidence(),
    );
    assert.match(cut.detail, /cut at a space/);
    const address = causeOf(
      { test: 'a.py::test_f[<object at 0x7f00deadbeef>]', listed: 'PASS_TO_PASS', here: 'absent' },
      evidence(),
    );
    assert.match(address.detail, /address in memory/);
  });
});
