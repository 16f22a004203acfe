import { whyAnswerSeen } from '../domain/answerSeen';
import type { Instance, Prediction, MakingCost } from '../domain/instance';
import { reproductionAnswers } from '../domain/ranking';
import { HumanError, messageOf, throwIfAborted } from '../domain/work';
import { sha256OfFile } from '../files/digest';
import type { Dataset } from './dataset';
import { recordBatches } from './records';
import { predictionRowOfOpenHands } from './rows/openHandsRow';
import { stat } from 'node:fs/promises';
import { z } from 'zod';

const predictionSchema = z.looseObject({
  instance_id: z.string(),
  model_name_or_path: z.string().nullish(),
  model_patch: z.string().nullish(),
  /** The number of this candidate among several of one model, from 1 on. */
  sample: z.number().int().positive().nullish(),
  /** Why making it failed. */
  failure: z.string().nullish().catch(undefined),
});

/** Predictions, and the problems of rows that are left out. */
export interface Predictions {
  readonly predictions: readonly Prediction[];
  /** For each prediction its file, or the folder of its trial; undefined where it is made up. */
  readonly origins: readonly (string | undefined)[];
  /** Rows by number, after the name of their file where there are several files. */
  readonly problems: readonly string[];
}

/**
 * The dataset of the predictions. A prediction for an id that it lacks is a problem, not an error.
 */
type Known = Pick<Dataset, 'problems'> & { readonly entries: readonly { readonly id: string }[] };

/** What predictions are: tests for an issue, or code patches that fix it. */
export type PredictionKind = 'tests' | 'repair';

/**
 * Names of predictions without a file: `gold` (T*, or X* as a code patch) and `none` (nothing: base
 * runs only).
 */
export const isBuiltIn = (from: string): from is 'gold' | 'none' =>
  from === 'gold' || from === 'none';

/**
 * Loads predictions from JSON or JSONL files, also compressed with gzip, in the shapes of SWE-bench
 * and SWT-Bench, or `output.jsonl` of OpenHands. These are rows, a list, or an object by instance id. `gold` means T* as the
 * candidate, or X* where code patches are asked for; `none` is an empty patch. A file may have
 * several candidates for one instance under different names.
 *
 * If several files have the same model, each makes one sample of it: the first file sample 1, and
 * so on. A row with `sample` has that number. `chosen_sample`, the answer that a method chose, does
 * not make another sample.
 *
 * @throws HumanError if a file cannot be read, or no prediction is for a selected instance
 */
export async function loadPredictions(
  from: string | readonly string[],
  selected: readonly Instance[],
  dataset: Known,
  kind: PredictionKind = 'tests',
  folders?: PredictionFolders,
): Promise<Predictions> {
  const places = typeof from === 'string' ? [from] : from;
  const known = new Set(dataset.entries.map((entry) => entry.id));
  const files: (readonly ReadRow[])[] = [];
  const problems: Problem[] = [];
  for (const [place, name] of places.entries()) {
    if (isBuiltIn(name)) files.push(madeUpRows(name, selected, kind));
    else {
      const { rows, broken } = await rowsOf(name, { dataset, known, signal: undefined, folders });
      files.push(rows);
      problems.push(...broken.map((each) => ({ place, ...each })));
    }
  }
  const wanted = new Set(selected.map((instance) => instance.id));
  const { collected, repeated } = collect(files, places, wanted);
  const told = [...problems, ...repeated]
    .sort((left, right) => left.place - right.place || left.number - right.number)
    .map(({ place, text }) => (places.length > 1 ? `${places[place]}: ${text}` : text));
  if (collected.length === 0) {
    throw new HumanError(
      `No prediction in ${places.join(', ')} is for a selected instance` +
        (told.length > 0 ? ` (${told[0]})` : ''),
      'A row needs model_name_or_path, model_patch and an instance_id of the dataset',
    );
  }
  return {
    predictions: collected.map(({ prediction }) => prediction),
    origins: collected.map(({ origin }) => origin),
    problems: told,
  };
}

/**
 * The ids of the dataset that files and folders have predictions for, one for each usable row. It says what can
 * be evaluated before instances are selected.
 *
 * @throws HumanError if a file cannot be read, Cancelled
 */
export async function idsOfPredictions(
  files: readonly string[],
  dataset: Known,
  options: Pick<Reading, 'signal' | 'folders'>,
): Promise<readonly string[]> {
  const known = new Set(dataset.entries.map((entry) => entry.id));
  const read = await Promise.all(files.map((name) => rowsOf(name, { dataset, known, ...options })));
  return read.flatMap(({ rows }) => rows.map(({ prediction }) => prediction.instanceId));
}

/** A prediction, and the file it is from; undefined if it is made up. */
interface Collected {
  readonly prediction: Prediction;
  readonly origin: string | undefined;
}

/**
 * The predictions of all files for the wanted instances, with the numbers of their samples. A
 * second one of the same model, instance and number is left out and reported.
 */
function collect(
  files: readonly (readonly ReadRow[])[],
  places: readonly string[],
  wanted: ReadonlySet<string>,
): { readonly collected: readonly Collected[]; readonly repeated: readonly Problem[] } {
  const repeated: Problem[] = [];
  const collected = new Map<string, Collected>();
  /** For each model, how many of the files so far have rows of it without a number. */
  const seen = new Map<string, number>();
  for (const [place, rows] of files.entries()) {
    const name = places[place] ?? '';
    const here = new Set<string>();
    for (const { number, prediction, origin = name } of rows) {
      const { instanceId, model, sample: said } = prediction;
      if (!wanted.has(instanceId)) continue;
      if (said === undefined) here.add(model);
      const sample = said ?? (seen.get(model) ?? 0) + 1;
      const key = JSON.stringify([instanceId, model, sample]);
      if (collected.has(key)) {
        const which = sample > 1 || said !== undefined ? `, sample ${sample},` : '';
        const text = `ignored a second prediction of ${model} for ${instanceId}${which}`;
        repeated.push({ place, number, text: `row ${number}: ${text}` });
        continue;
      }
      const { sample: _said, ...unnumbered } = prediction;
      const numbered = { ...unnumbered, ...(sample > 1 && { sample }) };
      collected.set(key, { prediction: numbered, origin: isBuiltIn(name) ? undefined : origin });
    }
    for (const model of here) seen.set(model, (seen.get(model) ?? 0) + 1);
  }
  return { collected: [...collected.values()], repeated };
}

/** A problem of a row, with its place. */
interface Problem {
  /** Index of its file. */
  readonly place: number;
  /** Number of the row, or of the line if that is not JSON. */
  readonly number: number;
  readonly text: string;
}

interface ReadRow {
  /** From 1. */
  readonly number: number;
  readonly prediction: Prediction;
  /** Where it is from, if not from the place that was named. */
  readonly origin?: string;
}

function madeUpRows(
  name: 'gold' | 'none',
  selected: readonly Instance[],
  kind: PredictionKind,
): readonly ReadRow[] {
  return selected.map(({ id, goldenTests, goldenPatch }, index) => {
    const golden = kind === 'tests' ? goldenTests : goldenPatch;
    const prediction = { instanceId: id, model: name, patch: name === 'gold' ? golden : '' };
    return { number: index + 1, prediction };
  });
}

interface Reading {
  readonly dataset: Known;
  /** Ids of the dataset. */
  readonly known: ReadonlySet<string>;
  readonly signal: AbortSignal | undefined;
  /** Where absent, only files are read. */
  readonly folders: PredictionFolders | undefined;
}

/** A row of a folder; a text says why it is not one. */
export interface FolderRow {
  readonly value: Readonly<Record<string, unknown>> | string;
  /** Where it is from. */
  readonly origin: string;
}

/** What reads folders of predictions. It is handed in, since grading only has to know files. */
export interface PredictionFolders {
  /**
   * @param idOf the id of an instance for the name of a task
   * @returns the rows of a folder, or the file in it that has them
   * @throws HumanError for a folder without predictions, Cancelled
   */
  read(
    folder: string,
    idOf: (task: string) => string,
    signal?: AbortSignal,
  ): Promise<readonly FolderRow[] | { readonly file: string }>;
  /** The digest of what it reads. @throws HumanError for a folder without predictions */
  digest(folder: string): Promise<string>;
}

interface ReadRows {
  readonly rows: readonly ReadRow[];
  readonly broken: readonly Omit<Problem, 'place'>[];
}

/** The usable rows of a file or folder, and the problems of the others. */
async function rowsOf(path: string, reading: Reading): Promise<ReadRows> {
  const { dataset, known, signal, folders } = reading;
  if (folders === undefined || !(await isFolder(path))) return rowsOfFile(path, reading);
  // Names of tasks may be in lower case.
  const byName = new Map([...known].map((id) => [id.toLowerCase(), id]));
  const idOf = (task: string): string =>
    known.has(task) ? task : (byName.get(task.toLowerCase()) ?? task);
  const found = await folders.read(path, idOf, signal);
  if ('file' in found) {
    const { rows, broken } = await rowsOfFile(found.file, reading);
    return { rows: rows.map((row) => ({ ...row, origin: found.file })), broken };
  }
  const rows: ReadRow[] = [];
  const broken: Omit<Problem, 'place'>[] = [];
  for (const [index, { value, origin }] of found.entries()) {
    const number = index + 1;
    const read = typeof value === 'string' ? value : readRow(value, dataset, known);
    if (typeof read === 'string') broken.push({ number, text: read });
    else rows.push({ number, prediction: read, origin });
  }
  return { rows, broken };
}

/** Whether predictions are those of a folder. */
const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (about) => about.isDirectory(),
    () => false,
  );

/**
 * A file or folder of predictions with its digest, for the record of the run.
 *
 * @param name what the person called it
 */
export async function digestOfPredictions(
  name: string,
  path: string,
  folders: PredictionFolders,
): Promise<{ from: string; sha256?: string }> {
  if (isBuiltIn(path)) return { from: name };
  const isFile = !(await isFolder(path));
  return { from: name, sha256: await (isFile ? sha256OfFile(path) : folders.digest(path)) };
}

/** The usable rows of a file, and the problems of the others. */
async function rowsOfFile(path: string, { dataset, known, signal }: Reading): Promise<ReadRows> {
  const rows: ReadRow[] = [];
  const broken: Omit<Problem, 'place'>[] = [];
  // Rows of OpenHands have whole histories, so the file is never in memory as a whole.
  for await (const batch of recordBatches(path, 'predictions file', { named: true, signal })) {
    for (const record of batch) {
      if ('error' in record) {
        broken.push({ number: record.row, text: record.error });
        continue;
      }
      const row = predictionRowOfOpenHands(record.value) ?? withPatch(record.value);
      const read = readRow(row, dataset, known);
      if (typeof read === 'string') {
        broken.push({ number: record.row, text: `row ${record.row}: ${read}` });
      } else rows.push({ number: record.row, prediction: read });
    }
  }
  return { rows, broken };
}

/** Reads a row of a predictions file; a text says what is wrong with it. */
function readRow(value: unknown, dataset: Known, known: ReadonlySet<string>): Prediction | string {
  const parsed = predictionSchema.safeParse(value);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.') ?? '';
    if (field === '') return 'the row is not an object with an instance_id';
    return field === 'sample'
      ? 'sample is not a positive whole number'
      : `${field} is missing or not a string`;
  }
  if (!('model_patch' in parsed.data)) {
    const other = ['patch', 'test_patch'].find((name) => name in parsed.data);
    return `model_patch is missing${other === undefined ? '' : `; if ${other} is the prediction, rename it`}`;
  }
  const { instance_id: instanceId, model_name_or_path: model, model_patch: patch } = parsed.data;
  if (!known.has(instanceId)) {
    const broken = dataset.problems.find((problem) => problem.id === instanceId);
    return (
      `${instanceId} ` +
      (broken === undefined
        ? 'is not in the dataset'
        : `cannot be used, since its row in the dataset is broken (${broken.message})`)
    );
  }
  const cost = makingCostOf(parsed.data);
  const { sample, failure } = parsed.data;
  return {
    instanceId,
    model: model ?? 'unnamed',
    patch: patch ?? '',
    ...(typeof sample === 'number' && { sample }),
    ...(cost === undefined ? {} : { cost }),
    ...(typeof failure === 'string' && { failure }),
    ...madeByOf(parsed.data),
    ...((parsed.data['oracle'] === true || whyAnswerSeen(model ?? '') !== undefined) && {
      oracle: true as const,
    }),
    ...rankedOf(parsed.data),
  };
}

/** Names of `model_patch` in older guides and other programs, which mean nothing else. */
const patchNames = ['prediction', 'model_prediction', 'model_test_patch'] as const;

/** A row whose patch has another name, under the name that this program reads. */
function withPatch(row: unknown): unknown {
  if (typeof row !== 'object' || row === null || 'model_patch' in row) return row;
  const record = row as Readonly<Record<string, unknown>>;
  const name = patchNames.find((each) => each in record);
  if (name === undefined) return row;
  return {
    ...record,
    model_name_or_path: record['model_name_or_path'] ?? record['model'],
    model_patch: record[name],
  };
}

/** The method and the language model, where a row names both as `generate` does. */
function madeByOf({
  method,
  model,
}: Readonly<Record<string, unknown>>): Pick<Prediction, 'madeBy'> {
  return typeof method === 'string' && typeof model === 'string'
    ? { madeBy: { method, model } }
    : {};
}

const number = z.number().int().positive();

/** A row of `repair` for one of the ranked code patches of an instance. */
const rankedRow = z.object({
  drawn_sample: number,
  draw: z.object({ set: number, sets: number, round: number, rounds: number }),
  group: number,
  regressions: z.array(z.string()).exactOptional(),
  reproduction: z.enum(reproductionAnswers).exactOptional(),
});

/** What a code patch was ranked by, where its row has all of it. */
function rankedOf(row: Readonly<Record<string, unknown>>): Pick<Prediction, 'ranked'> {
  const { data } = rankedRow.safeParse(row);
  if (data === undefined) return {};
  const { drawn_sample: sample, draw, group, regressions, reproduction } = data;
  return {
    ranked: {
      ...{ sample, draw, group },
      ...(regressions !== undefined && { regressions: regressions.length }),
      ...(reproduction !== undefined && { reproduction }),
    },
  };
}

/** What a published file of predictions says of one instance, apart from its patch. */
interface PublishedPrediction {
  readonly model: string | undefined;
  readonly isEmpty: boolean;
  readonly cost?: MakingCost;
}

const rowSchema = z.looseObject({
  instance_id: z.string(),
  model_name_or_path: z.string().nullish(),
  model_patch: z.string().nullish(),
});

/**
 * The first prediction of each instance in a file. Rows that cannot be read are left out, as the
 * harness does.
 *
 * @param problems gets a sentence where the file cannot be read
 * @throws Cancelled
 */
export async function publishedPredictions(
  path: string,
  problems: string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, PublishedPrediction>> {
  const found = new Map<string, PublishedPrediction>();
  try {
    for await (const batch of recordBatches(path, 'predictions file', { signal })) {
      for (const record of batch) {
        if ('error' in record) continue;
        const row = predictionRowOfOpenHands(record.value) ?? record.value;
        const { data } = rowSchema.safeParse(row);
        if (data === undefined || found.has(data.instance_id)) continue;
        const cost = makingCostOf(data);
        found.set(data.instance_id, {
          model: data.model_name_or_path ?? undefined,
          isEmpty: (data.model_patch ?? '').trim() === '',
          ...(cost !== undefined && { cost }),
        });
      }
    }
  } catch (error) {
    throwIfAborted(signal);
    problems.push(messageOf(error));
  }
  return found;
}

/**
 * Names of costs in predictions files, by preference. They are our own, those of the OpenAI and
 * Anthropic interfaces (`usage`), and those of SWE-agent (`model_stats`).
 */
const names = {
  dollars: ['dollars', 'usd', 'cost_usd', 'total_cost', 'instance_cost', 'cost'],
  inputTokens: ['inputTokens', 'input_tokens', 'prompt_tokens', 'tokens_sent', 'input'],
  outputTokens: ['outputTokens', 'output_tokens', 'completion_tokens', 'tokens_received', 'output'],
  seconds: ['seconds', 'duration_seconds', 'elapsed_seconds', 'duration', 'elapsed', 'time'],
} as const satisfies Record<keyof MakingCost, readonly string[]>;

/** Keys of a row whose value may be an object with these names. */
const blocks = ['cost', 'usage', 'tokens', 'model_stats', 'stats'];

/**
 * The costs of a candidate that a row of a predictions file states. They are numbers of the row
 * itself, or in its `cost`, `usage`, `tokens`, `model_stats` or `stats`. Undefined if there are
 * none. Anything but numbers from 0 on is ignored.
 */
export function makingCostOf(row: Readonly<Record<string, unknown>>): MakingCost | undefined {
  const places = [
    row,
    ...blocks.flatMap((key) => {
      const value = row[key];
      return isObject(value) ? [value] : [];
    }),
  ];
  const find = (keys: readonly string[]): number | undefined => {
    for (const place of places) {
      for (const key of keys) {
        // In the row itself, `input` and `output` are prompts and answers.
        if (place === row && (key === 'input' || key === 'output')) continue;
        const value = place[key];
        if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
      }
    }
    return undefined;
  };
  const cost: { -readonly [Key in keyof MakingCost]: MakingCost[Key] } = {};
  for (const key of Object.keys(names) as (keyof MakingCost)[]) {
    const value = find(names[key]);
    if (value !== undefined) cost[key] = value;
  }
  return Object.keys(cost).length === 0 ? undefined : cost;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
