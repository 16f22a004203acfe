import { mkdir, writeFile } from 'node:fs/promises';
import type { RunData, RunEntry } from '../../../src/study/entry';
import { journalPath } from '../../../src/results/journal';
import {
  manifestVersion,
  writeManifest,
  reportPath,
  runFolder,
} from '../../../src/results/runFolder';

/** A line of a journal, as a batch appends it. */
export const journalLine = (run: string, entry: RunEntry): string =>
  `${JSON.stringify({
    ...entry,
    key: `${entry.instance} ${entry.model} ${entry.sample}`,
    finished: '2026-11-21T00:00:00.000Z',
    report: reportPath(run, entry),
  })}\n`;

/**
 * Writes a run as a batch leaves it below its results folder, without the reports.
 *
 * @param candidates number of entries in the complete run; by default the number of given entries
 * @returns folder of the run
 */
export async function writeRun(
  out: string,
  run: RunData,
  candidates = run.entries.length,
): Promise<string> {
  const folder = runFolder(out, run.label);
  await mkdir(folder, { recursive: true });
  await writeFile(
    journalPath(folder),
    run.entries.map((entry) => journalLine(run.label, entry)).join(''),
  );
  await writeManifest(folder, {
    version: manifestVersion,
    run: run.label,
    created: '2026-11-21T00:00:00.000Z',
    product: '0.1.0',
    dataset: 'simulated',
    mode: 'unit-test',
    format: 'auto',
    testsOnly: false,
    timeoutSeconds: 300,
    engine: 'none',
    instances: run.instances,
    models: [...new Set(run.entries.map(({ model }) => model))],
    predictions: [{ from: 'simulated' }],
    candidates,
    same: {},
    digest: '',
  });
  return folder;
}
