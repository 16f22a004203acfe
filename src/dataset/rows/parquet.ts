import type { AsyncBuffer } from 'hyparquet';
import { HumanError, messageOf, throwIfAborted } from '../../domain/work';

/** A file that can be read in parts. */
interface ReadableParts {
  /** Bytes. */
  readonly byteLength: number;
  slice(start: number, end: number): Promise<Buffer>;
}

/** A Parquet file begins and ends with these bytes; `PARE` means an encrypted footer. */
const magic = 'PAR1';

export const isParquet = (head: Buffer): boolean => /^PAR[1E]$/.test(head.toString('latin1', 0, 4));

/**
 * Reads the rows of a Parquet file as JSON values, one row group at a time. Nested lists become
 * arrays, integers numbers, and timestamps ISO 8601.
 *
 * @param where names the file in messages
 * @throws HumanError if the file is cut off, damaged or encrypted; Cancelled
 */
export async function* parquetBatches(
  file: ReadableParts,
  where: string,
  {
    columns,
    signal,
  }: { readonly columns?: ReadonlySet<string>; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<{ row: number; value: unknown }[]> {
  const end = await file.slice(Math.max(0, file.byteLength - 4), file.byteLength);
  if (file.byteLength < 12 || end.toString('latin1') !== magic) {
    throw end.toString('latin1') === 'PARE'
      ? new HumanError(
          `The ${where} is an encrypted Parquet file`,
          'Specify a file without encryption',
        )
      : new HumanError(
          `The ${where} is truncated: its Parquet footer is missing`,
          'Download or copy it again',
        );
  }
  const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const buffer: AsyncBuffer = {
    byteLength: file.byteLength,
    // Parts of a Buffer share one ArrayBuffer, but the reader counts from the start of its own.
    slice: async (start, stop = file.byteLength) =>
      new Uint8Array(await file.slice(start, stop)).buffer,
  };
  try {
    const metadata = await parquetMetadataAsync(buffer);
    const present = topColumns(metadata.schema);
    const wanted = present.filter((name) => columns?.has(name) !== false);
    if (columns !== undefined && wanted.length === 0) {
      throw new HumanError(
        `The ${where} has none of a dataset's columns (it has ${present.slice(0, 8).join(', ')})`,
        'A row needs instance_id, repo, base_commit, problem_statement, patch and test_patch',
      );
    }
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      throwIfAborted(signal);
      const rowEnd = rowStart + Number(group.num_rows);
      const batch: readonly unknown[] = await parquetReadObjects({
        file: buffer,
        metadata,
        compressors,
        columns: wanted,
        rowStart,
        rowEnd,
      });
      const first = rowStart + 1;
      rowStart = rowEnd;
      yield batch.map((value, index) => ({ row: first + index, value: plain(value) }));
    }
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof HumanError) throw error;
    throw new HumanError(
      `The ${where} is damaged: it cannot be read as Parquet (${messageOf(error)})`,
      'Download or copy it again',
    );
  }
}

/**
 * Names of the top-level columns of a schema. The schema lists columns depth first with their
 * numbers of children.
 */
function topColumns(
  schema: readonly { readonly name: string; readonly num_children?: number | undefined }[],
): string[] {
  const names: string[] = [];
  let at = 1;
  const skip = (): void => {
    const children = schema[at]?.num_children ?? 0;
    at += 1;
    for (let child = 0; child < children; child += 1) skip();
  };
  while (at < schema.length) {
    names.push(schema[at]?.name ?? '');
    skip();
  }
  return names;
}

/** Converts a value of a table to a JSON value. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  // NaN is what a missing number of pandas becomes, and JSON has no word for it.
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value === 'object' && value !== null) {
    if (isIterable(value)) return Array.from(value, plain);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  }
  return value;
}

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;
