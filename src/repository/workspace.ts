import type { Instance } from '../domain/instance';
import { HumanError } from '../domain/work';
import { git } from './git';
import { readForeign } from './git/readForeign';
import { removeForce, hasEnded, ownerWord } from './lock';
import { fullDisk } from './storage';
import type { Trees } from './trees';
import { copyTree } from './trees/copyTree';
import { writeWholeFileBelow } from './trees/wholeFileBelow';
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { readdir, rename, rmdir, stat, lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Makes the workspace of an instance: a copy of R with its marker, written beside and renamed. An
 * existing workspace stays unchanged, with the author's edits.
 *
 * @throws HumanError when the disk is full or R has a link where the marker belongs, Cancelled
 */
export async function makeWorkspace(
  instance: Instance,
  trees: Trees,
  marker: Omit<WorkspaceMarker, 'format' | 'id'>,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  const isThere = async (): Promise<boolean> => (await readMarker(folder))?.id === instance.id;
  if (await isThere()) return;
  await makeBeside(folder, async (beside) => {
    await copyTree(trees.base, beside, signal);
    const content: WorkspaceMarker = { format: 1, id: instance.id, ...marker };
    const text = `${JSON.stringify(content, null, 2)}\n`;
    // R may have a file of this name. The marker may replace it, but not the folder above it, which
    // is R's.
    await writeWholeFileBelow(beside, markerPath, text, { replacesLink: true }).catch(
      (error: unknown) => {
        if (!(error instanceof HumanError)) throw error;
        throw new HumanError(
          `${instance.id} cannot be opened: ${markerPath.split('/')[0]} in its repository must be a folder, but is a link or a file`,
          'Choose another instance. Do not trust a repository like this',
        );
      },
    );
  }).catch(async (error: unknown) => {
    // Another window made the same workspace meanwhile.
    if (!(await isThere())) throw error;
  });
}

/** Copies a pristine tree to a new or empty folder, completely or not at all. */
export async function copyTreeTo(
  tree: string,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  await makeBeside(folder, (beside) => copyTree(tree, beside, signal));
}

/** Prefix of unfinished folders beside the user's folder. */
const prefix = '.swt-bench-';

/**
 * Makes a folder that is new or empty, whole or not at all: `make` fills one beside it.
 *
 * @throws HumanError when the disk is full, and what `make` throws
 */
export async function makeBeside(
  folder: string,
  make: (beside: string) => Promise<void>,
): Promise<void> {
  const parent = dirname(folder);
  const beside = join(parent, `${prefix}${await ownerWord()}.${randomUUID()}`);
  try {
    await removeHalfMade(parent);
    await make(beside);
    // rmdir only removes an empty folder; with any other in the way, rename fails.
    await rmdir(folder).catch(() => undefined);
    await rename(beside, folder);
  } catch (error) {
    throw (await fullDisk(error, parent)) ?? error;
  } finally {
    await removeForce(beside);
  }
}

/** Removes unfinished folders that killed processes left in the parent folder. */
async function removeHalfMade(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const [word = ''] = name.slice(prefix.length).split('.');
    const path = join(parent, name);
    if ((await hasEnded(word)) && (await stat(path)).isDirectory()) await removeForce(path);
  }
}

/**
 * Marks a folder as the workspace of an instance. It names the instance and the source of its row.
 * It contains nothing of X* or T*, so that a search in the folder finds no answer.
 */
export interface WorkspaceMarker {
  readonly format: 1;
  readonly id: string;
  /** Path of the dataset file, or `bundled` for the instance that comes with the extension. */
  readonly dataset: string;
  /** `--source` arguments that R was made with. */
  readonly sources: readonly string[];
}

/** Path relative to the workspace folder; `activationEvents` in package.json contains it too. */
export const markerPath = '.swt-bench/instance.json';

/** The marker of a folder; undefined when the folder is not the workspace of an instance. */
export async function readMarker(folder: string): Promise<WorkspaceMarker | undefined> {
  // The opened folder may be foreign, and its marker a pipe or a link to anything.
  const text = await readForeign(folder, markerPath);
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Partial<Record<keyof WorkspaceMarker, unknown>>;
    const { id, dataset, sources } = value;
    if (value.format !== 1 || typeof id !== 'string' || typeof dataset !== 'string')
      return undefined;
    const texts = Array.isArray(sources) ? sources.filter((each) => typeof each === 'string') : [];
    return { format: 1, id, dataset, sources: texts };
  } catch {
    return undefined;
  }
}

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
