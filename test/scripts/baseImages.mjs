// Makes base images for the tests of the docker engine where no image registry is reachable. They
// have Debian's own Python from Debian's packages, or an interpreter of pyenv on top.
//   node test/scripts/baseImages.mjs 3.9 3.11     makes these, and prints their tags
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Dockerode from 'dockerode';
import { cache } from './setup.mjs';

/** Debian's releases by the Python that they have. */
const releases = { 3.9: 'bullseye', 3.11: 'bookworm', 3.13: 'trixie' };
/** The release that serves as the base of other interpreters. */
const ground = '3.11';

/** The value of the setting `baseImage` that selects these images. */
export const baseImage = 'swt-test/python:{python}-bookworm';
/** The versions that the tests of the docker engine need, the most used one first. */
export const neededPythons = ['3.11', '3.9', '3.13'];

const recipeLabel = 'swt-test.recipe';
const mirror = process.env.SWT_BENCH_DEBIAN_MIRROR ?? 'http://deb.debian.org/debian';
const packages = 'python3,python3-venv,python3-pip,git,ca-certificates';

/**
 * Like the official images: `python` and `pip` are on the path, and not managed by the
 * distribution.
 */
const finishing = [
  'ln -sf /usr/bin/python3 /usr/local/bin/python',
  'rm -f /usr/lib/python3*/EXTERNALLY-MANAGED /var/cache/apt/archives/*.deb',
  'rm -rf /var/lib/apt/lists/* /usr/share/doc/* /usr/share/locale/* /usr/share/man/*',
  'git config --system --add safe.directory "*"',
].join(' && ');

/**
 * Commands that replace pyenv's build path in first lines of programs and in the search for
 * libraries.
 */
const settling = [
  "find /usr/local/bin -type f -exec sed -i '1s|^#!/.*/bin/python|#!/usr/local/bin/python|' {} +",
  'ldconfig',
  'test -e /usr/local/bin/python || ln -s python3 /usr/local/bin/python',
  'python3 -c "import ssl, sqlite3, bz2, lzma, ctypes, zlib" && python3 -m pip --version',
].join(' && ');

export const tagOf = (python) => baseImage.replace('{python}', python);

/**
 * Makes the image of a Python version, unless an image of the same recipe exists.
 *
 * @param log called with lines for people
 * @returns its tag
 * @throws Error with one line that says why the image is not available
 */
export async function ensureBaseImage(docker, python, log = () => undefined) {
  const release = releases[python];
  const home = release === undefined ? pyenvHome(python) : undefined;
  const recipe = createHash('sha256')
    .update(release === undefined ? [home, settling].join('\n') : '')
    .update([releases[ground], release, packages, finishing].join('\n'))
    .digest('hex')
    .slice(0, 16);
  const tag = tagOf(python);
  if ((await labelOf(docker, tag)) === recipe) return tag;
  const started = Date.now();
  if (release === undefined) await fromPyenv(docker, python, home, tag, recipe);
  else await fromDebian(docker, release, tag, recipe);
  log(`${tag} made in ${Math.round((Date.now() - started) / 1000)} s`);
  return tag;
}

const labelOf = (docker, tag) =>
  docker
    .getImage(tag)
    .inspect()
    .then(
      ({ Config }) => Config?.Labels?.[recipeLabel],
      () => undefined,
    );

async function fromDebian(docker, release, tag, recipe) {
  if (spawnSync('debootstrap', ['--version']).status !== 0) {
    throw new Error('debootstrap is not installed');
  }
  const debs = join(cache, 'debs');
  mkdirSync(debs, { recursive: true });
  const folder = await mkdtemp(join(cache, `${release}-`));
  try {
    await runNicely('debootstrap', [
      ...['--variant=minbase', `--include=${packages}`, `--cache-dir=${debs}`],
      ...[release, folder, mirror],
    ]);
    await runNicely('chroot', [folder, 'sh', '-c', finishing]);
    const tar = nicely('tar', ['-C', folder, '--one-file-system', '--exclude=./dev/*', '-c', '.']);
    const [repo, version] = tag.split(':');
    const changes = settingsOf(recipe);
    const progress = await docker.importImage(tar.stdout, { repo, tag: version, changes });
    await new Promise((resolve, reject) =>
      docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve())),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const settingsOf = (recipe) =>
  [`LABEL ${recipeLabel}=${recipe}`, 'CMD ["/bin/bash"]', `ENV PATH=${path}`].join('\n');

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Folder of the newest patch release of this version that pyenv has. */
function pyenvHome(python) {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions');
  const found = existsSync(versions)
    ? readdirSync(versions).filter((name) => name.startsWith(`${python}.`))
    : [];
  const newest = found.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  if (newest === undefined) throw new Error(`pyenv has no Python ${python}`);
  return join(versions, newest);
}

/** Copies the interpreter to its place in the official images, without packages except pip's. */
async function fromPyenv(docker, python, home, tag, recipe) {
  const from = await ensureBaseImage(docker, ground);
  const library = join('lib', `python${python}`);
  const extra = readdirSync(join(home, library, 'site-packages')).filter(
    (name) => !/^(pip|setuptools|wheel|pkg_resources|_distutils_hack|distutils-prec)/.test(name),
  );
  const tar = nicely('tar', [
    ...['-C', home, '--owner=0', '--group=0', '--exclude=__pycache__', '--exclude=*.a'],
    ...[`--exclude=./${library}/test`, '--exclude=./share'],
    ...extra.map((name) => `--exclude=./${library}/site-packages/${name}`),
    ...['-c', '.'],
  ]);
  const container = await docker.createContainer({
    Image: from,
    Cmd: ['sh', '-c', settling],
    Labels: { 'swt-test': 'base' },
    HostConfig: { NetworkMode: 'none' },
  });
  try {
    await container.putArchive(tar.stdout, { path: '/usr/local' });
    await container.start();
    const { StatusCode: status } = await container.wait();
    if (status !== 0) {
      const said = await container.logs({ stdout: true, stderr: true });
      throw new Error(`Python ${python} of pyenv does not run: ${said.toString().slice(-300)}`);
    }
    const [repo, version] = tag.split(':');
    await container.commit({
      ...{ repo, tag: version, changes: settingsOf(recipe) },
    });
  } finally {
    await container.remove({ force: true });
  }
}

/** Runs a program at low priority, so that other work comes first. */
const nicely = (program, args) =>
  spawn('nice', ['-n', '19', program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });

function runNicely(program, args) {
  return new Promise((resolve, reject) => {
    const child = nicely(program, args);
    let tail = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => (tail = (tail + chunk).slice(-2000)));
    }
    child.on('error', reject);
    child.on('close', (status) =>
      status === 0
        ? resolve()
        : reject(new Error(`${program} ended with ${status}: ${tail.trim().split('\n').at(-1)}`)),
    );
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const docker = new Dockerode();
  for (const python of process.argv.slice(2)) {
    console.log(await ensureBaseImage(docker, python, console.log));
  }
}
