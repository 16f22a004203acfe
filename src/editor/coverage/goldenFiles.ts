import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { retryingMemoOf } from '../../domain/work';
import { applyPatch } from '../../patch/applyPatch';
import { textOf } from '../../patch/bytes';
import { parseUnified } from '../../patch/parseUnified';
import type { FilePatch } from '../../patch/parsedPatch';
import type { InstanceSource } from '../instance/instanceRoles';

const known = new WeakMap<object, Promise<readonly FilePatch[]>>();

/**
 * The files of the golden patch, with the line numbers at which its hunks apply.
 *
 * @throws HumanError when the trees are unavailable
 */
export function goldenFilesOf(open: InstanceSource): Promise<readonly FilePatch[]> {
  return retryingMemoOf(known, open, () => read(open));
}

async function read(open: InstanceSource): Promise<readonly FilePatch[]> {
  const trees = await open.trees();
  const golden = parseUnified(trees.golden ?? (await open.instance()).goldenPatch);
  // In a snapshot the hunks may apply at other lines than the patch says.
  const applied = await applyPatch(golden, (path) =>
    readFile(join(trees.base, path)).then(textOf, () => undefined),
  );
  return (applied.ok ? applied.placed : golden).files;
}
