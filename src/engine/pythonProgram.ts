import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The path of a program in Python. It is found from this file, which stays in this folder: the build
 * copies the folders with programs beside the bundle.
 */
export const pythonProgram = (folder: 'agent' | 'programs', name: string): string =>
  join(__dirname, folder, name);

const texts = new Map<string, string>();

/**
 * The text of a program, for an interpreter that cannot read the files of this machine.
 *
 * @param names of the program, after those of what it uses
 */
export const pythonText = (...names: readonly string[]): string => names.map(textOf).join('\n');

function textOf(name: string): string {
  const text = texts.get(name) ?? readFileSync(pythonProgram('programs', name), 'utf8');
  texts.set(name, text);
  return text;
}
