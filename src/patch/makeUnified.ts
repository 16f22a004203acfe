import { structuredPatch } from 'diff';
import { forwardBlock } from './unified/binaryPatch';
import { quoteFileName } from './unified/fileNames';
import { numberLines, type Hunk, type HunkLine } from './unified/hunk';
import type { FilePatch } from './parsedPatch';

/** The content of one file before and after; undefined if the file does not exist. */
export interface FileEdit {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * The most edited lines of a minimal diff. With more, one hunk replaces everything, since a search
 * would take too long.
 */
const maxEditLength = 1000;
const contextLines = 3;

/**
 * A unified diff as git writes it, which `git apply` accepts. It is in the order of the edits and
 * leaves out unchanged files. Contents are text with `\n` line ends; a carriage return before one
 * belongs to the line.
 */
export function makeUnified(edits: readonly FileEdit[]): string {
  return edits
    .filter((edit) => edit.before !== edit.after)
    .map((edit) => formatFilePatch(diffFile(edit)))
    .join('');
}

function diffFile({ path, before, after }: FileEdit): FilePatch {
  return {
    oldPath: before === undefined ? null : path,
    newPath: after === undefined ? null : path,
    kind: before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified',
    binary: false,
    hunks: diffTexts(before ?? '', after ?? ''),
    git: true,
    line: 1,
    endLine: 1,
  };
}

/** The hunks between two texts, with three lines of context and git's section headings. */
export function diffTexts(before: string, after: string): Hunk[] {
  const found = structuredPatch('', '', before, after, '', '', {
    context: contextLines,
    maxEditLength,
  });
  const heading = headings(before);
  if (found === undefined) return replaceSpan(before, after, heading);
  return found.hunks.map((hunk) => {
    // structuredPatch numbers an empty side by the line after the place; the format uses the one
    // before.
    const oldStart = hunk.oldStart - (hunk.oldLines === 0 ? 1 : 0);
    const lines: HunkLine[] = [];
    for (const line of hunk.lines) {
      const last = lines.at(-1);
      if (line.startsWith('\\') && last !== undefined) {
        lines[lines.length - 1] = { ...last, noNewline: true };
      } else {
        const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'context';
        lines.push({ kind, text: line.slice(1), noNewline: false });
      }
    }
    return numberLines({
      oldStart,
      oldLines: hunk.oldLines,
      newStart: hunk.newStart - (hunk.newLines === 0 ? 1 : 0),
      newLines: hunk.newLines,
      section: heading(oldStart),
      lines,
      line: 1,
    });
  });
}

/** One hunk from the first to the last line that differs. */
function replaceSpan(before: string, after: string, heading: (line: number) => string): Hunk[] {
  const [a, b] = [splitLines(before), splitLines(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) {
    tail += 1;
  }
  const from = Math.max(0, head - contextLines);
  const kept = Math.min(tail, contextLines);
  const line = (kind: HunkLine['kind'], whole: string): HunkLine => {
    const ended = whole.endsWith('\n');
    return { kind, text: ended ? whole.slice(0, -1) : whole, noNewline: !ended };
  };
  const lines = [
    ...a.slice(from, head).map((text) => line('context', text)),
    ...a.slice(head, a.length - tail).map((text) => line('removed', text)),
    ...b.slice(head, b.length - tail).map((text) => line('added', text)),
    ...a.slice(a.length - tail, a.length - tail + kept).map((text) => line('context', text)),
  ];
  const oldLines = a.length - tail + kept - from;
  const newLines = b.length - tail + kept - from;
  const oldStart = oldLines === 0 ? from : from + 1;
  const newStart = newLines === 0 ? from : from + 1;
  const section = heading(oldStart);
  return [numberLines({ oldStart, oldLines, newStart, newLines, section, lines, line: 1 })];
}

/** Lines with their `\n`; the last one has none if the text does not end with it. */
export function splitLines(text: string): string[] {
  const lines = text.split('\n').map((line) => `${line}\n`);
  const last = lines.pop() ?? '\n';
  return last === '\n' ? lines : [...lines, last.slice(0, -1)];
}

/**
 * Returns a function from the 1-based first line of a hunk to the text that git writes after its
 * second `@@`. That is the last line before the hunk that begins with a letter.
 */
function headings(text: string): (line: number) => string {
  const lines = text.split('\n');
  return (line) => {
    for (let i = Math.min(line - 2, lines.length - 1); i >= 0; i -= 1) {
      const found = lines[i] ?? '';
      if (/^[A-Za-z_$]/.test(found)) return [...found.trimEnd()].slice(0, 80).join('').trimEnd();
    }
    return '';
  };
}

/** One part of a patch as git writes it. */
export function formatFilePatch(file: FilePatch): string {
  const path = file.newPath ?? file.oldPath ?? '';
  const oldName = quoteFileName(`a/${file.oldPath ?? path}`);
  const newName = quoteFileName(`b/${file.newPath ?? path}`);
  const out = [`diff --git ${oldName} ${newName}`];
  if (file.kind === 'added') out.push(`new file mode ${file.newMode ?? '100644'}`);
  else if (file.kind === 'deleted') out.push(`deleted file mode ${file.oldMode ?? '100644'}`);
  else if (
    file.oldMode !== undefined &&
    file.newMode !== undefined &&
    file.oldMode !== file.newMode
  ) {
    out.push(`old mode ${file.oldMode}`, `new mode ${file.newMode}`);
  }
  if (file.kind === 'renamed' || file.kind === 'copied') {
    const verb = file.kind === 'renamed' ? 'rename' : 'copy';
    out.push(`${verb} from ${quoteFileName(file.oldPath ?? '')}`);
    out.push(`${verb} to ${quoteFileName(file.newPath ?? '')}`);
  }
  if (file.binaryPatch !== undefined) {
    const { oldId, newId, lines } = file.binaryPatch;
    out.push(`index ${oldId}..${newId}`, 'GIT binary patch', ...forwardBlock(lines), '');
  }
  if (file.hunks.length > 0) {
    out.push(`--- ${file.oldPath === null ? '/dev/null' : endName(oldName)}`);
    out.push(`+++ ${file.newPath === null ? '/dev/null' : endName(newName)}`);
    for (const hunk of file.hunks) out.push(formatHunk(hunk).join('\n'));
  }
  return `${out.join('\n')}\n`;
}

/** A tab follows a name with a space, so that no reader takes its end for a time stamp. */
function endName(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name;
}

function formatHunk(hunk: Hunk): string[] {
  const range = (start: number, count: number): string =>
    count === 1 ? String(start) : `${start},${count}`;
  const old = range(hunk.oldStart, hunk.oldLines);
  const section = hunk.section === '' ? '' : ` ${hunk.section}`;
  const out = [`@@ -${old} +${range(hunk.newStart, hunk.newLines)} @@${section}`];
  const marks = { context: ' ', removed: '-', added: '+' };
  for (const line of hunk.lines) {
    out.push(marks[line.kind] + line.text);
    if (line.noNewline) out.push('\\ No newline at end of file');
  }
  return out;
}
