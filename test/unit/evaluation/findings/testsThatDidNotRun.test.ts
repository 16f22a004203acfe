import assert from 'node:assert/strict';
import { type Outcome, type TestResult, pairResults } from '../../../../src/domain/outcome';
import { testsThatDidNotRun } from '../../../../src/evaluation/findings/testsThatDidNotRun';
import { runRecord } from '../examples';

type Results = Readonly<Record<string, Outcome>>;

/** A run with these outcomes, of tests that were all collected. */
function ran(base: Results, fixed: Results, collected: readonly string[] = Object.keys(base)) {
  const results = (side: Results): TestResult[] =>
    Object.entries(side).map(([test, outcome]) => ({ test, outcome }));
  const record = (side: Results) =>
    runRecord({ trace: { outcomes: results(side), collected: [...collected] } });
  return {
    records: { base: record(base), fixed: record(fixed) },
    tests: pairResults(results(base), results(fixed)),
  };
}

const nothing = { records: undefined, tests: [] };
const [a, b] = ['t.py::a', 't.py::b'];

describe('tests that did not run', () => {
  it('are none where every test has an outcome on both sides', () => {
    const run = ran({ [a]: 'failed', [b]: 'skipped' }, { [a]: 'passed', [b]: 'skipped' });
    assert.equal(testsThatDidNotRun(run, nothing), undefined);
  });

  it('are those that were collected and never began, with their side', () => {
    const run = ran({ [a]: 'failed', [b]: 'failed' }, { [a]: 'passed' });
    assert.deepEqual(testsThatDidNotRun(run, nothing)?.evidence, [
      'on R∘X*, collected but without an outcome: t.py::b',
    ]);
  });

  it('are those that only one side has, or that R∘X* skips', () => {
    const absent = ran({ [a]: 'failed', [b]: 'failed' }, { [a]: 'passed' }, [a]);
    assert.match(
      testsThatDidNotRun(absent, nothing)?.evidence[0] ?? '',
      /missing although.*t\.py::b/,
    );
    for (const outcome of ['skipped', 'xfailed'] as const) {
      const skipped = ran({ [a]: 'failed', [b]: 'failed' }, { [a]: 'passed', [b]: outcome });
      assert.match(testsThatDidNotRun(skipped, nothing)?.evidence[0] ?? '', /skipped.*t\.py::b/);
    }
  });

  it('are not cases whose names change between runs', () => {
    const run = ran({ 't.py::c[1]': 'failed', [b]: 'failed' }, { 't.py::c[2]': 'passed' }, []);
    assert.deepEqual(testsThatDidNotRun(run, nothing)?.evidence, [
      'on R∘X*, missing although the other side has them: t.py::b',
    ]);
  });

  it('are not those that the run of R loses as well', () => {
    const base = ran({ [b]: 'failed' }, { [b]: 'skipped' }, [b, 't.py::slow']);
    const run = ran({ [a]: 'failed', [b]: 'failed' }, { [a]: 'passed', [b]: 'skipped' }, [
      ...[a, b, 't.py::slow'],
    ]);
    assert.equal(testsThatDidNotRun(run, base), undefined);
  });
});
