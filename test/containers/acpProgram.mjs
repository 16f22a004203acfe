import { build } from 'esbuild';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('fakeAcpAgent.ts', import.meta.url));

/**
 * Makes the program folder of a fake agent: Node, the agent in one file, and a command `NAME` that
 * starts it.
 *
 * @param {string} folder new folder
 * @param {string} name of the command
 * @param {string} part what the agent plays when its command names nothing
 * @returns {Promise<void>}
 */
export async function acpProgram(folder, name, part) {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await copyFile(process.execPath, join(bin, 'node'));
  await build({
    ...{ entryPoints: [source], outfile: join(folder, 'agent.cjs') },
    ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'error' },
  });
  const command = join(bin, name);
  await writeFile(command, `#!/bin/sh\nexec /agent/bin/node /agent/agent.cjs ${part}\n`);
  for (const file of [join(bin, 'node'), command]) await chmod(file, 0o755);
}
