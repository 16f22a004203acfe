import { applyPatch } from './apply';
import { failed, type Conversion } from './conversion';
import { hasErrors, mended, type Diagnostic } from './diagnostic';
import { editFile } from './fuzzyEdit';
import { isRefusal, type Place } from './fuzzyEffect';
import { applyAtNumbers } from './fuzzyExact';
import { TreeLines, withoutReturn } from './fuzzyLines';
import { placeHunks } from './fuzzyPlace';
import { lineList } from './fuzzyRefusal';
import { tellDifferences, tellMissingFile, tellRefusal, type Told } from './fuzzyTell';
import type { Hunk } from './hunk';
import { checkPatchPaths } from './safety';
import type { PatchTree } from './tree';
import { parseUnified, type FilePatch } from './unified';
import { formatFilePatch } from './write';

/**
 * Converts a unified diff whose line numbers or context are wrong: hunks go where their lines fit best
 * (fuzzyPlace.ts has the rule), and what leaves a doubt is an error that names the places, not a guess.
 *
 * - Context that differs keeps the tree's text, and lines of the tree between the matched ones stay.
 *   Nothing goes but the lines that the diff removes: a removed line that was dropped from the diff stays.
 * - All hunks of a file refer to the file as it is in the tree, whatever their order in the patch.
 * - What `git apply` accepts at its line numbers gives the same tree as there. What git would apply at
 *   another place than the rule finds is ambiguous.
 *
 * Everything converts or nothing; nothing is written.
 */
export async function convertFuzzy(text: string, tree: PatchTree): Promise<Conversion> {
  const parsed = parseUnified(text, 'loose');
  const lost = parsed.problems.filter((problem) => problem.lost === true);
  const diagnostics: Diagnostic[] = [
    ...lost,
    ...mended(parsed.problems.filter((problem) => problem.lost !== true)),
    ...checkPatchPaths(parsed),
  ];
  if (parsed.files.length === 0 && lost.length === 0) {
    diagnostics.push({
      severity: 'error',
      line: 1,
      message: 'The text holds no part of a unified diff that changes anything',
      hint: 'Write "--- a/PATH", "+++ b/PATH" and hunks below them',
      code: 'no-patch',
    });
  }
  if (hasErrors(diagnostics)) return failed('fuzzy', diagnostics);

  const source = text.split('\n');
  const files = new Map<string, string | undefined>();
  const parts: string[] = [];
  const leaving = new Set(
    parsed.files.flatMap(({ kind, oldPath }) =>
      kind === 'deleted' || kind === 'renamed' ? (oldPath ?? []) : [],
    ),
  );
  for (const file of joinParts(parsed.files)) {
    if (file.binary) {
      diagnostics.push({
        severity: 'warning',
        line: file.line,
        message: `${file.newPath ?? file.oldPath}: binary content is left out`,
        code: 'binary',
      });
      continue;
    }
    const told: Told = { source, diagnostics, file };
    const result = await convertFile(file, tree, leaving, told);
    if (result === undefined) continue;
    const { oldPath, newPath, hunks, kind } = result.file;
    if (hunks.length === 0 && kind === 'modified') continue;
    if (newPath === null || kind === 'renamed') files.set(oldPath ?? '', undefined);
    if (newPath !== null) files.set(newPath, result.text);
    parts.push(formatFilePatch(result.file));
  }
  if (hasErrors(diagnostics)) return failed('fuzzy', diagnostics);
  return { patch: parts.join(''), format: 'fuzzy', diagnostics, files, left: [] };
}

/** Parts that change the same file become one: models write a part for each hunk. */
function joinParts(files: readonly FilePatch[]): FilePatch[] {
  const joined: FilePatch[] = [];
  const at = new Map<string, number>();
  for (const file of files) {
    const known = at.get(file.oldPath ?? '');
    const first = known === undefined ? undefined : joined[known];
    if (file.kind === 'modified' && first?.kind === 'modified' && known !== undefined) {
      joined[known] = { ...first, hunks: [...first.hunks, ...file.hunks] };
    } else {
      if (file.kind === 'modified') at.set(file.oldPath ?? '', joined.length);
      joined.push(file);
    }
  }
  return joined;
}

async function convertFile(
  file: FilePatch,
  tree: PatchTree,
  leaving: ReadonlySet<string>,
  told: Told,
): Promise<{ file: FilePatch; text: string } | undefined> {
  const { oldPath, newPath, kind } = file;
  const path = newPath ?? oldPath ?? '';
  const fail = (message: string, hint: string, code: Diagnostic['code']): undefined => {
    told.diagnostics.push({
      severity: 'error',
      line: file.line,
      message: `${path}: ${message}`,
      hint,
      ...(code !== undefined && { code }),
    });
  };
  const before = oldPath === null ? undefined : await tree.read(oldPath);
  const moved = kind === 'renamed' || kind === 'copied';
  if (before === undefined) {
    const creates = file.hunks.length > 0 && file.hunks.every(namesNothing);
    if (oldPath !== null && (!creates || moved || newPath === null)) {
      await tellMissingFile(oldPath, tree, told);
      return undefined;
    }
    if (oldPath !== null) {
      told.diagnostics.push({
        severity: 'warning',
        line: file.line,
        message: `${path}: no such file in the tree; it is made, since the part only adds lines`,
        code: 'unknown-file',
      });
    }
  }
  if (newPath !== null && (before === undefined || moved) && !leaving.has(newPath)) {
    if ((await tree.read(newPath)) !== undefined) {
      return fail('the file exists already', 'Change the file instead of adding it', 'file-exists');
    }
  }
  const isCrlf = told.source[(file.hunks[0]?.line ?? 1) - 1]?.endsWith('\r') === true;
  if (before === undefined) return addFile(file, isCrlf, fail);

  const exact = applyAtNumbers(before, file.hunks);
  if (exact !== undefined && (newPath !== null || exact === '')) return { file, text: exact };
  const lines = new TreeLines(before);
  const places = placed(file, lines, told);
  if (places === undefined) return undefined;
  let { text, hunks } = editFile(lines, places);
  if (places.every((place) => place.alignment.fit === 1 && !place.alignment.places.size)) {
    const git = await asGit(file, before);
    if (git !== undefined && git.text !== text) {
      const starts = places.map(({ start }) => start).sort((a, b) => a - b);
      if (String(git.starts) !== String(starts)) {
        return fail(
          `git would put its hunks in at ${lineList(git.starts)}, where they fit as well as at ` +
            lineList(starts),
          'Give more lines around the changes, or the right line numbers',
          'ambiguous',
        );
      }
      ({ text, hunks } = git);
    }
  }
  if (newPath === null) {
    const gone = new Set(places.flatMap(({ deleted }) => deleted));
    const stays = lines.text.findIndex((line, i) => line.trim() !== '' && !gone.has(i));
    if (stays >= 0 || places.some(({ inserts }) => inserts.length > 0)) {
      return fail(
        `the patch deletes the file, but not its ${lineList([Math.max(0, stays)])}`,
        'Remove every line of it',
        'incomplete',
      );
    }
    hunks = editFile(lines, [wholeFile(lines)]).hunks;
    text = '';
  }
  if (hunks.length === 0 && kind === 'modified') {
    told.diagnostics.push({
      severity: 'warning',
      line: file.line,
      message: `${path}: the part changes nothing`,
      code: 'no-change',
    });
  }
  return { file: { ...file, hunks }, text };
}

function wholeFile(lines: TreeLines): Place {
  const deleted = lines.raw.map((_, i) => i);
  return {
    deleted,
    inserts: [],
    start: 0,
    old: [],
    alignment: {
      pairs: new Int32Array(0),
      score: 0,
      fit: 1,
      firm: 0,
      start: 0,
      doubtful: [],
      places: new Map(),
    },
  };
}

/** Whether a hunk names no line of the file before, but for blank ones that lack their mark. */
function namesNothing(hunk: Hunk): boolean {
  return hunk.lines.every(
    (line) => line.kind === 'added' || (line.kind === 'context' && line.text.trim() === ''),
  );
}

/** @param isCrlf whether the patch was saved with CRLF, which says nothing about the file */
function addFile(
  file: FilePatch,
  isCrlf: boolean,
  fail: (message: string, hint: string, code: Diagnostic['code']) => undefined,
): { file: FilePatch; text: string } | undefined {
  if (!file.hunks.every(namesNothing)) {
    return fail(
      'the patch adds this file, yet a hunk has old lines',
      'Mark every line with +',
      'malformed',
    );
  }
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const added = lines.map((line, i) => ({
    kind: 'added' as const,
    text: isCrlf ? withoutReturn(line.text) : line.text,
    noNewline: line.noNewline && i === lines.length - 1,
  }));
  const text = added.map((line) => line.text + (line.noNewline ? '' : '\n')).join('');
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
  return { file: { ...file, oldPath: null, kind: 'added', hunks }, text };
}

/** The places of a file's hunks; undefined, with the reasons told, when one has none. */
function placed(file: FilePatch, lines: TreeLines, told: Told): Place[] | undefined {
  const hunks = file.hunks;
  const places: Place[] = [];
  const kept = new Map<string, Hunk>();
  const takenBy = new Map<number, Hunk>();
  let failing = false;
  for (const hunk of hunks) {
    if (hunk.lines.some((line) => line.kind !== 'context')) continue;
    told.diagnostics.push({
      severity: 'error',
      line: hunk.line,
      message: `${file.newPath ?? file.oldPath}: the hunk changes nothing`,
      hint: 'Mark added lines with + and removed ones with -, or leave the hunk out',
      code: 'no-change',
    });
    failing = true;
  }
  if (failing) return undefined;
  for (const [i, placing] of placeHunks(hunks, lines).entries()) {
    const hunk = hunks[i];
    if (hunk === undefined) continue;
    const number = i + 1;
    if (isRefusal(placing)) {
      tellRefusal(placing, hunk, number, told);
      failing = true;
      continue;
    }
    const path = file.newPath ?? file.oldPath;
    const key = JSON.stringify([placing.deleted, placing.inserts]);
    const twin = kept.get(key);
    if (twin !== undefined) {
      told.diagnostics.push({
        severity: 'warning',
        line: hunk.line,
        message: `${path}: hunk ${number} is the one of line ${twin.line} again, and is left out`,
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
    tellDifferences(placing, hunk, number, lines, told);
    kept.set(key, hunk);
    places.push(placing);
  }
  return failing ? undefined : places;
}

/** What git makes of the hunks as they are, and the 0-based lines it puts them in at; undefined if it refuses. */
async function asGit(
  file: FilePatch,
  before: string,
): Promise<{ text: string; hunks: readonly Hunk[]; starts: number[] } | undefined> {
  if (file.hunks.some((hunk) => hunk.unnumbered)) return undefined;
  const path = file.oldPath;
  const part: FilePatch = { ...file, newPath: path, kind: 'modified' };
  const result = await applyPatch({ files: [part], problems: [] }, () => Promise.resolve(before));
  if (!result.ok) return undefined;
  const hunks = result.placed.files[0]?.hunks ?? [];
  const starts = hunks.map((h) => (h.oldLines === 0 ? h.oldStart : h.oldStart - 1));
  return { text: result.files.get(path ?? '') ?? '', hunks, starts };
}
