import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Instance } from '../domain/instance';
import { copyTree, type Trees } from './trees';

/**
 * What makes a folder the workspace of an instance. It names the instance and where its row is to be
 * found, and holds nothing of X* or T*: whatever searches the folder finds no answer.
 */
export interface WorkspaceMarker {
  readonly format: 1;
  readonly id: string;
  /** Path of the dataset file, or `bundled` for the instance that comes with the extension. */
  readonly dataset: string;
  /** `--source` arguments that R was made with. */
  readonly sources: readonly string[];
}

/** Relative to the workspace folder; `activationEvents` in package.json names it too. */
export const markerPath = '.swt-bench/instance.json';

/** The marker of a folder; undefined when the folder is not the workspace of an instance. */
export async function readMarker(folder: string): Promise<WorkspaceMarker | undefined> {
  const text = await readFile(join(folder, markerPath), 'utf8').catch(() => undefined);
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

/**
 * Makes the workspace of an instance: a copy of R with its marker, written beside and renamed. A
 * workspace that is there already is left as it is, with the author's edits.
 */
export async function makeWorkspace(
  instance: Instance,
  trees: Trees,
  marker: Omit<WorkspaceMarker, 'format' | 'id'>,
  folder: string,
): Promise<void> {
  if ((await readMarker(folder))?.id === instance.id) return;
  const beside = join(dirname(folder), `.swt-bench-${randomUUID()}`);
  try {
    await copyTree(trees.base, beside);
    await mkdir(dirname(join(beside, markerPath)), { recursive: true });
    const content: WorkspaceMarker = { format: 1, id: instance.id, ...marker };
    await writeFile(join(beside, markerPath), `${JSON.stringify(content, null, 2)}\n`);
    // Only an empty folder may be in the way; rmdir refuses any other, and then rename does.
    await rmdir(folder).catch(() => undefined);
    await rename(beside, folder);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}
