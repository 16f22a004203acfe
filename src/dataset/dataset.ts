import { rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance, InstanceEntry, PatchSize } from '../domain/instance';
import { HumanError, messageOf, throwIfAborted } from '../domain/work';
import type { DatasetFile } from './rows/datasetFiles';
import {
  datasetIndexPaths,
  readDatasetIndex,
  fileSignature,
  writeDatasetIndex,
  type IndexPaths,
} from './rows/datasetIndex';
import { importDataset, type ImportOptions } from './rows/importDataset';
import { listRows, RowCopy, type Listing, type RowPlace } from './rows/listing';
import { readAt, recordBatches } from './records';
import { openPlain } from '../files/plainFile';
import { parsePythonJson } from '../files/json';
import { idOf, readRow, rowColumns, type RowProblem } from './rows/rows';

/** A dataset: the entries of all usable rows, and the problems of the others. */
export interface Dataset {
  /** The name as the caller gave it: a path, an address or a name. */
  readonly name: string;
  /** The file or folder from which it is read. */
  readonly path: string;
  /** In the order of the rows; ids are unique. */
  readonly entries: readonly InstanceEntry[];
  readonly problems: readonly RowProblem[];
  /**
   * Reads whole instances by id, in the given order.
   * @throws HumanError naming ids that the dataset lacks, or a file that has changed or is gone
   */
  read(ids: readonly string[]): Promise<Instance[]>;
}

/** Files with fewer bytes are quicker to read again than their index. */
const worthIndexing = 256 * 1024;

/**
 * Opens a dataset: a file, a folder, an https address, or the name of a Hugging Face dataset (see
 * `importDataset`). Unusable rows are reported by row and field and left out. If an id appears
 * twice, the first row counts.
 *
 * @throws HumanError if no row can be used; Cancelled
 */
export async function openDataset(name: string, options: ImportOptions): Promise<Dataset> {
  const { reporter, signal } = options;
  throwIfAborted(signal);
  const { path, files } = await importDataset(name, options);
  reporter.progress(`reading ${name}`);
  const states = await Promise.all(files.map(async (file) => stateOf(file)));
  const signatures = states.map((state) => state.signature);
  const total = states.reduce((sum, state) => sum + state.size, 0);
  const paths =
    total < worthIndexing
      ? undefined
      : datasetIndexPaths(join(options.storage, 'data', 'swt-bench'), files, signatures);
  const listing =
    paths === undefined
      ? await listRows(files, undefined, signal)
      : ((await readDatasetIndex(paths)) ?? (await listAnew(files, paths, options)));
  const { entries, problems } = listing;
  if (entries.length === 0) {
    const first = problems[0];
    throw new HumanError(
      `The dataset ${path} has no valid rows` +
        (first === undefined ? '' : ` (${describeProblem(first)})`),
      'A row needs instance_id, repo, base_commit, problem_statement, patch and test_patch',
    );
  }
  return {
    name,
    path,
    entries,
    problems,
    async read(ids) {
      const places = new Map(entries.map((entry, index) => [entry.id, listing.places[index]]));
      requireKnown({ path, problems }, places, ids);
      for (const [index, file] of files.entries()) {
        if ((await stateOf(file)).signature !== signatures[index]) throw changed(file.path);
      }
      const wanted = new Map(ids.flatMap((id) => pair(id, places.get(id))));
      const instances = await readPlaces(files, paths, wanted);
      return ids.flatMap((id) => instances.get(id) ?? []);
    },
  };
}

const pair = <Value>(id: string, value: Value | undefined): [string, Value][] =>
  value === undefined ? [] : [[id, value]];

async function stateOf({ path }: DatasetFile): Promise<{ size: number; signature: string }> {
  try {
    return await fileSignature(path);
  } catch (error) {
    throw new HumanError(
      `The dataset ${path} can no longer be read (${messageOf(error)})`,
      'Restore it, or use another dataset',
    );
  }
}

const changed = (path: string): HumanError =>
  new HumanError(`The dataset ${path} has changed since it was listed`, 'List its instances again');

async function listAnew(
  files: readonly DatasetFile[],
  paths: IndexPaths,
  { signal, reporter }: ImportOptions,
): Promise<Listing> {
  const copy = new RowCopy(paths.rows);
  try {
    const listing = await listRows(files, copy, signal);
    if (listing.entries.length === 0) return listing;
    const isCopied = await copy.finish();
    const kept = isCopied ? listing : withoutCopies(listing);
    try {
      if (copy.failure !== undefined) throw new Error(messageOf(copy.failure));
      await writeDatasetIndex(paths, kept);
      return kept;
    } catch (error) {
      // Without a writable folder the list still works, only slower.
      reporter.log(`the index of ${paths.prefix} could not be written (${messageOf(error)})`);
      if (isCopied) await rm(paths.rows, { force: true }).catch(() => undefined);
      return withoutCopies(listing);
    }
  } finally {
    await copy.discard();
  }
}

const withoutCopies = (listing: Listing): Listing => ({
  ...listing,
  places: listing.places.map(({ file, row, at, copied }) =>
    at === undefined || copied === true ? { file, row } : { file, row, at },
  ),
});

/**
 * Reads instances by id. A row that can be read alone is read alone; for others the whole file is
 * read again.
 */
async function readPlaces(
  files: readonly DatasetFile[],
  paths: IndexPaths | undefined,
  wanted: ReadonlyMap<string, RowPlace>,
): Promise<Map<string, Instance>> {
  const instances = new Map<string, Instance>();
  const handles = new Map<string, FileHandle | undefined>();
  const take = (id: string, place: RowPlace, value: unknown): boolean => {
    const result = readRow(value, place.row);
    if (!('instance' in result) || result.instance.id !== id) return false;
    instances.set(id, result.instance);
    return true;
  };
  const again = new Map<number, Set<string>>();
  try {
    for (const [id, place] of wanted) {
      const path = place.copied === true ? paths?.rows : files[place.file]?.path;
      if (place.at !== undefined && path !== undefined) {
        if (!handles.has(path))
          handles.set(path, await openPlain(path, { named: true }).catch(() => undefined));
        const handle = handles.get(path);
        const { offset, length } = place.at;
        const line = handle === undefined ? '' : String(await readAt(handle, offset, length));
        if (take(id, place, parsed(line))) continue;
        // The copy may be deleted. The file itself cannot be another one, since its signature was
        // compared.
        if (place.copied !== true) throw changed(path);
      }
      again.set(place.file, (again.get(place.file) ?? new Set()).add(id));
    }
  } finally {
    for (const handle of handles.values()) await handle?.close();
  }
  for (const [file, ids] of again) {
    const path = files[file]?.path ?? '';
    for await (const batch of recordBatches(path, 'dataset', {
      ...{ columns: rowColumns, named: true },
    })) {
      for (const record of batch) {
        const id = 'value' in record ? idOf(record.value) : undefined;
        if (id === undefined || !('value' in record) || !ids.has(id)) continue;
        const place = wanted.get(id);
        if (place?.row === record.row && take(id, place, record.value)) ids.delete(id);
      }
    }
    if (ids.size > 0) throw changed(path);
  }
  return instances;
}

function parsed(line: string): unknown {
  try {
    return parsePythonJson(line);
  } catch {
    return undefined;
  }
}

/** A problem as one line for the user. */
export function describeProblem(problem: RowProblem): string {
  const id = problem.id === undefined ? '' : ` (${problem.id})`;
  const file = problem.file === undefined ? '' : `${problem.file} `;
  return `${file}row ${problem.row}${id}: ${problem.message}`;
}

/** @throws HumanError naming ids that the dataset lacks */
function requireKnown(
  { path, problems }: Pick<Dataset, 'path' | 'problems'>,
  known: { has(id: string): boolean },
  ids: readonly string[],
): void {
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  const broken = problems.find((problem) => problem.id === unknown[0]);
  throw new HumanError(
    broken === undefined
      ? `${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'} not in the dataset ${path}`
      : `${unknown[0]} has an invalid row: ${describeProblem(broken)}`,
    broken === undefined
      ? 'Run `swt-bench instances` to list the IDs'
      : 'Fix the row, or omit the instance',
  );
}

/** Entries by id, in the given order, without repetitions. @throws HumanError naming unknown ids */
export function selectEntries(
  dataset: Dataset,
  filter: { readonly ids?: readonly string[]; readonly repo?: string },
): InstanceEntry[] {
  const byId = new Map(dataset.entries.map((entry) => [entry.id, entry]));
  const chosen = [...new Set(filter.ids ?? byId.keys())];
  requireKnown(dataset, byId, chosen);
  return chosen
    .flatMap((id) => byId.get(id) ?? [])
    .filter((entry) => filter.repo === undefined || entry.repo === filter.repo);
}

/** Figures of one instance, as lists show them. Lines are added plus removed. */
interface InstanceFigures {
  readonly id: string;
  readonly repo: string;
  readonly version: string;
  readonly base_commit: string;
  readonly created_at: string;
  /** Characters of the issue text. */
  readonly issue_length: number;
  readonly patch: { readonly files: number; readonly lines: number };
  readonly test_patch: { readonly files: number; readonly lines: number };
}

export function figures(entry: InstanceEntry): InstanceFigures {
  const size = ({ files, lines }: PatchSize): { files: number; lines: number } => ({
    files: files.length,
    lines,
  });
  return {
    id: entry.id,
    repo: entry.repo,
    version: entry.version,
    base_commit: entry.baseCommit,
    created_at: entry.createdAt,
    issue_length: entry.issue.length,
    patch: size(entry.patch),
    test_patch: size(entry.tests),
  };
}
