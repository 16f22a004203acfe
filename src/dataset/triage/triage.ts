import { isUtf8 } from 'node:buffer';
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { lock } from 'proper-lockfile';
import { readPlainFile } from '../../files/plainFile';
import { checkedId } from '../../domain/instanceId';
import { HumanError, messageOf, systemCode } from '../../domain/humanError';
import { isLiteS, type TriageEntry } from '../../domain/triage';
import {
  emptyTriage,
  isEmpty,
  parseTriage,
  printTriage,
  tidy,
  type TriageFile,
} from './triageFile';

export { mergeTriage, type TriageConflict } from './mergeTriage';
export { isTriageFile, type TriageFile } from './triageFile';

/**
 * Reads the triage file at `path`; an empty one if there is none yet.
 *
 * @throws HumanError if it cannot be read or used
 */
export async function readTriage(path: string): Promise<TriageFile> {
  const text = await textOf(path);
  return text === undefined ? emptyTriage : parseTriage(text, path);
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    const bytes = await readPlainFile(path, { named: true });
    // An edit would write other bytes in the place of those that are no text.
    if (!isUtf8(bytes)) throw new Error('it is not UTF-8');
    return bytes.toString('utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new HumanError(
      systemCode(error) === 'EISDIR'
        ? `The triage file ${path} is a folder`
        : `The triage file ${path} cannot be read (${messageOf(error)})`,
      'Name a JSON file, which may be new',
    );
  }
}

/**
 * Changes the entry of one instance. `change` gets the present entry, or undefined, and returns the
 * new one. An empty entry is deleted. Other windows and processes that change the same file wait,
 * so that no edit is lost.
 *
 * @returns the file as it is now
 * @throws HumanError if the file cannot be read, used or written, or a tag is not valid
 */
export function updateTriage(
  path: string,
  id: string,
  change: (entry: TriageEntry | undefined) => TriageEntry | undefined,
): Promise<TriageFile> {
  return editTriage(path, (file) => {
    const entry = change(file.instances.get(id));
    const instances = new Map(file.instances);
    // The entry may have fields of a later version, which must stay.
    instances.set(checkedId(id), entry ?? emptyTriageEntry);
    return { ...file, instances };
  });
}

export const emptyTriageEntry: TriageEntry = { tags: [], note: '', classification: {} };

/** Like `updateTriage`, for the file as a whole. `edit` may be called several times. */
export async function editTriage(
  path: string,
  edit: (file: TriageFile) => TriageFile,
): Promise<TriageFile> {
  const target = await placeOf(path);
  const hold = await acquire(target, path);
  try {
    for (;;) {
      const before = await textOf(target);
      const file = before === undefined ? emptyTriage : parseTriage(before, path);
      const edited = tidy(edit(file));
      const after = printTriage(edited);
      if (after === before || (before === undefined && edited.instances.size === 0)) return edited;
      // The text must be readable, whatever `edit` did.
      parseTriage(after, path);
      // A program without our lock, such as an editor or git, may have written meanwhile.
      const free = async (): Promise<boolean> => !hold.lost() && (await textOf(target)) === before;
      if (await replace(target, after, free)) return edited;
      if (hold.lost()) {
        throw new HumanError(
          `Another process took over the triage file ${path} while this one was suspended`,
          'Try again',
        );
      }
    }
  } catch (error) {
    throw unwritable(error, path);
  } finally {
    await hold.release();
  }
}

/** The real path behind links. So a link stays a link, and all names of the file share one lock. */
async function placeOf(path: string): Promise<string> {
  try {
    const folder = dirname(resolve(path));
    await mkdir(folder, { recursive: true });
    return await realpath(resolve(path)).catch(async () =>
      join(await realpath(folder), basename(path)),
    );
  } catch (error) {
    throw unwritable(error, path);
  }
}

async function acquire(
  target: string,
  path: string,
): Promise<{ lost(): boolean; release(): Promise<void> }> {
  let lost = false;
  try {
    const release = await lock(target, {
      realpath: false,
      // The work takes milliseconds, so a lock of this age was left by a killed process.
      stale: 5_000,
      retries: { retries: 400, factor: 1.1, minTimeout: 5, maxTimeout: 50, randomize: true },
      onCompromised: () => (lost = true),
    });
    return {
      lost: () => lost,
      // Fails if the lock was lost, since it then belongs to another process.
      release: () => release().catch(() => undefined),
    };
  } catch (error) {
    if (systemCode(error) === 'ELOCKED') {
      throw new HumanError(
        `The triage file ${path} is being written by another process`,
        `Try again; if none runs, delete ${target}.lock`,
      );
    }
    throw unwritable(error, path);
  }
}

/**
 * Writes beside and renames, if `free` is still true. Before that it compares the file with the
 * text.
 */
async function replace(
  target: string,
  text: string,
  free: () => Promise<boolean>,
): Promise<boolean> {
  // All lock holders use one name, so the next edit removes the file of a killed process.
  const beside = `${target}.new`;
  const mode = (await stat(target).catch(() => undefined))?.mode;
  try {
    await rm(beside, { force: true });
    const file = await open(beside, 'wx', mode === undefined ? 0o666 : mode & 0o777);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await readFile(beside, 'utf8')) !== text) throw new Error('what was written is not there');
    if (!(await free())) return false;
    await rename(beside, target);
    return true;
  } finally {
    await rm(beside, { force: true });
  }
}

function unwritable(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (error instanceof HumanError || code === undefined) return error;
  return new HumanError(
    code === 'ENOSPC'
      ? `There is no space left to write the triage file ${path}`
      : `The triage file ${path} cannot be written (${messageOf(error)})`,
    code === 'ENOSPC' ? 'Free some; the file is as it was' : 'Name a file that can be written',
  );
}

/**
 * The file as a filter list. It keeps the judged instances that belong to Lite-S of the Agentless
 * paper. Their issue is sufficient, does not mislead and does not contain the exact patch.
 */
export function triageFilter(file: TriageFile): { keeps(id: string): boolean } {
  return {
    keeps: (id) => {
      const entry = file.instances.get(id);
      return entry !== undefined && !isEmpty(entry) && isLiteS(entry);
    },
  };
}
