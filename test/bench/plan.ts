import { planBatch } from '../../src/batch/plan';
import type { Instance, Prediction } from '../../src/domain/instance';

/**
 * How long it takes to plan a batch of the size of SWT-Bench Full, with five candidates for each
 * instance. The patches have the usual length.
 */
const instances = 2294;
const candidates = 5;

const patchOf = (name: string): string => {
  const lines = Array.from({ length: 60 }, (_, line) => `+    assert value_${line} == '${name}'`);
  return `diff --git a/tests/test_${name}.py b/tests/test_${name}.py
--- a/tests/test_${name}.py
+++ b/tests/test_${name}.py
@@ -1,3 +1,${lines.length + 3} @@
 import value


${lines.join('\n')}
`;
};

const rows: Instance[] = Array.from({ length: instances }, (_, index) => ({
  id: `owner__name-${index}`,
  repo: `owner/name-${index % 12}`,
  baseCommit: 'abcdef0',
  version: String(index % 9),
  issue: '',
  hints: '',
  createdAt: '',
  goldenPatch: '',
  goldenTests: patchOf(`golden_${index}`),
  failToPass: undefined,
  passToPass: undefined,
}));
const predictions: Prediction[] = rows.flatMap(({ id }, index) =>
  Array.from({ length: candidates }, (_, sample) => ({
    instanceId: id,
    model: 'm',
    patch: patchOf(sample === 0 ? `golden_${index}` : `${index}_${sample}`),
    sample: sample + 1,
  })),
);

const before = process.memoryUsage().rss;
const cpu = process.cpuUsage();
const started = performance.now();
const plan = planBatch(rows, predictions, 2);
const seconds = (performance.now() - started) / 1000;
const { counts } = plan;
const used = process.cpuUsage(cpu);
console.log(
  `planned ${counts.candidates} candidates on ${counts.instances} instances in ` +
    `${counts.environments} environments: ${counts.runs} runs, ${seconds.toFixed(2)} s ` +
    `(${((used.user + used.system) / 1e6).toFixed(2)} s of processor), ` +
    `${Math.round((process.memoryUsage().rss - before) / 1e6)} MB more (goal: below 2 s)`,
);
if (seconds >= 2) process.exitCode = 1;
