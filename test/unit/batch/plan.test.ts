import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Instance, Prediction } from '../../../src/domain/instance';
import { planBatch, type BatchPlan } from '../../../src/batch/plan';

const testPatch = (path: string, name = 'a'): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1,2 @@\n x\n+def test_${name}(): pass\n`;

const instance = (id: string, more: Partial<Instance> = {}): Instance => ({
  id,
  repo: 'octo/cat',
  baseCommit: 'abcdef0',
  version: '1.0',
  issue: '',
  hints: '',
  createdAt: '',
  goldenPatch: '',
  goldenTests: testPatch('tests/test_golden.py'),
  failToPass: undefined,
  passToPass: undefined,
  ...more,
});

const prediction = (instanceId: string, patch: string, model = 'm'): Prediction => ({
  instanceId,
  model,
  patch,
});

const idsOf = (plan: BatchPlan, kind: string): string[] =>
  plan.runs.filter((run) => run.kind === kind).map((run) => run.id);

describe('the plan of a batch', () => {
  it('has base and golden runs once for all candidates of an instance, on both sides', () => {
    const mine = testPatch('tests/test_mine.py');
    const plan = planBatch(
      [instance('a')],
      [
        prediction('a', mine, 'm'),
        prediction('a', testPatch('tests/test_mine.py', 'b'), 'n'),
        prediction('a', testPatch('tests/test_golden.py', 'c'), 'o'),
      ],
    );
    assert.deepEqual(plan.counts, {
      candidates: 3,
      instances: 1,
      environments: 1,
      // Files of T*, and those of the first two candidates.
      base: 4,
      golden: 2,
      candidate: 6,
      runs: 12,
    });
    const [golden] = plan.runs.filter((run) => run.kind === 'golden');
    assert.equal(golden?.serves, 3);
  });

  it('has one run for candidates that are the same text, and none for an empty one', () => {
    const mine = testPatch('tests/test_mine.py');
    const plan = planBatch(
      [instance('a')],
      [prediction('a', mine, 'm'), prediction('a', mine, 'n'), prediction('a', ' \n', 'none')],
    );
    assert.deepEqual(
      plan.runs.filter((run) => run.kind === 'candidate').map((run) => run.serves),
      [2, 2],
    );
    assert.equal(plan.counts.candidate, 2);
  });

  it('takes a candidate whose format does not tell its files to have a base run of its own', () => {
    const plan = planBatch([instance('a')], [prediction('a', 'diff\ntests/test_x.py\nrewrite')]);
    assert.equal(plan.counts.base, 4);
  });

  it('keeps instances of one repository and version together, in the order of the dataset', () => {
    const plan = planBatch(
      [
        instance('a1'),
        instance('x', { repo: 'octo/dog' }),
        instance('a2', { version: '2.0' }),
        instance('a3'),
        instance('own', { environment: { image: 'image:1' } }),
      ],
      ['x', 'own', 'a3', 'a2', 'a1'].map((id) => prediction(id, testPatch('tests/test_m.py'))),
    );
    assert.deepEqual(
      plan.work.map((each) => [each.environment, each.instance, each.candidates]),
      [
        ['octo/cat@1.0', 'a1', [4]],
        ['octo/cat@1.0', 'a3', [2]],
        ['octo/cat@2.0', 'a2', [3]],
        ['image:1', 'own', [1]],
        ['octo/dog@1.0', 'x', [0]],
      ],
    );
    assert.deepEqual(idsOf(plan, 'environment'), [
      'environment octo/cat@1.0',
      'environment octo/cat@2.0',
      'environment image:1',
      'environment octo/dog@1.0',
    ]);
  });

  it('leaves an instance without predictions out, and parts candidates among idle workers', () => {
    const patches = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      prediction('i', testPatch('tests/test_m.py', name), name),
    );
    const plan = planBatch([instance('i'), instance('without')], patches, 2);
    assert.deepEqual(
      plan.work.map((each) => each.candidates),
      [
        [0, 1, 2],
        [3, 4],
      ],
    );
    assert.equal(plan.counts.instances, 1);
  });

  it('is a graph without circles in which everything is done once, whatever is asked', () => {
    const ids = ['a', 'b', 'c', 'd'];
    const anyInstance = (id: string) =>
      fc
        .record({ repo: fc.constantFrom('o/r', 'o/s'), version: fc.constantFrom('', '1') })
        .map((more) => instance(id, more));
    const anyPrediction = fc.record({
      instanceId: fc.constantFrom(...ids, 'unknown'),
      model: fc.constantFrom('m', 'n'),
      patch: fc.constantFrom('', 'text', testPatch('tests/test_m.py'), testPatch('setup.py')),
    });
    fc.assert(
      fc.property(
        fc.tuple(...ids.map(anyInstance)),
        fc.array(anyPrediction, { maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        (instances, predictions, workers) => {
          const plan = planBatch(instances, predictions, workers);
          const seen = new Set<string>();
          for (const run of plan.runs) {
            assert.ok(!seen.has(run.id), run.id);
            for (const needed of run.needs) assert.ok(seen.has(needed), `${run.id}: ${needed}`);
            seen.add(run.id);
          }
          const places = plan.work.flatMap((each) => each.candidates);
          const known = [...predictions.keys()].filter(
            (place) => predictions[place]?.instanceId !== 'unknown',
          );
          assert.deepEqual(
            places.sort((a, b) => a - b),
            known,
          );
          const order = plan.work.map((each) => each.environment);
          assert.equal(
            order.filter((key, index) => key !== order[index - 1]).length,
            new Set(order).size,
          );
        },
      ),
    );
  });
});
