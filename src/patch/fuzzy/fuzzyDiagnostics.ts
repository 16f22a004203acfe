import type { Diagnostic, Fix } from '../diagnostic';
import { sameButSpace, similarity, type TreeLines } from './treeLines';
import type { HunkPlace } from './placeAt';
import { lineList, quote, type Refusal } from './refusal';
import type { Hunk } from '../unified/hunk';
import type { PatchTree } from '../reading/patchTree';
import type { FilePatch } from '../parsedPatch';

/** The text and the file of a hunk's diagnostics, and the list that receives them. */
export interface FuzzyDiagnosticsContext {
  /** The lines of the given text. */
  readonly source: readonly string[];
  readonly diagnostics: Diagnostic[];
  readonly file: FilePatch;
}

/** The most places or paths that are offered as fixes. */
const maxFixes = 5;

/**
 * Reports that a hunk has no place. Each possible place becomes a fix that writes the line number.
 */
export function reportRefusal(
  refusal: Refusal,
  hunk: Hunk,
  number: number,
  told: FuzzyDiagnosticsContext,
): void {
  const path = told.file.newPath ?? told.file.oldPath;
  const fixes: Fix[] = [];
  const header = told.source[hunk.line - 1] ?? '';
  if (header.startsWith('@@') && refusal.code === 'ambiguous') {
    for (const candidate of refusal.candidates.slice(0, maxFixes)) {
      const at = candidate + 1;
      const section = hunk.section === '' ? '' : ` ${hunk.section}`;
      const line = `@@ -${at},${hunk.oldLines} +${at},${hunk.newLines} @@${section}`;
      fixes.push({
        title: `Place hunk ${number} at line ${at}`,
        edits: [{ from: hunk.line, to: hunk.line + 1, lines: [line] }],
      });
    }
  }
  told.diagnostics.push({
    severity: 'error',
    line: hunk.line,
    endLine: hunk.line + hunk.lines.length,
    message: `${path}: hunk ${number} has no unambiguous position: ${refusal.message}`,
    hint: refusal.hint,
    code: refusal.code,
    ...(fixes.length > 0 && { fixes }),
  });
}

/**
 * Reports the place of a hunk that differs from its line number, and the lines that differ there.
 */
export function reportDifferences(
  place: HunkPlace,
  hunk: Hunk,
  number: number,
  tree: TreeLines,
  told: FuzzyDiagnosticsContext,
): void {
  const path = told.file.newPath ?? told.file.oldPath;
  const { pairs } = place.alignment;
  const textAt = (i: number): string | undefined => tree.text[pairs[i] ?? -1];
  const differing =
    place.alignment.isExact === true
      ? -1
      : place.old.findIndex((line, i) => line.text !== textAt(i));
  const where = lineList([place.start]);
  const stated = hunk.unnumbered === true ? 'its header gives none' : `not ${hunk.oldStart}`;
  if (differing < 0) {
    const last = pairs.at(-1) ?? 0;
    const whole = pairs.length === 0 || last - (pairs[0] ?? 0) === pairs.length - 1;
    const first = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    if (whole && (first === place.start || hunk.unnumbered === true)) return;
    told.diagnostics.push({
      severity: whole ? 'info' : 'warning',
      line: hunk.line,
      message: whole
        ? `${path}: hunk ${number} goes in at ${where}, ${stated}`
        : `${path}: hunk ${number} goes in at ${where}, where the file has lines that the hunk leaves out`,
      code: 'placed-elsewhere',
    });
    return;
  }
  const line = place.old[differing];
  const pair = pairs[differing] ?? -1;
  const space = place.old.every((old, i) => {
    const there = textAt(i);
    return there !== undefined && sameButSpace(old.text, there);
  });
  const what = space
    ? 'where only whitespace differs'
    : `where ${Math.round(place.alignment.fit * 100)} % of its lines agree`;
  const example =
    pair < 0
      ? `${quote(line?.text)} is not there`
      : `line ${pair + 1} is ${quote(tree.text[pair])}, not ${quote(line?.text)}`;
  told.diagnostics.push({
    severity: 'warning',
    line: hunk.line,
    message: `${path}: hunk ${number} goes in at ${where}, ${what}: ${example}`,
    code: space ? 'white-space' : 'placed-elsewhere',
  });
}

/** Reports that a file is not in the tree, and names similar paths. */
export async function reportMissingFile(
  path: string,
  tree: PatchTree,
  told: FuzzyDiagnosticsContext,
): Promise<void> {
  const near = nearestPaths(path, (await tree.paths?.()) ?? []);
  const fixes = near.map((other) => ({
    title: `Change ${other} instead`,
    edits: renaming(path, other, told),
  }));
  told.diagnostics.push({
    severity: 'error',
    line: told.file.line,
    message: `${path}: file not found in the tree`,
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'Check the path',
    code: 'unknown-file',
    ...(fixes.length > 0 && { fixes }),
  });
}

function nearestPaths(path: string, all: readonly string[]): string[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return all
    .filter((other) => other.endsWith(`/${name}`) || other === name)
    .concat(all.filter((other) => similarity(other, path, 0.8) >= 0.8))
    .filter((other, i, found) => found.indexOf(other) === i)
    .map((other) => ({ other, like: similarity(other, path) }))
    .sort((a, b) => b.like - a.like)
    .slice(0, 3)
    .map(({ other }) => other);
}

/** The header lines of the part with another path. */
function renaming(
  path: string,
  other: string,
  { source, file }: FuzzyDiagnosticsContext,
): Fix['edits'] {
  const end = file.hunks[0]?.line ?? file.endLine + 1;
  const edits: { from: number; to: number; lines: string[] }[] = [];
  for (let line = file.line; line < end; line += 1) {
    const text = source[line - 1] ?? '';
    if (!/^(diff --git|---|\+\+\+) /.test(text) || !text.includes(path)) continue;
    edits.push({ from: line, to: line + 1, lines: [text.replaceAll(path, () => other)] });
  }
  return edits;
}
