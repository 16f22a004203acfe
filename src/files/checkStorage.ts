import {
  access,
  constants,
  mkdtemp,
  readdir,
  rm,
  rmdir,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { HumanError, systemCode } from '../domain/work';
import { makeFolder, besideOf } from './wholeFile';
import { causesOfPlace } from './systemFault';

/** With less, not even one run can be kept. */
const leastBytes = 1024 * 1024;

/**
 * Tries to write to the storage folder, which is created if necessary, and to the folder of
 * temporary files.
 *
 * @throws HumanError that names the setting or the variable
 */
export async function checkStorage(storage: string): Promise<void> {
  const probe = besideOf(join(storage, 'probe'));
  try {
    await makeFolder(storage);
    await writeFile(probe, 'x', { flag: 'wx' });
    const { bavail, bsize } = await statfs(storage);
    if (bavail * bsize < leastBytes) throw storageError(storage, 'the disk is full');
    await checkContents(storage);
  } catch (error) {
    throw storageFault(error, storage) ?? error;
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
  await checkTemporary();
}

/** What another user made in the folder, as with `sudo`, refuses each instance later. */
async function checkContents(storage: string): Promise<void> {
  const { R_OK, W_OK, X_OK } = constants;
  for (const entry of await readdir(storage, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    await access(join(storage, entry.name), R_OK | W_OK | X_OK).catch((error: unknown) => {
      const cause = causesOfPlace[systemCode(error) ?? ''];
      // Another process removed it meanwhile.
      if (cause === undefined || systemCode(error) === 'ENOENT') return;
      throw storageError(storage, `${cause} for ${entry.name}, which is in it`);
    });
  }
}

async function checkTemporary(): Promise<void> {
  try {
    await rmdir(await mkdtemp(join(tmpdir(), 'swt-bench-probe-')));
  } catch (error) {
    const cause = causesOfPlace[systemCode(error) ?? ''];
    if (cause === undefined) throw error;
    throw new HumanError(
      `Can't write to the temporary folder ${tmpdir()}: ${cause}`,
      'Set TMPDIR to a writable folder',
    );
  }
}

/**
 * The error of a storage folder that cannot be used, which names the setting. Undefined for an error
 * about anything else.
 *
 * @param storage the folder, which the system may have refused to create below another one
 */
export function storageFault(error: unknown, storage: string): HumanError | undefined {
  const cause = causesOfPlace[systemCode(error) ?? ''];
  if (cause === undefined || error instanceof HumanError) return undefined;
  const { path, dest } = error as { readonly path?: unknown; readonly dest?: unknown };
  const about = [path, dest].filter((each) => typeof each === 'string');
  const isOfStorage = about.some((each) => isBelow(each, storage) || isBelow(storage, each));
  return isOfStorage ? storageError(storage, cause) : undefined;
}

/** @param cause why, as a clause */
const storageError = (storage: string, cause: string): HumanError =>
  new HumanError(
    `Can't write to the storage folder ${storage}: ${cause}`,
    'Choose another folder with --storage or the setting `swt-bench.storageFolder`',
  );

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !/^\.\.(?:[\\/]|$)/.test(way);
}
