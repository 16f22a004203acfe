import { readdir, rename, rmdir, stat } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Instance } from '../domain/instance';
import { HumanError } from '../domain/humanError';
import { removeForce } from './abandoned';
import { markerPath, readMarker, type WorkspaceMarker } from './marker';
import { hasEnded, ownerWord } from './owner';
import { fullDisk } from './space';
import { writeWholeFileBelow } from './wholeFileBelow';
import type { Trees } from './trees';
import { copyTree } from './copyTree';

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
          `${instance.id} cannot be opened: ${markerPath.split('/')[0]} of its repository is a link or a file, where the marker of a workspace belongs`,
          'Choose another instance: a repository that has this is not to be trusted',
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

/** Prefix of unfinished folders beside a person's folder. */
const prefix = '.swt-bench-';

async function makeBeside(folder: string, make: (beside: string) => Promise<void>): Promise<void> {
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
