import { readdir, realpath } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { HumanError, messageOf, systemCode, throwIfAborted } from '../../domain/work';
import { plainLines } from '../../files/plainFile';
import { sha256 } from '../../files/digest';
import { writeWholeFile } from '../../files/wholeFile';
import { predictionsOfRecord, readShardRecord, type ShardRecord } from './shardRecord';

/** What merging has made of the predictions files of one run's shards. */
export interface MergedPredictions {
  /** The predictions file that was written. */
  readonly path: string;
  /** Number of all shards. */
  readonly count: number;
  /** Numbers of the shards that were not given. */
  readonly missing: readonly number[];
  /** Instances of the run, and those of them with a prediction. */
  readonly instances: number;
  readonly predicted: number;
  /** Instances whose predictions were given more than once. */
  readonly repeated: number;
  readonly written: readonly string[];
  /** One sentence for each thing that the user should know. */
  readonly problems: readonly string[];
}

/** A predictions file of one shard. */
interface ShardFile {
  readonly path: string;
  readonly record: ShardRecord;
}

/**
 * Puts the predictions of shards together, with their traces and ranked patches. Of an instance
 * that is given more than once, the first one counts. What an earlier merge has put into the same
 * file stays.
 *
 * @param dirs folders with predictions files of shards
 * @param out the folder to write
 * @returns one item for each name of a predictions file, none where there is no shard
 * @throws HumanError when the shards are not of one run, or a file cannot be read or written;
 *   Cancelled
 */
export async function mergePredictions(
  dirs: readonly string[],
  out: string,
  signal: AbortSignal,
): Promise<MergedPredictions[]> {
  const byName = new Map<string, ShardFile[]>();
  const seen = new Set<string>();
  for (const dir of dirs) {
    const place = await realpath(dir).catch(() => resolve(dir));
    if (seen.has(place)) continue;
    seen.add(place);
    for (const shard of await shardsIn(dir)) {
      const name = basename(shard.path);
      byName.set(name, [...(byName.get(name) ?? []), shard]);
    }
  }
  const merged: MergedPredictions[] = [];
  for (const [name, shards] of byName) {
    checkOneRun(shards);
    merged.push(await mergeFiles(shards, join(out, name), signal));
  }
  return merged;
}

async function shardsIn(dir: string): Promise<ShardFile[]> {
  const names = await readdir(dir).catch((error: unknown) => {
    throw new HumanError(
      `The folder ${dir} cannot be read (${messageOf(error)})`,
      'Specify the folders that the shards were written to',
    );
  });
  const shards: ShardFile[] = [];
  for (const name of names.sort()) {
    const predictions = predictionsOfRecord(name);
    if (predictions === undefined) continue;
    const path = join(dir, predictions);
    const record = await readShardRecord(path);
    if (record !== undefined) shards.push({ path, record });
  }
  return shards;
}

/** @throws HumanError when the files are not of one run */
function checkOneRun([first, ...others]: readonly ShardFile[]): void {
  for (const { path, record } of others) {
    const known = first?.record;
    if (first === undefined || known === undefined) return;
    const names = Object.keys({ ...known.same, ...record.same }).filter(
      (name) => known.same[name] !== record.same[name],
    );
    if (record.count !== known.count) names.push('the number of shards');
    if (names.length === 0) continue;
    throw new HumanError(
      `The shards ${first.path} and ${path} are not from the same run: they differ in ${names.join(', ')}`,
      'Merge only shards of one run, created by the same command',
    );
  }
}

async function mergeFiles(
  shards: readonly ShardFile[],
  path: string,
  signal: AbortSignal,
): Promise<MergedPredictions> {
  const [first] = shards;
  if (first === undefined) throw new Error('a run has a shard');
  if ((await readShardRecord(path)) !== undefined) {
    throw new HumanError(
      `${path} is a shard's predictions file`,
      'Specify another folder with --out',
    );
  }
  const { instances, count } = first.record;
  const order = new Map(instances.map((id, at) => [id, at]));
  const problems: string[] = [];
  const earlier = { path, own: instances };
  const sources = [
    earlier,
    ...shards.map((shard) => ({ path: shard.path, own: shard.record.own })),
  ];
  const given = new Set(shards.map(({ record }) => record.number));
  const rows = await rowsByInstance(sources, '', problems, signal);
  const ranked = await rowsByInstance(sources, '.ranked.jsonl', problems, signal);
  const inOrder = (of: RowsOfInstances): string =>
    [...of.rows]
      .sort(([one], [other]) => (order.get(one) ?? 0) - (order.get(other) ?? 0))
      .flatMap(([, lines]) => lines.map((line) => `${line}\n`))
      .join('');
  const written = [path];
  // The trace first: a prediction without its trace would be asked for again.
  const trace = `${path}.trace.jsonl`;
  await writeWholeFile(
    trace,
    linesOnce(
      sources.map((source) => `${source.path}.trace.jsonl`),
      signal,
    ),
  );
  written.push(trace);
  if (ranked.rows.size > 0) {
    await writeWholeFile(`${path}.ranked.jsonl`, inOrder(ranked));
    written.push(`${path}.ranked.jsonl`);
  }
  await mergeNodes(sources, path, signal);
  await writeWholeFile(path, inOrder(rows));
  return {
    ...{ path, count, written, problems },
    missing: Array.from({ length: count }, (_, at) => at + 1).filter((each) => !given.has(each)),
    ...{ instances: instances.length, predicted: rows.rows.size, repeated: rows.repeated },
  };
}

/** Puts together what making the predictions of shards used of a cluster's nodes, if any. */
async function mergeNodes(
  sources: readonly { readonly path: string }[],
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const ending = '.nodes.jsonl';
  const files = sources.map((source) => `${source.path}${ending}`);
  const lines: string[] = [];
  for await (const line of linesOnce(files, signal)) lines.push(line);
  if (lines.length > 0) await writeWholeFile(`${path}${ending}`, lines.join(''));
}

interface RowsOfInstances {
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** Instances that a later file has too. */
  readonly repeated: number;
}

/** The rows of each instance, of the first file that has any. */
async function rowsByInstance(
  sources: readonly { readonly path: string; readonly own: readonly string[] }[],
  ending: string,
  problems: string[],
  signal: AbortSignal,
): Promise<RowsOfInstances> {
  const rows = new Map<string, string[]>();
  let repeated = 0;
  for (const { path, own } of sources) {
    const file = `${path}${ending}`;
    const mine = new Map<string, string[]>();
    let number = 0;
    for await (const line of linesIn(file, signal)) {
      number += 1;
      const id = instanceOf(line);
      if (id === undefined) problems.push(`ignored ${file}:${number}: not a prediction`);
      else if (!own.includes(id)) {
        problems.push(`ignored ${file}:${number}: ${id} does not belong to this shard`);
      } else mine.set(id, [...(mine.get(id) ?? []), line]);
    }
    for (const [id, lines] of mine) {
      const known = rows.get(id);
      if (known === undefined) {
        rows.set(id, lines);
        continue;
      }
      repeated += 1;
      if (known.join('\n') !== lines.join('\n')) {
        problems.push(`${file} has another prediction for ${id}; using the one read first`);
      }
    }
  }
  return { rows, repeated };
}

function instanceOf(line: string): string | undefined {
  try {
    const id = (JSON.parse(line) as { instance_id?: unknown }).instance_id;
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a killed process has not left a part of the line only. */
function isWholeLine(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** The lines of several files, each once, in their order. */
async function* linesOnce(paths: readonly string[], signal: AbortSignal): AsyncGenerator<string> {
  const known = new Set<string>();
  for (const path of paths) {
    for await (const line of linesIn(path, signal)) {
      const digest = sha256(line);
      if (known.has(digest) || !isWholeLine(line)) continue;
      known.add(digest);
      yield `${line}\n`;
    }
  }
}

/** The lines of a file; none where there is no such file. */
async function* linesIn(path: string, signal: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const { line } of plainLines(path, { signal })) yield line;
  } catch (error) {
    throwIfAborted(signal);
    if (systemCode(error) === 'ENOENT') return;
    throw new HumanError(`${path} cannot be read (${messageOf(error)})`, 'Check its permissions');
  }
}
