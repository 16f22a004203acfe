import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { HumanError, messageOf, throwIfAborted, systemCode } from '../domain/work';
import { openPlain, readPlainFile, type PlainFileOptions } from '../files/plainFile';
import { parsePythonJson } from '../files/json';
import { isInspectLog } from '../files/inspectLog';
import { inspectRows } from './rows/inspectRows';
import { isParquet, parquetBatches } from './rows/parquet';

/** One record of a file, or why its line is unreadable. */
type FileRecord =
  | {
      /** 1-based line of a JSONL file, or else position in the list, object or table. */
      readonly row: number;
      readonly value: unknown;
      /** The bytes of the record; only lines of a plain JSONL file can be read alone. */
      readonly at?: Slice;
    }
  | { readonly row: number; readonly error: string };

/** A range of bytes of a file. */
export interface Slice {
  readonly offset: number;
  readonly length: number;
}

interface ReadOptions extends PlainFileOptions {
  /** The columns to read from a table; all if absent. Other formats are read whole. */
  readonly columns?: ReadonlySet<string>;
}

/**
 * Bytes of one read; a line may be longer. With chunks of 4 MB, garbage collection of their rows
 * takes as long as parsing them.
 */
const chunkSize = 1 << 18;

/** V8 refuses longer strings. */
const longestText = 0x1fffffe8;

/**
 * Reads the records of a file. The file can be a JSON list, a JSON object of records by id, JSONL,
 * JSON of pandas, one of these compressed with gzip, a log of inspect_ai, or Parquet. The content decides which. A broken line of a
 * JSONL file becomes an `error` record, and all other lines are read.
 *
 * @param what such as `dataset`, for messages
 * @throws HumanError if the file cannot be read, is cut off, or is none of these; Cancelled
 */
export async function readRecords(
  path: string,
  what: string,
  options: ReadOptions = {},
): Promise<FileRecord[]> {
  const records: FileRecord[] = [];
  for await (const batch of recordBatches(path, what, options)) {
    for (const record of batch) records.push(record);
  }
  return records;
}

/** Like `readRecords`, but part by part, so that a large file is never in memory as a whole. */
export async function* recordBatches(
  path: string,
  what: string,
  options: ReadOptions = {},
): AsyncGenerator<FileRecord[]> {
  const where = `${what} ${path}`;
  const file = await openFile(path, what, options);
  try {
    const status = await file.stat();
    // A pipe, such as a shell's `<(zcat …)`, has no size and no positions, so it is read to its
    // end.
    if (!status.isFile()) {
      yield* wholeBatches(await readPlainFile(path, options), where, options);
      return;
    }
    const { size } = status;
    const head = await headOf(file, size);
    if (isParquet(head)) {
      const slice = async (start: number, end: number): Promise<Buffer> =>
        readAt(file, start, Math.min(end, size) - start);
      yield* parquetBatches({ byteLength: size, slice }, where, options);
    } else if (isGzip(head) || isInspectLog(head)) {
      yield* wholeBatches(await readAt(file, 0, size), where, options);
    } else if (isLines(head)) {
      yield* lineBatches(file, size, where, options);
    } else {
      yield parseRecords(await readAt(file, 0, size), where);
    }
  } catch (error) {
    if (systemCode(error) === 'EISDIR') throw unreadable(path, what, error);
    throw error;
  } finally {
    await file.close();
  }
}

/** Records of a file in memory; none of them can be read alone later. */
async function* wholeBatches(
  read: Buffer,
  where: string,
  options: ReadOptions,
): AsyncGenerator<FileRecord[]> {
  const content = isGzip(read) ? await inflate(read, where) : read;
  throwIfAborted(options.signal);
  if (isParquet(content)) {
    const slice = async (start: number, end: number): Promise<Buffer> =>
      content.subarray(start, end);
    yield* parquetBatches({ byteLength: content.length, slice }, where, options);
  } else if (isInspectLog(content)) {
    yield await inspectRows(content, where);
  } else if (isLines(content)) {
    const { records } = linesOf(content, { row: 1, offset: 0 }, true);
    yield checkedLines(records, where).map((record) =>
      'error' in record ? record : { row: record.row, value: record.value },
    );
  } else {
    yield parseRecords(content, where);
  }
}

async function openFile(
  path: string,
  what: string,
  options: PlainFileOptions,
): Promise<FileHandle> {
  try {
    return await openPlain(path, options);
  } catch (error) {
    throw unreadable(path, what, error);
  }
}

function unreadable(path: string, what: string, error: unknown): HumanError {
  const code = systemCode(error);
  return new HumanError(
    code === 'ENOENT'
      ? `There is no ${what} at ${path}`
      : code === 'EISDIR'
        ? `The ${what} ${path} is a folder`
        : `The ${what} ${path} cannot be read (${messageOf(error)})`,
    'Specify a JSON, JSONL or Parquet file',
  );
}

/** The first chunk, or as much as contains the first line if the file may be JSONL. */
async function headOf(file: FileHandle, size: number): Promise<Buffer> {
  for (let length = chunkSize; ; length *= 4) {
    const head = await readAt(file, 0, Math.min(size, length));
    const isEnough = length >= size || length > 1 << 26 || head.includes(newline);
    if (isEnough || !/^\uFEFF?\s*\{/.test(head.toString('utf8', 0, 64))) return head;
  }
}

/** Reads bytes from an offset on; fewer than requested only at the end of the file. */
export async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, length));
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** RFC 1952, section 2.3.1. */
export const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** Rows rarely shrink to a twentieth; what grows far more is made to fill the memory. */
const mostInflated = ({ length }: Buffer): number =>
  Math.min(Math.max(1 << 28, length * 100), 2 ** 31);

async function inflate(content: Buffer, where: string): Promise<Buffer> {
  try {
    return await promisify(gunzip)(content, { maxOutputLength: mostInflated(content) });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      throw new HumanError(`The ${where} is too large to decompress`, 'Decompress it first');
    }
    throw code === 'Z_BUF_ERROR'
      ? new HumanError(
          `The ${where} is truncated: its gzip data ends too early`,
          'Download or copy it again',
        )
      : new HumanError(
          `The ${where} is damaged: its gzip data cannot be decompressed (${messageOf(error)})`,
          'Download or copy it again',
        );
  }
}

/** Whether this is the beginning of JSONL: a whole object on the first line, and more after it. */
function isLines(head: Buffer): boolean {
  let start = startOfText(head);
  for (;;) {
    const end = head.indexOf(newline, start);
    if (end < 0) return false;
    const line = head.toString('utf8', start, end).trim();
    start = end + 1;
    if (line === '') continue;
    if (!line.startsWith('{')) return false;
    return tryJson(line).ok && head.subarray(start, start + 65_536).some((byte) => byte > 0x20);
  }
}

const newline = 0x0a;

/** Offset after a byte order mark. */
const startOfText = (content: Buffer): number =>
  content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf ? 3 : 0;

async function* lineBatches(
  file: FileHandle,
  size: number,
  where: string,
  { signal }: ReadOptions,
): AsyncGenerator<FileRecord[]> {
  let rest: Buffer = Buffer.alloc(0);
  let position = { row: 1, offset: 0 };
  let at = 0;
  let anySound = false;
  for (;;) {
    throwIfAborted(signal);
    const chunk = await readAt(file, at, Math.min(chunkSize, size - at));
    at += chunk.length;
    const last = at >= size || chunk.length === 0;
    const content = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const { records, consumed, next } = linesOf(content, position, last);
    anySound ||= records.some((record) => !('error' in record));
    if (last && !anySound) checkedLines(records, where);
    yield records;
    if (last) return;
    rest = content.subarray(consumed);
    position = next;
  }
}

/** The records of whole lines. In the last chunk also that of a last line without a line end. */
function linesOf(
  content: Buffer,
  from: { row: number; offset: number },
  last: boolean,
): { records: FileRecord[]; consumed: number; next: { row: number; offset: number } } {
  const records: FileRecord[] = [];
  let { row } = from;
  let start = from.offset === 0 ? startOfText(content) : 0;
  while (start < content.length) {
    let end = content.indexOf(newline, start);
    if (end < 0) {
      if (!last) break;
      end = content.length;
    }
    const line = content.toString('utf8', start, end);
    if (line.trim() !== '') {
      const parsed = tryJson(line);
      const at = { offset: from.offset + start, length: end - start };
      records.push(
        parsed.ok
          ? { row, value: parsed.value, at }
          : { row, error: `line ${row} is not JSON (${parsed.error})` },
      );
    }
    row += 1;
    start = end + 1;
  }
  const consumed = Math.min(start, content.length);
  return { records, consumed, next: { row, offset: from.offset + consumed } };
}

/** @throws HumanError if no line is JSON */
function checkedLines(records: FileRecord[], where: string, why?: string): FileRecord[] {
  if (records.some((record) => !('error' in record))) return records;
  throw new HumanError(
    `The ${where} is neither JSON nor JSONL${why === undefined ? '' : ` (${why})`}, nor Parquet`,
    'Each line of a JSONL file must be one JSON object. If the file is truncated, download it again',
  );
}

/**
 * Like `readRecords`, for the content of a file that is not compressed. `where` names it in errors.
 */
export function parseRecords(content: Buffer | string, where: string): FileRecord[] {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new HumanError(`The ${where} is encoded in UTF-16`, 'Save it as UTF-8');
  }
  let first = startOfText(bytes);
  while (first < bytes.length && (bytes[first] ?? 0) <= 0x20) first += 1;
  if (first === bytes.length) {
    throw new HumanError(`The ${where} is empty`, 'Specify a file with at least one row');
  }
  if (bytes[first] === '<'.charCodeAt(0)) throw webPage(where);
  if (bytes.toString('latin1', 0, 6) === 'ARROW1' || bytes[0] === 0xff) {
    throw new HumanError(
      `The ${where} is an Arrow file, as written by save_to_disk`,
      "Export it with the datasets library's to_parquet or to_json",
    );
  }
  if (bytes.length > longestText) {
    throw new HumanError(
      `The ${where} is a single JSON text of ${Math.round(bytes.length / 1e6)} MB`,
      'Convert it to JSONL with one row per line',
    );
  }
  const whole = tryJson(bytes.toString('utf8', startOfText(bytes)));
  const list = whole.ok
    ? Array.isArray(whole.value)
      ? whole.value
      : rowsOfPandas(whole.value)
    : undefined;
  if (list !== undefined) return list.map((value: unknown, index) => ({ row: index + 1, value }));
  if (whole.ok && typeof whole.value === 'object' && whole.value !== null) {
    // An object with `instance_id` is JSONL with one row. Any other is the older form, records by
    // id.
    if ('instance_id' in whole.value) return [{ row: 1, value: whole.value }];
    return Object.entries(whole.value).map(([id, value]: [string, unknown], index) => ({
      row: index + 1,
      value: withId(id, value),
    }));
  }
  const { records } = linesOf(bytes, { row: 1, offset: 0 }, true);
  return checkedLines(records, where, whole.ok ? undefined : whole.error).map((record) =>
    'error' in record ? record : { row: record.row, value: record.value },
  );
}

/**
 * The rows of a table as `DataFrame.to_json` writes it with `orient` `columns` (its default),
 * `split` or `table`; undefined for anything else. Its others are a list, or an object of records.
 */
function rowsOfPandas(value: unknown): unknown[] | undefined {
  if (!isObject(value)) return undefined;
  const { columns, data, schema, instance_id: ids } = value;
  if (Array.isArray(data) && isObject(schema)) return data as unknown[];
  if (Array.isArray(data) && Array.isArray(columns)) {
    return data.map((row: unknown) =>
      Object.fromEntries(columns.map((name, at) => [String(name), (row as unknown[])[at]])),
    );
  }
  if (!isObject(ids)) return undefined;
  const named = Object.entries(value).filter((each): each is [string, JsonObject] =>
    isObject(each[1]),
  );
  return Object.keys(ids).map((key) =>
    Object.fromEntries(named.map(([name, column]) => [name, column[key]])),
  );
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The error for a web page, also if a download returned one instead of a file. */
export function webPage(where: string): HumanError {
  return new HumanError(
    `The ${where} is a web page, not JSON`,
    'Download the raw file instead of the page that shows it',
  );
}

function withId(id: string, value: unknown): unknown {
  return isObject(value) && !('instance_id' in value) ? { instance_id: id, ...value } : value;
}

function tryJson(text: string): { ok: true; value: unknown } | { ok: false; error: string } {
  try {
    return { ok: true, value: parsePythonJson(text) };
  } catch (error) {
    return { ok: false, error: messageOf(error).replace(/\s+/g, ' ').slice(0, 150) };
  }
}
