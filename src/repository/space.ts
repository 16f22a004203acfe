import { statfs } from 'node:fs/promises';
import { HumanError, messageOf, systemCode } from '../domain/humanError';
import { GitError } from './git/git';

/**
 * The error for a person when `error` says that a disk or quota is full, from Node or in the words
 * of git. Undefined for any other error.
 *
 * @param folder the folder that was written to
 */
export function noSpace(error: unknown, folder: string): HumanError | undefined {
  const code = systemCode(error);
  const text = error instanceof GitError ? error.stderr : messageOf(error);
  const full =
    code === 'ENOSPC' ||
    code === 'EDQUOT' ||
    /No space left on device|out of disk ?space|Disk quota exceeded|not enough space|\bENOSPC\b/i.test(
      text,
    );
  return full
    ? new HumanError(
        `No space left on the disk of ${folder}`,
        'Free some (`swt-bench storage` shows what this program uses), or name another folder with --storage or the setting `swt-bench.storageFolder`',
      )
    : undefined;
}

/**
 * Like {@link noSpace}, but also checks the disk itself, because git does not always give the
 * cause. Call it before anything is removed.
 */
export async function fullDisk(error: unknown, folder: string): Promise<HumanError | undefined> {
  const known = noSpace(error, folder);
  if (known !== undefined || !(error instanceof GitError)) return known;
  const disk = await statfs(folder).catch(() => undefined);
  // Some file systems do not count inodes and report 0 of 0.
  const full =
    disk !== undefined &&
    (disk.bavail * disk.bsize < 32 * 1024 || (disk.files > 0 && disk.ffree === 0));
  return full ? noSpace(Object.assign(new Error(), { code: 'ENOSPC' }), folder) : undefined;
}
