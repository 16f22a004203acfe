import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../files/makeFolder';
import { bytesOf, textOf } from '../../patch/bytes';
import { makeUnified } from '../../patch/unified/makeUnified';
import { parseUnified } from '../../patch/unified/parseUnified';

/** A patch as a diff that `git apply` takes, and the command that applied it as it was. */
export interface PatchOfCopies {
  readonly patch: string;
  readonly appliedWith: string;
}

/**
 * Applies a patch to copies of the files that it names, in a folder without a repository.
 *
 * @param read a file of the tree
 * @param text a patch whose paths stay within the tree
 * @param apply applies it to the copies and returns the command; undefined where it does not apply
 */
export async function applyOnCopies(
  read: (path: string) => Promise<string | undefined>,
  text: string,
  apply: (tree: string) => Promise<string | undefined>,
): Promise<PatchOfCopies | undefined> {
  const { files } = parseUnified(text);
  const paths = [
    ...new Set(files.flatMap(({ oldPath, newPath }) => [oldPath ?? [], newPath ?? []].flat())),
  ];
  const folder = await mkdtemp(join(tmpdir(), 'swt-bench-patch-'));
  const tree = join(folder, 'tree');
  try {
    await makeFolder(tree);
    const before = new Map<string, string | undefined>();
    for (const path of paths) {
      const content = await read(path);
      before.set(path, content);
      if (content === undefined) continue;
      await makeFolder(dirname(join(tree, path)));
      await writeFile(join(tree, path), bytesOf(content));
    }
    const appliedWith = await apply(tree);
    if (appliedWith === undefined) return undefined;
    const edits = paths.map(async (path) => ({
      path,
      before: before.get(path),
      after: await readFile(join(tree, path)).then(textOf, () => undefined),
    }));
    return { patch: makeUnified(await Promise.all(edits)), appliedWith };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
