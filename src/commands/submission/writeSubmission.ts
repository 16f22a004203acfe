import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { parsePythonJson } from '../../files/json';
import { readPlainText } from '../../files/plainFile';
import { isInstanceId } from '../../domain/instance';
import { jsonText } from '../../domain/text';
import { HumanError, systemCode, throwIfAborted } from '../../domain/work';
import { withoutMachinePaths } from '../../results/reproduction';
import { modelFolder, readManifest } from '../../results/runFolder';
import { sampleName, type RunData, type RunEntry } from '../../study/entry';
import { writeAtif } from '../../trajectory/atifDocument';
import { readTrajectories } from '../../trajectory/readTrajectories';
import type { Trajectory } from '../../trajectory/trajectory';
import type { CommandContext } from '../context';
import { writeOut } from '../options/sharedOptions';
import { metadataYaml, readmeOf, resultFiles, type Submitted } from './submissionTexts';

export interface SubmissionOptions {
  /** The method, where the runs have several. */
  readonly method: string | undefined;
  /** Files and folders with trajectories; by default those beside the predictions of the run. */
  readonly trajectories: readonly string[];
  readonly out: string | undefined;
  /** The storage folder, which logs may name. */
  readonly storage: string;
}

/**
 * Writes a run of one method in the layout of submissions to the leaderboard of SWE-bench: `preds.json`,
 * `metadata.yaml`, `README.md`, `logs/ID`, `results` and `trajs/ID.atif.json`. Resolved is what
 * harness grading says.
 *
 * @returns what the leaderboard asks for and the folder lacks, a sentence each
 * @throws HumanError when there is not one method, or the folder cannot be written; Cancelled
 */
export async function writeSubmission(
  runs: readonly RunData[],
  { method, trajectories, out, storage }: SubmissionOptions,
  context: CommandContext,
): Promise<readonly string[]> {
  if (out === undefined) {
    throw new HumanError('A submission is a folder', 'Specify a new one with --out');
  }
  await checkEmpty(out);
  const { run, entries } = onlyMethod(runs, method);
  const { folder: results } = run;
  if (results === undefined || run.known === 'success') {
    throw new HumanError(
      'A summary has no logs and no predictions to submit',
      'Specify the folder that `swt-bench evaluate --out` wrote',
    );
  }
  const shared = sharedWithout(results, storage);
  const found = await trajectoriesOf(run, entries, trajectories, context.signal);
  const submitted: Submitted[] = [];
  for (const entry of entries) {
    throwIfAborted(context.signal);
    if (!isInstanceId(entry.instance)) continue;
    const files = await filesOf(entry, results, shared);
    const folder = join(out, 'logs', entry.instance);
    for (const [name, text] of files.logs) await put(join(folder, name), text);
    const trajectory = found.get(entry.instance);
    if (trajectory !== undefined) {
      const document = jsonText(shared(writeAtif(trajectory)));
      await put(join(out, 'trajs', `${entry.instance}.atif.json`), document);
    }
    submitted.push({
      ...{ entry, patch: files.patch, hasTrajectory: trajectory !== undefined },
      hasLogs: files.logs.length > 0,
    });
  }
  const all = { run, submitted };
  const predictions = submitted.map(({ entry: { instance, model }, patch = '' }) => ({
    ...{ instance_id: instance, model_name_or_path: model, model_patch: patch },
  }));
  const byId = Object.fromEntries(predictions.map((each) => [each.instance_id, each]));
  await put(join(out, 'preds.json'), jsonText(byId));
  // What the leaderboard of SWT-Bench asks for.
  const lines = predictions.map((each) => `${JSON.stringify(each)}\n`);
  await put(join(out, 'preds.jsonl'), lines.join(''));
  await put(join(out, 'metadata.yaml'), metadataYaml(all));
  for (const [name, value] of resultFiles(all)) {
    await put(join(out, 'results', name), jsonText(value));
  }
  const missing = lacks(all);
  await put(join(out, 'README.md'), readmeOf(all, missing));
  return missing;
}

const put = (path: string, text: string): Promise<void> => writeOut('The submission', path, text);

/** @throws HumanError for a folder with something in it */
async function checkEmpty(out: string): Promise<void> {
  const names = await readdir(out).catch((error: unknown): string[] => {
    if (systemCode(error) === 'ENOENT') return [];
    throw new HumanError(
      `The submission cannot be written to ${out} (${systemCode(error)})`,
      'Specify a new folder with --out',
    );
  });
  if (names.length === 0) return;
  throw new HumanError(`The folder ${out} is not empty`, 'Specify a new one with --out');
}

/** @throws HumanError when there are several runs or methods, or none of this name */
function onlyMethod(
  runs: readonly RunData[],
  method: string | undefined,
): { readonly run: RunData; readonly entries: readonly RunEntry[] } {
  const [run, ...others] = runs;
  if (run === undefined || others.length > 0) {
    throw new HumanError(
      `A submission is of one run, and there are ${runs.length}`,
      'Specify the folder of one, such as DIR/runs/RUN',
    );
  }
  const names = [...new Set(run.entries.map((entry) => sampleName(entry)))];
  const [only] = method === undefined ? names : names.filter((name) => name === method);
  if (only === undefined || (method === undefined && names.length > 1)) {
    throw new HumanError(
      `A submission is of one method, and the run has ${names.join(', ')}`,
      'Specify one with --compare',
    );
  }
  return { run, entries: run.entries.filter((entry) => sampleName(entry) === only) };
}

interface EntryFiles {
  /** Undefined where it is not kept. */
  readonly patch: string | undefined;
  /** Names in the submission, with their texts. */
  readonly logs: readonly (readonly [name: string, text: string])[];
}

/** What the results folder keeps of a candidate. */
async function filesOf(entry: RunEntry, results: string, shared: Shared): Promise<EntryFiles> {
  const report = join(results, entry.report ?? '');
  const inside = relative(results, report);
  // A journal is untrusted: it may name only files in its own folder.
  const isInside = !inside.startsWith('..') && !isAbsolute(inside);
  if (entry.report === undefined || !isInside) return { patch: undefined, logs: [] };
  const run = dirname(dirname(dirname(report)));
  const name = modelFolder(entry.model, entry.sample);
  const outputOf = (side: 'pre' | 'post'): string =>
    join(run, `pred_${side}__${name}`, entry.instance, 'test_output.txt');
  const read = async (path: string): Promise<string | undefined> =>
    readPlainText(path).then(
      (text) => shared(text),
      () => undefined,
    );
  const patch = await readPlainText(join(dirname(report), 'model_patch.diff')).catch(
    () => undefined,
  );
  const files = [
    ['report.json', await readReport(report, shared)],
    ['patch.diff', patch],
    ['test_output.txt', await read(outputOf('post'))],
    ['test_output_pre.txt', await read(outputOf('pre'))],
  ] as const;
  return { patch, logs: files.flatMap(([of, text]) => (text === undefined ? [] : [[of, text]])) };
}

/** The report without paths of this machine; undefined where it is damaged. */
async function readReport(path: string, shared: Shared): Promise<string | undefined> {
  try {
    return jsonText(shared(parsePythonJson(await readPlainText(path))));
  } catch {
    return undefined;
  }
}

/** Takes the paths of this machine out of what others read. */
type Shared = <T>(value: T) => T;

const sharedWithout =
  (results: string, storage: string): Shared =>
  (value) =>
    withoutMachinePaths(value, [
      { path: resolve(results), name: 'RESULTS' },
      { path: resolve(storage), name: 'STORAGE' },
      { path: process.cwd(), name: '' },
      { path: homedir(), name: 'HOME' },
    ]);

/** The trajectory of each candidate, the first that has its patch, or has none at all. */
async function trajectoriesOf(
  { place, trajectories: published = [] }: RunData,
  entries: readonly RunEntry[],
  asked: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Trajectory>> {
  const manifest = place === undefined ? undefined : await readManifest(place);
  const beside = (manifest?.predictions ?? []).map(({ from }) => from);
  const ids = new Set(entries.map(({ instance }) => instance));
  const models = new Map(entries.map(({ instance, model }) => [instance, model]));
  const found = new Map<string, Trajectory>();
  for (const path of asked.length > 0 ? asked : [...published, ...beside]) {
    try {
      const read = readTrajectories(path, { instance: ids, signal, told: () => undefined });
      for await (const { trajectory } of read) {
        const { instance, choices } = trajectory;
        const model = models.get(instance);
        const isTheirs =
          choices === undefined || choices.some((each) => `${each.method}/${each.model}` === model);
        if (isTheirs && !found.has(instance)) found.set(instance, trajectory);
      }
    } catch (error) {
      // Files of predictions need not have trajectories beside them; those that were named do.
      if (!(error instanceof HumanError) || asked.length > 0) throw error;
    }
  }
  return found;
}

/** What the leaderboard asks for and the folder lacks. */
function lacks({
  run,
  submitted,
}: {
  readonly run: RunData;
  readonly submitted: readonly Submitted[];
}): string[] {
  const count = (what: string, of: readonly unknown[]): string[] =>
    of.length === 0 ? [] : [`${of.length} of ${run.instances.length} instances have no ${what}`];
  const ids = new Set(submitted.map(({ entry }) => entry.instance));
  return [
    ...(submitted.some(({ entry }) => entry.oracle === true)
      ? ['its candidates were created or selected with the answer, which no leaderboard accepts']
      : []),
    ...(submitted.some(({ entry }) => entry.sample > 1)
      ? ['it is one of several samples, and a submission must be a single attempt']
      : []),
    ...count(
      'candidate',
      run.instances.filter(({ id }) => !ids.has(id)),
    ),
    ...count(
      'logs',
      submitted.filter(({ hasLogs }) => !hasLogs),
    ),
    ...count(
      'trajectory',
      submitted.filter(({ hasTrajectory }) => !hasTrajectory),
    ),
  ];
}
