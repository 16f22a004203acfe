import { access, readdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { runProcess } from '../../engine/programs';
import { environmentsFolder } from '../../repository/storage';
import type { KnownPython } from '../shell/pythonExtension';

/** Interpreters that are asked for their version at once. */
const atOnce = 4;
/** Maximum number of interpreters of a list: each of them starts for its version. */
const most = 60;

/**
 * The interpreters of this machine that the Python extension need not be asked for: of pyenv, conda,
 * virtual environments, uv, PATH, and the environments that were created in the storage folder.
 * Those of Python 2, and those that do not start, are left out.
 */
export async function findInterpreters(storage: string): Promise<readonly KnownPython[]> {
  const files = (await candidates(storage)).slice(0, most);
  const found: (KnownPython | undefined)[] = [];
  for (let at = 0; at < files.length; at += atOnce) {
    found.push(...(await Promise.all(files.slice(at, at + atOnce).map(known))));
  }
  return found.flatMap((each) => each ?? []);
}

async function candidates(storage: string): Promise<readonly string[]> {
  const home = homedir();
  const parents = [
    join(process.env['PYENV_ROOT'] ?? join(home, '.pyenv'), 'versions'),
    join(home, '.virtualenvs'),
    join(home, '.local', 'share', 'uv', 'python'),
    ...['miniconda3', 'anaconda3', 'miniforge3', '.conda'].map((each) => join(home, each, 'envs')),
    environmentsFolder(storage),
  ];
  const folders = (await Promise.all(parents.map(foldersIn))).flat();
  const isWindows = process.platform === 'win32';
  const ofFolders = folders.flatMap((folder) =>
    isWindows
      ? [join(folder, 'python.exe'), join(folder, 'Scripts', 'python.exe')]
      : [join(folder, 'bin', 'python3')],
  );
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    // The shims of pyenv stand for whatever it chooses at that moment.
    .filter((folder) => isAbsolute(folder) && basename(folder) !== 'shims')
    .map((folder) => join(folder, isWindows ? 'python.exe' : 'python3'));
  const exists = await Promise.all(
    [...new Set([...ofFolders, ...onPath])].map(async (path) =>
      access(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return exists.flat();
}

const foldersIn = async (parent: string): Promise<string[]> =>
  (await readdir(parent).catch((): string[] => [])).map((name) => join(parent, name));

async function known(path: string): Promise<KnownPython | undefined> {
  const { exitCode, output } = await runProcess({
    argv: [path, '-I', '-c', 'import platform; print(platform.python_version())'],
    cwd: tmpdir(),
    env: {},
    timeoutSeconds: 5,
    outputLimit: 1000,
  });
  const version = output.trim();
  if (exitCode !== 0 || !/^3\.\d/.test(version)) return undefined;
  const folder = basename(dirname(dirname(path)));
  // The folder of an installation says no more than its version does.
  return { path, version, name: /^(usr|local|\d[\w.]*)$/.test(folder) ? '' : folder };
}
