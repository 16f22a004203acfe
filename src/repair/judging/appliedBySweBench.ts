import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../files/makeFolder';
import type { InstanceSession } from '../../evaluation/session';
import { bytesOf, textOf } from '../../patch/bytes';
import { applyPatch } from '../../patch/unified/applyPatch';
import { makeUnified } from '../../patch/unified/makeUnified';
import type { ParsedPatch } from '../../patch/unified/parsedPatch';
import { parseUnified } from '../../patch/unified/parseUnified';
import { checkPatchPaths } from '../../patch/unsafePath';
import { applyFuzzily } from '../../repository/git/applyFuzzily';

/** A code patch as SWE-bench applies it, with the command that does so. */
interface AppliedPatch {
  readonly patch: ParsedPatch;
  readonly with: string;
}

/**
 * A unified diff as SWE-bench applies it to R: as it is written, with `git apply`, else with `patch
 * --fuzz=5`. Undefined where neither does. Of its other ways, `git apply --reject` succeeds only
 * where the first does, and `--3way` needs objects that R's tree does not have.
 *
 * @throws Cancelled
 */
export async function appliedBySweBench(
  { readFileOfR }: Pick<InstanceSession, 'readFileOfR'>,
  text: string,
  signal: AbortSignal | undefined,
): Promise<AppliedPatch | undefined> {
  const patch = parseUnified(text);
  if (patch.files.length === 0 || checkPatchPaths(patch).length > 0) return undefined;
  if (!patch.problems.some(({ severity }) => severity === 'error')) {
    const applied = await applyPatch(patch, readFileOfR);
    if (applied.ok) return { patch: applied.placed, with: 'git apply' };
  }
  return withGnuPatch(readFileOfR, text, patch, signal);
}

/** Lets GNU patch work on copies of the files that the patch names. */
async function withGnuPatch(
  read: InstanceSession['readFileOfR'],
  text: string,
  { files }: ParsedPatch,
  signal: AbortSignal | undefined,
): Promise<AppliedPatch | undefined> {
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
    const command = await applyFuzzily(tree, text, signal, { whole: false });
    if (command === undefined) return undefined;
    const edits = paths.map(async (path) => ({
      path,
      before: before.get(path),
      after: await readFile(join(tree, path)).then(textOf, () => undefined),
    }));
    return { patch: parseUnified(makeUnified(await Promise.all(edits))), with: command };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
