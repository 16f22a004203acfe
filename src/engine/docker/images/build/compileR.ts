import { posix } from 'node:path';
import { throwIfAborted } from '../../../../domain/humanError';
import { treeEntries, type TreeEntry } from '../../../../repository/treeFiles';
import { filesInTar, tarOf } from '../../../sandbox/archive';
import type { BuildContainer } from './buildContainer';
import { foreignUser } from './confinement';
import { identityDigest } from '../imageRecords';
import { keptPath, readKeptFiles, writeKeptFiles } from './keptFiles';

interface Compiling {
  readonly storage: string;
  /** R. */
  readonly tree: string;
  /** Folder of R in the container. */
  readonly folder: string;
  /** Interpreter of the base image, with everything that distinguishes it from others. */
  readonly python: string;
  readonly identity: readonly string[];
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes of compiled files that are kept for one repository at one version. */
const limit = 512 << 20;

/**
 * Compiles R and reuses what was compiled for other instances of its version. The compiled files
 * are kept on this machine, by path and content of each source, and no container can write to them.
 * Call this before anything foreign runs in the container, so that the compiled files come from the
 * compiler alone. Afterwards everything in the folder belongs to the user that runs foreign code.
 */
export async function compileR(container: BuildContainer, compiling: Compiling): Promise<void> {
  const { tree, folder, python, storage, identity, say, signal } = compiling;
  const entries = await treeEntries(tree, signal);
  const path = keptPath(storage, identityDigest(folder, ...identity));
  const all = await readKeptFiles(path, say);
  const kept = new Map(
    [...all].filter(([name]) => {
      const { id, source } = parts(name);
      return entries.get(source)?.id === id;
    }),
  );
  throwIfAborted(signal);
  if (kept.size > 0) {
    const files = [...kept].flatMap(([name, content]) => {
      const { source, compiled } = parts(name);
      return isSafe(source, entries) ? [{ path: compiled, content }] : [];
    });
    await container.put(await tarOf(files, foreignUser), folder);
  }
  // This includes the folders that unpacking the files creates.
  await container.run(
    ['chown', '-hR', `${foreignUser}:${foreignUser}`, folder],
    'hand R over to the user of the build',
  );
  const made = '/tmp/swt-compiled.tar';
  const { code, standard } = await container.attempt(
    [python, '-I', '-S', '-c', compileAndPack, folder, made],
    { isForeign: true, env: { HOME: '/tmp' } },
  );
  // Without compiled files, tests are slower but otherwise the same.
  const count = Number.parseInt(standard, 10);
  if (code !== 0 || !(count > 0)) return;
  const archive = await container.take(made, limit);
  for (const { path: compiled, content } of await filesInTar(archive)) {
    const found = /^(.*\/)?__pycache__\/([^/]+?)\.([\w-]+)\.pyc$/.exec(compiled);
    if (found === null) continue;
    const [, above = '', stem = ''] = found;
    const id = entries.get(`${above}${stem}.py`)?.id;
    if (id !== undefined) kept.set(`${id}/${compiled}`, content);
  }
  await writeKeptFiles(path, kept);
}

/** Splits the name of a kept file, `OBJECT-ID/FOLDER/__pycache__/NAME.TAG.pyc`, into its parts. */
function parts(name: string): { id: string; compiled: string; source: string } {
  const [, id = '', compiled = ''] = /^([0-9a-f]+)\/(.*)$/.exec(name) ?? [];
  const [, above = '', stem = ''] =
    /^(.*\/)?__pycache__\/([^/]+?)\.[\w-]+\.pyc$/.exec(compiled) ?? [];
  return { id, compiled, source: `${above}${stem}.py` };
}

/** Whether compiled files of a source can be written beside it. R may have a link in that place. */
const isSafe = (source: string, entries: ReadonlyMap<string, TreeEntry>): boolean =>
  !source.split('/').includes('..') &&
  !source.startsWith('/') &&
  !entries.has(posix.join(posix.dirname(source), '__pycache__'));

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

const compileAndPack = `
${compileFolder}
import tarfile
folder, made = sys.argv[1:]
os.chdir(folder)
def compiled():
    found = set()
    for place, folders, names in os.walk('.'):
        if os.path.basename(place) == '__pycache__':
            found.update(os.path.normpath(os.path.join(place, name)) for name in names if name.endswith('.pyc'))
    return found
before = compiled()
compile_folder(folder)
new = sorted(compiled() - before)
if new:
    with tarfile.open(made, 'w') as archive:
        for path in new:
            archive.add(path)
print(len(new))
`;
