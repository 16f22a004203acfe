import { copyFile, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { removeForce } from '../../repository/lock';
import { git } from '../../repository/git';
import { earliestTime, tarOf, type ArchiveEntry } from './archive';

/** A git repository as a tar of its files, with names as below `.git`. */
export interface SandboxRepository {
  readonly archive: Buffer;
  /** Bytes of an object id: 20 for SHA-1, 32 for SHA-256. */
  readonly idBytes: number;
}

/** The commit message, equal for both sides, all instances and the trees on this machine. */
const message = 'swt-bench';

/**
 * Files in the tree that R does not have: those that an image leaves for its build, and those that
 * running tests leaves. Excluding them keeps `git status` clean before a candidate is applied.
 */
const excluded = [
  ...['__pycache__/', '*.py[co]', '.pytest_cache/', '.hypothesis/', '.eggs/', 'build/'],
  ...['*.egg-info/', '*.egg-info', '*.dist-info/', '*.egg-link', '*.so', '*.so.*', '*.pyd'],
  '_version.py',
];

/**
 * The repository that the tests of a side see. It has one commit without a parent, with the tree of
 * the pristine tree's HEAD, no other object and no log. Message, author and date are the same for
 * every side and instance. Beside its branch it has at most a tag with the version of R. Its index
 * lists the files without their times, which the sandbox fills in.
 *
 * @param tree a pristine tree
 * @param tag name of that tag
 * @throws GitError, Cancelled
 */
export async function sandboxRepository(
  tree: string,
  tag: string | undefined,
  signal?: AbortSignal,
): Promise<SandboxRepository> {
  const folder = await mkdtemp(join(tmpdir(), 'swt-bench-repository-'));
  try {
    const pristine = join(tree, '.git');
    const made = join(folder, 'git');
    const inMade = (...args: string[]): Promise<string> =>
      git(['--git-dir', made, ...args], { cwd: folder, signal });
    const id = (
      await git(['--git-dir', pristine, 'rev-parse', 'HEAD^{tree}'], { cwd: folder, signal })
    ).trim();
    const format = id.length === 64 ? 'sha256' : 'sha1';
    const init = ['init', '--quiet', '--bare', '--template=', '--initial-branch=main'];
    await inMade(...init, `--object-format=${format}`);
    await inMade('config', 'core.bare', 'false');
    await mkdir(join(made, 'objects', 'pack'), { recursive: true });
    await mkdir(join(made, 'info'), { recursive: true });
    // Existing deltas are used, without a search for further ones.
    await git(
      [
        ...['--git-dir', pristine, 'pack-objects', '--revs', '--quiet', '--threads=1'],
        ...['--window=0', '--compression=1', join(made, 'objects', 'pack', 'pack')],
      ],
      { cwd: folder, signal, input: `${id}\n` },
    );
    const commit = (await inMade('commit-tree', id, '-m', message)).trim();
    await inMade('update-ref', 'refs/heads/main', commit);
    if (tag !== undefined) await inMade('update-ref', `refs/tags/${tag}`, commit);
    await git(['--git-dir', made, '-c', 'index.version=2', 'read-tree', 'HEAD'], {
      cwd: folder,
      signal,
      env: { GIT_INDEX_FILE: join(made, 'index') },
    });
    await writeFile(join(made, 'info', 'exclude'), `${excluded.join('\n')}\n`);
    // This file lists the files whose line ends the attributes of R would change.
    await copyFile(join(pristine, 'info', 'attributes'), join(made, 'info', 'attributes')).catch(
      () => undefined,
    );
    return { archive: await tarOf(await filesBelow(made)), idBytes: id.length / 2 };
  } finally {
    await removeForce(folder);
  }
}

async function filesBelow(root: string, below = ''): Promise<ArchiveEntry[]> {
  const found: ArchiveEntry[] = [];
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const path = posix.join(below, entry.name);
    // A log of HEAD may exist beside that of a reference.
    if (path === 'logs') continue;
    if (entry.isDirectory()) found.push(...(await filesBelow(root, path)));
    else if (entry.isFile()) {
      // All files get the same time: one derived from the content would differ between the sides.
      found.push({ path, content: await readFile(join(root, path)), time: earliestTime });
    }
  }
  return found;
}
