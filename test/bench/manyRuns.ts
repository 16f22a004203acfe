import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomNumbers } from '../../src/study/measures/resampling';
import type { EntryReason } from '../../src/domain/verdict';
import type { InstanceFacts, RunData, RunEntry } from '../../src/study/entry';
import {
  reportPath,
  runFolder,
  manifestVersion,
  type RunManifest,
} from '../../src/results/runFolder';

const repositories = [
  ['django/django', 850],
  ['sympy/sympy', 386],
  ['scikit-learn/scikit-learn', 229],
  ['sphinx-doc/sphinx', 187],
  ['matplotlib/matplotlib', 184],
  ['pytest-dev/pytest', 119],
  ['pydata/xarray', 110],
  ['astropy/astropy', 95],
  ['pylint-dev/pylint', 57],
  ['psf/requests', 44],
  ['mwaskom/seaborn', 22],
  ['pallets/flask', 11],
] as const;

/**
 * Simulated instances in the proportions of the Full split; the same count gives the same
 * instances.
 */
export function simulatedInstances(count: number): InstanceFacts[] {
  const next = randomNumbers(7);
  const total = repositories.reduce((sum, [, of]) => sum + of, 0);
  return Array.from({ length: count }, (_, index) => {
    let place = next() % total;
    const repo = repositories.find(([, of]) => (place -= of) < 0)?.[0] ?? repositories[0][0];
    const day = new Date(Date.UTC(2013 + (next() % 11), next() % 12, 1 + (next() % 28)));
    return {
      id: `${repo.replace('/', '__')}-${10_000 + index}`,
      repo,
      created: day.toISOString(),
      issueLength: 120 + Math.floor(Math.exp((next() / 2 ** 32) * 4.5) * 90),
    };
  });
}

/** One simulated candidate, with consistent figures like those of a graded one. */
function simulatedEntry(
  instance: string,
  model: string,
  sample: number,
  strength: number,
  next: () => number,
): RunEntry {
  const chance = (): number => next() / 2 ** 32;
  const roll = chance();
  const executable = 1 + (next() % 24);
  const covered = Math.floor(chance() * (executable + 1));
  const reason: EntryReason =
    roll < 0.01
      ? 'environment failed'
      : roll < 0.08
        ? 'does not apply'
        : roll < 0.08 + strength
          ? 'success'
          : roll < 0.5
            ? 'fails on both sides'
            : roll < 0.7
              ? 'passes on R'
              : roll < 0.9
                ? 'breaks a test'
                : 'unrelated failure';
  const evaluated = reason !== 'environment failed';
  const applies = evaluated && reason !== 'does not apply';
  const success = reason === 'success';
  const breaks = reason === 'breaks a test';
  const fails = reason === 'fails on both sides' || reason === 'unrelated failure';
  const failToPass = success ? 1 + (next() % 3) : breaks ? next() % 2 : 0;
  return {
    instance,
    model,
    sample,
    reason,
    explanation: success
      ? `${failToPass} tests reproduce the issue; none fail with the fix`
      : `tests/test_simulated.py::test_of_${instance}: ${reason}, as some candidates do in simulated runs`,
    evaluated,
    wellFormed: applies,
    success,
    failToPass,
    failToFail: fails ? 1 : 0,
    passToPass: reason === 'passes on R' ? 1 : next() % 2,
    passToFail: breaks ? 1 : 0,
    failToAny: failToPass + (fails ? 1 : 0),
    anyToFail: fails || breaks ? 1 : 0,
    ...(evaluated ? { delta: { covered: applies ? covered : 0, executable } } : {}),
    ...(evaluated ? { goldenDelta: { covered: executable, executable } } : {}),
    ...(evaluated
      ? {
          harness: {
            resolved: success,
            addedFailToPass: failToPass,
            coverageDelta: applies ? covered / executable : 0,
          },
        }
      : {}),
    seconds: 1 + chance() * 20,
    cost: { dollars: 0.1 + chance(), inputTokens: 20_000 + (next() % 9000), outputTokens: 900 },
  };
}

/**
 * Simulated runs, one for each model, over the same instances.
 *
 * @param samples candidates of each model for each instance
 */
export function simulatedRuns(instances: number, models: number, samples = 1): RunData[] {
  const facts = simulatedInstances(instances);
  return Array.from({ length: models }, (_, index) => {
    const next = randomNumbers(100 + index);
    const model = `method-${index + 1}`;
    return {
      label: `run-${index + 1}`,
      instances: facts,
      entries: facts.flatMap(({ id }) =>
        Array.from({ length: samples }, (_, sample) =>
          simulatedEntry(id, model, sample + 1, 0.05 + 0.04 * index, next),
        ),
      ),
      models: [model],
    };
  });
}

/** Writes a run as `evaluate --out` leaves it: its manifest and its journal. */
export async function writeSimulatedRun(out: string, run: RunData): Promise<void> {
  const folder = runFolder(out, run.label);
  await mkdir(folder, { recursive: true });
  const manifest: RunManifest = {
    version: manifestVersion,
    run: run.label,
    created: '2026-01-01T00:00:00.000Z',
    product: '0.0.0',
    dataset: 'simulated',
    mode: 'unit-test',
    format: 'auto',
    testsOnly: false,
    timeoutSeconds: 1800,
    engine: 'simulated',
    instances: run.instances,
    models: run.models ?? [],
    predictions: [{ from: 'simulated.jsonl' }],
    candidates: run.entries.length,
    same: {},
    digest: '',
  };
  await writeFile(join(folder, 'run.json'), JSON.stringify(manifest, null, 2));
  const lines = run.entries.map((entry) =>
    JSON.stringify({
      ...entry,
      key: 'k'.repeat(64),
      finished: '2026-01-01T00:00:00.000Z',
      report: reportPath(run.label, entry),
    }),
  );
  await writeFile(join(folder, 'entries.jsonl'), `${lines.join('\n')}\n`);
}

/**
 * Writes a run as the reference harness leaves it: a report for each candidate, and no file of
 * ours.
 */
export async function writeHarnessRun(out: string, run: RunData): Promise<void> {
  for (const entry of run.entries) {
    const path = join(out, reportPath(run.label, entry));
    await mkdir(dirname(path), { recursive: true });
    const lists = (failToPass: number) => ({
      FAIL_TO_PASS: Array.from(
        { length: failToPass },
        (_, index) => `tests/test_a.py::new_${index}`,
      ),
      PASS_TO_PASS: Array.from({ length: 100 }, (_, index) => `tests/test_a.py::test_${index}`),
      FAIL_TO_FAIL: Array.from(
        { length: entry.failToFail },
        (_, index) => `tests/test_a.py::f_${index}`,
      ),
      PASS_TO_FAIL: [],
      UNMATCHED: [],
    });
    const report = {
      patch_is_None: false,
      patch_exists: true,
      patch_successfully_applied: entry.wellFormed,
      resolved: entry.success,
      coverage_pred: null,
      coverage_gold: null,
      coverage_base: null,
      coverage_delta_pred: entry.harness?.coverageDelta ?? null,
      coverage_delta_gold: 1,
      ...(entry.wellFormed
        ? { added_f2p: entry.failToPass, tests_base: lists(0), tests_pred: lists(entry.failToPass) }
        : {}),
    };
    await writeFile(path, JSON.stringify({ [entry.instance]: report }, null, 4));
  }
}
