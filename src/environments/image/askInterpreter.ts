import { pythonText } from '../../engine/pythonProgram';
import { z } from 'zod';
import { HumanError } from '../../domain/work';
import type { ImageCommands } from '../../engine/environmentMaker';

/** A word of an image, which becomes a part of commands and labels: on one line, and not long. */
// oxlint-disable-next-line no-control-regex
const plain = z.string().regex(/^[^\u0000-\u001f\u007f]{0,1000}$/);

/** What an interpreter reports about itself and the packages installed for it. */
export const interpreterAnswer = z.object({
  executable: plain,
  version: plain,
  packages: z.array(plain).max(10_000),
});
export type Interpreter = z.infer<typeof interpreterAnswer>;

/**
 * Asks the first of the candidates that exists.
 *
 * @param isForeign whether packages are installed for it, whose code then runs with it
 * @returns undefined when none exists
 */
async function askInterpreter(
  container: ImageCommands,
  candidates: readonly string[],
  isForeign = false,
): Promise<Interpreter | undefined> {
  for (const python of candidates) {
    const ended = await container.attempt([python, '-c', pythonText('list_packages.py')], {
      isForeign,
    });
    if (ended.code !== 0) continue;
    const line = ended.standard.trim().split('\n').at(-1) ?? '';
    try {
      const read = interpreterAnswer.parse(JSON.parse(line));
      return { ...read, executable: python.startsWith('/') ? python : read.executable };
    } catch {
      continue;
    }
  }
  return undefined;
}

/** @throws HumanError when no candidate exists, or when it is too old for the tracer */
export async function needInterpreter(
  container: ImageCommands,
  image: string,
  candidates: readonly string[],
  isForeign = false,
): Promise<Interpreter> {
  const found = await askInterpreter(container, candidates, isForeign);
  if (found === undefined) {
    throw new HumanError(
      `The image ${image} has no Python: tried ${candidates.join(', ')}`,
      "Specify an image with the instance's environment",
    );
  }
  const [major = 0, minor = 0] = found.version.split('.').map(Number);
  if (major !== 3 || minor < 6) {
    throw new HumanError(
      `The image ${image} has Python ${found.version}: tests can be traced from 3.6 on`,
      'Specify an image with a newer Python, or let SWT-Bench build the environment',
    );
  }
  return found;
}

/**
 * Returns the number of the user that tests run as. That is the wanted user, or 0 where the wanted
 * one cannot run the interpreter.
 *
 * @param folder of the repository
 */
export async function testUser(
  container: ImageCommands,
  python: string,
  folder: string,
  user: number,
  isForeign = false,
): Promise<number> {
  const { code } = await container.attempt([python, '-c', 'import os, json; os.listdir(".")'], {
    user,
    cwd: folder,
    isForeign,
  });
  return code === 0 ? user : 0;
}
