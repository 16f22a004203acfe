import {
  pathForGit,
  readGitNames,
  readHeaderName,
  readPlainName,
  stripPrefixes,
  type RawFileName,
} from './fileNames';
import type { Hunk } from './hunk';
import type { FileChange, FilePatch } from '../parsedPatch';
import type { PatchProblem } from '../diagnostic';

/** The lines before the hunks of a part: those of git, and the two that name the file. */
export interface Header {
  git: boolean;
  old: RawFileName | undefined;
  new: RawFileName | undefined;
  renamed: { from?: string; to?: string; copy: boolean } | undefined;
  oldMode: string | undefined;
  newMode: string | undefined;
  added: boolean;
  deleted: boolean;
  binary: boolean;
  /** The ids of the index line. */
  ids: readonly [string, string];
  binaryLines: readonly string[] | undefined;
  /** Whether binary content is cut off, or has white space at line ends: git leaves it out. */
  isSpoiled: boolean;
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
    /^index ([0-9a-f]+\.\.[0-9a-f]+(?: \d+)?)/,
    (h, index) => {
      const [old = '', after = '', v = ''] = index.split(/\.\.| /);
      h.ids = [old, after];
      if (v === '') return;
      h.oldMode ??= v;
      h.newMode ??= v;
    },
  ],
  [/^(?:dis)?similarity index /, () => undefined],
];

/** The file modes of git: files, programs, links, submodules. */
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
      const end = endOfBinary(lines, i + 1);
      header.binaryLines = lines.slice(i + 1, end);
      header.isSpoiled =
        lines[end - 1] !== '' || lines.slice(i, end).some((each) => /\s$/.test(each));
      return end;
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
): { old: RawFileName; new: RawFileName } | undefined {
  const [minus, plus] = [lines[i] ?? '', lines[i + 1] ?? ''];
  if (!minus.startsWith('--- ') || !plus.startsWith('+++ ')) return undefined;
  return { old: readHeaderName(minus.slice(4)), new: readHeaderName(plus.slice(4)) };
}

type Tell = (message: string, hint: string, more?: Partial<PatchProblem>) => void;
type NamePair = { old: RawFileName; new: RawFileName };
type PartNames = ReturnType<typeof stripPrefixes>;

export function assemble(
  header: Header,
  gitLine: string,
  plain: NamePair | undefined,
  hunks: Hunk[],
  start: number,
  end: number,
  problems: PatchProblem[],
): FilePatch | undefined {
  const tell: Tell = (message, hint, more = {}) => {
    const severity = 'error';
    problems.push({ severity, code: 'malformed', line: start + 1, message, hint, ...more });
  };
  dropUnknownModes(header, tell);
  const named = header.git ? readGitNames(gitLine) : undefined;
  const belowGit =
    plain && named && header.renamed === undefined ? namesBelowGit(plain, named, tell) : undefined;
  const names = belowGit ?? namesOf(header, plain ?? named, tell);
  if (names === undefined) return undefined;
  if (header.git && hunks[0]?.line === start + 2) {
    tell(
      `The part of ${names.new ?? names.old} has no file header lines`,
      'Write "--- a/PATH" and "+++ b/PATH" before the hunk',
      { code: 'missing-header' },
    );
  }
  let { added, deleted } = header;
  if (plain !== undefined && header.git) {
    deleted ||= plain.new === null;
    if (checkNames({ ...header, deleted }, plain, named, names, tell, header.deleted)) added = true;
  } else if (plain !== undefined) {
    added = names.old === null;
    deleted = names.new === null;
    if (!added && !deleted) {
      // Like git: of `f.orig` and `f` the shorter name, else the new one. This is not a rename.
      const [a, b] = [names.old ?? '', names.new ?? ''];
      names.old = names.new = b.startsWith(a) ? a : b;
    }
  }
  if (header.renamed !== undefined && !(header.renamed.from && header.renamed.to)) {
    const message = `The part of ${names.new ?? names.old} has only one side of a rename`;
    tell(message, 'Write "rename from PATH" and "rename to PATH"', { code: 'rename' });
  }
  const kind = changeOf({ ...header, added, deleted }, hunks);
  if (kind === 'modified' && names.old !== names.new) {
    const hint = 'Use one file, or write "rename from PATH" and "rename to PATH"';
    tell(`The part names two files, ${names.old} and ${names.new}`, hint, { code: 'rename' });
    names.old = names.new ??= names.old;
  }
  if (hunks.length === 0 && kind === 'modified' && !header.binary) {
    tell(
      `The part of ${names.new ?? names.old} changes nothing`,
      'Add the missing hunks, or remove the part',
      { code: 'no-change' },
    );
    return undefined;
  }
  const { renamed, oldMode, newMode, binary, binaryLines, git } = header;
  if (header.isSpoiled) {
    tell(
      `The binary part of ${names.new ?? names.old} is not in git's format`,
      'Keep its lines as they are, and the blank line after each block',
      { code: 'white-space' },
    );
  }
  const oldPath = renamed?.from === undefined ? names.old : readPlainName(renamed.from);
  const newPath = renamed?.to === undefined ? names.new : readPlainName(renamed.to);
  return {
    oldPath: added ? null : oldPath,
    newPath: deleted ? null : newPath,
    kind,
    ...(oldMode !== undefined && !added && { oldMode }),
    ...(newMode !== undefined && !deleted && { newMode }),
    binary,
    ...(binaryLines !== undefined &&
      header.ids.every((id) => /^[0-9a-f]{40}$/.test(id)) && {
        binaryPatch: { oldId: header.ids[0], newId: header.ids[1], lines: binaryLines },
      }),
    hunks,
    git,
    line: start + 1,
    endLine: end,
  };
}

function dropUnknownModes(header: Header, tell: Tell): void {
  for (const key of ['oldMode', 'newMode'] as const) {
    const mode = header[key];
    if (mode === undefined || modes.test(mode)) continue;
    tell(`${mode} is not a file mode`, 'Write 100644, or 100755 for a program', { code: 'mode' });
    header[key] = undefined;
  }
}

/**
 * The names of `---` and `+++` where they mean the file of `diff --git`; undefined where they do
 * not. Git goes by `diff --git` where nothing is left of a name without its first directory.
 */
function namesBelowGit(
  plain: NamePair,
  named: { old: string; new: string },
  tell: Tell,
): PartNames | undefined {
  const { old: path, new: other, stripped } = stripPrefixes(named.old, named.new);
  if (path === null || path !== other || !stripped || !named.old.includes('/')) return undefined;
  const asGit = [plain.old, plain.new].map((name) => (name === null ? null : pathForGit(name)));
  const isEach = [plain.old, plain.new].every((name, at) => {
    const read = asGit[at];
    return name === null || read === undefined || read === path || name === path;
  });
  if (!isEach || asGit.every((read) => read === null)) return undefined;
  if (asGit.every((read) => read === undefined)) {
    tell(
      `"---" and "+++" do not name ${path}; git uses "diff --git"`,
      'Write "--- a/PATH" and "+++ b/PATH"',
      { code: 'prefixes', severity: 'warning' },
    );
  } else if (asGit.some((read) => read !== null && read !== path)) {
    tell(
      `The names of ${path} lack the prefixes a/ and b/`,
      'Write "--- a/PATH" and "+++ b/PATH"; git mistakes the first folder for the prefix',
      { code: 'prefixes' },
    );
  }
  return { old: plain.old === null ? null : path, new: plain.new === null ? null : path, stripped };
}

/** The names without prefixes; undefined if the part names no file. */
function namesOf(
  { renamed }: Header,
  guess: NamePair | undefined,
  tell: Tell,
): PartNames | undefined {
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
    tell('Both names of the part are /dev/null', 'Put the file name in the --- or +++ line', {
      code: 'missing-header',
      lost: true,
    });
    return undefined;
  }
  if (!names.stripped) {
    tell(
      `The names of ${names.new ?? names.old} lack the prefixes a/ and b/`,
      'Write "--- a/PATH" and "+++ b/PATH"; git mistakes the first folder for the prefix',
      { code: 'prefixes' },
    );
  }
  return names;
}

/**
 * Reports contradictions between the lines of git and the two below them.
 *
 * @returns whether the part adds the file although git's lines do not say so
 */
function checkNames(
  { added, deleted, renamed }: Header,
  plain: NamePair,
  named: ReturnType<typeof readGitNames>,
  names: PartNames,
  tell: Tell,
  saysDeleted: boolean,
): boolean {
  const git = named && stripPrefixes(named.old, named.new);
  if (plain.old === null && !added) {
    tell(
      `The part of ${names.new} adds a file without marking it as new`,
      'Add "new file mode 100644"',
    );
    return true;
  }
  if (plain.new === null && !saysDeleted) {
    tell(
      `The part of ${names.old} deletes a file without marking it as deleted`,
      'Add "deleted file mode 100644"',
      { severity: 'warning' },
    );
  } else if (named !== undefined && git?.old === named.old) {
    tell(
      `The names of ${names.new ?? names.old} in "diff --git" lack the prefixes a/ and b/`,
      'Write "diff --git a/PATH b/PATH"',
      { code: 'prefixes' },
    );
  }
  if (
    (names.old !== null && git !== undefined && git.old !== names.old) ||
    (names.new !== null && git !== undefined && git.new !== names.new)
  ) {
    // For a file that is added, deleted or moved, git refuses this.
    const isMoved = added || deleted || renamed !== undefined;
    const severity = isMoved || names.old !== names.new ? 'error' : 'warning';
    tell(
      `"diff --git" names ${git?.new}, but the lines below it name ${names.new ?? names.old}`,
      'Use the same file in all three lines; git uses the lower two',
      { code: 'rename', severity },
    );
  } else if ((added && plain.old !== null) || (deleted && plain.new !== null)) {
    tell(
      `The part of ${names.new ?? names.old} ${added ? 'adds' : 'deletes'} a file but has file names on both sides`,
      `Write "${added ? '---' : '+++'} /dev/null"`,
    );
  }
  return false;
}

function changeOf(header: Header, hunks: readonly Hunk[]): FileChange {
  const { added, deleted, renamed, oldMode, newMode, binary } = header;
  if (added) return 'added';
  if (deleted) return 'deleted';
  if (renamed !== undefined) return renamed.copy ? 'copied' : 'renamed';
  const changesMode = oldMode !== undefined && newMode !== undefined && oldMode !== newMode;
  return hunks.length === 0 && !binary && changesMode ? 'mode' : 'modified';
}
