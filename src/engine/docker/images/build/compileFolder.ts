import type { Command, ImageCommands } from './buildContainer';

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
  await commands.attempt([python, '-I', '-S', '-c', program, folder], command);
}

const program = `
import compileall, os, sys
def compile_folder(folder):
    usual = {} if sys.version_info >= (3, 9) else {'maxlevels': 40}
    try:
        compileall.compile_dir(folder, quiet=2, workers=min(os.cpu_count() or 1, 4), **usual)
    except Exception:
        # Where several processes are impossible, as without /dev/shm.
        compileall.compile_dir(folder, quiet=2, **usual)
compile_folder(sys.argv[1])
`;
