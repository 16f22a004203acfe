import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Outcome, TestResult } from '../../../src/domain/outcome';
import {
  endingOf,
  lineCountsOf,
  resultsOf,
  scriptResult,
  statusesOf,
  transitionsBetween,
  whyIncomplete,
  whyNeitherRuns,
  whyNotRunnable,
  wholeCountsOf,
  withoutOutcome,
} from '../../../src/evaluation/results';
import { runRecord } from './examples';

const file = 'tests/test_a.py';
const a = `${file}::test_a`;
const b = `${file}::test_b`;
const other = 'tests/test_c.py::test_c';

const brief = (results: readonly TestResult[]): [string, Outcome][] =>
  results.map((each) => [each.test, each.outcome]);

const passed = (test: string): TestResult => ({ test, outcome: 'passed' });

describe('results of a run', () => {
  it('are what the recorder wrote, in its order', () => {
    const outcomes: TestResult[] = [
      { test: b, outcome: 'failed', message: 'no', frames: [] },
      passed(`${a}[1 2]`),
    ];
    assert.deepEqual(resultsOf(runRecord({ trace: { outcomes } }), [a, b, other]), outcomes);
  });

  it('a file that could not be imported is an error of each test that it holds', () => {
    const error: TestResult = {
      test: file,
      outcome: 'error',
      phase: 'collect',
      exception: 'ImportError',
    };
    const results = resultsOf(
      runRecord({ exitCode: 2, trace: { outcomes: [error, passed(other)] } }),
      [a, b, other],
    );
    assert.deepEqual(brief(results), [
      [other, 'passed'],
      [a, 'error'],
      [b, 'error'],
    ]);
    assert.equal(results[1]?.exception, 'ImportError');
    assert.equal(results[1]?.phase, 'collect');
  });

  it('a class whose set-up failed stands for its tests that have no result', () => {
    const results = resultsOf(
      runRecord({
        trace: {
          outcomes: [passed(`${file}::K::one[x]`), { test: `${file}::K`, outcome: 'error' }],
        },
      }),
      [`${file}::K::one`, `${file}::K::two`, `${file}::Kind::one`],
    );
    assert.deepEqual(brief(results), [
      [`${file}::K::one[x]`, 'passed'],
      [`${file}::K::two`, 'error'],
    ]);
  });

  it('an error of a file of which no test is known stays, and so does a skipped file', () => {
    const outcomes: TestResult[] = [
      { test: file, outcome: 'error' },
      { test: 'tests/test_c.py', outcome: 'skipped' },
    ];
    assert.deepEqual(resultsOf(runRecord({ trace: { outcomes } }), [other]), outcomes);
  });

  it('a test that was running when its process ended is an error that says how it ended', () => {
    const cases = [
      [runRecord({ ending: 'timed out', seconds: 30 }), /time limit after 30 s/],
      [runRecord({ ending: 'too much output' }), /output exceeded 64 MB/],
      [runRecord({ exitCode: undefined, killedBy: 'SIGSEGV' }), /killed by SIGSEGV/],
      [runRecord({ exitCode: 0 }), /ended early with exit status 0/],
    ] as const;
    for (const [record, said] of cases) {
      const unfinished = [{ pid: 7, argv: [], lastTest: a }];
      const results = resultsOf(
        { ...record, trace: { ...record.trace, unfinished, outcomes: [passed(b)] } },
        [a, b],
      );
      assert.deepEqual(brief(results), [
        [b, 'passed'],
        [a, 'error'],
      ]);
      assert.match(results[1]?.message ?? '', said);
    }
  });

  it('a test with a result of its own keeps it, though a child of it was killed', () => {
    const results = resultsOf(
      runRecord({
        trace: { outcomes: [passed(a)], unfinished: [{ pid: 7, argv: [], lastTest: a }] },
      }),
      [a],
    );
    assert.deepEqual(brief(results), [[a, 'passed']]);
  });

  it('a run that broke off did not come to other tests: they are missing', () => {
    const unfinished = [{ pid: 7, argv: [], lastTest: a }];
    for (const ending of ['timed out', 'too much output', 'exited'] as const) {
      const trace = { outcomes: [passed(b)], unfinished, collected: [b, a, `${a}_2`, other] };
      const record = runRecord({ ending, trace });
      assert.deepEqual(brief(resultsOf(record, [a, b, `${a}_2`, other])), [
        [b, 'passed'],
        [a, 'error'],
      ]);
      assert.deepEqual(withoutOutcome(record), [`${a}_2`, other]);
    }
  });

  it('a file whose import ended the run could not be collected, others are missing', () => {
    for (const ending of ['timed out', 'exited'] as const) {
      const record = runRecord({ ending, exitCode: 3, trace: { collecting: [file] } });
      assert.deepEqual(brief(resultsOf(record, [a, b, other])), [
        [a, 'error'],
        [b, 'error'],
      ]);
      assert.match(whyIncomplete(record) ?? '', /in tests\/test_a\.py$/);
    }
  });

  it('the test that printed too much is an error, though it had passed', () => {
    const trace = { outcomes: [passed(a), passed(b)], mostPrinted: a };
    const record = runRecord({ ending: 'too much output', trace });
    assert.deepEqual(brief(resultsOf(record, [a, b])), [
      [a, 'error'],
      [b, 'passed'],
    ]);
    assert.equal(whyIncomplete(record), `stopped because its output exceeded 64 MB, in ${a}`);
  });

  it('the test that failed at the limit is named, and not the one that ran when the run ended', () => {
    const unfinished = [{ pid: 7, argv: [], lastTest: b }];
    const ways = [
      ['disk full', 'OSError', '[Errno 28] No space left on device'],
      ['out of memory', 'MemoryError', ''],
      ['too many processes', 'RuntimeError', "can't start new thread"],
    ] as const;
    for (const [ending, exception, message] of ways) {
      const failed: TestResult = { test: a, outcome: 'failed', exception, message };
      const record = runRecord({ ending, trace: { outcomes: [failed], unfinished } });
      assert.deepEqual(brief(resultsOf(record, [a, b])), [[a, 'failed']]);
      assert.ok(whyIncomplete(record)?.endsWith(`, in ${a}`), whyIncomplete(record));
      const late = runRecord({ ending: 'timed out', trace: { outcomes: [failed], unfinished } });
      assert.ok(whyIncomplete(late)?.endsWith(`, in ${b}`), whyIncomplete(late));
    }
  });

  it('a runner that cannot start says why', () => {
    const said = [
      ['ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov=x', '--cov=x'],
      ['ERROR: /r/pytest.ini:1: unexpected line: oops', 'unexpected line'],
      ['ERROR: Missing required plugins: pytest-x', 'required plugins: pytest-x'],
      ['Different tests were collected between gw0 and gw1. The difference is:', 'gw0 and gw1'],
      ['x\nImportError: Error importing plugin "x": No module named \'x\'', 'importing plugin "x"'],
    ] as const;
    for (const [log, part] of said) {
      const record = runRecord({ exitCode: 4, log });
      assert.ok(whyNotRunnable(record)?.includes(part), `${log}: ${whyNotRunnable(record)}`);
      const ran = runRecord({ exitCode: 4, log, trace: { outcomes: [passed(a)] } });
      assert.equal(whyNotRunnable(ran), undefined);
    }
    const silent = runRecord({ exitCode: 3, log: 'bye', trace: { sessions: [] } });
    assert.match(whyNeitherRuns(silent, silent) ?? '', /exit status 3: bye/);
    assert.equal(whyNeitherRuns(silent, runRecord({})), undefined, 'R alone may fail so');
  });

  it('what a run that came to its end does not mention is missing', () => {
    assert.deepEqual(
      brief(resultsOf(runRecord({ trace: { outcomes: [passed(a)] } }), [a, other])),
      [[a, 'passed']],
    );
    for (const exitCode of [0, 5]) assert.deepEqual(resultsOf(runRecord({ exitCode }), [a]), []);
  });

  it('a runner that complains and runs nothing could not collect anything', () => {
    // The exit status of pytest when a conftest.py cannot be imported.
    const results = resultsOf(
      runRecord({
        exitCode: 4,
        log: 'ImportError while loading conftest',
        trace: { sessions: [] },
      }),
      [a, other],
    );
    assert.deepEqual(brief(results), [
      [a, 'error'],
      [other, 'error'],
    ]);
  });

  it('without a recorder the log is read', () => {
    const log = `PASSED ${a}\nFAILED ${b} - assert 1\nSKIPPED [1] x\n`;
    assert.deepEqual(
      brief(resultsOf(runRecord({ exitCode: 1, log, trace: { sessions: [] } }), [a, b])).slice(
        0,
        2,
      ),
      [
        [a, 'passed'],
        [b, 'failed'],
      ],
    );
    assert.deepEqual(resultsOf(runRecord({ log }), [a, b]), [], 'a recorder was there');
    const words = ['PASSED', 'FAILED', 'ERROR', 'XFAIL', 'XPASS'];
    const all = words.map((word) => `${word} ${file}::test_${word}\n`).join('');
    assert.deepEqual(
      brief(resultsOf(runRecord({ exitCode: 1, log: all, trace: { sessions: [] } }), [])),
      ['passed', 'failed', 'error', 'xfailed', 'xpassed'].map((outcome, at) => [
        `${file}::test_${words[at]}`,
        outcome,
      ]),
    );
    const skipped = runRecord({
      log: "test_a (t.A.test_a) ... skipped 'no'\n",
      trace: { sessions: [] },
    });
    assert.deepEqual(brief(resultsOf(skipped, [])), [['test_a (t.A.test_a)', 'skipped']]);
  });

  it('name each test once, whatever was recorded', () => {
    const outcome = fc.constantFrom<Outcome>('passed', 'failed', 'error', 'skipped');
    const id = fc.constantFrom(file, a, b, `${a}[1]`, other, 'tests/test_c.py', `${file}::K`);
    fc.assert(
      fc.property(
        fc.array(fc.record({ test: id, outcome })),
        fc.array(id),
        fc.constantFrom('exited', 'timed out', 'too much output', 'not started'),
        fc.uniqueArray(fc.constantFrom(a, b, other, `${file}::K::m`)),
        fc.constantFrom(undefined, 0, 1, 4),
        (outcomes, running, ending, expected, exitCode) => {
          const unfinished = running.map((lastTest) => ({ pid: 1, argv: [], lastTest }));
          const record = runRecord({ ending, exitCode, trace: { outcomes, unfinished } });
          const ids = resultsOf(record, expected).map((each) => each.test);
          assert.equal(new Set(ids).size, ids.length);
          for (const { test } of outcomes) {
            const stands = ids.includes(test) || ids.some((each) => each.startsWith(`${test}::`));
            assert.ok(stands, `${test} is lost`);
          }
        },
      ),
    );
  });
});

describe('tests that could not be collected or set up on R', () => {
  const failed = (
    test: string,
    phase: 'collect' | 'setup' | 'teardown' = 'collect',
  ): TestResult => ({
    test,
    outcome: 'error',
    phase,
  });
  const between = (
    onBase: readonly TestResult[],
    onFixed: readonly TestResult[],
    expected: readonly string[] = [],
  ): [string, string][] =>
    transitionsBetween(
      runRecord({ exitCode: 2, trace: { outcomes: [...onBase] } }),
      runRecord({ trace: { outcomes: [...onFixed] } }),
      expected,
    ).map((each) => [each.test, each.transition]);

  it('fail there by the cases that R∘X* has', () => {
    assert.deepEqual(
      between([failed(file)], [passed(`${a}[1]`), passed(`${a}[2]`), passed(b)], [a, b]),
      [
        [`${a}[1]`, 'F→P'],
        [`${a}[2]`, 'F→P'],
        [b, 'F→P'],
      ],
    );
    assert.deepEqual(between([failed(a, 'setup')], [passed(`${a}[1]`)], [a]), [[`${a}[1]`, 'F→P']]);
  });

  it('fail on R∘X* by the cases that R has', () => {
    assert.deepEqual(between([passed(`${a}[1]`), passed(`${a}[2]`)], [failed(file)], [a]), [
      [`${a}[1]`, 'P→F'],
      [`${a}[2]`, 'P→F'],
    ]);
  });

  it('fail there although no file defines them, as inherited ones', () => {
    const inherited = `${file}::K::test_inherited`;
    assert.deepEqual(between([failed(file)], [passed(inherited)]), [[inherited, 'F→P']]);
    assert.deepEqual(between([failed(`${file}::K`, 'setup')], [passed(inherited)]), [
      [inherited, 'F→P'],
    ]);
    assert.deepEqual(between([failed(file)], [failed(`${file}::K`, 'setup')], [`${file}::K::m`]), [
      [`${file}::K::m`, 'F→F'],
    ]);
  });

  it('fail there when a conftest.py above them does, and only then', () => {
    assert.deepEqual(
      between([failed('tests/conftest.py')], [passed(a), passed('x/test_x.py::x')], [a]),
      [
        [a, 'F→P'],
        ['x/test_x.py::x', '-→P'],
      ],
    );
    assert.deepEqual(between([failed('conftest.py')], [passed(`${a}[1]`)], [a]), [
      [`${a}[1]`, 'F→P'],
    ]);
    assert.deepEqual(between([failed('tests/sub/conftest.py')], [passed(a)], [a]), [
      ['tests/sub/conftest.py', 'F→-'],
      [a, '-→P'],
    ]);
  });

  it('are not those of a class whose end failed', () => {
    const end = failed(`${file}::K`, 'teardown');
    assert.deepEqual(between([end], [passed(`${file}::K::m`)]), [
      [`${file}::K`, 'F→-'],
      [`${file}::K::m`, '-→P'],
    ]);
  });
});

describe('other readings of a run', () => {
  it('why it broke off, if it did', () => {
    const unfinished = [{ pid: 7, argv: [], lastTest: a }];
    assert.equal(whyIncomplete(runRecord({ exitCode: 1 })), undefined);
    assert.match(whyIncomplete(runRecord({ killedBy: 'SIGKILL' })) ?? '', /killed by SIGKILL/);
    assert.match(
      whyIncomplete(runRecord({ ending: 'timed out', trace: { unfinished } })) ?? '',
      /time limit .* in tests\/test_a\.py::test_a$/,
    );
    assert.match(whyIncomplete(runRecord({ trace: { unfinished } })) ?? '', /ended early/);
  });

  it('an ending in words, for each', () => {
    assert.match(endingOf(runRecord({ ending: 'not started', startError: 'ENOENT' })), /ENOENT/);
    assert.equal(endingOf(runRecord({ ending: 'cancelled' })), 'cancelled');
    assert.match(endingOf(runRecord({ exitCode: undefined })), /unknown/);
  });

  it('the statuses of the log alone, as the harness reads it', () => {
    const record = runRecord({
      log: `PASSED ${a}[x y]\nERROR ${b}\n`,
      trace: { outcomes: [passed(b)] },
    });
    assert.deepEqual(
      [...statusesOf(record, 'pallets/flask')],
      [
        [`${a}[x`, 'PASSED'],
        [b, 'ERROR'],
      ],
    );
  });

  it('the outcome of a script, which passes only where it comes to its end', () => {
    const said = (more: Parameters<typeof runRecord>[0]): unknown => {
      const { outcome, message } = scriptResult(runRecord(more), 's.py');
      return [outcome, message];
    };
    assert.deepEqual(said({ log: 'done\n' }), ['passed', undefined]);
    assert.deepEqual(said({ exitCode: 1, log: 'x\nAssertionError\n' }), [
      ...['failed', 'AssertionError'],
    ]);
    for (const exitCode of [0, undefined]) {
      assert.deepEqual(said({ ending: 'timed out', exitCode, seconds: 9 }), [
        ...['error', 'stopped at the time limit after 9 s'],
      ]);
    }
  });

  it('counts by line and test, and in all', () => {
    const record = runRecord({
      trace: {
        counts: [
          { path: 'a.py', line: 1, shared: 2, byTest: new Map([[a, 3]]) },
          { path: 'a.py', line: 2, shared: 0, byTest: new Map() },
          { path: 'b.py', line: 1, shared: 0, byTest: new Map([[b, 1]]) },
        ],
      },
    });
    const counts = lineCountsOf(record);
    assert.equal(counts.get('a.py')?.get(1)?.byTest.get(a), 3);
    assert.equal(counts.get('a.py')?.get(1)?.shared, 2);
    const moved = lineCountsOf(record, ({ path, line }) =>
      path === 'a.py' ? { path, line: line + 10 } : undefined,
    );
    assert.deepEqual([...moved.keys()], ['a.py']);
    assert.equal(moved.get('a.py')?.get(11)?.shared, 2);
    assert.deepEqual(
      wholeCountsOf(record),
      new Map([
        ['a.py', new Map([[1, 5]])],
        ['b.py', new Map([[1, 1]])],
      ]),
    );
  });
});
