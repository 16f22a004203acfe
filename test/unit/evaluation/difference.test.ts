import assert from 'node:assert/strict';
import { gradeHarness } from '../../../src/domain/harness';
import { pairResults } from '../../../src/domain/transition';
import { gradeStrict } from '../../../src/domain/verdict';
import { explainDifference } from '../../../src/evaluation/difference';

describe('why the gradings differ', () => {
  it('a test that breaks without the candidate too, of which the harness has no base run', () => {
    const own = 't.py::test_own';
    const old = 't.py::test_old';
    const base = pairResults(
      [{ test: old, outcome: 'passed' }],
      [{ test: old, outcome: 'failed' }],
    );
    const tests = [
      ...pairResults([{ test: own, outcome: 'failed' }], [{ test: own, outcome: 'passed' }]),
      ...base,
    ];
    const strict = gradeStrict({ candidate: tests, base, ownFunctions: new Set([own]) });
    const of = (statuses: Record<string, string>) => ({
      statuses: new Map(Object.entries(statuses)),
      counts: new Map(),
    });
    const harness = gradeHarness({
      removed: [],
      added: [],
      candidate: {
        pre: of({ [own]: 'FAILED', [old]: 'PASSED' }),
        post: of({ [own]: 'PASSED', [old]: 'FAILED' }),
      },
      golden: undefined,
      base: { pre: of({}), post: of({}) },
    });
    assert.equal(strict.success, true);
    assert.equal(harness.resolved, false);
    assert.match(
      explainDifference(strict, harness, tests) ?? '',
      /no base run .* breaks without the candidate too \(t\.py::test_old\)/,
    );
  });
});
