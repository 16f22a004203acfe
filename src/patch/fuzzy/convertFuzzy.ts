import { inTurns, type Stepwise, turnsOf, type Turns } from '../../domain/work';
import { applyPatch, hunkSteps } from '../applyPatch';
import { failed, type Conversion } from '../reading/conversion';
import { hasErrors, type DiagnosticCode } from '../diagnostic';
import { wholeAlignment } from './alignment';
import { editFuzzyFile } from './editFuzzyFile';
import { isRefusal, type HunkPlace } from './placeAt';
import { TreeLines, withoutReturn } from './treeLines';
import { placingSteps } from './placeHunks';
import { lineList } from './refusal';
import {
  reportDifferences,
  reportMissingFile,
  reportRefusal,
  type FuzzyDiagnosticsContext,
} from './fuzzyDiagnostics';
import type { Hunk } from '../unified/hunk';
import type { PatchTree } from '../reading/patchTree';
import type { FilePatch } from '../parsedPatch';
import { readUnified } from '../unified/readUnified';
import { formatFilePatch, splitLines } from '../makeUnified';

/**
 * Converts a unified diff whose line numbers or context are wrong. Hunks go where their lines fit
 * best, by the rule in placeHunks.ts. Instead of a guess, a doubt is an error that names the
 * places.
 *
 * - Context that differs keeps the tree's text, and lines of the tree between the matched ones
 *   stay. Only lines that the diff removes disappear. A line that the diff should remove but omits
 *   stays.
 * - All hunks of a file refer to the file as it is in the tree, whatever their order in the patch.
 * - A patch that `git apply` accepts at its line numbers gives the same tree as with git. It is
 *   ambiguous if git would apply it at another place than the rule.
 *
 * Either everything converts or nothing does. No file is written.
 *
 * @throws Cancelled
 */
export async function convertFuzzy(
  text: string,
  tree: PatchTree,
  turns: Turns = turnsOf(undefined),
): Promise<Conversion> {
  const { files, diagnostics } = readUnified(text, 'loose');
  if (hasErrors(diagnostics)) return failed('fuzzy', diagnostics);

  const source = text.split('\n');
  const parts: FilePatch[] = [];
  for (const file of joinParts(files)) {
    await turns.pause();
    const part = await placePart(file, tree, { source, diagnostics, file }, turns);
    if (part !== undefined) parts.push(part);
  }
  if (hasErrors(diagnostics)) return failed('fuzzy', diagnostics);
  const applied = await applyPatch(
    { files: parts, problems: [] },
    (path) => tree.read(path),
    turns,
  );
  if (!applied.ok) return failed('fuzzy', [...diagnostics, ...applied.problems]);
  const patch = applied.placed.files.map((part) => formatFilePatch(part)).join('');
  return { patch, format: 'fuzzy', diagnostics, files: applied.files, left: [] };
}

/** Joins the parts that change the same file, since models write a part for each hunk. */
function joinParts(files: readonly FilePatch[]): FilePatch[] {
  const joined: (FilePatch & { hunks: Hunk[] })[] = [];
  const at = new Map<string, number>();
  for (const file of files) {
    const known = at.get(file.oldPath ?? '');
    const first = known === undefined ? undefined : joined[known];
    if (file.kind === 'modified' && first?.kind === 'modified') {
      for (const hunk of file.hunks) first.hunks.push(hunk);
    } else {
      if (file.kind === 'modified') at.set(file.oldPath ?? '', joined.length);
      joined.push({ ...file, hunks: [...file.hunks] });
    }
  }
  return joined;
}

/** The part with its hunks in place; undefined if a hunk has no place, for reported reasons. */
async function placePart(
  file: FilePatch,
  tree: PatchTree,
  told: FuzzyDiagnosticsContext,
  turns: Turns,
): Promise<FilePatch | undefined> {
  const { oldPath, newPath } = file;
  const path = newPath ?? oldPath ?? '';
  const fail: Fail = (message, hint, code) => {
    const severity = 'error';
    told.diagnostics.push({
      severity,
      line: file.line,
      message: `${path}: ${message}`,
      hint,
      code,
    });
  };
  const before = oldPath === null ? undefined : await tree.read(oldPath);
  if (before === undefined) return placeInNewFile(file, tree, told, fail);

  const git = await asGit(file, before, turns);
  if (git?.isAtNumbers === true && (newPath !== null || git.text === '')) return file;
  const lines = new TreeLines(before);
  const places = await inTurns(placed(file, lines, told), turns);
  if (places === undefined) return undefined;
  if (newPath === null) return deleteFile(file, lines, places, fail);
  const hunks = editFuzzyFile(lines, places, /\.pyi?$/.test(newPath));
  const isExact = places.every(({ alignment }) => alignment.fit === 1 && !alignment.places.size);
  if (!isExact || git === undefined) return { ...file, hunks };
  const ours = await inTurns(hunkSteps(before, hunks), turns);
  if ('text' in ours && ours.text === git.text) return { ...file, hunks };
  const starts = places.map(({ start }) => start).sort((a, b) => a - b);
  if (String(git.starts) === String(starts)) return { ...file, hunks: git.hunks };
  return fail(
    `git would place its hunks at ${lineList(git.starts)}, where they fit as well as at ` +
      lineList(starts),
    'Add more context lines around the changes, or use the correct line numbers',
    'ambiguous',
  );
}

/** Reports why a part cannot be placed. */
type Fail = (message: string, hint: string, code: DiagnosticCode) => undefined;

/** The part as the addition of a file, where the tree has none of its name. */
async function placeInNewFile(
  file: FilePatch,
  tree: PatchTree,
  told: FuzzyDiagnosticsContext,
  fail: Fail,
): Promise<FilePatch | undefined> {
  const { oldPath, newPath, kind } = file;
  if (oldPath !== null) {
    const creates = file.hunks.length > 0 && file.hunks.every(namesNothing);
    if (!creates || kind === 'renamed' || kind === 'copied' || newPath === null) {
      await reportMissingFile(oldPath, tree, told);
      return undefined;
    }
    told.diagnostics.push({
      severity: 'warning',
      line: file.line,
      message: `${newPath}: file not found in the tree; it will be created, because the part only adds lines`,
      code: 'unknown-file',
    });
  }
  const isCrlf = told.source[(file.hunks[0]?.line ?? 1) - 1]?.endsWith('\r') === true;
  return addFile(file, isCrlf, fail);
}

/** The part as the deletion of a file: its hunks must remove every line that is not blank. */
function deleteFile(
  file: FilePatch,
  lines: TreeLines,
  places: readonly HunkPlace[],
  fail: Fail,
): FilePatch | undefined {
  const gone = new Set(places.flatMap(({ deleted }) => deleted));
  const stays = lines.text.findIndex((line, i) => line.trim() !== '' && !gone.has(i));
  if (stays >= 0 || places.some(({ inserts }) => inserts.length > 0)) {
    return fail(
      `the patch deletes the file, but not its ${lineList([Math.max(0, stays)])}`,
      'Remove every line of it',
      'incomplete',
    );
  }
  return { ...file, hunks: editFuzzyFile(lines, [wholeFile(lines)], false) };
}

function wholeFile(lines: TreeLines): HunkPlace {
  const deleted = lines.text.map((_, i) => i);
  return { deleted, inserts: [], start: 0, old: [], alignment: wholeAlignment([], 0) };
}

/** Whether a hunk names no line of the old file, except blank ones without their mark. */
function namesNothing(hunk: Hunk): boolean {
  return hunk.lines.every(
    (line) => line.kind === 'added' || (line.kind === 'context' && line.text.trim() === ''),
  );
}

/** @param isCrlf whether the patch was saved with CRLF, which does not concern the file */
function addFile(file: FilePatch, isCrlf: boolean, fail: Fail): FilePatch | undefined {
  if (!file.hunks.every(namesNothing)) {
    return fail(
      'the patch adds this file, but a hunk has old lines',
      'Start every line with +',
      'malformed',
    );
  }
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const added = lines.map((line, i) => ({
    kind: 'added' as const,
    text: isCrlf ? withoutReturn(line.text) : line.text,
    noNewline: line.noNewline && i === lines.length - 1,
  }));
  const hunk: Hunk = {
    oldStart: 0,
    oldLines: 0,
    newStart: 1,
    newLines: added.length,
    section: '',
    lines: added,
    line: 1,
  };
  const hunks = added.length === 0 ? [] : [hunk];
  return { ...file, oldPath: null, kind: 'added', hunks };
}

/**
 * The places of a file's hunks, one at a step; undefined if a hunk has no place, for reported
 * reasons.
 */
function* placed(
  file: FilePatch,
  lines: TreeLines,
  told: FuzzyDiagnosticsContext,
): Stepwise<HunkPlace[] | undefined> {
  const hunks = file.hunks;
  const places: HunkPlace[] = [];
  const kept = new Map<string, Hunk>();
  const takenBy = new Map<number, Hunk>();
  let failing = false;
  for (const [i, placing] of (yield* placingSteps(hunks, lines)).entries()) {
    yield;
    const hunk = hunks[i];
    if (hunk === undefined) continue;
    const number = i + 1;
    if (isRefusal(placing)) {
      reportRefusal(placing, hunk, number, told);
      failing = true;
      continue;
    }
    const path = file.newPath ?? file.oldPath;
    const effect = JSON.stringify([placing.start, placing.deleted, placing.inserts]);
    const twin = kept.get(effect);
    if (twin !== undefined) {
      told.diagnostics.push({
        severity: 'warning',
        line: hunk.line,
        message: `${path}: hunk ${number} repeats the one in line ${twin.line}, and is ignored`,
        code: 'duplicate',
      });
      continue;
    }
    const taken = placing.deleted.find((line) => takenBy.has(line));
    if (taken !== undefined) {
      told.diagnostics.push({
        severity: 'error',
        line: hunk.line,
        message:
          `${path}: hunk ${number} removes ${lineList([taken])}, ` +
          `as does the one of line ${takenBy.get(taken)?.line}`,
        hint: 'Join the hunks',
        code: 'overlap',
      });
      failing = true;
      continue;
    }
    for (const line of placing.deleted) takenBy.set(line, hunk);
    reportDifferences(placing, hunk, number, lines, told);
    kept.set(effect, hunk);
    places.push(placing);
  }
  return failing ? undefined : places;
}

interface AppliedByGit {
  readonly text: string;
  readonly hunks: readonly Hunk[];
  /** The 0-based lines at which the hunks were applied. */
  readonly starts: readonly number[];
  /** Whether each hunk was applied at its line number. */
  readonly isAtNumbers: boolean;
}

/** The result of git for the hunks as they are; undefined if git refuses them. */
async function asGit(
  file: FilePatch,
  before: string,
  turns: Turns,
): Promise<AppliedByGit | undefined> {
  if (file.hunks.length === 0 || file.hunks.some((hunk) => hunk.unnumbered)) return undefined;
  const result = await inTurns(hunkSteps(before, file.hunks), turns);
  if ('misfit' in result) return undefined;
  const { text, placed: hunks } = result;
  const starts = hunks.map((h) => (h.oldLines === 0 ? h.oldStart : h.oldStart - 1));
  const grown = hunks.reduce((sum, h) => sum + h.newLines - h.oldLines, 0);
  const isAtNumbers =
    hunks.every((hunk, i) => hunk === file.hunks[i]) &&
    // A line without line end, followed by more lines, merges with the next one.
    splitLines(text).length === splitLines(before).length + grown;
  return { text, hunks, starts, isAtNumbers };
}
