import { lstat, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCode } from '../../domain/work';
import { bytesOf, textOf } from '../../patch/bytes';
import { applyPatch } from '../../patch/applyPatch';
import { formatFilePatch } from '../../patch/makeUnified';
import type { FilePatch, ParsedPatch } from '../../patch/parsedPatch';
import { parseUnified } from '../../patch/parseUnified';
import { unsafePath } from '../../patch/unsafePath';

/** A file as a patch leaves it. */
export interface PlainEdit {
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable: boolean;
  /** Whether the tree has the file already. */
  readonly exists: boolean;
}

/**
 * What `git apply` would write into a tree, computed without git for patches that leave no doubt.
 * A git process takes longer than the rest of loading a candidate. A patch leaves no doubt when
 *
 * - it is written as git writes it, and changes or adds regular files with plain names
 * - each hunk fits exactly at its line number
 * - no attribute of R converts the contents of files
 *
 * For all others the answer is undefined, and the caller asks git. So a refusal is always git's,
 * in git's words. The tree itself stays unchanged.
 *
 * @param gitDir the repository of the tree, whose own attributes count too
 */
export async function plainEdits(
  tree: string,
  patch: string,
  gitDir = join(tree, '.git'),
): Promise<readonly PlainEdit[] | undefined> {
  // Windows has other line ends, modes and names.
  if (process.platform === 'win32') return undefined;
  const text = patch.endsWith('\n') ? patch : `${patch}\n`;
  const parsed = parseUnified(text);
  if (!isPlain(parsed, text)) return undefined;
  try {
    return await editsOf(tree, parsed, gitDir);
  } catch (error) {
    // For example a path below a file, or a file that cannot be read.
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

async function editsOf(
  tree: string,
  parsed: ParsedPatch,
  gitDir: string,
): Promise<readonly PlainEdit[] | undefined> {
  const before = await filesBefore(tree, parsed.files);
  if (before === undefined) return undefined;
  const folders = new Set(parsed.files.flatMap(({ newPath }) => foldersAbove(newPath ?? '')));
  const attributes = await attributesIn(tree, gitDir, folders);
  if (attributes === 'converting') return undefined;
  const applied = await applyPatch(parsed, (path) => Promise.resolve(before.get(path)?.text));
  if (!applied.ok || !isInPlace(parsed, applied.placed)) return undefined;
  const edits: PlainEdit[] = [];
  for (const [path, after] of applied.files) {
    const file = before.get(path);
    if (after === undefined) return undefined;
    // Where attributes say what is text, git looks at carriage returns.
    if (attributes === 'harmless' && `${file?.text}${after}`.includes('\r')) return undefined;
    const isExecutable = file?.isExecutable ?? false;
    edits.push({ path, content: bytesOf(after), isExecutable, exists: file !== undefined });
  }
  return edits;
}

/**
 * Writes edits as git does: a changed file is a new one in place of the old, so that other hard
 * links to it keep their content.
 */
export async function writePlainEdits(tree: string, edits: readonly PlainEdit[]): Promise<void> {
  for (const { path, exists } of edits) if (exists) await rm(join(tree, path));
  for (const { path, content, isExecutable } of edits) {
    const place = join(tree, path);
    await mkdir(dirname(place), { recursive: true });
    // `wx` refuses to write to anything that exists, a link included.
    const file = await open(place, 'wx', isExecutable ? 0o777 : 0o666);
    try {
      await file.writeFile(content);
    } finally {
      await file.close();
    }
  }
}

/** Whether git reads the patch as the parser does, and it only changes and adds regular files. */
function isPlain({ files, problems }: ParsedPatch, text: string): boolean {
  if (files.length === 0 || problems.length > 0) return false;
  const paths = files.map(({ newPath }) => newPath ?? '');
  const isEach = files.every((file) => isPlainFile(file));
  if (!isEach || new Set(paths).size < paths.length) return false;
  if (paths.some((path) => paths.some((other) => other.startsWith(`${path}/`)))) return false;
  const indexLine =
    /^(diff --git .*\n(?:new file mode 100644\n)?)index [0-9a-f]+\.\.[0-9a-f]+(?: 100644)?\n(?=--- )/gm;
  return files.map(formatFilePatch).join('') === text.replace(indexLine, '$1');
}

function isPlainFile({ kind, oldPath, newPath, oldMode, newMode, ...file }: FilePatch): boolean {
  if (newPath === null || file.binary || !file.git || file.hunks.length === 0) return false;
  if (kind === 'added' ? oldPath !== null : kind !== 'modified' || oldPath !== newPath) {
    return false;
  }
  const isRegular = [oldMode, newMode].every((mode) => mode === undefined || mode === '100644');
  // Some file systems take different spellings of other characters for the same name.
  const isPlainName = /^[\x20-\x7e]+$/.test(newPath) && unsafePath(newPath) === undefined;
  return isRegular && isPlainName && !/(^|\/)\.gitattributes$/i.test(newPath);
}

const isInPlace = (asked: ParsedPatch, placed: ParsedPatch): boolean =>
  asked.files.every((file, at) =>
    file.hunks.every(({ oldStart, newStart }, nth) => {
      const hunk = placed.files[at]?.hunks[nth];
      return hunk?.oldStart === oldStart && hunk.newStart === newStart;
    }),
  );

interface FileBefore {
  readonly text: string;
  readonly isExecutable: boolean;
}

/**
 * The files that the patch changes, by path. Undefined where the tree has something else than the
 * patch expects, such as a link in a path.
 */
async function filesBefore(
  tree: string,
  files: readonly FilePatch[],
): Promise<ReadonlyMap<string, FileBefore> | undefined> {
  const found = new Map<string, FileBefore>();
  const folders = new Map<string, Promise<'folder' | 'missing' | 'other'>>();
  const folderAt = (path: string): Promise<'folder' | 'missing' | 'other'> => {
    const known = folders.get(path) ?? kindOfFolder(join(tree, path));
    folders.set(path, known);
    return known;
  };
  for (const { kind, newPath } of files) {
    if (newPath === null) return undefined;
    for (const folder of foldersAbove(newPath)) {
      if ((await folderAt(folder)) === 'other') return undefined;
    }
    const place = join(tree, newPath);
    const info = await lstat(place).catch(missing);
    if (kind === 'added' ? info !== 'missing' : info === 'missing' || !info.isFile()) {
      return undefined;
    }
    if (info === 'missing') continue;
    const isExecutable = (info.mode & 0o100) !== 0;
    found.set(newPath, { text: textOf(await readFile(place)), isExecutable });
  }
  return found;
}

/** @throws what is not the lack of a file */
function missing(error: unknown): 'missing' {
  if (systemCode(error) !== 'ENOENT') throw error;
  return 'missing';
}

async function kindOfFolder(path: string): Promise<'folder' | 'missing' | 'other'> {
  const info = await lstat(path).catch(missing);
  return info === 'missing' ? info : info.isDirectory() ? 'folder' : 'other';
}

/** The folders above a path, the tree itself (an empty path) first. */
function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return ['', ...parts.map((_part, at) => parts.slice(0, at + 1).join('/'))];
}

/**
 * Whether attributes of some folders could change contents between git's objects and the files.
 * `harmless` attributes do not, as long as there are no carriage returns.
 */
async function attributesIn(
  tree: string,
  gitDir: string,
  folders: ReadonlySet<string>,
): Promise<'none' | 'harmless' | 'converting'> {
  let found: 'none' | 'harmless' = 'none';
  const places = [...folders].map((folder) => join(tree, folder, '.gitattributes'));
  for (const place of [join(gitDir, 'info', 'attributes'), ...places]) {
    const info = await lstat(place).catch(missing);
    if (info === 'missing') continue;
    if (!info.isFile() || !(await readFile(place, 'latin1')).split('\n').every(isHarmless)) {
      return 'converting';
    }
    found = 'harmless';
  }
  return found;
}

/** Attributes that do not matter to the content of files without carriage returns. */
const harmless =
  /^(?:[-!]?(?:text|binary|diff|merge|export-ignore|export-subst|linguist-[\w-]+)|text=auto|eol=lf|(?:diff|merge|linguist-[\w-]+)=\S+)$/;

/** A line of gitattributes(5). */
function isHarmless(line: string): boolean {
  const trimmed = line.trim();
  if (trimmed === '' || trimmed.startsWith('#')) return true;
  // A quoted or plain pattern, and attributes. A macro begins with `[attr]`.
  const match = /^(?:"(?:[^"\\]|\\.)*"|[^\s"[]\S*)((?:\s+\S+)*)$/.exec(trimmed);
  const [, attributes] = match ?? [];
  if (attributes === undefined) return false;
  return attributes
    .trim()
    .split(/\s+/)
    .every((each) => each === '' || harmless.test(each));
}
