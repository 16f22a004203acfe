import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Instance } from '../domain/instance';
import { markerPath, readMarker, type WorkspaceMarker } from './marker';
import { copyTree, type Trees } from './trees';

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
