/** Python code that compiles a folder, on several processors where there are several. */
export const compileFolder = `
import compileall, os, sys
def compile_folder(folder):
    usual = {} if sys.version_info >= (3, 9) else {'maxlevels': 40}
    try:
        compileall.compile_dir(folder, quiet=2, workers=min(os.cpu_count() or 1, 4), **usual)
    except Exception:
        # Where several processes are impossible, as without /dev/shm.
        compileall.compile_dir(folder, quiet=2, **usual)
`;
