import { environmentFolder } from '../../engine/docker';
import type { Command, ImageCommands } from '../../engine/environmentMaker';
import { pythonText } from '../../engine/pythonProgram';

/**
 * Compiles what is not compiled yet, on several processors where there are several. Files that are
 * not valid for this version of Python, such as test data, are not compiled, without an error.
 */
export async function compileFolder(
  commands: Pick<ImageCommands, 'attempt'>,
  python: string,
  folder: string,
  command: Command,
): Promise<void> {
  const program = pythonText('compile_sources.py', 'compile_folder.py');
  await commands.attempt([python, '-I', '-S', '-c', program, folder], command);
}

/**
 * Compiles the packages of the environment. Nothing can do so later, since it is closed to the user
 * of tests.
 *
 * @param python interpreter of the base image
 * @param env the environment of programs that run uv
 */
export const compileEnvironment = (
  commands: Pick<ImageCommands, 'attempt'>,
  python: string,
  env: Readonly<Record<string, string>>,
): Promise<void> =>
  compileFolder(commands, python, `${environmentFolder}/lib`, {
    // Python 3.6 takes names of files for ASCII where an image sets no locale.
    env: { ...env, LC_ALL: 'C.UTF-8' },
    isForeign: true,
  });
