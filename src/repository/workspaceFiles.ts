import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from './git/git';
import { writeWholeFileBelow } from './wholeFileBelow';

/** Place of our dev container when R has none. */
const usualPlace = '.devcontainer/devcontainer.json';
/** Its place when R has one: VS Code offers every folder below `.devcontainer` as a choice. */
const besideOthers = '.devcontainer/swt-bench/devcontainer.json';

/**
 * Writes a `devcontainer.json` into the workspace of an instance, replacing one that was written
 * before. It is outside the files that R tracks, and so no part of a candidate.
 *
 * @param base the pristine tree of R, which determines the tracked files
 * @returns its path relative to the workspace
 * @throws HumanError when a link is in the way
 */
export async function writeDevContainer(
  folder: string,
  base: string,
  text: string,
): Promise<string> {
  const place = (await isTracked(base, '.devcontainer')) ? besideOthers : usualPlace;
  await writeWholeFileBelow(folder, place, text);
  return place;
}

/**
 * Makes the title of the window name the instance, by a setting of the workspace. When R tracks its
 * own settings, or something else is at that path, nothing is written.
 *
 * @param base the pristine tree of R, which determines the tracked files
 */
export async function writeWindowTitle(folder: string, base: string, id: string): Promise<void> {
  const place = '.vscode/settings.json';
  if (await isTracked(base, '.vscode')) return;
  const info = async (path: string): Promise<Stats | undefined> =>
    lstat(join(folder, path)).catch(() => undefined);
  if ((await info('.vscode'))?.isDirectory() === false) return;
  if ((await info(place)) !== undefined) return;
  const variables = (...names: string[]): string => names.map((name) => `\${${name}}`).join('');
  const settings = {
    'window.title':
      variables('dirty', 'activeEditorShort', 'separator') +
      `${id} (R)` +
      variables('separator', 'appName'),
  };
  await writeWholeFileBelow(folder, place, `${JSON.stringify(settings, null, 2)}\n`);
}

async function isTracked(base: string, path: string): Promise<boolean> {
  const listed = await git(['ls-tree', '--name-only', 'HEAD', '--', path], { cwd: base });
  return listed.trim() !== '';
}
