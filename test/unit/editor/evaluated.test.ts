import assert from 'node:assert/strict';
import { isAsBefore, isNewer } from '../../../src/editor/verdict/evaluated';
import { candidateResult } from '../evaluation/examples';
import { failed, testCase } from './views/testCases';

describe('a run of an unchanged candidate', () => {
  const result = candidateResult();
  const before = { digest: 'd1', result };

  it('is as before where it shows nothing new', () => {
    assert.equal(isAsBefore(before, { digest: 'd1', result: candidateResult() }), true);
    const slower = result.tests.map((each) => ({ ...each, base: { ...each.base, seconds: 9 } }));
    const reordered = candidateResult({ tests: slower.toReversed() });
    assert.equal(isAsBefore(before, { digest: 'd1', result: reordered }), true);
  });

  it('is not as before the first, after an edit, or with another outcome or coverage', () => {
    assert.equal(isAsBefore(undefined, before), false);
    assert.equal(isAsBefore(before, { ...before, digest: 'd2' }), false);
    const flaky = candidateResult({ tests: [testCase(failed, failed)] });
    assert.equal(isAsBefore(before, { digest: 'd1', result: flaky }), false);
    const unknown = candidateResult({ changeCoverage: undefined });
    assert.equal(isAsBefore(before, { digest: 'd1', result: unknown }), false);
  });
});

describe('a verdict that another window stored', () => {
  const noon = { evaluatedAt: new Date('2026-03-04T12:00:00Z') };
  const later = { evaluatedAt: new Date('2026-03-04T12:00:01Z') };
  const mutants = { made: 0, tested: [] };

  it('is shown where there is none, or where it is newer or has mutants', () => {
    assert.equal(isNewer(noon, undefined), true);
    assert.equal(isNewer(later, noon), true);
    assert.equal(isNewer({ ...noon, mutants }, noon), true);
  });

  it('is not shown in place of the same or of a later one', () => {
    assert.equal(isNewer(noon, noon), false);
    assert.equal(isNewer({ ...noon, mutants }, { ...noon, mutants }), false);
    assert.equal(isNewer({ ...noon, mutants }, later), false);
  });
});
