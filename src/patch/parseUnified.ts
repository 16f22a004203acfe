import type { DiagnosticCode, PatchProblem } from './diagnostic';
import type { FilePatch, ParsedPatch } from './parsedPatch';
import { readHunk, type Hunk, type Reading } from './unified/hunk';
import { assemble, readExtended, readNameLines, type Header } from './unified/fileHeader';

/**
 * Reads a unified diff as `git apply` does, and continues where git stops. It repairs faults if the
 * intention is clear, and reports each as a problem with severity `error`. Like git, it skips text
 * around the parts (mail headers, prose, code fences).
 *
 * The `diff` package's `parsePatch` is not used. It throws at the first fault, takes the signature
 * of a `git format-patch` mail for a hunk line, and reports no line numbers. The package writes
 * diffs (makeUnified.ts), and tests check that both readers agree on sound input.
 *
 * @param reading `loose` accepts hunks that say which lines change but not where; see
 *   {@link Reading}
 */
export function parseUnified(text: string, reading: Reading = 'git'): ParsedPatch {
  const lines = text.split('\n');
  const terminated = lines.at(-1) === '';
  if (terminated) lines.pop();

  const files: FilePatch[] = [];
  const problems: PatchProblem[] = [];
  let i = 0;
  while (i < lines.length) {
    const line = lines[i] ?? '';
    if (line.startsWith('diff --git ') || startsPlainPart(lines, i, reading)) {
      const { file, next } = readPart(lines, i, problems, reading);
      if (file !== undefined) files.push(file);
      i = next;
    } else if (reading === 'git' ? /^@@ -\d/.test(line) : /^@@(?!@)/.test(line)) {
      i = readStray(lines, i, files, problems, reading);
    } else if (/^(@@@ |diff --cc |diff --combined )/.test(line)) {
      problems.push({
        severity: 'error',
        line: i + 1,
        message: "This is a merge's combined diff, which cannot be applied",
        hint: 'Create the diff against one parent: git diff A B',
        code: 'unknown-format',
        lost: true,
      });
      i += 1;
      while (i < lines.length && !(lines[i] ?? '').startsWith('diff --git ')) i += 1;
    } else {
      if (reading === 'loose' && files.length > 0 && /^[+-]([^\s+-]|\s{2,}\S)/.test(line)) {
        problems.push({
          severity: 'error',
          line: i + 1,
          message: `The line does not belong to a hunk: ${line.slice(0, 60)}`,
          hint: 'Start each context line with a space, including blank ones, and each hunk with "@@"',
          code: 'incomplete',
          lost: true,
        });
        while (/^[ +-]/.test(lines[i + 1] ?? '')) i += 1;
      }
      i += 1;
    }
  }

  const last = files.at(-1);
  if (!terminated && last?.endLine === lines.length && last.hunks.length > 0) {
    problems.push({
      severity: 'error',
      line: lines.length,
      message: 'The patch does not end with a newline',
      hint: 'End the patch with a newline; otherwise git treats it as truncated',
      code: 'incomplete',
    });
  }
  return { files, problems };
}

/** Whether a part without `diff --git` starts here. `---` alone also occurs in mails and prose. */
function startsPlainPart(lines: readonly string[], i: number, reading: Reading): boolean {
  const first = lines[i + 2] ?? '';
  return (
    /^--- \S/.test(lines[i] ?? '') &&
    /^\+\+\+ \S/.test(lines[i + 1] ?? '') &&
    (first.startsWith('@@') || (reading === 'loose' && /^[ +-]/.test(first)))
  );
}

function readPart(
  lines: readonly string[],
  start: number,
  problems: PatchProblem[],
  reading: Reading,
): { file: FilePatch | undefined; next: number } {
  const header: Header = {
    git: (lines[start] ?? '').startsWith('diff --git '),
    old: undefined,
    new: undefined,
    renamed: undefined,
    oldMode: undefined,
    newMode: undefined,
    added: false,
    deleted: false,
    binary: false,
    ids: ['', ''],
    binaryLines: undefined,
    isSpoiled: false,
  };
  let i = start;
  if (header.git) {
    i = readExtended(lines, start + 1, header);
  }
  const plain = readNameLines(lines, i);
  if (plain !== undefined) i += 2;

  const hunks: Hunk[] = [];
  const bare = reading === 'loose' && plain !== undefined && /^[ +-]/.test(lines[i] ?? '');
  while (/^@@( |\r?$)/.test(lines[i] ?? '') || (bare && hunks.length === 0)) {
    const { hunk, next } = readHunk(lines, i, problems, reading);
    if (hunk !== undefined) hunks.push(hunk);
    i = next;
  }
  const file = assemble(header, (lines[start] ?? '').slice(11), plain, hunks, start, i, problems);
  if (file !== undefined) checkHunks(file, problems, reading);
  return { file, next: i };
}

/** Reports hunks that contradict the kind of the part, or each other. */
function checkHunks(file: FilePatch, problems: PatchProblem[], reading: Reading): void {
  const path = file.newPath ?? file.oldPath;
  let shift = 0;
  let end = 0;
  let told = false;
  for (const hunk of file.hunks) {
    const tell = (
      severity: 'error' | 'warning',
      message: string,
      hint: string,
      code: DiagnosticCode = 'malformed',
    ): void => {
      problems.push({ severity, line: hunk.line, message: `${path}: ${message}`, hint, code });
    };
    if (file.kind === 'added' && hunk.oldLines > 0) {
      tell(
        'error',
        'the patch adds this file, but the hunk has old lines',
        'Start every line with +',
      );
    }
    if (file.kind === 'deleted' && hunk.newLines > 0) {
      tell('error', 'the patch deletes this file, but lines remain', 'Start every line with -');
    }
    const oldFirst = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
    const newFirst = hunk.newLines === 0 ? hunk.newStart + 1 : hunk.newStart;
    if (!told && reading === 'git' && (oldFirst < end || newFirst - oldFirst !== shift)) {
      told = true;
      const wrong =
        oldFirst < end ? 'the hunks are out of order' : 'the line numbers do not add up';
      tell(
        'warning',
        `${wrong}: old line ${oldFirst} becomes ${newFirst}, where ${oldFirst + shift} is due`,
        'Git places the hunk by its context; check the place',
        'counts',
      );
    }
    shift += hunk.newLines - hunk.oldLines;
    end = oldFirst + hunk.oldLines;
  }
}

/**
 * Reads a hunk that is apart from its file header, since models leave blank lines between hunks.
 */
function readStray(
  lines: readonly string[],
  i: number,
  files: FilePatch[],
  problems: PatchProblem[],
  reading: Reading,
): number {
  const { hunk, next } = readHunk(lines, i, problems, reading);
  const last = files.at(-1);
  const between = last === undefined ? [] : lines.slice(last.endLine, i);
  const apart =
    last !== undefined &&
    last.hunks.length > 0 &&
    (reading === 'loose' || between.every((l) => !l.trim()));
  problems.push({
    severity: 'error',
    line: i + 1,
    message: apart ? 'The hunk is separated from its file header' : 'The hunk has no file header',
    hint: apart
      ? 'Remove the blank lines before it'
      : 'Write "--- a/PATH" and "+++ b/PATH" before it',
    code: apart ? 'malformed' : 'missing-header',
    ...(!apart && { lost: true }),
  });
  if (apart && hunk !== undefined) {
    files[files.length - 1] = { ...last, hunks: [...last.hunks, hunk], endLine: next };
  }
  return next;
}
