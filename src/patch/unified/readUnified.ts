import { hasErrors, mended, type Diagnostic } from '../diagnostic';
import type { Hunk, Reading } from './hunk';
import { isSubmodule } from '../testFiles';
import { checkPatchPaths } from '../unsafePath';
import { parseUnified } from '../parseUnified';
import type { FilePatch } from '../parsedPatch';

/** The content of a unified diff, before it is compared with a tree. */
interface UnifiedHead {
  /** The parts as written, also those with binary content. */
  readonly parsed: readonly FilePatch[];
  /** The parts to apply, without repeated and unchanged ones. */
  readonly files: readonly FilePatch[];
  /** 1-based lines of the text at which something was repaired. */
  readonly mendedLines: readonly number[];
  readonly diagnostics: Diagnostic[];
}

/**
 * Reads a unified diff for its conversion. Repairs are warnings; lost and unsafe parts are errors.
 * Parts that are binary, a submodule, repeated or without change are left out with a warning.
 */
export function readUnified(text: string, reading: Reading): UnifiedHead {
  const parsed = parseUnified(text, reading);
  const lost = parsed.problems.filter((problem) => problem.lost === true);
  const others = parsed.problems.filter((problem) => problem.lost !== true);
  const diagnostics: Diagnostic[] = [...lost, ...mended(others), ...checkPatchPaths(parsed)];
  const isKept = (file: FilePatch): boolean =>
    !isSubmodule(file) && (!file.binary || (reading === 'git' && file.binaryPatch !== undefined));
  const plain = parsed.files.filter(isKept);
  const files = withoutRepeated(withoutIdle(plain, diagnostics), diagnostics);
  for (const file of parsed.files) {
    if (isKept(file)) continue;
    diagnostics.push({
      severity: 'warning',
      code: isSubmodule(file) ? 'submodule' : 'binary',
      line: file.line,
      endLine: file.endLine,
      message: `${file.newPath ?? file.oldPath}: ${isSubmodule(file) ? 'a repository of its own (submodule)' : 'binary content'} is ignored`,
    });
  }
  if (parsed.files.length === 0 && lost.length === 0) {
    diagnostics.push({
      severity: 'error',
      code: 'no-patch',
      line: 1,
      message: 'The text contains no unified diff that changes anything',
      hint: 'Write "--- a/PATH", "+++ b/PATH" and hunks below them',
    });
  } else if (files.length === 0 && parsed.files.length > 0) {
    diagnostics.push({
      severity: 'error',
      code: 'no-change',
      line: parsed.files[0]?.line ?? 1,
      message: 'No hunk of the diff changes anything',
      hint: 'Start added lines with + and removed lines with -',
    });
  }
  const mendedLines = others.filter((problem) => hasErrors([problem])).map(({ line }) => line);
  return { parsed: parsed.files, files, mendedLines, diagnostics };
}

/** Removes hunks of context alone, which git refuses, and parts without any other hunk. */
function withoutIdle(files: readonly FilePatch[], diagnostics: Diagnostic[]): FilePatch[] {
  return files.flatMap((file) => {
    const hunks = file.hunks.filter((hunk) => hunk.lines.some((line) => line.kind !== 'context'));
    if (hunks.length === file.hunks.length) return [file];
    const kept = new Set(hunks);
    for (const hunk of file.hunks) {
      if (kept.has(hunk)) continue;
      diagnostics.push({
        severity: 'warning',
        code: 'no-change',
        line: hunk.line,
        message: `${file.newPath ?? file.oldPath}: the hunk changes nothing and is ignored`,
        hint: 'Start added lines with + and removed lines with -; if lines are missing, write the whole hunk',
      });
    }
    return hunks.length === 0 && file.kind === 'modified' ? [] : [{ ...file, hunks }];
  });
}

/**
 * Removes parts and hunks that repeat an earlier one word for word, since models repeat a hunk, a
 * file or everything.
 */
function withoutRepeated(files: readonly FilePatch[], diagnostics: Diagnostic[]): FilePatch[] {
  // A text may have as many hunks as lines, so none is compared with all others.
  const knownHunks = new Map<string, Hunk>();
  const knownParts = new Map<string, FilePatch>();
  const again = (line: number, what: string, first: number): void => {
    diagnostics.push({
      severity: 'warning',
      code: 'duplicate',
      line,
      message: `${what} repeats the one in line ${first}, and is ignored`,
      hint: 'Remove it',
    });
  };
  return files.flatMap((file) => {
    // Without a number, the same hunk may be meant for two places. Only the file can decide that.
    if (file.kind === 'modified' && file.hunks.some((hunk) => hunk.unnumbered)) return [file];
    const path = file.newPath ?? file.oldPath ?? '';
    const names = [file.kind, file.oldPath, file.newPath, file.oldMode, file.newMode];
    const whole = JSON.stringify([names, file.hunks.map(contentOf)]);
    const part = knownParts.get(whole);
    if (part !== undefined) {
      again(file.line, `${path}: the part`, part.line);
      return [];
    }
    knownParts.set(whole, file);
    if (file.kind !== 'modified') return [file];
    const hunks = file.hunks.filter((hunk) => {
      const content = JSON.stringify([path, contentOf(hunk)]);
      const first = knownHunks.get(content);
      if (first === undefined) knownHunks.set(content, hunk);
      else again(hunk.line, `${path}: the hunk`, first.line);
      return first === undefined;
    });
    if (hunks.length === file.hunks.length) return [file];
    return hunks.length === 0 ? [] : [{ ...file, hunks }];
  });
}

/** What a hunk says: hunks that are equal in this repeat each other. */
const contentOf = ({ oldStart, newStart, lines }: Hunk): unknown[] => [
  oldStart,
  newStart,
  ...lines.map(({ kind, text, noNewline }) => [kind, text, noNewline]),
];
