import { inTurns, turnsOf, type Turns } from '../../domain/work';
import { applyPatch, hunkSteps, type ApplyProblem } from '../applyPatch';
import { failed, type Conversion } from '../reading/conversion';
import { hasErrors, type Diagnostic } from '../diagnostic';
import { fallsShort } from './truncatedHunk';
import type { Hunk, HunkLine } from './hunk';
import type { PatchTree } from '../reading/patchTree';
import { parseUnified } from '../parseUnified';
import type { FilePatch, ParsedPatch } from '../parsedPatch';
import { readUnified } from './readUnified';
import { diffTexts, formatFilePatch, splitLines } from '../makeUnified';

/** Most UTF-16 units of a text that is tried in a less strict format just to give a hint. */
const longForHint = 1_000_000;

/**
 * Converts a unified diff that `git apply` may refuse as it is written. Places are those of git.
 * Context and removed lines must be in the tree as they are, except for white space at their ends.
 *
 * @param lessStrict converts the text in a format that a message names where this one refuses it
 * @throws Cancelled
 */
export async function convertUnified(
  text: string,
  tree: PatchTree,
  turns: Turns = turnsOf(undefined),
  lessStrict?: (text: string) => Promise<Conversion>,
): Promise<Conversion> {
  const { parsed, files, mendedLines, diagnostics } = readUnified(text, 'git');
  await turns.pause();
  const lines = text.split('\n');
  const told = new Set(parsed);
  diagnostics.push(...unread(parsed, lines));
  if (hasErrors(diagnostics)) {
    return failed('unified', await withHint(diagnostics, text, lessStrict));
  }

  let fitted: ParsedPatch = { files, problems: [] };
  let result = await applyPatch(fitted, (path) => tree.read(path), turns);
  if (!result.ok || [...result.files.values()].some((after) => after?.includes('\r\n') === true)) {
    fitted = await withTreeLineEnds(fitted, tree, diagnostics, turns);
    result = await applyPatch(fitted, (path) => tree.read(path), turns);
  }
  if (!result.ok) {
    const problems = await withHint(result.problems, text, lessStrict);
    return failed('unified', [...diagnostics, ...problems]);
  }

  const parts = files.map((file, i) => {
    const placed = result.placed.files[i] ?? file;
    if (!file.git || file.binary || !told.has(file)) return formatFilePatch(placed);
    const raw = lines.slice(file.line - 1, file.endLine);
    const sound =
      /^diff --git "?[abciow12]\/.* "?[abciow12]\//.test(raw[0] ?? '') &&
      fitted.files[i] === file &&
      // Without that line git does not delete the file.
      (file.kind !== 'deleted' || raw.some((line) => line.startsWith('deleted file mode '))) &&
      !mendedLines.some((line) => file.line <= line && line <= file.endLine) &&
      !raw.some((line) => /^(diff --git|---|\+\+\+|@@) .*\r$/.test(line));
    return sound ? `${raw.join('\n')}\n` : formatFilePatch(placed);
  });
  const patch = parts.join('');
  return { patch, format: 'unified', diagnostics, files: result.files, left: [] };
}

/**
 * Reports edits after a line that belongs to no hunk, such as prose, or context without its blank.
 * Without the report these edits would be lost silently.
 */
function unread(files: readonly FilePatch[], lines: readonly string[]): Diagnostic[] {
  return files.flatMap((file, i): Diagnostic[] => {
    const hunk = file.hunks.at(-1);
    if (hunk === undefined || !fallsShort(lines, hunk)) return [];
    const end = (files[i + 1]?.line ?? lines.length + 1) - 1;
    for (let at = file.endLine; at < end; at += 1) {
      const line = lines[at] ?? '';
      if (/^(?:```|~~~|@@|diff --git )/.test(line)) return [];
      // Items of a list in prose do not count.
      if (!/^[+-](?:[^\s+-]|\s{2,}\S)/.test(line)) continue;
      return [
        {
          severity: 'error',
          code: 'incomplete',
          line: file.endLine + 1,
          endLine: at + 1,
          message: `${file.newPath ?? file.oldPath}: the hunk of line ${hunk.line} stops at a line without a prefix, and more changes follow`,
          hint: 'Start each context line with a space, including blank ones, and remove lines that are not part of the diff',
        },
      ];
    }
    return [];
  });
}

/**
 * The patch with the tree's line ends, blanks at line ends and missing last newline, if it does not
 * fit as it is. Tools and models drop these. Lines that stay keep the tree's text.
 */
async function withTreeLineEnds(
  patch: ParsedPatch,
  tree: PatchTree,
  diagnostics: Diagnostic[],
  turns: Turns,
): Promise<ParsedPatch> {
  const files: FilePatch[] = [];
  for (const file of patch.files) {
    const before = file.oldPath === null ? undefined : await tree.read(file.oldPath);
    if (before === undefined || file.hunks.length === 0 || (await fits(before, file, turns))) {
      files.push(file);
      continue;
    }
    const ended = isCrlf(before)
      ? await inTurns(hunkSteps(before, file.hunks.map(withCarriageReturns)), turns)
      : undefined;
    if (ended !== undefined && !('misfit' in ended)) {
      files.push({ ...file, hunks: ended.placed });
      continue;
    }
    const bare = splitLines(before).map((line) => `${line.trimEnd()}\n`);
    const hunksWithout = file.hunks.map(withoutLineEnds);
    const applied = await inTurns(hunkSteps(bare.join(''), hunksWithout), turns);
    if ('misfit' in applied) {
      files.push(file);
      continue;
    }
    if (await differInMore(before, file, turns)) {
      diagnostics.push({
        severity: 'warning',
        code: 'white-space',
        line: file.line,
        endLine: file.endLine,
        message: `${file.newPath ?? file.oldPath}: lines of the patch differ from the file in trailing whitespace; the file's whitespace is kept`,
        hint: 'Copy context and removed lines from the file without changes',
      });
    } else if (before.endsWith('\n') && file.hunks.some(saysNoNewline)) {
      diagnostics.push({
        severity: 'warning',
        code: 'white-space',
        line: file.line,
        endLine: file.endLine,
        message: `${file.newPath ?? file.oldPath}: a line is marked as having no newline, but the file has one`,
        hint: 'Remove "\\ No newline at end of file"',
      });
    }
    const hunks = before.endsWith('\n')
      ? withTextOf(splitLines(before), applied.placed)
      : diffTexts(before, onto(before, applied.placed, file.kind === 'deleted'));
    files.push({ ...file, hunks });
  }
  return { files, problems: patch.problems };
}

const saysNoNewline = ({ lines }: Hunk): boolean =>
  lines.some(({ kind, noNewline }) => noNewline && kind !== 'added');

/** Whether the hunks apply as they are, and do not spoil the line ends of the file. */
async function fits(before: string, { hunks }: FilePatch, turns: Turns): Promise<boolean> {
  const hasEnds = hunks.some((hunk) => hunk.lines.some((line) => line.text.endsWith('\r')));
  if (!hasEnds && isCrlf(before)) return false;
  return !('misfit' in (await inTurns(hunkSteps(before, hunks), turns)));
}

const isCrlf = (text: string): boolean => text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text);

function withCarriageReturns(hunk: Hunk): Hunk {
  const lines = hunk.lines.map((line): HunkLine =>
    line.noNewline || line.text.endsWith('\r') ? line : { ...line, text: `${line.text}\r` },
  );
  return { ...hunk, lines };
}

function withoutLineEnds(hunk: Hunk): Hunk {
  const lines = hunk.lines.map((line): HunkLine => ({
    ...line,
    text: line.kind === 'added' ? line.text : line.text.trimEnd(),
    noNewline: false,
  }));
  return { ...hunk, lines };
}

/**
 * Placed hunks with the lines of a file that ends with a newline. Added lines take the line ends of
 * their neighbours.
 */
function withTextOf(lines: readonly string[], hunks: readonly Hunk[]): Hunk[] {
  const end = (at: number): string => (lines[at]?.endsWith('\r\n') === true ? '\r' : '');
  const isCrlf = end(0) !== '';
  return hunks.map((hunk) => {
    let at = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    return {
      ...hunk,
      lines: hunk.lines.map((line): HunkLine => {
        if (line.kind !== 'added') return { ...line, text: (lines[at++] ?? '\n').slice(0, -1) };
        const near = lines[at - 1] === undefined && isCrlf ? '\r' : end(at - 1);
        return { ...line, text: line.text.replace(/\r$/, '') + near };
      }),
    };
  });
}

/** The text after applying hunks that were placed without regard to line ends. */
function onto(before: string, hunks: readonly Hunk[], deletes: boolean): string {
  const lines = splitLines(before);
  const ends = lines.map((line) => /\r?\n$/.exec(line)?.[0] ?? '');
  const common = ends.find((end) => end !== '') ?? '\n';
  const out: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const first = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    while (at < first) out.push(lines[at++] ?? '');
    for (const line of hunk.lines) {
      if (line.kind === 'context') out.push(lines[at++] ?? '');
      else if (line.kind === 'removed') at += 1;
      else {
        const near = ends[at - 1] ?? ends[at];
        out.push(
          line.text.replace(/\r$/, '') + (near === undefined || near === '' ? common : near),
        );
      }
    }
  }
  while (at < lines.length) out.push(lines[at++] ?? '');
  if (deletes) return out.join('');
  const last = out.length - 1;
  return out
    .map((line, i) => {
      if (i < last) return line.endsWith('\n') ? line : line + common;
      return ends.at(-1) === '' ? line.replace(/\r?\n$/, '') : line;
    })
    .join('');
}

/** Whether the difference is more than carriage returns and the last newline. */
async function differInMore(before: string, file: FilePatch, turns: Turns): Promise<boolean> {
  const bare = (line: string): string => line.replace(/\r?\n$/, '').replace(/\r$/, '');
  const text = splitLines(before).map((line) => `${bare(line)}\n`);
  const hunks = file.hunks.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.map((line) => ({ ...line, text: bare(line.text), noNewline: false })),
  }));
  return 'misfit' in (await inTurns(hunkSteps(text.join(''), hunks), turns));
}

/** Adds a hint that the fuzzy format accepts the patch, with the line if it is known. */
async function withHint(
  problems: readonly Diagnostic[],
  text: string,
  lessStrict: ((text: string) => Promise<Conversion>) | undefined,
): Promise<readonly Diagnostic[]> {
  if (text.length > longForHint) return problems;
  const placing = await lessStrict?.(text);
  if (placing === undefined || placing.patch === '' || hasErrors(placing.diagnostics)) {
    return problems;
  }
  const starts = placesOf(placing.patch);
  const asked = placesOf(text);
  return problems.map((problem) => {
    if (problem.severity !== 'error') return problem;
    const { path, hunk = 0 } = problem as Partial<ApplyProblem>;
    const placed = starts.get(path ?? '') ?? [];
    // Hunks that meet are joined, and cannot be distinguished then.
    const line = placed.length === asked.get(path ?? '')?.length ? placed[hunk - 1] : undefined;
    const places = line === undefined ? 'places it' : `places it at line ${line}`;
    return {
      ...problem,
      hint: `${problem.hint ?? 'Check the patch'}; --format ${placing.format} ${places}`,
    };
  });
}

/** For each path the lines at which the hunks of a patch begin to change the file. */
function placesOf(patch: string): Map<string, number[]> {
  return new Map(
    parseUnified(patch).files.map((file) => [
      file.newPath ?? file.oldPath ?? '',
      file.hunks.map((hunk) => {
        const at = hunk.lines.findIndex((line) => line.kind !== 'context');
        return Math.max(
          1,
          (hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart) + Math.max(0, at),
        );
      }),
    ]),
  );
}
