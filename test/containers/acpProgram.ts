import { build } from 'esbuild';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Makes the program folder of a fake agent: Node, the agent in one file, and a command `NAME` that
 * starts it.
 *
 * @param folder new folder
 * @param part what the agent plays when its command names nothing
 */
export async function acpProgram(folder: string, name: string, part: string): Promise<void> {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await copyFile(process.execPath, join(bin, 'node'));
  await build({
    ...{ entryPoints: [join(__dirname, 'fakeAcpAgent.ts')], outfile: join(folder, 'agent.cjs') },
    ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'error' },
  });
  const command = join(bin, name);
  await writeFile(command, `#!/bin/sh\nexec /agent/bin/node /agent/agent.cjs ${part}\n`);
  for (const file of [join(bin, 'node'), command]) await chmod(file, 0o755);
}
