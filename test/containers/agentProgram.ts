import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** `acpProgram` of the script beside this file. */
export async function agentProgram(folder: string, name: string, part: string): Promise<void> {
  const script = (await import(pathToFileURL(join(__dirname, 'acpProgram.mjs')).href)) as {
    readonly acpProgram: (folder: string, name: string, part: string) => Promise<void>;
  };
  await script.acpProgram(folder, name, part);
}
