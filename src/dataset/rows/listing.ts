import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { instanceEntrySchema, type InstanceEntry, type PatchSize } from '../../domain/instance';
import type { Immutable } from '../../domain/work';
import type { DatasetFile } from './datasetFiles';
import { recordBatches, type Slice } from '../records';
import { readRow, rowColumns, rowProblem, type ReadRow, type RowProblem } from './rows';

/** The place of a row, for reading the row again. */
const rowPlace = z.object({
  /** Index among the files of the dataset. */
  file: z.number(),
  row: z.number(),
  /** A range of bytes; absent if the row cannot be read alone. */
  at: z.object({ offset: z.number(), length: z.number() }).exactOptional(),
  /** The bytes are those of the copied rows beside the index. */
  copied: z.boolean().exactOptional(),
});
export type RowPlace = Immutable<z.infer<typeof rowPlace>>;

export const listingSchema = z.object({
  /** In the order of the rows; ids are unique. */
  entries: z.array(instanceEntrySchema),
  /** One for each entry. */
  places: z.array(rowPlace),
  problems: z.array(rowProblem),
});
export type Listing = Immutable<z.infer<typeof listingSchema>>;

/**
 * Lists and checks the rows of files. An unusable row is a problem, and so is a repeated id. All
 * other rows are listed.
 *
 * @param copy receives the rows that cannot be read alone from their file
 * @throws HumanError if a file cannot be read; Cancelled
 */
export async function listRows(
  files: readonly DatasetFile[],
  copy: RowCopy | undefined,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  const entries: InstanceEntry[] = [];
  const places: RowPlace[] = [];
  const problems: RowProblem[] = [];
  const known = new Set<string>();
  const entryOf = entryMaker();
  for (const [file, { path, name }] of files.entries()) {
    const tell = (problem: RowProblem): void => {
      problems.push(files.length === 1 ? problem : { ...problem, file: name });
    };
    for await (const batch of recordBatches(path, 'dataset', {
      ...{ columns: rowColumns, named: true, signal },
    })) {
      for (const record of batch) {
        const { row } = record;
        if ('error' in record) {
          tell({ row, message: record.error });
          continue;
        }
        const result = readRow(record.value, row);
        if ('problem' in result) {
          tell(result.problem);
          continue;
        }
        const { id } = result.instance;
        if (known.has(id)) {
          const message = 'duplicate ID; the first row is used';
          tell({ row, id, field: 'instance_id', message });
          continue;
        }
        known.add(id);
        entries.push(entryOf(result));
        const copied = record.at === undefined ? copy?.add(record.value) : undefined;
        const at = record.at ?? copied;
        places.push({
          file,
          row,
          ...(at === undefined ? {} : { at }),
          ...(copied === undefined ? {} : { copied: true }),
        });
      }
      await copy?.flush();
    }
  }
  return { entries, places, problems };
}

/** Makes the entries of instances. Equal names of their entries are one string in memory. */
function entryMaker(): (row: ReadRow) => InstanceEntry {
  // Copy the name, since a substring of a patch would keep the whole patch in memory.
  const names = new Map<string, string>();
  const own = (name: string): string => {
    const kept = names.get(name) ?? Buffer.from(name).toString();
    names.set(kept, kept);
    return kept;
  };
  const size = ({ files: paths, lines }: PatchSize): PatchSize => ({
    files: paths.map(own),
    lines,
  });
  return ({ instance, patchSize, testsSize }) => {
    const { id, repo, version, baseCommit, createdAt, issue } = instance;
    return {
      ...{ id, repo: own(repo), version: own(version), baseCommit, createdAt, issue },
      patch: size(patchSize),
      tests: size(testsSize),
    };
  };
}

/**
 * Copies the rows of a table, a list or a compressed file to JSONL, so that single ones can be read
 * later. It writes beside the path and renames. If writing fails, nothing is copied.
 */
export class RowCopy {
  private waiting: Buffer[] = [];
  private length = 0;
  private file: FileHandle | undefined;
  private readonly beside: string;
  /** Why writing failed. */
  failure: unknown;

  constructor(private readonly path: string) {
    this.beside = `${path}.${process.pid}.part`;
  }

  add(row: unknown): Slice | undefined {
    if (this.failure !== undefined) return undefined;
    const wanted = Object.entries(row ?? {}).filter(([key]) => rowColumns.has(key));
    const line = Buffer.from(`${JSON.stringify(Object.fromEntries(wanted))}\n`);
    const at = { offset: this.length, length: line.length - 1 };
    this.waiting.push(line);
    this.length += line.length;
    return at;
  }

  async flush(): Promise<void> {
    if (this.waiting.length === 0 || this.failure !== undefined) return;
    try {
      if (this.file === undefined) {
        await mkdir(dirname(this.path), { recursive: true });
        this.file = await open(this.beside, 'w');
      }
      await this.file.writeFile(Buffer.concat(this.waiting));
    } catch (error) {
      this.failure = error;
    }
    this.waiting = [];
  }

  /** Completes the file; false if there is none. */
  async finish(): Promise<boolean> {
    await this.flush();
    if (this.file === undefined) return false;
    try {
      await this.file.close();
      this.file = undefined;
      if (this.failure === undefined) {
        await rename(this.beside, this.path);
        return true;
      }
    } catch (error) {
      this.failure = error;
    }
    await this.discard();
    return false;
  }

  /** Deletes the unfinished file. */
  async discard(): Promise<void> {
    await this.file?.close().catch(() => undefined);
    this.file = undefined;
    await rm(this.beside, { force: true }).catch(() => undefined);
  }
}
