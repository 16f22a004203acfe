import type { EditedPlaces } from '../../study/resolution';
import { splitTestEdits } from '../../patch/testFiles';
import type { FilePatch, ParsedPatch } from '../../patch/parsedPatch';
import { findDefinitions, type Definition } from '../../python/definitions';
import type { PythonParser } from '../../python/parser';

/**
 * The places that a patch edits, outside of tests.
 *
 * @param patch with the line numbers of R: `placed` of `applyPatch`
 * @param read a file of R
 */
export async function editedPlaces(
  patch: ParsedPatch,
  read: (path: string) => Promise<string | undefined>,
  python: PythonParser,
): Promise<EditedPlaces[]> {
  const byPath = new Map<string, FilePatch[]>();
  for (const file of splitTestEdits(patch).others) {
    const path = file.oldPath ?? file.newPath ?? '';
    byPath.set(path, [...(byPath.get(path) ?? []), file]);
  }
  return Promise.all(
    [...byPath].map(async ([path, files]) => {
      const { lines, gaps } = linesOf(files);
      const source = files.every((file) => file.oldPath === null) ? undefined : await read(path);
      const definitions =
        source !== undefined && path.endsWith('.py') ? findDefinitions(python, source) : [];
      const functions = new Set([
        ...[...lines].map((line) => definitionAround(definitions, line)),
        ...[...gaps].map(([gap, indent]) => definitionAround(definitions, gap, indent)),
      ]);
      return { path, lines, gaps: new Set(gaps.keys()), functions };
    }),
  );
}

/** Removed lines, and gaps with the indentation of the first line that is added there. */
function linesOf(files: readonly FilePatch[]): {
  readonly lines: ReadonlySet<number>;
  readonly gaps: ReadonlyMap<number, number>;
} {
  const lines = new Set<number>();
  const gaps = new Map<number, number>();
  for (const hunk of files.flatMap((file) => file.hunks)) {
    // A hunk without old lines names the line before it.
    let next = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
    let added: string[] = [];
    let replaces = false;
    const endBlock = (): void => {
      const first = added.find((text) => text.trim() !== '') ?? '';
      if (added.length > 0 && !replaces)
        gaps.set(next - 1, first.length - first.trimStart().length);
      added = [];
      replaces = false;
    };
    for (const { kind, text } of hunk.lines) {
      if (kind === 'context') endBlock();
      if (kind === 'added') added.push(text);
      if (kind === 'removed') {
        lines.add(next);
        replaces = true;
      }
      if (kind !== 'added') next += 1;
    }
    endBlock();
  }
  return { lines, gaps };
}

/**
 * The innermost function around a line, else the innermost class; empty for the module.
 *
 * @param indent for lines that are added after the line: their indentation, which tells whether they
 *   lengthen what ends there
 */
export function definitionAround(
  definitions: readonly Definition[],
  line: number,
  indent?: number,
): string {
  const around = definitions.filter(
    ({ range, column }) =>
      range.startLine <= line &&
      (indent === undefined
        ? line <= range.endLine
        : line < range.endLine || (line === range.endLine && indent > column)),
  );
  const functions = around.filter(({ kind }) => kind !== 'class');
  return (functions.at(-1) ?? around.at(-1))?.qualifiedName ?? '';
}
