import type { Conversion } from '../patch/conversion';
import type { Diagnostic } from '../patch/diagnostic';
import { parseUnified } from '../patch/unified';
import type { FolderTree } from './folderTree';

/**
 * A conversion for a folder on the disk, without what links would make of it. Refuses what `git apply` refuses on a folder with links, and one thing that it would do: to take the
 * path in a link for the text of a file.
 *
 * @param tree the one that was read for the conversion
 * @param text what was converted, for the lines of diagnostics
 */
export function withoutLinks(
  converted: Conversion,
  tree: Pick<FolderTree, 'links' | 'beyondLinks'>,
  text: string,
): Conversion {
  const parts = parseUnified(converted.patch).files;
  const isOfLink = (path: string): boolean =>
    parts.some(
      (part) =>
        (part.newPath === path || part.oldPath === path) &&
        (part.oldMode === '120000' || part.newMode === '120000'),
    );
  const told: Diagnostic[] = [];
  const refuse = (path: string, message: string, hint: string): void => {
    const at = text.split('\n').findIndex((line) => line.includes(path));
    told.push({ severity: 'error', line: Math.max(1, at + 1), message, hint });
  };
  for (const [path, link] of tree.beyondLinks) {
    const message = `${path} lies beyond ${link}, which is a symbolic link in the tree`;
    refuse(path, message, 'Name the file by the path that it really has');
  }
  for (const path of tree.links) {
    if (converted.files.has(path) && !isOfLink(path)) {
      const message = `${path} is a symbolic link in the tree`;
      refuse(path, message, 'Name the file that it leads to');
    }
  }
  if (told.length === 0) return converted;
  // What the engine says of these files follows from their not being read.
  const paths = [...tree.beyondLinks.keys()];
  const others = converted.diagnostics.filter(
    (each) => each.severity !== 'error' || !paths.some((path) => each.message.includes(path)),
  );
  const diagnostics = [...told, ...others].sort((a, b) => a.line - b.line);
  return { ...converted, patch: '', files: new Map(), diagnostics };
}
