import { readFile } from 'node:fs/promises';
import { HumanError, messageOf } from '../domain/problem';

/** One record of a JSON or JSONL file, or why its line could not be read. */
export type FileRecord =
  | { readonly row: number; readonly value: unknown }
  | { readonly row: number; readonly error: string };

/**
 * Records of a JSON list, a JSON object of records by id, or a JSONL file, told apart by content.
 * A broken line of a JSONL file is an `error` record; the rest is read.
 *
 * @throws HumanError when the file cannot be read or is neither JSON nor JSONL
 */
export async function readRecords(path: string, what: string): Promise<FileRecord[]> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new HumanError(
      code === 'ENOENT'
        ? `There is no ${what} at ${path}`
        : code === 'EISDIR'
          ? `The ${what} ${path} is a folder`
          : `The ${what} ${path} cannot be read (${messageOf(error)})`,
      'Name a JSON or JSONL file',
    );
  }
  return parseRecords(content, `${what} ${path}`);
}

/** As `readRecords`, on text. `where` names the file in errors. */
export function parseRecords(content: string, where: string): FileRecord[] {
  const text = content.replace(/^\uFEFF/, '').trimEnd();
  if (text === '')
    throw new HumanError(`The ${where} is empty`, 'Name a file with at least one row');
  if (text.trimStart().startsWith('<')) {
    throw new HumanError(
      `The ${where} is a web page, not JSON`,
      'Download the raw file: the address of a page that shows it gives HTML',
    );
  }
  const whole = tryJson(text);
  if (whole.ok && Array.isArray(whole.value)) {
    return whole.value.map((value: unknown, index) => ({ row: index + 1, value }));
  }
  if (whole.ok && typeof whole.value === 'object' && whole.value !== null) {
    // One record on one line is JSONL with one row; otherwise the older form, records by id.
    if ('instance_id' in whole.value) return [{ row: 1, value: whole.value }];
    return Object.values(whole.value).map((value: unknown, index) => ({ row: index + 1, value }));
  }
  const records: FileRecord[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = tryJson(line);
    records.push(
      parsed.ok
        ? { row: index + 1, value: parsed.value }
        : { row: index + 1, error: `line ${index + 1} is not JSON (${parsed.error})` },
    );
  }
  if (records.every((record) => 'error' in record)) {
    throw new HumanError(
      `The ${where} is neither JSON nor JSONL`,
      'Each line of a JSONL file is one JSON object',
    );
  }
  return records;
}

function tryJson(text: string): { ok: true; value: unknown } | { ok: false; error: string } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}
