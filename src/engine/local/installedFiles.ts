import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { sha256 } from '../../files/digest';
import { stampAt, type FileStamp } from '../../repository/treeFiles';

/** Folders that an interpreter imports from. */
export interface ImportFolders {
  /** Folders of installed packages; all of their content counts. */
  readonly sites: readonly string[];
  /** Folders of the standard library. */
  readonly standard: readonly string[];
  /**
   * Folders of projects that are installed in place. Only files that can be imported, or that
   * configure the project, count.
   */
  readonly others: readonly string[];
  /**
   * Folders of programs that run beside tests. They are no part of this digest, since their content
   * is digested elsewhere.
   */
  readonly own: readonly string[];
}

/** The files that an interpreter can import, at one moment. */
export interface InstalledFiles {
  /** Stamps by path, without compiled files. */
  readonly files: ReadonlyMap<string, FileStamp>;
  /** Compiled files, by path. */
  readonly compiled: ReadonlyMap<string, FileStamp>;
  /** Folders that were read. */
  readonly listed: ReadonlySet<string>;
  /** Changes when any of the files does. */
  readonly digest: string;
}

/** The differences to an earlier state. */
export interface InstalledChanges {
  readonly files: readonly string[];
  readonly compiled: readonly string[];
  readonly now: InstalledFiles;
}

/** A project's own folder contains much else, such as repositories, results and data. */
const counts = /\.(py|pth|so|pyd|cfg|toml|ini|egg-link)$/;

/** Folders below a project that nothing is imported from. */
const passedOver = /^(\.|node_modules$)/;

/** Folders below the standard library that are read separately, or that no test imports from. */
const notOfStandard = ['site-packages', 'dist-packages', 'test', 'idlelib', 'turtledemo'];

interface Root {
  readonly path: string;
  readonly wanted: (name: string) => boolean;
  readonly skip: (name: string) => boolean;
}

function rootsOf({ sites, standard, others, own }: ImportFolders): Root[] {
  return [
    ...sites.map((path): Root => ({ path, wanted: () => true, skip: () => false })),
    ...standard.map((path): Root => ({
      path,
      wanted: () => true,
      skip: (name) => notOfStandard.includes(name),
    })),
    ...[...others, ...own].map((path): Root => ({
      path,
      wanted: (name) => counts.test(name),
      skip: (name) => passedOver.test(name),
    })),
  ];
}

/** Reads the stamps of all files in the folders, at some ten microseconds for each file. */
export async function readInstalled(folders: ImportFolders): Promise<InstalledFiles> {
  const found = emptyListing();
  for (const root of rootsOf(folders)) {
    const own = stampAt(root.path);
    // A missing folder may be created later; a root may also be an archive.
    if (own === undefined) found.files.set(root.path, 'gone');
    else if ((await readdir(root.path).catch(() => undefined)) === undefined) {
      found.files.set(root.path, own);
    } else await readFolder(root, root.path, found);
  }
  return finish(found, folders.own);
}

interface Listing {
  readonly files: Map<string, FileStamp>;
  readonly compiled: Map<string, FileStamp>;
  /** Folders that were read. */
  readonly listed: Set<string>;
}

const emptyListing = (): Listing => ({ files: new Map(), compiled: new Map(), listed: new Set() });

/** @param known folders below it that need not be read, since they are known */
async function readFolder(
  root: Root,
  folder: string,
  { files, compiled, listed }: Listing,
  known: ReadonlySet<string> = new Set(),
): Promise<void> {
  listed.add(folder);
  const isOfCaches = basename(folder) === '__pycache__';
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!root.skip(entry.name) && !known.has(path)) {
        await readFolder(root, path, { files, compiled, listed }, known);
      }
      // Installing the same version again leaves the same names, but another folder.
      if (/\.(dist|egg)-info$/.test(entry.name)) files.set(path, stampAt(path) ?? 'gone');
    } else if (isOfCaches) compiled.set(path, stampAt(path) ?? 'gone');
    else if (root.wanted(entry.name)) files.set(path, stampAt(path) ?? 'gone');
  }
}

function finish(listing: Listing, own: readonly string[]): InstalledFiles {
  const isOwn = (path: string): boolean => own.some((root) => path.startsWith(join(root, sep)));
  let digest: string | undefined;
  return {
    ...listing,
    get digest() {
      digest ??= sha256(
        [...listing.files]
          .flatMap(([path, stamp]) => (isOwn(path) ? [] : `${path}\0${stamp}\n`))
          .sort()
          .join(''),
      );
      return digest;
    },
  };
}

/**
 * The changes since `before`.
 *
 * @param newer entries of which alone some have changed, with the folders in which any came or went;
 *   undefined to compare everything
 */
export async function changesSince(
  folders: ImportFolders,
  before: InstalledFiles,
  newer: readonly string[] | undefined,
): Promise<InstalledChanges> {
  const now =
    newer === undefined || haveRootsComeOrGone(folders, before)
      ? await readInstalled(folders)
      : await bringUpToDate(folders, before, newer);
  if (now === before) return { files: [], compiled: [], now };
  return {
    files: differing(now.files, before.files),
    compiled: differing(now.compiled, before.compiled),
    now,
  };
}

/** Paths whose stamps differ, or that only one of the maps has. */
export const differing = (
  one: ReadonlyMap<string, FileStamp>,
  other: ReadonlyMap<string, FileStamp>,
): string[] => [
  ...[...one].flatMap(([path, stamp]) => (other.get(path) === stamp ? [] : [path])),
  ...[...other.keys()].filter((path) => !one.has(path)),
];

/** Reads newer entries again. */
async function bringUpToDate(
  folders: ImportFolders,
  before: InstalledFiles,
  newer: readonly string[],
): Promise<InstalledFiles> {
  const changedFolders = new Set<string>();
  const changed: string[] = [];
  for (const path of newer) {
    if (before.listed.has(path)) changedFolders.add(path);
    else if (before.files.has(path) || before.compiled.has(path)) changed.push(path);
    // All other newer entries are in a folder that is newer too, or do not count.
  }
  const isSame = changed.every(
    (path) => (before.files.get(path) ?? before.compiled.get(path)) === stampAt(path),
  );
  if (changedFolders.size === 0 && isSame) return before;

  const found: Listing = {
    files: new Map(before.files),
    compiled: new Map(before.compiled),
    listed: new Set(before.listed),
  };
  const gone = [...before.listed].filter((path) => stampAt(path) === undefined);
  const isBelowGone = (path: string): boolean =>
    gone.some((folder) => path.startsWith(join(folder, sep)));
  for (const of of [found.files, found.compiled]) {
    for (const path of of.keys()) {
      if (changedFolders.has(dirname(path)) || (gone.length > 0 && isBelowGone(path))) {
        of.delete(path);
      }
    }
  }
  for (const folder of gone) found.listed.delete(folder);
  for (const root of rootsOf(folders)) {
    for (const folder of changedFolders) {
      if (folder !== root.path && !folder.startsWith(join(root.path, sep))) continue;
      if (gone.includes(folder) || isSkipped(root, folder)) continue;
      await readFolder(root, folder, found, found.listed);
    }
  }
  for (const path of changed) {
    const stamp = stampAt(path);
    for (const of of [found.files, found.compiled]) {
      if (!of.has(path)) continue;
      if (stamp === undefined) of.delete(path);
      else of.set(path, stamp);
    }
  }
  return finish(found, folders.own);
}

/** Whether a folder is below one that this root skips; another root may include it. */
const isSkipped = (root: Root, folder: string): boolean =>
  folder
    .slice(root.path.length)
    .split(sep)
    .some((name) => name !== '' && root.skip(name));

const pathsOf = ({ sites, standard, others, own }: ImportFolders): string[] => [
  ...sites,
  ...standard,
  ...others,
  ...own,
];

const haveRootsComeOrGone = (folders: ImportFolders, before: InstalledFiles): boolean =>
  pathsOf(folders).some(
    (path) => (stampAt(path) === undefined) !== (before.files.get(path) === 'gone'),
  );

/**
 * Entries that have changed after a moment, which `find` looks for in a tenth of the time of a full
 * comparison; undefined where that cannot be determined.
 *
 * @param before read after the moment
 * @param moment milliseconds since 1970
 */
export async function newerEntries(
  folders: ImportFolders,
  before: InstalledFiles,
  moment: number,
): Promise<string[] | undefined> {
  if (process.platform === 'win32') return undefined;
  const present = pathsOf(folders).filter((path) => stampAt(path) !== undefined);
  const { standard } = folders;
  const temporary = await mkdtemp(join(tmpdir(), 'swt-bench-newer-'));
  try {
    const reference = join(temporary, 'reference');
    await writeFile(reference, '');
    await utimes(reference, moment / 1000, moment / 1000);
    const rest = present.filter((path) => !standard.includes(path));
    const found = await Promise.all([
      newerThan(
        reference,
        present.filter((path) => standard.includes(path)),
        notOfStandard,
      ),
      ...partsOf(rest, before).map((part) => newerThan(reference, ...part)),
    ]);
    return found.some((paths) => paths === undefined)
      ? undefined
      : found.flatMap((paths) => paths ?? []);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Number of folders from which on two processes search faster than one. */
const manyFolders = 500;

/**
 * Searches that together cover some roots: one of all, or with many folders one of the roots
 * themselves and two of the folders in them. A new folder also changes its root.
 */
function partsOf(
  roots: readonly string[],
  { listed }: InstalledFiles,
): (readonly [folders: readonly string[], without: readonly string[], depth?: number])[] {
  const starts = roots.map((root) => join(root, sep));
  const sizes = new Map<string, number>();
  for (const folder of listed) {
    const start = starts.find((each) => folder.startsWith(each));
    if (start === undefined) continue;
    const end = folder.indexOf(sep, start.length);
    const top = end < 0 ? folder : folder.slice(0, end);
    sizes.set(top, (sizes.get(top) ?? 0) + 1);
  }
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (total < manyFolders) return [[roots, []]];
  const halves: [string[], string[]] = [[], []];
  let weight = 0;
  for (const [folder, size] of [...sizes].sort(([, one], [, other]) => other - one)) {
    halves[weight > 0 ? 1 : 0].push(folder);
    weight += weight > 0 ? -size : size;
  }
  return [[roots, [], 1], ...halves.map((half) => [half, []] as const)];
}

/**
 * Entries below folders that have changed after a file was written; undefined without `find`.
 *
 * @param without names of folders to leave out
 * @param depth how far below the folders to search; without a limit when absent
 */
function newerThan(
  reference: string,
  folders: readonly string[],
  without: readonly string[],
  depth?: number,
): Promise<string[] | undefined> {
  if (folders.length === 0) return Promise.resolve([]);
  const limit = depth === undefined ? [] : ['-maxdepth', String(depth)];
  const names = without.flatMap((name, index) => [...(index === 0 ? [] : ['-o']), '-name', name]);
  const prune = names.length === 0 ? [] : ['(', ...names, ')', '-prune', '-o'];
  return new Promise((resolve) => {
    execFile(
      'find',
      [...folders, ...limit, ...prune, '-cnewer', reference, '-print0'],
      { maxBuffer: 1 << 26, env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' } },
      (error, stdout) =>
        // An unreadable folder makes `find` fail, but its output for the other folders is valid.
        resolve(error !== null && stdout === '' ? undefined : stdout.split('\0').filter(Boolean)),
    );
  });
}
