import type { Instance } from '../domain/instance';
import {
  Cancelled,
  messageOf,
  throwIfAborted,
  systemCode,
  type Reporter,
  HumanError,
} from '../domain/work';
import { SourceUnusable, withoutPassword } from './git';
import { removeForce } from './lock';
import { noSpace } from './storage';
import { cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import * as tar from 'tar';

/**
 * The origin of R. A snapshot is not the base commit itself. Someone only declares it to be close,
 * such as a release, so reports name it.
 */
export interface TreeSource {
  readonly kind: 'commit' | 'snapshot';
  /** Path or address. */
  readonly from: string;
}

/** The source for the tree of an instance: the one of `--source`, else GitHub. */
export async function sourceOf(instance: Instance, sources: Sources): Promise<TreeSource> {
  const where = sources.get(instance.repo) ?? sources.get('*');
  if (where === undefined)
    return { kind: 'commit', from: `https://github.com/${instance.repo}.git` };
  if (isUrl(where)) {
    if (/\.(tar|tgz|tar\.gz|zip)$/i.test(where)) {
      throw new SourceUnusable(
        `The source ${withoutPassword(where)} of ${instance.repo} is a remote archive`,
        'Download it and specify the file, or use the URL of a git repository',
      );
    }
    return { kind: 'commit', from: where };
  }
  const path = resolve(where);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    const what = `The source ${where} of ${instance.repo} does not exist`;
    throw new SourceUnusable(
      what,
      'Specify a git repository, a folder, a .tar.gz archive, or a URL',
      what,
    );
  }
  if (found.isFile()) {
    if (!/\.(tar|tgz|tar\.gz)$/.test(path)) {
      throw new SourceUnusable(
        `The source ${where} is a file but not a .tar or .tar.gz archive`,
        'Unpack it and specify the folder',
      );
    }
    return { kind: 'snapshot', from: path };
  }
  const repository = (await repositoryAt(path)) !== undefined;
  return { kind: repository ? 'commit' : 'snapshot', from: path };
}

/** Whether `where` is an address rather than a path. */
export const isUrl = (where: string): boolean =>
  /^(https?|ssh|git|file):\/\/|^[\w.-]+@[\w.-]+:/.test(where);

/** The git directory of a repository with or without a work tree; undefined for a plain folder. */
export async function repositoryAt(path: string): Promise<string | undefined> {
  const exists = async (name: string): Promise<boolean> =>
    (await stat(join(path, name)).catch(() => undefined)) !== undefined;
  if (await exists('.git')) return join(path, '.git');
  return (await exists('HEAD')) && (await exists('objects')) ? path : undefined;
}

/**
 * Writes the files of a snapshot, without any history, into the empty folder `out`.
 *
 * @throws HumanError when the folder or archive cannot be read
 */
export async function writeSnapshot(
  source: TreeSource,
  out: string,
  options: { readonly signal?: AbortSignal | undefined; readonly reporter: Reporter },
): Promise<void> {
  throwIfAborted(options.signal);
  options.reporter.progress(`copying ${basename(source.from)}`);
  const info = await stat(source.from).catch((error: unknown) => {
    throw new SourceUnusable(
      `The snapshot ${source.from} cannot be read (${messageOf(error)})`,
      'Specify another one with --source',
    );
  });
  if (info.isFile()) await unpack(source.from, out, options.signal);
  else await copySnapshot(source.from, out, options.signal);
}

async function copySnapshot(
  from: string,
  out: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await cp(from, out, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => {
      throwIfAborted(signal);
      const name = basename(path);
      // In upper or lower case, because some disks would take it for the repository of the copy.
      return !/^\.git$/i.test(name) && !/^(__pycache__|\.hg|\.tox|\.venv|node_modules)$/.test(name);
    },
  }).catch((error: unknown) => {
    const code = systemCode(error) ?? '';
    // The cause is something that is neither file, folder nor link, such as a pipe.
    if (!code.startsWith('ERR_FS_CP_')) throw error;
    throw new SourceUnusable(
      `The snapshot ${from} cannot be copied (${messageOf(error)})`,
      'Remove everything except files, folders and links, or specify another snapshot with --source',
    );
  });
}

/** Reduces the mode to one of git's: no file may run as its owner, or be written by all. */
function withPlainMode(entry: { mode?: number | undefined } | object): void {
  if (!('mode' in entry) || entry.mode === undefined) return;
  const isProgram =
    'type' in entry && entry.type === 'Directory' ? true : (entry.mode & 0o100) !== 0;
  entry.mode = isProgram ? 0o755 : 0o644;
}

/** Unpacks an archive; a single folder at its top (`sympy-1.11.1/`) becomes the root. */
async function unpack(
  archive: string,
  out: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const beside = `${out}.unpacked`;
  await mkdir(beside, { recursive: true });
  try {
    await tar.extract({
      file: archive,
      cwd: beside,
      preservePaths: false,
      strict: true,
      // A repository inside would bring its history, and settings that run programs.
      filter: (path, entry) => {
        withPlainMode(entry);
        return signal?.aborted !== true && !/(^|\/)\.git(\/|$)/i.test(path);
      },
    });
    throwIfAborted(signal);
    const entries = await readdir(beside, { withFileTypes: true });
    const only = entries.length === 1 ? entries[0] : undefined;
    await rm(out, { recursive: true, force: true });
    await rename(only?.isDirectory() === true ? join(beside, only.name) : beside, out);
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    const full = noSpace(error, out);
    if (full !== undefined) throw full;
    throw new SourceUnusable(
      `The archive ${archive} cannot be unpacked (${messageOf(error)})`,
      'Download it again, or unpack it and specify the folder',
    );
  } finally {
    // After an error in one entry, others may still be being written.
    await removeForce(beside);
  }
}

/** `--source` arguments: `owner/name=WHERE` for one repository, or `WHERE` for every one. */
export type Sources = ReadonlyMap<string, string>;

/** @throws HumanError when a part is empty */
export function parseSources(values: readonly string[]): Sources {
  const sources = new Map<string, string>();
  for (const value of values) {
    const match = /^([A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+)=(.*)$/.exec(value);
    const [repo, where] = [match?.[1] ?? '*', match?.[2] ?? value];
    if (where.trim() === '') {
      throw new HumanError(
        repo === '*' ? '--source is empty' : `--source ${value} has no path or URL`,
        'Write --source owner/name=PATH_OR_URL or --source PATH',
      );
    }
    sources.set(repo, where);
  }
  return sources;
}

/** The project of the bundled instance. It exists nowhere but in this package. */
export const bundledProject = 'tallybook/tallybook';

/**
 * Sources with that of the bundled project, for every dataset that has its row. A source that is
 * given for this project counts instead, and one for all others does not.
 *
 * @param given as `--source` takes them
 * @param bundled folder of the bundled project
 */
export const withBundledSource = (given: readonly string[], bundled: string): readonly string[] => [
  `${bundledProject}=${bundled}`,
  ...given,
];
