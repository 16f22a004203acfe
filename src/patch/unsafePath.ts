import type { Diagnostic } from './diagnostic';
import { parseUnified } from './parseUnified';
import type { FilePatch, ParsedPatch } from './parsedPatch';
import type { PatchTree } from './reading/patchTree';
import type { Conversion } from './reading/conversion';

/** Windows opens these names as devices, with any extension. */
const device = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|:|$)/i;

/**
 * Code points that HFS+ ignores in names, so that it reads `.g\u200cit` as `.git` (CVE-2014-9390).
 */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Why a patch may not write to a path in any tree; undefined if the path is safe. A path is safe if
 * it is relative, has `/` between its parts and stays in the tree. Names that only Windows reads
 * otherwise are safe elsewhere. Links in the tree are not checked here, so a writer must refuse to
 * follow them.
 *
 * @param system the system that the tree is on
 */
export function unsafePath(
  path: string,
  system: NodeJS.Platform = process.platform,
): string | undefined {
  const isWindows = system === 'win32';
  if (path === '') return 'the path is empty';
  if (path.includes('\0')) return 'the path contains a NUL character';
  // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
  if (/[\x01-\x1f\x7f]/.test(path)) return 'the path contains a control character';
  if (path.startsWith('/')) return 'the path is absolute';
  if (isWindows && /^[A-Za-z]:/.test(path)) return 'the path begins with a drive letter';
  if (isWindows && path.includes('\\')) return 'the path contains a backslash';
  if (path.length > 4096) return 'the path is longer than 4096 characters';
  for (const part of path.split('/')) {
    if (part === '') return 'the path has an empty component';
    // Windows drops dots and blanks at the end of a name.
    const name = isWindows && /^\.[. ]*$/.test(part) ? part.slice(0, 2).trimEnd() : part;
    if (name === '..') return 'the path has a component ".."';
    if (name === '.') return 'the path has a component "."';
    if (isGitFolder(part)) return 'the path reaches into .git';
    if (isWindows && device.test(part)) return `"${part}" is a device name on Windows`;
    if (isWindows && part.includes(':')) return 'the path contains a colon';
  }
  return undefined;
}

function isGitFolder(part: string): boolean {
  const name = part.replace(ignorable, '').toLowerCase();
  return /^(\.git|git~\d+)[. ]*(:.*)?$/s.test(name);
}

/**
 * Errors for what a patch may not do to the file system. These are paths that leave the tree, links
 * that point out of it, and files below a link that the patch itself makes.
 */
export function checkPatchPaths(patch: ParsedPatch): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const links = new Set<string>();
  for (const file of patch.files) {
    const tell = (message: string, hint: string): void => {
      problems.push({ severity: 'error', code: 'unsafe-path', line: file.line, message, hint });
    };
    for (const path of new Set([file.oldPath, file.newPath])) {
      if (path === null) continue;
      const reason = unsafePath(path);
      if (reason !== undefined) {
        tell(
          `${JSON.stringify(path)} cannot be patched: ${reason}`,
          'Use file paths relative to the repository',
        );
      }
      const link = [...links].find((made) => path.startsWith(`${made}/`));
      if (link !== undefined) {
        tell(`${path} lies below ${link}, which the patch turns into a link`, 'Remove the link');
      }
    }
    if (file.newMode === '120000' && file.newPath !== null) {
      links.add(file.newPath);
      const target = linkTarget(file);
      if (target !== undefined && leavesTree(file.newPath, target)) {
        tell(
          `${file.newPath} would link to ${JSON.stringify(target)}, outside the tree`,
          'Remove the link, or link inside the repository',
        );
      }
    }
  }
  return problems;
}

function linkTarget(file: FilePatch): string | undefined {
  const added = file.hunks.flatMap((hunk) => hunk.lines.filter((line) => line.kind === 'added'));
  return added.length === 0 ? undefined : added.map((line) => line.text).join('\n');
}

function leavesTree(link: string, target: string): boolean {
  if (/^([/\\]|[A-Za-z]:)/.test(target)) return true;
  let depth = link.split('/').length - 1;
  for (const part of target.split(/[/\\]/)) {
    if (part === '..') depth -= 1;
    else if (part !== '.' && part !== '') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** Why a file that was read from a tree cannot be changed; undefined if no link prevents it. */
export function blockingLink(
  { links, beyondLinks }: PatchTree,
  path: string,
): Pick<Diagnostic, 'severity' | 'code' | 'message' | 'hint'> | undefined {
  const refused = { severity: 'error', code: 'unsafe-path' } as const;
  const link = beyondLinks?.get(path);
  if (link !== undefined) {
    const message = `${path} is behind ${link}, which is a symbolic link in the tree`;
    return { ...refused, message, hint: "Use the file's real path" };
  }
  if (links?.has(path) !== true) return undefined;
  const message = `${path} is a symbolic link in the tree`;
  return { ...refused, message, hint: "Use the path of the link's target" };
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
    const problem = blockingLink(tree, path);
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
