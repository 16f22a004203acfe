import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyPatch } from '../patch/apply';
import { textOf } from '../patch/bytes';
import { parseUnified, type FilePatch } from '../patch/unified';
import type { OpenInstance } from './openInstance';

const known = new WeakMap<OpenInstance, Promise<readonly FilePatch[]>>();

/**
 * The files of the golden patch, with the line numbers at which its hunks went in.
 *
 * @throws HumanError when the trees cannot be had
 */
export function goldenFilesOf(open: OpenInstance): Promise<readonly FilePatch[]> {
  const reading = known.get(open) ?? read(open);
  known.set(open, reading);
  reading.catch(() => known.delete(open));
  return reading;
}

async function read(open: OpenInstance): Promise<readonly FilePatch[]> {
  const trees = await open.trees();
  const golden = parseUnified(trees.golden ?? (await open.instance()).goldenPatch);
  // On a snapshot the hunks may lie elsewhere than the patch says.
  const applied = await applyPatch(golden, (path) =>
    readFile(join(trees.base, path)).then(textOf, () => undefined),
  );
  return (applied.ok ? applied.placed : golden).files;
}
