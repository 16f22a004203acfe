import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from './git';
import { rOf } from './trees';
import { writeWhole } from './wholeFile';

/** The place of our dev container where R brings none of its own. */
const usualPlace = '.devcontainer/devcontainer.json';
/** Where it brings one: VS Code offers every folder below `.devcontainer` as a choice. */
const besideOthers = '.devcontainer/swt-bench/devcontainer.json';

/**
 * Writes a `devcontainer.json` into the workspace of an instance, outside the files that R tracks: no
 * part of a candidate. One that was written before is replaced.
 *
 * @returns its path relative to the workspace
 */
export async function writeDevContainer(folder: string, text: string): Promise<string> {
  const place = (await isTracked(folder, '.devcontainer')) ? besideOthers : usualPlace;
  await writeWhole(join(folder, place), text);
  return place;
}

/**
 * Lets the title of the window name the instance, by a setting of the workspace. Where R tracks its own
 * settings, or somebody has made some, they stay as they are.
 */
export async function writeWindowTitle(folder: string, id: string): Promise<void> {
  const place = '.vscode/settings.json';
  if (await isTracked(folder, '.vscode')) return;
  if ((await readFile(join(folder, place)).catch(() => undefined)) !== undefined) return;
  const variables = (...names: string[]): string => names.map((name) => `\${${name}}`).join('');
  const settings = {
    'window.title':
      variables('dirty', 'activeEditorShort', 'separator') +
      `${id} (R)` +
      variables('separator', 'appName'),
  };
  await writeWhole(join(folder, place), `${JSON.stringify(settings, null, 2)}\n`);
}

async function isTracked(folder: string, path: string): Promise<boolean> {
  const listed = await git(['ls-tree', '--name-only', await rOf(folder), '--', path], {
    cwd: folder,
  });
  return listed.trim() !== '';
}
