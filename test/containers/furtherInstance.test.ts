import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import { connect, type DockerConnection } from '../../src/engine/docker/connection/connect';
import type { InstanceImage } from '../../src/engine/environmentMaker';
import { tarOf } from '../../src/engine/sandbox/archive';
import { prepareTrees } from '../../src/repository/trees';
import {
  certificates,
  needDocker,
  plainDocker as docker,
  removeImagesOf,
  removeImagesOfRepository,
  testSettings,
} from './dockerForTests';

/** Unique in each run, so that it finds nothing that an earlier run has built. */
const owner = `tiny${randomBytes(4).toString('hex')}`;
const repo = `${owner}/project`;

const goldenPatch =
  'diff --git a/tiny/__init__.py b/tiny/__init__.py\n--- a/tiny/__init__.py\n+++ b/tiny/__init__.py\n@@ -1 +1 @@\n-ANSWER = 41\n+ANSWER = 42\n';

/** R of the first instance. */
const first: Readonly<Record<string, string>> = {
  'setup.cfg':
    '[metadata]\nname = tiny\nversion = 1.0\n[options]\npackages = tiny\ninstall_requires =\n    six\n    docopt\n[options.entry_points]\nconsole_scripts =\n    tiny-old = tiny.run:run\n',
  'setup.py': 'from setuptools import setup\nsetup()\n',
  'tiny/__init__.py': 'ANSWER = 41\n',
  'tiny/run.py': 'def run():\n    print("it runs")\n',
  'tiny/gone.py': 'HERE = False\n',
  'tests/test_tiny.py': 'def test_tiny():\n    assert True\n',
};

/** Prints all files of an image, with what counts of each. */
const listing = `
import hashlib, os, stat
for place, folders, names in os.walk('/'):
    folders[:] = [each for each in folders if os.path.join(place, each) not in ('/proc', '/sys', '/dev')]
    for name in folders + names:
        path = os.path.join(place, name)
        info = os.lstat(path)
        said = ''
        if stat.S_ISLNK(info.st_mode):
            said = os.readlink(path)
        elif stat.S_ISREG(info.st_mode) and not path.endswith('.pyc') and not path.startswith('/etc/host'):
            with open(path, 'rb') as file:
                said = hashlib.sha256(file.read()).hexdigest()
        print(path, oct(info.st_mode), info.st_uid, info.st_gid, said)
`;
import { environments } from '../../src/environments/environments';

describe('a further instance of a version that is installed', () => {
  let folder: string;
  let storage: string;
  let connection: DockerConnection;
  const made: string[] = [];

  before(async function () {
    await needDocker(this, ['3.9']);
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-further-'));
    storage = join(folder, 'storage');
    connection = await connect({});
  });
  after(async function () {
    for (const id of made) await removeImagesOf(id);
    await removeImagesOfRepository(repo);
    await connection?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  interface Made {
    readonly image: InstanceImage;
    readonly log: string;
  }

  async function make(
    number: number,
    day: string,
    files: Readonly<Record<string, string>>,
  ): Promise<Made> {
    const id = `${owner}__project-${number}`;
    made.push(id);
    const source = join(folder, `source-${number}`);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(source, path)), { recursive: true });
      await writeFile(join(source, path), text);
    }
    const instance: Instance = {
      ...{ id, repo, baseCommit: 'a'.repeat(40), version: '1.0', createdAt: `${day}T00:00:00Z` },
      ...{ issue: 'It answers 41', hints: '', goldenPatch, goldenTests: '' },
      ...{ failToPass: undefined, passToPass: undefined },
    };
    const from = { kind: 'snapshot', from: source } as const;
    const trees = await prepareTrees(instance, from, storage, { reporter: silent });
    const env =
      certificates === undefined ? {} : { PIP_CERT: certificates, SSL_CERT_FILE: certificates };
    const image = await environments.instanceImage(
      {
        connection,
        instance,
        storage,
        trees,
        settings: testSettings(),
        env: { ...process.env, ...env },
      },
      { reporter: silent },
    );
    return { image, log: await readFile(join(storage, 'images', 'logs', `${id}.log`), 'utf8') };
  }

  const inside = (image: string, ...argv: string[]): string =>
    execFileSync(
      'docker',
      [
        ...['run', '--rm', '--network', 'none', '--user', '0:0', '-w', '/testbed'],
        ...['--entrypoint', argv[0] ?? '', image, ...argv.slice(1)],
      ],
      { encoding: 'utf8', maxBuffer: 1 << 28 },
    );

  /** Removes the images that instances are made from, and the image itself, and makes it again. */
  async function makeAgain(image: InstanceImage, again: () => Promise<Made>): Promise<Made> {
    await docker.getImage(image.name).remove({ force: true });
    const kept = (await docker.listImages({ filters: { label: [`swt-bench.repo=${repo}`] } }))
      .flatMap(({ RepoTags }) => RepoTags ?? [])
      .filter((name) => name.includes('-kept'));
    const names = kept.map((name, at) => ({ name, other: `${owner}/kept:${at}` }));
    for (const { name, other } of names) {
      const [of = '', tag = ''] = other.split(':');
      await docker.getImage(name).tag({ repo: of, tag });
      await docker.getImage(name).remove();
    }
    const result = await again();
    for (const { name, other } of names) {
      const [of = '', tag = ''] = name.split(':');
      await docker.getImage(other).tag({ repo: of, tag });
      await docker.getImage(other).remove();
    }
    return result;
  }

  const onlyIn = (some: readonly string[], others: readonly string[]): string[] => {
    const known = new Set(others);
    return some.filter((line) => !known.has(line));
  };

  /** The list of sources is that of the tree which was installed, and no test reads it. */
  const linesOf = ({ image }: Made): string[] =>
    inside(image.id, image.python, '-I', '-c', listing)
      .trim()
      .split('\n')
      .filter((line) => !line.includes('/tiny.egg-info/SOURCES.txt '))
      .sort();

  /** What took the time, in its order. */
  const steps = (log: string): string[] =>
    log.split('\n').flatMap((line) => {
      if (/\$ .*pip install .*--editable/.test(line)) return ['install'];
      if (!/\$ .*uv pip compile /.test(line)) return [];
      return [line.includes('--config-file') ? 'resolve with metadata' : 'resolve'];
    });

  const second = (): Promise<Made> =>
    make(2, '2019-06-02', { ...first, 'tiny/new.py': 'NEW = True\n', 'tests/test_more.py': '' });
  const later = (): Promise<Made> => make(3, '2020-06-01', { ...first, 'tiny/new.py': '' });
  const changedOf = (number: number, requires: string, more = {}): Promise<Made> => {
    const setup = (first['setup.cfg'] ?? '')
      .replace('    six\n', `    six\n    ${requires}\n`)
      .replace('tiny-old', 'tiny-new');
    const { 'tiny/gone.py': gone, ...rest } = first;
    assert.ok(gone);
    return make(number, '2020-06-01', { ...rest, ...more, 'setup.cfg': setup });
  };
  const changed = (): Promise<Made> => changedOf(4, 'toml');
  /** It has a build tool whose version depends on the day. */
  const toml = {
    'pyproject.toml': '[build-system]\nrequires = ["setuptools", "setuptools-scm"]\n',
  };
  const built = (): Promise<Made> => make(7, '2019-06-01', { ...first, ...toml });
  const builtLater = (): Promise<Made> => make(8, '2020-06-01', { ...first, ...toml });
  const builtWithOlder = (): Promise<Made> => changedOf(9, 'setuptools-scm<4', toml);
  let made2: Made;
  let made3: Made;
  let made4: Made;
  let made5: Made;
  let made6: Made;
  let made7: Made;

  it('takes over the installation of another one, and the packages that are the same', async () => {
    await make(1, '2019-06-01', first);
    made2 = await second();
    assert.doesNotMatch(made2.log, /pip install|-m venv/);
    const { id, python } = made2.image;
    const see = 'import tiny.new, tiny.gone, six; print(tiny.ANSWER, six.__version__)';
    assert.equal(inside(id, python, '-c', see).trim(), '41 1.12.0');
    assert.equal(inside(id, '/opt/swt-bench/env/bin/tiny-old').trim(), 'it runs');
  });

  it('shows nothing of a file that it does not have, not even a name', async () => {
    const { 'tiny/gone.py': gone, ...without } = first;
    assert.ok(gone);
    const { image, log } = await make(5, '2019-06-01', without);
    assert.doesNotMatch(log, /pip install/);
    const script =
      'cat tiny.egg-info/SOURCES.txt; find / -name "gone*" -not -path "/proc/*"; grep -rl tiny/gone /testbed /opt /tmp || true';
    const said = inside(image.id, 'sh', '-c', script);
    assert.match(said, /^tiny\/run\.py$/m);
    assert.doesNotMatch(said, /gone|\/testbed|\/opt/);
  });

  it('replaces the packages that are others as of its day, and installs R no second time', async () => {
    made3 = await later();
    assert.doesNotMatch(made3.log, /pip install .*--editable|-m venv/);
    // With the metadata of docopt, which has no wheel, the first attempt is enough.
    assert.deepEqual(steps(made3.log), ['resolve with metadata']);
    const { id, python } = made3.image;
    const see = 'import six, tiny.new; print(six.__version__)';
    assert.equal(inside(id, python, '-c', see).trim(), '1.15.0');
    const infos = inside(id, 'sh', '-c', 'ls -d /opt/swt-bench/env/lib/python*/site-packages/six*');
    assert.doesNotMatch(infos, /1\.12\.0/);
    assert.doesNotMatch(inside(id, 'ls', '-A', '/', '/tmp', '/var/tmp'), /swt/);
  });

  it('installs R again where its set-up program says something else @full', async () => {
    made4 = await changed();
    // Not known before: it requires toml, too.
    const twice = ['resolve with metadata', 'install', 'resolve with metadata'];
    assert.deepEqual(steps(made4.log), twice);
    assert.doesNotMatch(made4.log, /-m venv/);
    const bin = inside(made4.image.id, 'ls', '/opt/swt-bench/env/bin');
    assert.match(bin, /tiny-new/);
    assert.doesNotMatch(bin, /tiny-old/);
  });

  it('installs R with the build tools of its day @full', async () => {
    const once = ['resolve with metadata', 'install'];
    made5 = await built();
    assert.deepEqual(steps(made5.log), once);
    made6 = await builtLater();
    assert.deepEqual(steps(made6.log), once);
    // Only once it is installed, it says that it requires an older one.
    made7 = await builtWithOlder();
    assert.deepEqual(steps(made7.log), [...once, ...once]);
  });

  it('is the image that is made in the usual way @full', async () => {
    for (const [further, again] of [
      [made2, second],
      [made3, later],
      [made4, changed],
      [made5, built],
      [made6, builtLater],
      [made7, builtWithOlder],
    ] as const) {
      const before = linesOf(further);
      const usual = await makeAgain(further.image, again);
      assert.match(usual.log, /pip install .*--editable/);
      const after = linesOf(usual);
      assert.deepEqual([onlyIn(before, after), onlyIn(after, before)], [[], []]);
      assert.deepEqual({ ...usual.image, id: '' }, { ...further.image, id: '' });
    }
  });

  it('is made in the usual way where an image says nothing of itself @full', async () => {
    const ours = await docker.listImages({ filters: { label: [`swt-bench.repo=${repo}`] } });
    for (const name of ours.flatMap(({ RepoTags }) => RepoTags ?? [])) {
      if (!name.includes('-kept')) continue;
      const container = await docker.createContainer({ Image: name, Cmd: ['true'] });
      const [of = '', tag = ''] = name.split(':');
      await container.putArchive(
        await tarOf([{ path: 'opt/swt-bench/kept.json', content: Buffer.from('{}') }]),
        { path: '/' },
      );
      await container.commit({ repo: of, tag });
      await container.remove();
    }
    const { log, image } = await make(6, '2019-06-03', first);
    assert.match(log, /does not serve for .*: its record cannot be read/);
    assert.match(log, /pip install .*--editable/);
    assert.equal(inside(image.id, '/opt/swt-bench/env/bin/tiny-old').trim(), 'it runs');
  });
});
