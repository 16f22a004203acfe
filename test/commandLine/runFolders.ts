import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** All files below a folder of results, by path, without what differs from one run to the next. */
export async function sameFilesBelow(folder: string): Promise<Map<string, unknown>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, unknown>();
  for (const entry of found.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length), sorted(entry.name, await readFile(path, 'utf8')));
  }
  return files;
}

function sorted(name: string, text: string): unknown {
  if (!/\.jsonl?$/.test(name)) return text;
  const values = text.trim().split(name.endsWith('l') ? '\n' : /$^/);
  return values
    .map((line) => withoutTimes(JSON.parse(line)))
    .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each: unknown) =>
      ['seconds', 'finished', 'created'].includes(key) ? undefined : each,
    ),
  );
