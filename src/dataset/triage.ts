import { checkedId, type InstanceEntry } from '../domain/instance';
import {
  isLiteS,
  type TriageEntry,
  candidateOf,
  type InstanceStatus,
  soundnessOf,
  type Validation,
} from '../domain/soundness';
import { layOut, withoutEscapes } from '../domain/text';
import { HumanError, messageOf, systemCode } from '../domain/work';
import { readPlainFile } from '../files/plainFile';
import {
  emptyTriage,
  isEmpty,
  parseTriage,
  printTriage,
  tidy,
  type TriageFile,
  format,
  writtenForm,
  type Fields,
} from './triageFile';
import { stringify } from 'csv-stringify/sync';
import { isUtf8 } from 'node:buffer';
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { lock } from 'proper-lockfile';

export { isTriageFile, type TriageFile } from './triageFile';

/**
 * Reads the triage file at `path`; an empty one if there is none yet.
 *
 * @throws HumanError if it cannot be read or used
 */
export async function readTriage(path: string): Promise<TriageFile> {
  const text = await textOf(path);
  return text === undefined ? emptyTriage : parseTriage(text, path);
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    const bytes = await readPlainFile(path, { named: true });
    // An edit would write other bytes in place of those that are no text.
    if (!isUtf8(bytes)) throw new Error('it is not UTF-8');
    return bytes.toString('utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new HumanError(
      systemCode(error) === 'EISDIR'
        ? `The triage file ${path} is a folder`
        : `The triage file ${path} cannot be read (${messageOf(error)})`,
      'Specify a JSON file, which may be new',
    );
  }
}

/**
 * Changes the entry of one instance. `change` gets the present entry, or undefined, and returns the
 * new one. An empty entry is deleted. Other windows and processes that change the same file wait,
 * so that no edit is lost.
 *
 * @returns the file as it is now
 * @throws HumanError if the file cannot be read, used or written, or a tag is not valid
 */
export function updateTriage(
  path: string,
  id: string,
  change: (entry: TriageEntry | undefined) => TriageEntry | undefined,
): Promise<TriageFile> {
  return editTriage(path, (file) => {
    const entry = change(file.instances.get(id));
    const instances = new Map(file.instances);
    // The entry may have fields of a later version, which must stay.
    instances.set(checkedId(id), entry ?? emptyTriageEntry);
    return { ...file, instances };
  });
}

export const emptyTriageEntry: TriageEntry = { tags: [], note: '', classification: {} };

/** Like `updateTriage`, for the file as a whole. `edit` may be called several times. */
export async function editTriage(
  path: string,
  edit: (file: TriageFile) => TriageFile,
): Promise<TriageFile> {
  const target = await placeOf(path);
  const hold = await acquire(target, path);
  try {
    for (;;) {
      const before = await textOf(target);
      const file = before === undefined ? emptyTriage : parseTriage(before, path);
      const edited = tidy(edit(file));
      const after = printTriage(edited);
      if (after === before || (before === undefined && edited.instances.size === 0)) return edited;
      // The text must be readable, whatever `edit` did.
      parseTriage(after, path);
      // A program without our lock, such as an editor or git, may have written meanwhile.
      const free = async (): Promise<boolean> => !hold.lost() && (await textOf(target)) === before;
      if (await replace(target, after, free)) return edited;
      if (hold.lost()) {
        throw new HumanError(
          `Another process took over the triage file ${path} while this one was suspended`,
          'Try again',
        );
      }
    }
  } catch (error) {
    throw unwritable(error, path);
  } finally {
    await hold.release();
  }
}

/** The real path behind links. So a link stays a link, and all names of the file share one lock. */
async function placeOf(path: string): Promise<string> {
  try {
    const folder = dirname(resolve(path));
    await mkdir(folder, { recursive: true });
    return await realpath(resolve(path)).catch(async () =>
      join(await realpath(folder), basename(path)),
    );
  } catch (error) {
    throw unwritable(error, path);
  }
}

async function acquire(
  target: string,
  path: string,
): Promise<{ lost(): boolean; release(): Promise<void> }> {
  let lost = false;
  try {
    const release = await lock(target, {
      realpath: false,
      // The work takes milliseconds, so a lock of this age was left by a killed process.
      stale: 5_000,
      retries: { retries: 400, factor: 1.1, minTimeout: 5, maxTimeout: 50, randomize: true },
      onCompromised: () => (lost = true),
    });
    return {
      lost: () => lost,
      // Fails if the lock was lost, since it then belongs to another process.
      release: () => release().catch(() => undefined),
    };
  } catch (error) {
    if (systemCode(error) === 'ELOCKED') {
      throw new HumanError(
        `The triage file ${path} is being written by another process`,
        `Try again; if none runs, delete ${target}.lock`,
      );
    }
    throw unwritable(error, path);
  }
}

/**
 * Writes beside and renames, if `free` is still true. Before that it compares the file with the
 * text.
 */
async function replace(
  target: string,
  text: string,
  free: () => Promise<boolean>,
): Promise<boolean> {
  // All lock holders use one name, so the next edit removes the file of a killed process.
  const beside = `${target}.new`;
  const mode = (await stat(target).catch(() => undefined))?.mode;
  try {
    await rm(beside, { force: true });
    const file = await open(beside, 'wx', mode === undefined ? 0o666 : mode & 0o777);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await readFile(beside, 'utf8')) !== text)
      throw new Error('the written content is missing');
    if (!(await free())) return false;
    await rename(beside, target);
    return true;
  } finally {
    await rm(beside, { force: true });
  }
}

function unwritable(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (error instanceof HumanError || code === undefined) return error;
  return new HumanError(
    code === 'ENOSPC'
      ? `No space left to write the triage file ${path}`
      : `The triage file ${path} cannot be written (${messageOf(error)})`,
    code === 'ENOSPC' ? 'Free some space; the file is unchanged' : 'Specify a writable file',
  );
}

/**
 * The file as a filter list. It keeps the judged instances that belong to Lite-S of the Agentless
 * paper. Their issue is sufficient, does not mislead and does not contain the exact patch.
 */
export function triageFilter(file: TriageFile): { keeps(id: string): boolean } {
  return {
    keeps: (id) => {
      const entry = file.instances.get(id);
      return entry !== undefined && !isEmpty(entry) && isLiteS(entry);
    },
  };
}

/** How many of the selected instances have each tag. An instance with two tags counts for both. */
interface TagCounts {
  /** The most frequent first, those of the same number by name. */
  readonly tags: readonly { readonly tag: string; readonly instances: number }[];
  /** Instances without a tag. */
  readonly untagged: number;
}

/** @param judgements of the selected instances; undefined for one that has none */
export function tagCounts(judgements: readonly (TriageEntry | undefined)[]): TagCounts {
  const counts = new Map<string, number>();
  for (const judgement of judgements) {
    for (const tag of new Set(judgement?.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  const tags = [...counts].map(([tag, instances]) => ({ tag, instances }));
  tags.sort((a, b) => b.instances - a.instances || (a.tag < b.tag ? -1 : 1));
  const untagged = judgements.filter((each) => (each?.tags ?? []).length === 0).length;
  return { tags, untagged };
}

/** The counts as a table; empty where no instance has a tag. */
export function tagCountsText({ tags, untagged }: TagCounts): string {
  if (tags.length === 0) return '';
  const rows = tags.map(({ tag, instances }) => [`#${tag}`, String(instances)]);
  return `${layOut([['Tag', 'Instances'], ...rows, ['none', String(untagged)]])}\n`;
}

/** The data of one instance. */
interface TriageCsvRow {
  /** Only the id if no dataset was named. */
  readonly entry: Pick<InstanceEntry, 'id'> & Partial<Pick<InstanceEntry, 'repo' | 'createdAt'>>;
  readonly triage?: TriageEntry | undefined;
  readonly validation?: Pick<Validation, 'reasons' | 'date'> | undefined;
  /** The verdict of the last graded candidate. */
  readonly verdict?: { readonly success: boolean; readonly reason: string } | undefined;
  /** Gives the newest verdict if `verdict` is absent. */
  readonly status?: InstanceStatus | undefined;
}

const triageCsvColumns = [
  'instance_id',
  'repo',
  'created_at',
  'tags',
  'note',
  'description',
  'solution',
  'location_line',
  'location_function',
  'location_file',
  'validation',
  'validation_reasons',
  'validation_date',
  'last_verdict',
] as const;

/**
 * Writes rows for a spreadsheet: RFC 4180, UTF-8, one row for each instance. Values that a
 * spreadsheet would read as a formula (`=`, `+`, `-`, `@` and their wide forms, tab, carriage
 * return) get a leading `'`.
 */
export function triageCsv(rows: readonly TriageCsvRow[]): string {
  const records = rows.map(({ entry, triage, validation, verdict, status }) => {
    const last = verdict ?? (status && candidateOf(status));
    const { description, solution, location } = triage?.classification ?? {};
    return [
      entry.id,
      entry.repo ?? '',
      entry.createdAt ?? '',
      (triage?.tags ?? []).join(', '),
      triage?.note ?? '',
      description ?? '',
      solution ?? '',
      location?.line ?? '',
      location?.function ?? '',
      location?.file ?? '',
      validation === undefined ? '' : soundnessOf(validation),
      (validation?.reasons ?? []).map((reason) => reason.kind).join(', '),
      validation?.date ?? '',
      last === undefined ? '' : last.success ? 'success' : last.reason,
    ];
  });
  return stringify([[...triageCsvColumns], ...records], {
    record_delimiter: 'windows',
    escape_formulas: true,
    // A lone line feed or carriage return must be quoted too, not only the pair that ends a record.
    quoted_match: /[\r\n]/,
    cast: { string: withoutEscapes },
  });
}

/** A field with different values in two files, of which only one can be kept. */
export interface TriageConflict {
  /** Id of the instance; empty for a field of the file itself. */
  readonly id: string;
  /** Such as `classification solution`. */
  readonly field: string;
  /** As JSON. The merge keeps this value. */
  readonly ours: string;
  readonly theirs: string;
}

/**
 * Merges two files. It keeps all tags, both notes, and each dimension of the classification from
 * the file that has it. If both judge a dimension differently, it keeps ours and reports a
 * conflict. Anything that one side removed and the other still has comes back.
 */
export function mergeTriage(
  ours: TriageFile,
  theirs: TriageFile,
): { file: TriageFile; conflicts: TriageConflict[] } {
  const conflicts: TriageConflict[] = [];
  const mergeOf = (id: string, our: Fields, their: Fields): Fields =>
    mergeFields(our, their, (field, a, b) =>
      conflicts.push({ id, field, ours: JSON.stringify(a), theirs: JSON.stringify(b) }),
    );
  const { instances: ourInstances, ...ourFields } = writtenForm(ours);
  const { instances: theirInstances, ...theirFields } = writtenForm(theirs);
  const instances = new Map(Object.entries(ourInstances));
  for (const [id, their] of Object.entries(theirInstances)) {
    instances.set(id, mergeOf(id, instances.get(id) ?? {}, their));
  }
  const merged = {
    ...mergeOf('', ourFields, theirFields),
    format,
    instances: Object.fromEntries(instances),
  };
  // Parse the result like any file, so that it passes every check.
  return { file: parseTriage(JSON.stringify(merged), '(merged)'), conflicts };
}

type Conflict = (field: string, ours: unknown, theirs: unknown) => void;

/** All fields of both; ours if both have one and the values cannot be combined. */
function mergeFields(ours: Fields, theirs: Fields, conflict: Conflict): Fields {
  const merged = new Map(Object.entries(ours));
  for (const [key, their] of Object.entries(theirs)) {
    const our = merged.get(key);
    if (our === undefined) {
      merged.set(key, their);
    } else if (key === 'note' && typeof our === 'string' && typeof their === 'string') {
      merged.set(key, mergeNotes(our, their));
    } else if (key === 'tags' && isList(our) && isList(their)) {
      merged.set(key, [...new Set([...our, ...their])]);
    } else if (isFields(our) && isFields(their)) {
      merged.set(
        key,
        mergeFields(our, their, (field, a, b) => conflict(`${key} ${field}`, a, b)),
      );
    } else if (JSON.stringify(our) !== JSON.stringify(their)) {
      conflict(key, our, their);
    }
  }
  return Object.fromEntries(merged);
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Both notes, or only the longer one if it contains the other. */
function mergeNotes(ours: string, theirs: string): string {
  const holds = (all: string, part: string): boolean => `\n${all}\n`.includes(`\n${part}\n`);
  if (holds(ours, theirs)) return ours;
  return holds(theirs, ours) ? theirs : `${ours}\n${theirs}`;
}
