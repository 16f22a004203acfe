import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { create } from 'tar';
import { HumanError, messageOf } from '../../domain/work';
import { earliestTime, type ArchiveEntry } from './archive';
import { tracerFolder } from './containerSandbox';

/**
 * The folder of an agent's program as a tar that is produced while it is read. Links stay links, and
 * nobody may write.
 *
 * @throws HumanError when the folder cannot be read
 */
export async function programArchive(
  folder: string,
  signal: AbortSignal | undefined,
): Promise<Readable> {
  await readable(folder, () => readdir(folder));
  const archive = create(
    {
      ...{ cwd: folder, portable: true, mtime: new Date(earliestTime * 1000) },
      filter: (_path, about) => {
        // Whoever owns the files here, every user of the container may read and run them. Windows
        // knows no such permission.
        const runs = process.platform === 'win32' || ((about.mode ?? 0) & 0o111) !== 0;
        about.mode = ((about.mode ?? 0) & ~0o777) | (runs ? 0o755 : 0o644);
        return true;
      },
    },
    ['.'],
  );
  return Readable.from(archive, { objectMode: false, ...(signal !== undefined && { signal }) });
}

/** Bytes of the common block of a file system, which a file takes up as a whole. */
const block = 4096;

/**
 * Bytes that the files of a program take up on a disk.
 *
 * @throws HumanError when the folder cannot be read
 */
export async function programBytes(folder: string): Promise<number> {
  const paths = await readable(folder, () => readdir(folder, { recursive: true }));
  let bytes = block;
  for (const path of paths) {
    const { size } = await readable(folder, () => lstat(join(folder, path)));
    bytes += Math.ceil(Math.max(size, 1) / block) * block;
  }
  return bytes;
}

async function readable<T>(folder: string, read: () => Promise<T>): Promise<T> {
  return read().catch((error: unknown) => {
    throw new HumanError(
      `The agent folder ${folder} cannot be read (${messageOf(error)})`,
      'Check that the folder exists',
    );
  });
}

/** The Python files that every container gets. */
export async function ownFiles(assets: string): Promise<ArchiveEntry[]> {
  const read = async (folder: string, to: string): Promise<ArchiveEntry[]> => {
    const names = (await readdir(join(assets, folder))).filter((name) => name.endsWith('.py'));
    return Promise.all(
      names.map(async (name) => ({
        path: `${to}/${name}`,
        content: await readFile(join(assets, folder, name)),
      })),
    );
  };
  const both = await Promise.all([
    read('tracer', tracerFolder.slice(1)),
    read('agent', agentFolder.slice(1)),
  ]);
  return both.flat();
}

/** Folder of the agent in a container. */
export const agentFolder = '/swt/agent';
