import {
  readGitNames,
  readHeaderName,
  readPlainName,
  stripPrefixes,
  type RawName,
} from './fileNames';
import type { Hunk } from './hunk';
import type { FileChange, FilePatch } from './parsedPatch';
import type { PatchProblem } from '../diagnostic';

/** What the lines before the hunks of a part say: those of git, and the two that name the file. */
export interface Header {
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
  [/^rename (?:from|old) (.+)/s, (h, v) => (h.renamed = { copy: false, ...h.renamed, from: v })],
  [/^rename (?:to|new) (.+)/s, (h, v) => (h.renamed = { copy: false, ...h.renamed, to: v })],
  [/^copy from (.+)/s, (h, v) => (h.renamed = { ...h.renamed, copy: true, from: v })],
  [/^copy to (.+)/s, (h, v) => (h.renamed = { ...h.renamed, copy: true, to: v })],
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

/** The modes that git knows: files, programs, links, submodules. */
const modes = /^(100644|100755|120000|160000)$/;

export function readExtended(lines: readonly string[], from: number, header: Header): number {
  let i = from;
  for (; i < lines.length; i += 1) {
    const line = (lines[i] ?? '').replace(/\r$/, '');
    if (/^Binary files .* differ$/s.test(line)) {
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

export function readNameLines(
  lines: readonly string[],
  i: number,
): { old: RawName; new: RawName } | undefined {
  const [minus, plus] = [lines[i] ?? '', lines[i + 1] ?? ''];
  if (!minus.startsWith('--- ') || !plus.startsWith('+++ ')) return undefined;
  return { old: readHeaderName(minus.slice(4)), new: readHeaderName(plus.slice(4)) };
}

export function assemble(
  header: Header,
  gitLine: string,
  plain: { old: RawName; new: RawName } | undefined,
  hunks: Hunk[],
  start: number,
  end: number,
  problems: PatchProblem[],
): FilePatch | undefined {
  const tell = (message: string, hint: string, more: Partial<PatchProblem> = {}): void => {
    const severity = 'error';
    problems.push({ severity, code: 'malformed', line: start + 1, message, hint, ...more });
  };
  for (const key of ['oldMode', 'newMode'] as const) {
    const mode = header[key];
    if (mode === undefined || modes.test(mode)) continue;
    tell(`${mode} is no mode of a file`, 'Write 100644, or 100755 for a program', { code: 'mode' });
    header[key] = undefined;
  }
  const named = header.git ? readGitNames(gitLine) : undefined;
  let added = header.added;
  let deleted = header.deleted;

  const guess = plain ?? named;
  const renamed = header.renamed;
  if (guess === undefined && (renamed?.from === undefined || renamed.to === undefined)) {
    tell(
      'The part does not say which file it changes',
      'Write "diff --git a/PATH b/PATH", "--- a/PATH" and "+++ b/PATH"',
      { code: 'missing-header', lost: true },
    );
    return undefined;
  }
  const names = stripPrefixes(guess?.old ?? null, guess?.new ?? null);
  if (names.old === null && names.new === null && renamed === undefined) {
    tell('Both names of the part are /dev/null', 'Name the file in the --- or the +++ line', {
      code: 'missing-header',
      lost: true,
    });
    return undefined;
  }
  if (!names.stripped) {
    tell(
      `The names of ${names.new ?? names.old} lack the prefixes a/ and b/`,
      'Write "--- a/PATH" and "+++ b/PATH"; git takes the first directory for the prefix',
      { code: 'prefixes' },
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
        // Of a file that comes, goes or moves git refuses it.
        {
          code: 'rename',
          severity: added || deleted || renamed !== undefined ? 'error' : 'warning',
        },
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
      { code: 'no-change' },
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
  return file;
}
