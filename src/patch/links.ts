import type { Conversion } from './conversion';
import type { Diagnostic } from './diagnostic';
import type { PatchTree } from './patchTree';
import { parseUnified } from './unified/parseUnified';

/** Why a file that was read from a tree cannot be changed; undefined if no link prevents it. */
export function linkInTheWay(
  { links, beyondLinks }: PatchTree,
  path: string,
): Pick<Diagnostic, 'severity' | 'code' | 'message' | 'hint'> | undefined {
  const refused = { severity: 'error', code: 'unsafe-path' } as const;
  const link = beyondLinks?.get(path);
  if (link !== undefined) {
    const message = `${path} lies beyond ${link}, which is a symbolic link in the tree`;
    return { ...refused, message, hint: 'Name the file by the path that it really has' };
  }
  if (links?.has(path) !== true) return undefined;
  const message = `${path} is a symbolic link in the tree`;
  return { ...refused, message, hint: 'Name the file that it leads to' };
}

/**
 * Refuses a conversion that symbolic links make wrong. It refuses what `git apply` refuses on a
 * folder with links. It also refuses one thing that git does: take the path in a link for the text
 * of a file.
 *
 * @param tree the tree from which the conversion read
 * @param text the converted text, for the lines of diagnostics
 */
export function withoutLinks(converted: Conversion, tree: PatchTree, text: string): Conversion {
  const beyond = [...(tree.beyondLinks?.keys() ?? [])];
  const links = [...(tree.links ?? [])].filter((path) => converted.files.has(path));
  if (beyond.length === 0 && links.length === 0) return converted;
  const parts = parseUnified(converted.patch).files;
  const isOfLink = (path: string): boolean =>
    parts.some(
      (part) =>
        (part.newPath === path || part.oldPath === path) &&
        (part.oldMode === '120000' || part.newMode === '120000'),
    );
  const lines = text.split('\n');
  const told = [...beyond, ...links.filter((path) => !isOfLink(path))].flatMap((path) => {
    const problem = linkInTheWay(tree, path);
    const line = Math.max(1, lines.findIndex((each) => each.includes(path)) + 1);
    return problem === undefined ? [] : [{ ...problem, line }];
  });
  if (told.length === 0) return converted;
  // The engine could not read these files, so its own errors about them only repeat that.
  const others = converted.diagnostics.filter(
    (each) => each.severity !== 'error' || !beyond.some((path) => each.message.includes(path)),
  );
  const diagnostics = [...told, ...others].sort((a, b) => a.line - b.line);
  return { ...converted, patch: '', files: new Map(), diagnostics };
}
