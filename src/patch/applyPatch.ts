import { inTurns, turnsOf, type Stepwise, type Turns } from '../domain/work';
import type { Diagnostic, DiagnosticCode } from './diagnostic';
import { numberLines, type Hunk } from './unified/hunk';
import { applyBinary } from './unified/binaryPatch';
import { StepBudget } from './reading/stepBudget';
import { Image } from './unified/image';
import type { FilePatch, ParsedPatch } from './parsedPatch';

/** Why a part does not apply. `line` is a line of the patch, as in every diagnostic. */
export interface ApplyProblem extends Diagnostic {
  readonly path: string;
  /** 1-based number among the hunks of its part. */
  readonly hunk?: number;
  /** 1-based line of the file at which the best place of the hunk differs. */
  readonly fileLine?: number;
  /** The line that the patch expects there, and the line of the file (undefined after its end). */
  readonly expected?: string;
  readonly found?: string;
}

export type ApplyResult =
  | {
      readonly ok: true;
      /** New contents by path of every file that the patch writes; undefined for a deleted file. */
      readonly files: ReadonlyMap<string, string | undefined>;
      /** The patch with the line numbers at which its hunks were applied. */
      readonly placed: ParsedPatch;
    }
  | { readonly ok: false; readonly problems: readonly ApplyProblem[] };

/** Reads a file of the tree; undefined if there is none. */
export type ReadFile = (path: string) => Promise<string | undefined>;

/**
 * Applies a patch in memory as `git apply` does by default. Context must fit exactly; the place may
 * differ from the line numbers. A hunk at line 1 must fit at the beginning, and one without context
 * after its changes at the end. Either everything applies or nothing does. File modes are ignored.
 *
 * Problems of the parser are ignored too: the caller decides whether to apply the patch as the
 * parser repaired it. Callers must check paths with `checkPatchPaths` first.
 *
 * @throws Cancelled, and any error of `read`
 */
export async function applyPatch(
  patch: ParsedPatch,
  read: ReadFile,
  turns: Turns = turnsOf(undefined),
): Promise<ApplyResult> {
  const application = new Application(patch, read, turns);
  for (const file of patch.files) await application.add(file);
  const { files, placed, problems } = application;
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, files, placed: { files: placed, problems: [] } };
}

/** Applies the parts of a patch one after the other. */
class Application {
  readonly files = new Map<string, string | undefined>();
  readonly placed: FilePatch[] = [];
  readonly problems: ApplyProblem[] = [];
  private readonly written = new Set<string>();
  private readonly seen = new Set<string>();
  /** For characters of files that an earlier part has read too: each part reads its file again. */
  private readonly again = new StepBudget();
  /** Paths whose files a part deletes or renames. */
  private readonly leaving: ReadonlySet<string | null>;

  constructor(
    patch: ParsedPatch,
    private readonly read: ReadFile,
    private readonly turns: Turns,
  ) {
    this.leaving = new Set(
      patch.files
        .filter((file) => file.kind === 'deleted' || file.kind === 'renamed')
        .map((file) => file.oldPath),
    );
  }

  async add(file: FilePatch): Promise<void> {
    const path = file.newPath ?? file.oldPath ?? '';
    const fail: Fail = (code, message, hint, more = {}) => {
      const { line } = file;
      this.problems.push({ severity: 'error', code, line, message, hint, path, ...more });
    };
    const found = await this.before(file, fail);
    if (found === undefined) return;
    const { part, text } = found;
    const result = await this.contentAfter(part, text);
    if ('why' in result) {
      const hint = 'Create the patch with git diff --binary, or remove the file';
      return fail('binary', `${path}: ${result.why}`, hint);
    }
    if ('misfit' in result) {
      const { message, hint, ...where } = result.misfit;
      const what = `${path}: hunk ${where.hunk} does not apply: ${message}`;
      return fail('does-not-apply', what, hint, where);
    }
    if (part.kind === 'deleted' && this.written.has(path)) {
      // Git removes files before it writes, so the file would remain.
      const message = `${path}: one part changes the file and another deletes it`;
      return fail('overlap', message, 'Remove one of them');
    }
    if (part.kind === 'deleted' && result.text !== '') {
      const message = `${path}: the patch deletes the file but leaves lines`;
      return fail('incomplete', message, 'Remove every line of it');
    }
    // Two files may swap their names, so a file that another part wrote there stays.
    if (part.kind === 'renamed' && part.oldPath !== null && !this.written.has(part.oldPath)) {
      this.files.set(part.oldPath, undefined);
    }
    if (part.newPath === null) this.files.set(path, undefined);
    else {
      this.written.add(part.newPath);
      this.files.set(part.newPath, result.text);
    }
    this.placed.push({ ...part, hunks: result.placed });
  }

  /** The text that a part makes of another, or why it does not fit. */
  private async contentAfter(
    { binary, binaryPatch, hunks, oldPath }: FilePatch,
    text: string,
  ): Promise<HunksApplied | { readonly why: string }> {
    if (oldPath !== null && this.seen.has(oldPath) && !this.again.take(10 * text.length)) {
      const line = hunks[0]?.line ?? 1;
      const message = 'too many parts change the same file';
      return { misfit: { hunk: 1, line, message, hint: 'Join its parts' } };
    }
    if (oldPath !== null) this.seen.add(oldPath);
    if (!binary) return inTurns(hunkSteps(text, hunks), this.turns);
    if (binaryPatch === undefined) return { why: 'the patch does not contain the binary content' };
    const applied = applyBinary(binaryPatch, oldPath === null ? undefined : text);
    return 'why' in applied ? applied : { text: applied.text, placed: hunks };
  }

  /**
   * The text that a part changes, and the part as git reads it; undefined if it cannot be applied.
   */
  private async before(
    file: FilePatch,
    fail: Fail,
  ): Promise<{ readonly part: FilePatch; readonly text: string } | undefined> {
    const { oldPath, newPath, hunks } = file;
    const isMoved = file.kind === 'renamed' || file.kind === 'copied';
    // Like git, renames and copies start from the tree, whatever earlier parts changed.
    const text =
      oldPath === null ? undefined : await (isMoved ? this.read(oldPath) : this.now(oldPath));
    let part = file;
    if (oldPath !== null && text === undefined) {
      const creates = !file.git && hunks.length === 1 && hunks.every((h) => h.oldLines === 0);
      if (!creates) {
        return void fail(
          'unknown-file',
          `${oldPath}: file not found in the tree`,
          'Check the path',
        );
      }
      part = { ...file, oldPath: null, kind: 'added' };
    }
    const arrives = part.kind === 'added' || isMoved;
    if (arrives && newPath !== null && !this.leaving.has(newPath)) {
      if ((await this.now(newPath)) !== undefined) {
        const message = `${newPath}: the file already exists`;
        return void fail('file-exists', message, 'Change the file instead of adding it');
      }
    }
    return { part, text: text ?? '' };
  }

  /** A file as earlier parts left it. */
  private async now(path: string): Promise<string | undefined> {
    return this.files.has(path) ? this.files.get(path) : this.read(path);
  }
}

type Fail = (
  code: DiagnosticCode,
  message: string,
  hint: string,
  more?: Partial<ApplyProblem>,
) => void;

/** Why a hunk does not fit. `line` is a line of the patch, `fileLine` one of the file. */
interface Misfit {
  hunk: number;
  line: number;
  message: string;
  hint: string;
  fileLine?: number;
  expected?: string;
  found?: string;
}

/** The text after the hunks with their actual places, or why one of them does not fit. */
type HunksApplied =
  | { readonly text: string; readonly placed: readonly Hunk[] }
  | { readonly misfit: Misfit };

/** Applies the hunks of one file, a hunk at a step. See {@link applyPatch}. */
export function* hunkSteps(before: string, hunks: readonly Hunk[]): Stepwise<HunksApplied> {
  const image = new Image(before);
  const total = image.length;
  const placed: Hunk[] = [];
  for (const [index, hunk] of hunks.entries()) {
    yield;
    const sides = sidesOf(hunk);
    const at = findPlace(image, hunk, sides);
    if (at === undefined) return { misfit: describeMisfit(image, hunk, index + 1, sides) };
    const line = typeof at === 'number' ? at : at === 'beginning' ? image.first : total;
    const oldStart = sides.old.length === 0 ? line : line + 1;
    placed.push(oldStart === hunk.oldStart ? hunk : numberLines({ ...hunk, oldStart }));
    if (at === 'beginning') image.prepend(sides.new);
    else if (at === 'end') image.append(sides.new);
    else image.replace(at, sides.old.length, sides.new);
  }
  return { text: image.text(), placed: renumber(placed) };
}

/** Sorts hunks and computes their new line numbers from the old ones. */
function renumber(hunks: readonly Hunk[]): Hunk[] {
  let shift = 0;
  return [...hunks]
    .sort((a, b) => a.oldStart - b.oldStart)
    .map((hunk) => {
      const first = (hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart) + shift;
      shift += hunk.newLines - hunk.oldLines;
      const newStart = hunk.newLines === 0 ? first - 1 : first;
      return newStart === hunk.newStart ? hunk : numberLines({ ...hunk, newStart });
    });
}

/** The old and the new side of a hunk, with lines as {@link Image} stores them. */
interface Sides {
  old: string[];
  new: string[];
  /** Whether the hunk must begin where the file begins, and end where it ends. */
  atBeginning: boolean;
  atEnd: boolean;
}

function sidesOf(hunk: Hunk): Sides {
  const text = (line: Hunk['lines'][number]): string =>
    line.noNewline ? `${line.text}\n` : line.text;
  return {
    old: hunk.lines.filter((line) => line.kind !== 'added').map(text),
    new: hunk.lines.filter((line) => line.kind !== 'removed').map(text),
    atBeginning: hunk.oldStart <= 1,
    atEnd: hunk.lines.at(-1)?.kind !== 'context',
  };
}

/** A 0-based old line, or an end of the file for a hunk that only adds lines. */
type HunkPlace = number | 'beginning' | 'end';

/** Where the hunk is applied: the fitting place nearest to its number, in git's order. */
function findPlace(image: Image, hunk: Hunk, sides: Sides): HunkPlace | undefined {
  const { old, atBeginning, atEnd } = sides;
  const last = image.length - old.length;
  if (last < 0 || (atBeginning && atEnd && last !== 0)) return undefined;
  if (old.length === 0) return atBeginning ? 'beginning' : 'end';
  if (atBeginning || atEnd) {
    const at = image.oldAt(atBeginning ? 0 : last);
    return at !== undefined && image.has(old, at) ? at : undefined;
  }
  return image.nearest(old, Math.min(Math.max(0, hunk.newStart - 1), image.length));
}

function describeMisfit(image: Image, hunk: Hunk, number: number, sides: Sides): Misfit {
  if (image.isSpent) {
    return {
      ...{ hunk: number, line: hunk.line },
      message: 'its lines occur too often to check every position',
      hint: 'Use the correct line number, or lines that occur once',
    };
  }
  const lines = image.lines();
  const textAt = (index: number): string | undefined => lines[index]?.text;
  const expectedAt = Math.min(Math.max(0, hunk.newStart - 1), image.length);
  // This is only for the message, so a large hunk is searched only near its place.
  const reach = Math.max(10, Math.floor(2_000_000 / (sides.old.length + 1)));
  let best = expectedAt;
  let bestScore = -1;
  const to = Math.min(image.length, expectedAt + reach);
  for (let at = Math.max(0, expectedAt - reach); at <= to; at += 1) {
    const found = sides.old.filter((text, i) => textAt(at + i) === text).length;
    const nearer = Math.abs(at - expectedAt) < Math.abs(best - expectedAt);
    if (found > bestScore || (found === bestScore && nearer)) [best, bestScore] = [at, found];
  }
  if (bestScore === sides.old.length) {
    const taken = sides.old.some((_, i) => lines[best + i]?.origin === undefined);
    const anchored =
      sides.atBeginning && best !== 0
        ? 'its line number places it at the start of the file'
        : 'it has no context after its changes, which places it at the end of the file';
    return {
      hunk: number,
      line: hunk.line,
      message: taken
        ? 'an earlier hunk already changed its lines'
        : `it fits at line ${best + 1}, but ${anchored}`,
      hint: taken ? 'Join the hunks' : 'Add three lines of context around the changes',
    };
  }
  const i = sides.old.findIndex((text, k) => textAt(best + k) !== text);
  const expected = sides.old[i] ?? '';
  const line = textAt(best + i);
  const fileLine = lines[best + i]?.origin ?? best + i + 1;
  const show = (text: string): string => JSON.stringify(text.replace(/\n$/, ''));
  return {
    hunk: number,
    line: patchLine(hunk, i),
    message:
      line === undefined
        ? `it expects ${show(expected)} after the end of the file`
        : `line ${fileLine} of the file is ${show(line)}, not ${show(expected)}`,
    hint: hintFor(expected, line),
    fileLine,
    expected: expected.replace(/\n$/, ''),
    ...(line !== undefined && { found: line.replace(/\n$/, '') }),
  };
}

/** The line of the patch with the hunk's `index`-th old line. */
function patchLine(hunk: Hunk, index: number): number {
  let seen = 0;
  let at = hunk.line + 1;
  for (const line of hunk.lines) {
    if (line.kind !== 'added') {
      if (seen === index) break;
      seen += 1;
    }
    at += line.noNewline ? 2 : 1;
  }
  return at;
}

function hintFor(expected: string, found: string | undefined): string {
  if (found === undefined) return 'Compare the context lines and the path with the tree';
  if (found.replace(/\r?\n?$/, '') === expected.replace(/\r?\n?$/, '')) {
    return found.includes('\r') || expected.includes('\r')
      ? 'The line endings differ: one side uses CRLF'
      : 'One side has no newline at the end of the file';
  }
  if (found.replace(/\s/g, '') === expected.replace(/\s/g, '')) {
    return 'Only whitespace differs: copy the line from the file without changes';
  }
  return 'Copy the context and the removed lines from the file without changes';
}
