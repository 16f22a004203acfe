import type { PythonParser } from '../python/parser';
import { applyPatch, type ReadFile } from './apply';
import { holdsCustomBlocks, parseCustom } from './custom';
import { customEdits } from './customEdits';
import { hasErrors, mended, type Diagnostic } from './diagnostic';
import { checkPatchPaths } from './safety';
import { parseUnified, type FilePatch, type ParsedPatch } from './unified';
import { formatFilePatch, makeUnified } from './write';

export type PatchFormat = 'unified' | 'custom';

export interface Conversion {
  /** A unified diff that `git apply` accepts on the tree; empty when there is an error. */
  readonly patch: string;
  readonly format: PatchFormat | 'empty' | 'unknown';
  readonly diagnostics: readonly Diagnostic[];
}

/** Which format a text holds, a whole model answer with prose and fences too. */
export function detectFormat(text: string): Conversion['format'] {
  if (text.trim() === '') return 'empty';
  if (holdsCustomBlocks(text)) return 'custom';
  if (/^(diff --git |@@ -\d)/m.test(text) || /^--- \S.*\n\+\+\+ \S/m.test(text)) return 'unified';
  return 'unknown';
}

/**
 * Turns what a person or a model wrote into a unified diff for a tree. Nothing is written; the parts
 * of the patch convert together or not at all.
 *
 * @param read reads a file of the tree
 * @param python needed for the custom format only
 */
export async function toUnified(
  text: string,
  options: { format: 'auto' | PatchFormat; read: ReadFile; python: PythonParser },
): Promise<Conversion> {
  const found = detectFormat(text);
  if (found === 'empty') {
    const message = 'The patch is empty';
    return { patch: '', format: found, diagnostics: [{ severity: 'info', line: 1, message }] };
  }
  const format = options.format === 'auto' ? found : options.format;
  if (format === 'unknown') {
    return failed(format, [
      {
        severity: 'error',
        line: 1,
        message: 'The text holds no patch',
        hint: 'Write a unified diff, or blocks between "diff" and "end diff"',
      },
    ]);
  }
  return format === 'custom' ? convertCustom(text, options) : convertUnified(text, options.read);
}

function failed(format: Conversion['format'], diagnostics: readonly Diagnostic[]): Conversion {
  return { patch: '', format, diagnostics };
}

async function convertCustom(
  text: string,
  { read, python }: { read: ReadFile; python: PythonParser },
): Promise<Conversion> {
  const { blocks, diagnostics } = parseCustom(text);
  if (blocks.length === 0 && !hasErrors(diagnostics)) {
    diagnostics.push({
      severity: 'error',
      line: 1,
      message: 'The text holds no block of the custom format',
      hint: 'Write "diff", path, "rewrite" or "insert", place, code and "end diff", each in its line',
    });
  }
  const result = await customEdits(blocks, { read, python });
  const all = [...diagnostics, ...result.diagnostics].sort((a, b) => a.line - b.line);
  if (hasErrors(all)) return failed('custom', all);
  return { patch: makeUnified(result.edits), format: 'custom', diagnostics: all };
}

async function convertUnified(text: string, read: ReadFile): Promise<Conversion> {
  const parsed = parseUnified(text);
  const lost = parsed.problems.filter((problem) => problem.lost === true);
  const diagnostics: Diagnostic[] = [
    ...lost,
    ...mended(parsed.problems.filter((problem) => problem.lost !== true)),
    ...checkPatchPaths(parsed),
  ];
  const files = parsed.files.filter((file) => !file.binary);
  for (const file of parsed.files) {
    if (!file.binary) continue;
    diagnostics.push({
      severity: 'warning',
      line: file.line,
      message: `${file.newPath ?? file.oldPath}: binary content is left out`,
    });
  }
  if (parsed.files.length === 0 && lost.length === 0) {
    diagnostics.push({
      severity: 'error',
      line: 1,
      message: 'The text holds no part of a unified diff that changes anything',
      hint: 'Write "--- a/PATH", "+++ b/PATH" and hunks below them',
    });
  }
  if (hasErrors(diagnostics)) return failed('unified', diagnostics);

  const fitted = await withTreeLineEnds({ files, problems: [] }, read);
  const result = await applyPatch(fitted, read);
  if (!result.ok) return failed('unified', [...diagnostics, ...result.problems]);

  const lines = text.split('\n');
  const parts = files.map((file, i) => {
    const placed = result.placed.files[i] ?? file;
    const raw = lines.slice(file.line - 1, file.endLine);
    const within = (line: number): boolean => file.line <= line && line <= file.endLine;
    const sound =
      file.git &&
      fitted.files[i] === file &&
      !parsed.problems.some((problem) => problem.severity === 'error' && within(problem.line)) &&
      !raw.some((line) => /^(diff --git|---|\+\+\+|@@) .*\r$/.test(line));
    return sound ? `${raw.join('\n')}\n` : formatFilePatch(placed);
  });
  return { patch: parts.join(''), format: 'unified', diagnostics };
}

/** Patches come with LF even for trees with CRLF, since tools and models drop the carriage returns. */
async function withTreeLineEnds(patch: ParsedPatch, read: ReadFile): Promise<ParsedPatch> {
  const files: FilePatch[] = [];
  for (const file of patch.files) {
    const before = file.oldPath === null ? undefined : await read(file.oldPath);
    const isCrlf = before?.includes('\r\n') === true && !/[^\r]\n/.test(before);
    const lines = file.hunks.flatMap((hunk) => hunk.lines);
    if (!isCrlf || lines.some((line) => line.text.endsWith('\r'))) {
      files.push(file);
      continue;
    }
    files.push({
      ...file,
      hunks: file.hunks.map((hunk) => ({
        ...hunk,
        lines: hunk.lines.map((line) =>
          line.noNewline ? line : { ...line, text: `${line.text}\r` },
        ),
      })),
    });
  }
  return { files, problems: patch.problems };
}
