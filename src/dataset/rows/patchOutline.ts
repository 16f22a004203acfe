import type { PatchSize } from '../../domain/instance';
import { checkPatchPaths, unsafePath } from '../../patch/unsafePath';
import { parseUnified } from '../../patch/parseUnified';

/** The outline of a patch for lists. */
export interface PatchOutline {
  readonly files: readonly PatchedFile[];
  /** Added plus removed. */
  readonly lines: number;
}

export interface PatchedFile {
  /** Path in the old tree; null if the patch adds the file. */
  readonly oldPath: string | null;
  /** Path in the new tree; null if the patch deletes the file. */
  readonly newPath: string | null;
}

/**
 * The files and changed lines of a patch, or why it cannot be used: git rejects it, or it leaves
 * the tree.
 *
 * @param text must end with a line end
 */
export function outlineOf(text: string): PatchOutline | { readonly problem: string } {
  // A list reads thousands of patches, nearly all as git writes them. The full parser takes several
  // times as long, mostly for results that a list does not need.
  return scan(text) ?? parsedOutline(text);
}

function parsedOutline(text: string): PatchOutline | { readonly problem: string } {
  const parsed = parseUnified(text);
  const error = parsed.problems.find((problem) => problem.severity === 'error');
  if (parsed.files.length === 0 && error === undefined) return { problem: 'is not a unified diff' };
  const unsafe = checkPatchPaths(parsed)[0];
  if (unsafe !== undefined) {
    return { problem: `names a path outside the tree: ${unsafe.message}` };
  }
  if (error !== undefined) {
    return { problem: `cannot be parsed: line ${error.line}: ${error.message}` };
  }
  let lines = 0;
  for (const file of parsed.files) {
    for (const hunk of file.hunks) {
      for (const line of hunk.lines) if (line.kind !== 'context') lines += 1;
    }
  }
  return { files: parsed.files.map(({ oldPath, newPath }) => ({ oldPath, newPath })), lines };
}

const partHeader =
  /diff --git a\/([\w./+@-]+) b\/([\w./+@-]+)\n(?:(new|deleted) file mode 100(?:644|755)\n)?(?:index [0-9a-f]+\.\.[0-9a-f]+(?: 100(?:644|755))?\n)?--- (?:a\/([\w./+@-]+)|(\/dev\/null))\n\+\+\+ (?:b\/([\w./+@-]+)|(\/dev\/null))\n/y;
const hunkHeader = /@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@(?: [^\n]*)?\n/y;

/**
 * Like `parsedOutline`, but only for plain patches as git writes them; undefined for any other.
 * Such a patch has text, no renames and no changes of mode. Its hunks have the counted lines, and
 * nothing between them.
 */
export function scan(text: string): PatchOutline | undefined {
  const files: PatchedFile[] = [];
  let lines = 0;
  let at = 0;
  while (at < text.length) {
    partHeader.lastIndex = at;
    const header = partHeader.exec(text);
    if (header === null) return undefined;
    const [whole, left = '', right, kind, oldPath = null, noOld, newPath = null, noNew] = header;
    const agrees =
      left === right &&
      (oldPath ?? left) === left &&
      (newPath ?? left) === left &&
      (noOld !== undefined) === (kind === 'new') &&
      (noNew !== undefined) === (kind === 'deleted');
    if (!agrees || unsafePath(left) !== undefined) return undefined;
    at += whole.length;
    let hunks = 0;
    while (text.charCodeAt(at) === AT) {
      const hunk = scanHunk(text, at, kind);
      if (hunk === undefined) return undefined;
      at = hunk.end;
      lines += hunk.lines;
      hunks += 1;
    }
    if (hunks === 0) return undefined;
    files.push({ oldPath, newPath });
  }
  return files.length === 0 ? undefined : { files, lines };
}

const [AT, SPACE, PLUS, MINUS, BACKSLASH] = ['@', ' ', '+', '-', '\\'].map((c) => c.charCodeAt(0));

function scanHunk(
  text: string,
  from: number,
  kind: string | undefined,
): { end: number; lines: number } | undefined {
  hunkHeader.lastIndex = from;
  const header = hunkHeader.exec(text);
  if (header === null) return undefined;
  let oldLeft = Number(header[1] ?? 1);
  let newLeft = Number(header[2] ?? 1);
  if ((kind === 'new' && oldLeft > 0) || (kind === 'deleted' && newLeft > 0)) return undefined;
  let at = from + header[0].length;
  let lines = 0;
  while (oldLeft > 0 || newLeft > 0) {
    const end = text.indexOf('\n', at);
    if (end < 0) return undefined;
    const first = text.charCodeAt(at);
    if (first === SPACE) {
      oldLeft -= 1;
      newLeft -= 1;
    } else if (first === PLUS) {
      newLeft -= 1;
      lines += 1;
    } else if (first === MINUS) {
      oldLeft -= 1;
      lines += 1;
    } else if (!isMarker(text, at) || lines === 0) {
      return undefined;
    }
    at = end + 1;
  }
  if (oldLeft < 0 || newLeft < 0) return undefined;
  if (isMarker(text, at)) at = text.indexOf('\n', at) + 1;
  return at > 0 ? { end: at, lines } : undefined;
}

/** Whether the line at a place is `\ No newline at end of file`, which git knows by its beginning. */
const isMarker = (text: string, at: number): boolean =>
  text.charCodeAt(at) === BACKSLASH && text.charCodeAt(at + 1) === SPACE;

export function sizeOf({ files, lines }: PatchOutline): PatchSize {
  return { files: files.map((file) => file.newPath ?? file.oldPath ?? ''), lines };
}
