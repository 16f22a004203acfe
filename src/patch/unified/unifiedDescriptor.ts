import type { Diagnostic } from '../diagnostic';
import type { FilePatch } from '../parsedPatch';
import { parseUnified } from '../parseUnified';
import type { FormatDescriptor, Part } from '../reading/formatDescriptor';
import { convertUnified } from './convertUnified';
import { truncatedHunk } from './truncatedHunk';

/** The format of git, which is built in. */
export const unified = {
  name: 'unified',
  written: 'a unified diff ("--- a/PATH", "+++ b/PATH", "@@ -1,3 +1,4 @@")',
  holds: (text) => /^(?:diff --git |@@ -\d)/m.test(text) || /^--- \S.*\n\+\+\+ \S/m.test(text),
  ...readingOfDiffs('unified', 'git'),
  convert(text, work) {
    const lessStrict = work.formats.find(({ placesAnyDiff }) => placesAnyDiff === true);
    const convert = lessStrict && ((each: string) => lessStrict.convert(each, work));
    return convertUnified(text, work.tree, work.turns, convert);
  },
} as const satisfies FormatDescriptor;

/** How the parts of a diff are found, in its own format and in one that reads it less strictly. */
export function readingOfDiffs(
  format: string,
  strictness: 'git' | 'loose',
): Pick<FormatDescriptor, 'partsOf' | 'cutOff'> {
  const filesIn = (text: string): readonly FilePatch[] => parseUnified(text, strictness).files;
  return {
    partsOf: (text) => partsOf(text, filesIn(text), format),
    cutOff: (text) => cutOff(text, filesIn),
  };
}

/** A part for each file of a diff. */
function partsOf(text: string, files: readonly FilePatch[], format: string): Part[] {
  const cut = truncatedHunk(text, files);
  const told = new Map<Part, FilePatch>();
  return files.map((file): Part => {
    const part: Part = {
      format,
      line: file.line,
      endLine: file.endLine,
      paths: [file.oldPath, file.newPath].filter((path) => path !== null),
      complete: cut === undefined || cut.file !== file,
      isSame: (other) => {
        const theirs = told.get(other);
        return theirs !== undefined && changesSame(file, theirs);
      },
    };
    told.set(part, file);
    return part;
  });
}

function changesSame(one: FilePatch, other: FilePatch): boolean {
  if ((one.newPath ?? one.oldPath) !== (other.newPath ?? other.oldPath)) return false;
  if (one.hunks.length === 0 || other.hunks.length === 0) return true;
  if (one.kind === 'added' || other.kind === 'added') return true;
  const old = (hunk: FilePatch['hunks'][number]): string =>
    hunk.lines
      .filter((line) => line.kind !== 'added')
      .map((line) => line.text.trimEnd())
      .join('\n');
  return one.hunks.some((a) =>
    other.hunks.some((b) => {
      if (a.oldLines > 0 && old(a) === old(b)) return true;
      if (a.unnumbered === true || b.unnumbered === true) return false;
      return a.oldStart < b.oldStart + b.oldLines && b.oldStart < a.oldStart + a.oldLines;
    }),
  );
}

/**
 * Refuses an answer that ends within a hunk, since half of that hunk would apply without a warning.
 */
function cutOff(
  text: string,
  filesIn: (text: string) => readonly FilePatch[],
): Diagnostic | undefined {
  if (!/^(?:```|~~~)/m.test(text)) return undefined;
  const cut = truncatedHunk(text, filesIn(text));
  if (cut === undefined) return undefined;
  return {
    severity: 'error',
    code: 'incomplete',
    line: cut.hunk.line,
    endLine: cut.file.endLine,
    message:
      `${cut.file.newPath ?? cut.file.oldPath}: the text ends within the last hunk, before the lines that its header ` +
      'counts and the end of the code block',
    hint: 'Provide the complete answer; if it is complete, close the code block',
  };
}
