import type { Diagnostic } from './diagnostic';
import { readHunk, type Hunk } from './hunk';
import {
  readGitNames,
  readHeaderName,
  readPlainName,
  stripPrefixes,
  type RawName,
} from './fileNames';

export type { Hunk, HunkLine } from './hunk';

/** What a parsed patch has to say about itself; an error means that git refuses or misreads it. */
export interface PatchProblem extends Diagnostic {
  /** Set when what is reported could not be mended and is missing from the files. */
  readonly lost?: boolean;
}

export type FileChange = 'modified' | 'added' | 'deleted' | 'renamed' | 'copied' | 'mode';

/** The part of a patch about one file. */
export interface FilePatch {
  /** Path in the tree before, without prefix; null when the patch adds the file. */
  readonly oldPath: string | null;
  /** Path in the tree after; null when the patch deletes the file. */
  readonly newPath: string | null;
  readonly kind: FileChange;
  /** Octal, such as `100644`, as far as the patch says. Equal to `newMode` when it does not change. */
  readonly oldMode?: string;
  readonly newMode?: string;
  readonly binary: boolean;
  readonly hunks: readonly Hunk[];
  /** False when the part has no `diff --git` line; git then takes more for granted. */
  readonly git: boolean;
  /** 1-based lines of the patch that the part takes, both ends included. */
  readonly line: number;
  readonly endLine: number;
}

export interface ParsedPatch {
  readonly files: readonly FilePatch[];
  readonly problems: readonly PatchProblem[];
}

/**
 * Reads a unified diff as `git apply` does, and on where git stops: whatever cannot be right is
 * mended as far as it is clear what was meant, and reported as a problem with severity `error`.
 * Text around the parts (mail headers, prose, code fences) is passed over, as git does.
 *
 * The `diff` package's `parsePatch` is not used: it throws at the first fault, takes the signature
 * that ends a `git format-patch` mail for a hunk line, and gives no line numbers to report.
 * It writes diffs (write.ts), and the tests hold both readers equal on sound input.
 */
export function parseUnified(text: string): ParsedPatch {
  const lines = text.split('\n');
  const terminated = lines.at(-1) === '';
  if (terminated) lines.pop();

  const files: FilePatch[] = [];
  const problems: PatchProblem[] = [];
  let i = 0;
  while (i < lines.length) {
    const line = lines[i] ?? '';
    if (line.startsWith('diff --git ') || startsPlainPart(lines, i)) {
      const { file, next } = readPart(lines, i, problems);
      if (file !== undefined) files.push(file);
      i = next;
    } else if (/^@@ -\d/.test(line)) {
      i = readStray(lines, i, files, problems);
    } else if (/^(@@@ |diff --cc |diff --combined )/.test(line)) {
      problems.push({
        severity: 'error',
        line: i + 1,
        message: 'This is the combined diff of a merge, which no tool can apply',
        hint: 'Make the diff against one parent: git diff A B',
        lost: true,
      });
      i += 1;
      while (i < lines.length && !(lines[i] ?? '').startsWith('diff --git ')) i += 1;
    } else {
      i += 1;
    }
  }

  const last = files.at(-1);
  if (!terminated && last?.endLine === lines.length && last.hunks.length > 0) {
    problems.push({
      severity: 'error',
      line: lines.length,
      message: 'The last line of the patch does not end with a newline',
      hint: 'End the patch with a newline; git takes it for cut off otherwise',
    });
  }
  return { files, problems };
}

/** Whether a part without `diff --git` starts here. `---` alone also stands in mails and prose. */
function startsPlainPart(lines: readonly string[], i: number): boolean {
  return (
    /^--- \S/.test(lines[i] ?? '') &&
    /^\+\+\+ \S/.test(lines[i + 1] ?? '') &&
    (lines[i + 2] ?? '').startsWith('@@')
  );
}

interface Header {
  git: boolean;
  old: RawName | undefined;
  new: RawName | undefined;
  renamed: { from?: string; to?: string; copy: boolean } | undefined;
  oldMode: string | undefined;
  newMode: string | undefined;
  added: boolean;
  deleted: boolean;
  binary: boolean;
}

const extended: readonly [RegExp, (header: Header, value: string) => void][] = [
  [/^old mode (\d+)/, (h, v) => (h.oldMode = v)],
  [/^new mode (\d+)/, (h, v) => (h.newMode = v)],
  [/^new file mode (\d+)/, (h, v) => ((h.added = true), (h.newMode = v))],
  [/^deleted file mode (\d+)/, (h, v) => ((h.deleted = true), (h.oldMode = v))],
  [/^rename (?:from|old) (.+)/, (h, v) => (h.renamed = { copy: false, ...h.renamed, from: v })],
  [/^rename (?:to|new) (.+)/, (h, v) => (h.renamed = { copy: false, ...h.renamed, to: v })],
  [/^copy from (.+)/, (h, v) => (h.renamed = { ...h.renamed, copy: true, from: v })],
  [/^copy to (.+)/, (h, v) => (h.renamed = { ...h.renamed, copy: true, to: v })],
  [
    /^index [0-9a-f]+\.\.[0-9a-f]+(?: (\d+))?/,
    (h, v) => {
      if (v === '') return;
      h.oldMode ??= v;
      h.newMode ??= v;
    },
  ],
  [/^(?:dis)?similarity index /, () => undefined],
];

function readPart(
  lines: readonly string[],
  start: number,
  problems: PatchProblem[],
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
  };
  let i = start;
  if (header.git) {
    i = readExtended(lines, start + 1, header);
  }
  const plain = readNameLines(lines, i);
  if (plain !== undefined) i += 2;

  const hunks: Hunk[] = [];
  while (/^@@( |$)/.test(lines[i] ?? '')) {
    const { hunk, next } = readHunk(lines, i, problems);
    if (hunk !== undefined) hunks.push(hunk);
    i = next;
  }
  const file = assemble(header, (lines[start] ?? '').slice(11), plain, hunks, start, i, problems);
  return { file, next: i };
}

function readExtended(lines: readonly string[], from: number, header: Header): number {
  let i = from;
  for (; i < lines.length; i += 1) {
    const line = (lines[i] ?? '').replace(/\r$/, '');
    if (/^Binary files .* differ$/.test(line)) {
      header.binary = true;
      return i + 1;
    }
    if (line === 'GIT binary patch') {
      header.binary = true;
      return endOfBinary(lines, i + 1);
    }
    let known = false;
    for (const [pattern, set] of extended) {
      const match = pattern.exec(line);
      if (match === null) continue;
      set(header, match[1] ?? '');
      known = true;
      break;
    }
    if (!known) return i;
  }
  return i;
}

/** Two blocks, forward and reverse, each a size line, base-85 lines and an empty line. */
function endOfBinary(lines: readonly string[], from: number): number {
  let i = from;
  for (let block = 0; block < 2; block += 1) {
    if (!/^(literal|delta) \d+/.test(lines[i] ?? '')) return i;
    i += 1;
    while (/^[A-Za-z]\S+\r?$/.test(lines[i] ?? '')) i += 1;
    if (/^\r?$/.test(lines[i] ?? 'x')) i += 1;
  }
  return i;
}

function readNameLines(
  lines: readonly string[],
  i: number,
): { old: RawName; new: RawName } | undefined {
  const [minus, plus] = [lines[i] ?? '', lines[i + 1] ?? ''];
  if (!minus.startsWith('--- ') || !plus.startsWith('+++ ')) return undefined;
  return { old: readHeaderName(minus.slice(4)), new: readHeaderName(plus.slice(4)) };
}

function assemble(
  header: Header,
  gitLine: string,
  plain: { old: RawName; new: RawName } | undefined,
  hunks: Hunk[],
  start: number,
  end: number,
  problems: PatchProblem[],
): FilePatch | undefined {
  const tell = (message: string, hint: string, more: Partial<PatchProblem> = {}): void => {
    problems.push({ severity: 'error', line: start + 1, message, hint, ...more });
  };
  const named = header.git ? readGitNames(gitLine) : undefined;
  let added = header.added;
  let deleted = header.deleted;

  const guess = plain ?? named;
  const renamed = header.renamed;
  if (guess === undefined && (renamed?.from === undefined || renamed.to === undefined)) {
    tell(
      'The part does not say which file it changes',
      'Write "diff --git a/PATH b/PATH", "--- a/PATH" and "+++ b/PATH"',
      { lost: true },
    );
    return undefined;
  }
  const names = stripPrefixes(guess?.old ?? null, guess?.new ?? null);
  if (names.old === null && names.new === null && renamed === undefined) {
    tell('Both names of the part are /dev/null', 'Name the file in the --- or the +++ line', {
      lost: true,
    });
    return undefined;
  }
  if (!names.stripped) {
    tell(
      `The names of ${names.new ?? names.old} lack the prefixes a/ and b/`,
      'Write "--- a/PATH" and "+++ b/PATH"; git takes the first directory for the prefix',
    );
  }
  if (plain !== undefined && header.git) {
    deleted ||= plain.new === null;
    const git = named && stripPrefixes(named.old, named.new);
    if (plain.old === null && !added) {
      tell(`The part of ${names.new} adds a file without saying so`, 'Add "new file mode 100644"');
      added = true;
    } else if (
      (names.old !== null && git !== undefined && git.old !== names.old) ||
      (names.new !== null && git !== undefined && git.new !== names.new)
    ) {
      tell(
        `"diff --git" names ${git?.new}, but the lines below it name ${names.new ?? names.old}`,
        'Name the same file in all three lines; git goes by the lower two',
        { severity: 'warning' },
      );
    } else if ((added && plain.old !== null) || (deleted && plain.new !== null)) {
      tell(
        `The part of ${names.new ?? names.old} ${added ? 'adds' : 'deletes'} a file but names both sides`,
        `Write "${added ? '---' : '+++'} /dev/null"`,
      );
    }
  }
  if (plain !== undefined && !header.git) {
    added = names.old === null;
    deleted = names.new === null;
    if (!added && !deleted) {
      // As git does: of `f.orig` and `f` the shorter, else the new one. Nothing is renamed here.
      const [a, b] = [names.old ?? '', names.new ?? ''];
      names.old = names.new = b.startsWith(a) ? a : b;
    }
  }
  const changesMode =
    header.oldMode !== undefined &&
    header.newMode !== undefined &&
    header.oldMode !== header.newMode;
  const kind: FileChange = added
    ? 'added'
    : deleted
      ? 'deleted'
      : renamed !== undefined
        ? renamed.copy
          ? 'copied'
          : 'renamed'
        : hunks.length === 0 && !header.binary && changesMode
          ? 'mode'
          : 'modified';
  if (hunks.length === 0 && kind === 'modified' && !header.binary) {
    tell(
      `The part of ${names.new ?? names.old} changes nothing`,
      'Add the missing hunks, or leave the part out',
    );
    return undefined;
  }
  const oldPath = renamed?.from === undefined ? names.old : readPlainName(renamed.from);
  const newPath = renamed?.to === undefined ? names.new : readPlainName(renamed.to);
  const file: FilePatch = {
    oldPath: added ? null : oldPath,
    newPath: deleted ? null : newPath,
    kind,
    ...(header.oldMode !== undefined && !added && { oldMode: header.oldMode }),
    ...(header.newMode !== undefined && !deleted && { newMode: header.newMode }),
    binary: header.binary,
    hunks,
    git: header.git,
    line: start + 1,
    endLine: end,
  };
  checkHunks(file, problems);
  return file;
}

/** Hunks that contradict the kind of the part, or one another. */
function checkHunks(file: FilePatch, problems: PatchProblem[]): void {
  const path = file.newPath ?? file.oldPath;
  let shift = 0;
  let end = 0;
  let told = false;
  for (const hunk of file.hunks) {
    const tell = (severity: 'error' | 'warning', message: string, hint: string): void => {
      problems.push({ severity, line: hunk.line, message: `${path}: ${message}`, hint });
    };
    if (file.kind === 'added' && hunk.oldLines > 0) {
      tell(
        'error',
        'the patch adds this file, yet the hunk has old lines',
        'Mark every line with +',
      );
    }
    if (file.kind === 'deleted' && hunk.newLines > 0) {
      tell('error', 'the patch deletes this file, yet lines remain', 'Mark every line with -');
    }
    const oldFirst = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
    const newFirst = hunk.newLines === 0 ? hunk.newStart + 1 : hunk.newStart;
    if (!told && (oldFirst < end || newFirst - oldFirst !== shift)) {
      told = true;
      const wrong =
        oldFirst < end ? 'the hunks are out of order' : 'the line numbers do not add up';
      tell(
        'warning',
        `${wrong}: old line ${oldFirst} becomes ${newFirst}, where ${oldFirst + shift} is due`,
        'Git places the hunk by its context; check the place',
      );
    }
    shift += hunk.newLines - hunk.oldLines;
    end = oldFirst + hunk.oldLines;
  }
}

/** A hunk apart from its file header, as models leave blank lines between hunks. */
function readStray(
  lines: readonly string[],
  i: number,
  files: FilePatch[],
  problems: PatchProblem[],
): number {
  const { hunk, next } = readHunk(lines, i, problems);
  const last = files.at(-1);
  const between = last === undefined ? [] : lines.slice(last.endLine, i);
  const apart = last !== undefined && last.hunks.length > 0 && between.every((l) => !l.trim());
  problems.push({
    severity: 'error',
    line: i + 1,
    message: apart ? 'The hunk stands apart from its file' : 'The hunk has no file header',
    hint: apart
      ? 'Remove the blank lines before it'
      : 'Write "--- a/PATH" and "+++ b/PATH" before it',
    ...(!apart && { lost: true }),
  });
  if (apart && hunk !== undefined) {
    files[files.length - 1] = { ...last, hunks: [...last.hunks, hunk], endLine: next };
  }
  return next;
}
