import { applyPatch } from '../../patch/applyPatch';
import { parseUnified } from '../../patch/parseUnified';
import type { FilePatch } from '../../patch/parsedPatch';
import type { LineSpan } from '../../python/runnerEdits';

/** A file that a candidate adds or changes. */
export interface EditedFile {
  /** Path after the candidate is applied. */
  readonly path: string;
  readonly kind: FilePatch['kind'];
  /** Text after the candidate is applied. */
  readonly source: string;
  /** Lines of `source` that are not in R. */
  readonly spans: readonly LineSpan[];
}

/**
 * The files of a candidate with the lines that it adds. Lines that it removes, and files without
 * text, are left out.
 *
 * @param patch unified diff that applies to R
 * @param readFileOfR undefined where R has no such file
 */
export async function editedFiles(
  patch: string,
  readFileOfR: (path: string) => Promise<string | undefined>,
): Promise<EditedFile[]> {
  const parsed = parseUnified(patch);
  // Binary data beside tests must not prevent reading their code.
  const files = parsed.files.filter((file) => !file.binary);
  const applied = await applyPatch({ ...parsed, files }, readFileOfR);
  if (!applied.ok) return [];
  return applied.placed.files.flatMap((file): EditedFile[] => {
    const { newPath: path, kind } = file;
    const source = path === null ? undefined : applied.files.get(path);
    if (path === null || source === undefined) return [];
    const lines = file.hunks.flatMap((hunk) => hunk.lines);
    // A moved line is not new.
    const removed = new Set(lines.flatMap((line) => (line.kind === 'removed' ? line.text : [])));
    const added = lines.flatMap((line) =>
      line.kind === 'added' && line.newLine !== undefined && !removed.has(line.text)
        ? [line.newLine]
        : [],
    );
    return [{ path, kind, source, spans: spansOf(added) }];
  });
}

/** Joins consecutive lines into spans. */
function spansOf(lines: readonly number[]): LineSpan[] {
  const spans: { first: number; last: number }[] = [];
  for (const line of [...new Set(lines)].sort((a, b) => a - b)) {
    const open = spans.at(-1);
    if (open !== undefined && open.last === line - 1) open.last = line;
    else spans.push({ first: line, last: line });
  }
  return spans;
}
