import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveEntry } from './archive';
import { tracerFolder } from './containerSandbox';

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
