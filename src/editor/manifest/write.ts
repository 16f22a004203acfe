import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandTable, settingTables } from './docs';
import { manifestText, withDescriptors } from './manifest';

/** What the build writes, by path from the root of the project. */
export function written(root: string): ReadonlyMap<string, string> {
  const read = (name: string): string => readFileSync(join(root, name), 'utf8');
  const { manifest, texts } = withDescriptors(
    JSON.parse(read('package.json')) as Parameters<typeof withDescriptors>[0],
    JSON.parse(read('package.nls.json')) as Record<string, string>,
  );
  return new Map([
    ['package.json', `${manifestText(manifest)}\n`],
    ['package.nls.json', `${JSON.stringify(texts, null, 2)}\n`],
    ['docs/settings.md', settingTables()],
    ['docs/commands.md', commandTable()],
  ]);
}

/** Writes what differs, so that watchers of these files see no change where there is none. */
export function write(root: string): void {
  for (const [name, text] of written(root)) {
    if (readFileSync(join(root, name), 'utf8') !== text) writeFileSync(join(root, name), text);
  }
}

if (require.main === module) write(process.cwd());
