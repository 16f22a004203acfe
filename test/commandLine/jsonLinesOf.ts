import { readFile } from 'node:fs/promises';

/** The rows of a file with a JSON document on each line. */
export async function jsonLinesOf<Row = Readonly<Record<string, unknown>>>(
  path: string,
): Promise<Row[]> {
  const text = (await readFile(path, 'utf8')).trim();
  return text.split('\n').map((line) => JSON.parse(line) as Row);
}
