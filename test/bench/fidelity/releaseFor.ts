import { execFile } from 'node:child_process';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Instance } from '../../../src/domain/instance';
import { silent } from '../../../src/domain/work';
import { writeSnapshot } from '../../../src/repository/source';

const run = promisify(execFile);

/** A source release as it stands for the base commit of a row. */
export interface ReleaseSource {
  /** Name with its version, such as `Django-3.0a1`. */
  readonly release: string;
  /** Day on which the release was made, `YYYY-MM-DD`. */
  readonly day: string;
  /** Folder or archive for `--source`. */
  readonly path: string;
  /** Patches of the row that the release already had, and that were taken out of it. */
  readonly takenOut: readonly ('X*' | 'T*')[];
}

/** How a patch stands to a release: still to come, already in it, or neither. */
type Standing = 'applies' | 'is in it' | 'neither';

interface Unpacked {
  readonly release: string;
  readonly archive: string;
  readonly folder: string;
  readonly day: string;
}

/**
 * The release nearest in time to a row among archives of its project. Both patches of the row have
 * to apply to it, forwards, or backwards where it already has them. Then they are taken out.
 *
 * @param archives folder of `NAME-VERSION.tar.gz`
 * @param scratch folder for unpacked releases, and for those with patches taken out
 * @param passedOver names of releases on which nothing ran
 * @returns why there is none, for each release that was looked at, where none fits
 */
export async function releaseFor(
  instance: Pick<Instance, 'id' | 'createdAt' | 'goldenPatch' | 'goldenTests'>,
  archives: string,
  scratch: string,
  passedOver: readonly string[] = [],
): Promise<ReleaseSource | { readonly none: string }> {
  const releases = (await unpackedReleases(archives, scratch)).filter(
    ({ release }) => !passedOver.includes(release),
  );
  const nearest = releases.sort((a, b) => distance(a, instance) - distance(b, instance));
  let withCode = 0;
  for (const at of nearest) {
    const code = await standingOf(instance.goldenPatch, at.folder);
    if (code === 'neither') continue;
    withCode += 1;
    const tests = await standingOf(instance.goldenTests, at.folder);
    if (tests === 'neither') continue;
    const takenOut = [
      ...(code === 'is in it' ? (['X*'] as const) : []),
      ...(tests === 'is in it' ? (['T*'] as const) : []),
    ];
    const { release, day } = at;
    if (takenOut.length === 0) return { release, day, path: at.archive, takenOut };
    const patches = takenOut.map((each) =>
      each === 'X*' ? instance.goldenPatch : instance.goldenTests,
    );
    return { release, day, path: await without(at, instance.id, patches, scratch), takenOut };
  }
  return {
    none:
      `no source at hand fits X* and T*: of ${nearest.length} releases X* fits ${withCode}` +
      (withCode === 0 ? '' : ', and T* none of these'),
  };
}

const distance = ({ day }: Unpacked, { createdAt }: Pick<Instance, 'createdAt'>): number =>
  Math.abs(Date.parse(day) - Date.parse(createdAt));

/** Unpacks each archive once. The time of PKG-INFO is when the release was made. */
async function unpackedReleases(archives: string, scratch: string): Promise<Unpacked[]> {
  const names = (await readdir(archives)).filter((name) => name.endsWith('.tar.gz')).sort();
  const releases: Unpacked[] = [];
  for (const name of names) {
    const release = basename(name, '.tar.gz');
    const folder = join(scratch, 'releases', release);
    if ((await stat(folder).catch(() => undefined)) === undefined) {
      await mkdir(join(scratch, 'releases'), { recursive: true });
      const beside = await mkdtemp(join(scratch, 'unpacking-'));
      const archive = { kind: 'snapshot', from: join(archives, name) } as const;
      await writeSnapshot(archive, beside, { reporter: silent });
      await rename(beside, folder);
    }
    const { mtime } = await stat(join(folder, 'PKG-INFO'));
    const day = mtime.toISOString().slice(0, 10);
    releases.push({ release, archive: join(archives, name), folder, day });
  }
  return releases;
}

/** Backwards first: a patch that is in a release may apply to it once more, at another place. */
async function standingOf(patch: string, folder: string): Promise<Standing> {
  if (await applies(patch, folder, ['--check', '--reverse'])) return 'is in it';
  return (await applies(patch, folder, ['--check'])) ? 'applies' : 'neither';
}

/** `git apply` outside of any repository, so that paths are those of the folder. */
async function applies(patch: string, folder: string, options: string[]): Promise<boolean> {
  const args = ['apply', ...options, '--whitespace=nowarn', '-'];
  const child = run('git', args, {
    cwd: folder,
    env: { ...process.env, GIT_DIR: '/nonexistent', GIT_CEILING_DIRECTORIES: folder },
  });
  child.child.stdin?.end(patch);
  return child.then(
    () => true,
    () => false,
  );
}

/** A copy of a release with patches taken out, made once for a row. */
async function without(
  { release, folder }: Unpacked,
  id: string,
  patches: readonly string[],
  scratch: string,
): Promise<string> {
  const made = join(scratch, 'without', `${id}-${release}`);
  const sign = `${made}.patches`;
  const wanted = patches.join('\n');
  if ((await readFile(sign, 'utf8').catch(() => undefined)) === wanted) return made;
  await rm(made, { recursive: true, force: true });
  await cp(folder, made, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  for (const patch of patches) {
    if (!(await applies(patch, made, ['--reverse']))) {
      throw new Error(`a patch of ${id} does not leave ${release}`);
    }
  }
  await writeFile(sign, wanted);
  return made;
}
