import assert from 'node:assert/strict';
import { harnessUnapplied } from '../../../src/domain/harness';
import { entryReasons, type VerdictReason, ungraded } from '../../../src/domain/verdict';
import type { RunEntry } from '../../../src/study/entry';
import { entryOf, type BatchEntry } from '../../../src/results/entry';
import { ratesOf } from '../../../src/results/report';
import { candidateResult } from '../evaluation/examples';

const prediction = { instanceId: 'octo__cat-1', model: 'm', patch: 'p' };

const refused = (reason: VerdictReason, explanation: string): BatchEntry => ({
  prediction,
  result: candidateResult({
    strict: ungraded(reason, explanation, false),
    harness: harnessUnapplied(true),
  }),
});

describe('the entry of a candidate', () => {
  it('has the figures of its verdict, its coverage and the harness grading', () => {
    const entry = entryOf({
      prediction: { ...prediction, sample: 3, cost: { dollars: 0.5 } },
      result: candidateResult(),
      seconds: 1.23456,
    });
    assert.deepEqual(entry, {
      instance: 'octo__cat-1',
      model: 'm',
      sample: 3,
      seconds: 1.235,
      cost: { dollars: 0.5 },
      reason: 'success',
      explanation: '1 test reproduces the issue; none fail with the fix',
      evaluated: true,
      wellFormed: true,
      success: true,
      failToPass: 1,
      failToFail: 0,
      passToPass: 0,
      passToFail: 0,
      failToAny: 1,
      anyToFail: 0,
      delta: { covered: 1, executable: 2 },
      goldenDelta: { covered: 1, executable: 2 },
      harness: { resolved: true, addedFailToPass: 1, coverage: null, coverageDelta: null },
      findings: [],
    });
  });

  it('has its findings with the first of their evidence, and stays what it is', () => {
    const evidence = ['x'.repeat(500), 'b', 'c', 'd', 'e'];
    const findings = [{ kind: 'inspects source', evidence }] as const;
    const entry = entryOf({ prediction, result: candidateResult({ findings }) });
    assert.equal(entry.reason, 'success');
    assert.deepEqual(entry.findings, [
      {
        kind: 'inspects source',
        evidence: [`${'x'.repeat(299)}…`, 'b', 'c', 'and 2 more'],
      },
    ]);
  });

  it('has the first findings of each kind in its trajectory, graded or not', () => {
    const at = (step: number, severity: 'note' | 'warning', kind: 'history' | 'network') => ({
      ...{ kind, severity, step, text: `step ${step}` },
    });
    const trajectoryFindings = [
      ...[at(1, 'note', 'history'), at(2, 'warning', 'network'), at(3, 'note', 'history')],
      ...[at(4, 'warning', 'history'), at(5, 'warning', 'history')],
    ];
    const found = { ...prediction, trajectoryFindings };
    const steps = (entry: RunEntry) => entry.trajectoryFindings?.map(({ step }) => step);
    assert.deepEqual(steps(entryOf({ prediction: found, result: candidateResult() })), [4, 5, 2]);
    assert.deepEqual(steps(entryOf({ prediction: found, failure: 'no such commit' })), [4, 5, 2]);
    assert.ok(!('trajectoryFindings' in entryOf({ prediction, result: candidateResult() })));
  });

  it('has the failing hunk of a candidate that does not apply', () => {
    const entry = entryOf(refused('does not apply', 'tests/test_cat.py: hunk 2 does not apply'));
    assert.equal(entry.reason, 'does not apply');
    assert.match(entry.explanation, /hunk 2/);
    assert.deepEqual(entry.harness?.resolved, false);
  });

  it('blames edits outside tests only where it is a success without them', () => {
    const result = candidateResult({ strict: ungraded('passes on R', '1 test P→P', true) });
    assert.equal(entryOf({ prediction, result }).reason, 'passes on R');
    const entry = entryOf({ prediction, result, spoiledBy: ['cat.py'] });
    assert.equal(entry.reason, 'edits outside tests');
    assert.equal(
      entry.explanation,
      'passes on R (1 test P→P); it would succeed without its changes to cat.py',
    );
  });

  it('has no harness grading where that is not available', () => {
    const harness = { ...harnessUnapplied(true), patch_successfully_applied: true };
    assert.equal(entryOf({ prediction, result: candidateResult({ harness }) }).harness, undefined);
  });

  it('of what could not be evaluated has why, and nothing else', () => {
    const entry = entryOf({ prediction, failure: 'x'.repeat(600), why: 'environment failed' });
    assert.equal(entry.reason, 'environment failed');
    assert.equal(entry.explanation.length, 500);
    assert.deepEqual([entry.evaluated, entry.wellFormed, entry.delta], [false, false, undefined]);
    assert.equal(entryOf({ prediction, failure: 'x' }).reason, 'internal error');
  });

  it('is counted by its reason, with instances that have no prediction', () => {
    const of = ratesOf(
      [
        entryOf(refused('does not apply', 'hunk')),
        entryOf({ prediction, result: candidateResult() }),
        entryOf(refused('does not apply', 'hunk')),
      ],
      ['octo__cat-1', 'octo__cat-2'],
    );
    assert.deepEqual(of.reasons, { success: 1, 'does not apply': 2, 'no prediction': 1 });
    const order = Object.keys(of.reasons).map((reason) =>
      (entryReasons as readonly string[]).indexOf(reason),
    );
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
  });
});
