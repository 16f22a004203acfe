import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from '../../src/domain/instance';
import { Cancelled, HumanError } from '../../src/domain/work';
import { imageUse, removeImages } from '../../src/environments/imageBudget';
import { connect, type DockerConnection } from '../../src/engine/docker/connection/connect';
import type { InstanceImage } from '../../src/engine/environmentMaker';
import { prebuiltName } from '../../src/engine/docker/containerImage';
import { prepareTrees, type Trees } from '../../src/repository/trees';
import {
  baseImage,
  certificates,
  containersOf,
  needDocker,
  plainDocker as docker,
  removeImagesOf,
  removeImagesOfRepository,
  testSettings,
} from './dockerForTests';
import { environments } from '../../src/environments/environments';

/** Unique in each run, so that it finds nothing that an earlier run has built. */
const owner = `tiny${randomBytes(4).toString('hex')}`;
const repo = `${owner}/project`;

const files: Readonly<Record<string, string>> = {
  'setup.py': [
    'from setuptools import setup',
    'setup(name="tiny", version="1.0", packages=["tiny"], install_requires=["six"])',
    '',
  ].join('\n'),
  'tiny/__init__.py': 'import six\n\n\ndef answer():\n    return 41\n',
  'tests/test_answer.py':
    'from tiny import answer\n\n\ndef test_answer():\n    assert answer() == 41\n',
};

const goldenPatch = [
  'diff --git a/tiny/__init__.py b/tiny/__init__.py',
  '--- a/tiny/__init__.py',
  '+++ b/tiny/__init__.py',
  '@@ -2,4 +2,4 @@',
  ' ',
  ' ',
  ' def answer():',
  '-    return 41',
  '+    return 42',
  '',
].join('\n');

describe('images of instances', () => {
  let folder: string;
  let storage: string;
  let source: string;
  let connection: DockerConnection;
  const made: string[] = [];
  const extra: string[] = [];

  before(async function () {
    await needDocker(this, ['3.9', '3.11']);
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-images-'));
    storage = join(folder, 'storage');
    source = join(folder, 'source');
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(source, path)), { recursive: true });
      await writeFile(join(source, path), text);
    }
    connection = await connect({});
  });

  after(async function () {
    for (const id of made) await removeImagesOf(id);
    for (const name of extra)
      await docker
        .getImage(name)
        .remove({ force: true })
        .catch(() => {});
    await removeImagesOfRepository(repo);
    await connection?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const instanceOf = (number: number, more: Partial<Instance> = {}): Instance => ({
    ...{ id: `${owner}__project-${number}`, repo, baseCommit: 'a'.repeat(40), version: '1.0' },
    ...{ issue: 'It answers 41', hints: '', createdAt: '2019-06-01T00:00:00Z' },
    ...{ goldenPatch, goldenTests: '', failToPass: undefined, passToPass: undefined },
    ...more,
  });
  const silentReporter = { log: () => undefined, progress: () => undefined };
  const treesOf = (instance: Instance): Promise<Trees> =>
    prepareTrees(instance, { kind: 'snapshot', from: source }, storage, {
      reporter: silentReporter,
    });

  const env = {
    ...process.env,
    ...(certificates === undefined ? {} : { PIP_CERT: certificates, SSL_CERT_FILE: certificates }),
  };

  async function make(
    instance: Instance,
    options: {
      settings?: Parameters<typeof testSettings>[0];
      signal?: AbortSignal;
      env?: NodeJS.ProcessEnv;
      onProgress?: (step: string) => void;
      log?: string[];
    } = {},
  ): Promise<InstanceImage> {
    made.push(instance.id);
    return environments.instanceImage(
      {
        ...{ connection, instance, storage, trees: await treesOf(instance) },
        settings: testSettings(options.settings),
        env: options.env ?? env,
      },
      {
        signal: options.signal,
        reporter: {
          log: (line) => void options.log?.push(line),
          progress: (step) => options.onProgress?.(step),
        },
      },
    );
  }

  /** Standard output of a command in a new container without a network. */
  const inside = (image: string, user: number, ...argv: string[]): string =>
    execFileSync(
      'docker',
      [
        ...['run', '--rm', '--network', 'none', '--user', `${user}:${user}`],
        ...['-w', '/testbed', '--entrypoint', argv[0] ?? '', image, ...argv.slice(1)],
      ],
      { encoding: 'utf8' },
    );

  const secretEnv = (): NodeJS.ProcessEnv => ({
    ...env,
    PIP_EXTRA_INDEX_URL: `https://${owner}-user:open-sesame-${owner}@127.0.0.1:9/simple`,
    NO_PROXY: 'no-proxy-for-me.example',
    // Only the usual index is queried there: uv takes the first index that has a package.
    UV_INDEX: 'https://pypi.org/simple',
  });

  let first: InstanceImage;

  it('are built from a base image, with requirements as of the instance’s day', async function () {
    const log: string[] = [];
    first = await make(instanceOf(1), { env: secretEnv(), log });
    assert.equal(first.from, 'built');
    assert.equal(first.folder, '/testbed');
    assert.match(first.pythonVersion, /^3\.9\./);
    assert.equal(first.user, 1000);
    assert.ok(first.packages['pytest'], 'pytest is installed');
    const six = inside(first.id, 1000, first.python, '-c', 'import six; print(six.__version__)');
    assert.equal(six.trim(), '1.12.0', 'the release of December 2018, not that of 2020');
    const tests = inside(
      first.id,
      1000,
      first.python,
      '-m',
      'pytest',
      '-q',
      '-p',
      'no:cacheprovider',
    );
    assert.match(tests, /1 passed/);
    const path = /log: ([^\s)]+)/.exec(log.join('\n'))?.[1];
    assert.ok(path, 'the log is told of');
    assert.match(await readFile(path, 'utf8'), /six==1\.12\.0/);
  });

  it('hold R without a repository, which each sandbox gets, and compiled files that count', () => {
    const see = (...argv: string[]): string => inside(first.id, 1000, ...argv);
    assert.doesNotMatch(see('ls', '-A'), /^\.git$/m);
    assert.match(see('ls', '-ln', 'tiny/__init__.py'), / 1000 +1000 /);
    const check = [
      'import importlib.util, os, struct',
      'for path in ["tiny/__init__.py", __import__("six").__file__]:',
      '    compiled = importlib.util.cache_from_source(os.path.abspath(path))',
      '    head = open(compiled, "rb").read(16)',
      '    info = os.stat(path)',
      '    print(struct.unpack("<II", head[8:]) == (int(info.st_mtime) & 0xFFFFFFFF, info.st_size))',
    ].join('\n');
    assert.equal(see(first.python, '-c', check), 'True\nTrue\n');
  });

  it('hold nothing of the user’s indexes, proxies and certificates', async () => {
    const configuration = JSON.stringify(await docker.getImage(first.id).inspect());
    for (const secret of ['open-sesame', 'no-proxy-for-me', `${owner}-user`]) {
      assert.ok(!configuration.includes(secret), `${secret} is in the configuration`);
      const found = inside(
        ...([first.id, 0, 'sh', '-c'] as const),
        `grep -rIl --exclude-dir=proc --exclude-dir=sys ${secret} / 2>/dev/null || true`,
      );
      assert.equal(found, '');
    }
    assert.equal(
      inside(first.id, 0, 'sh', '-c', 'ls -A /tmp; ls -d /swt-build 2>/dev/null || true'),
      '',
    );
    const text = await readFile(join(storage, 'images', 'logs', `${owner}__project-1.log`), 'utf8');
    assert.ok(!text.includes('open-sesame'));
  });

  it('are at hand when asked again', async () => {
    const log: string[] = [];
    const again = await make(instanceOf(1), { log });
    assert.deepEqual(again, first);
    assert.deepEqual(log, []);
  });

  it('are installed again without a network by the words that they say', () => {
    assert.ok(first.install);
    execFileSync('docker', [
      ...['run', '--rm', '--network', 'none', '--user', '0', '-w', '/testbed'],
      ...['--entrypoint', first.install[0] ?? '', first.id, ...first.install.slice(1)],
    ]);
  });

  it('share the environment with those of the same version', async function () {
    const second = await make(instanceOf(2));
    const layers = async (id: string): Promise<string[]> =>
      ((await docker.getImage(id).inspect()) as { RootFS: { Layers: string[] } }).RootFS.Layers;
    const [one, other] = [await layers(first.id), await layers(second.id)];
    // The last two layers of the second are the installed R of the first, and what differs from it.
    assert.deepEqual(other.slice(0, -2), one.slice(0, -1));
    assert.notEqual(first.id, second.id);
  });

  it('are the same whatever tree the image of their version has @full', async function () {
    const kept = new Map(
      await Promise.all(
        Object.keys(files).map(async (path) => [path, await readFile(join(source, path))] as const),
      ),
    );
    try {
      // A folder becomes a file, a file becomes a folder, and a source becomes a link.
      await rm(join(source, 'tests'), { recursive: true });
      await writeFile(join(source, 'tests'), 'no folder\n');
      await mkdir(join(source, 'tiny', 'more'));
      await writeFile(join(source, 'tiny', 'more', 'run.py'), 'x = 1\n', { mode: 0o755 });
      await symlink('more/run.py', join(source, 'tiny', 'linked.py'));
      await writeFile(join(source, 'tiny', 'broken.py'), 'def\n');
      const log: string[] = [];
      const image = await make(instanceOf(14), { log });
      const list = [
        'import os, stat',
        'for place, folders, names in os.walk("."):',
        '    if "tiny.egg-info" in place: continue',
        '    for name in names + folders:',
        '        path = os.path.normpath(os.path.join(place, name))',
        '        info = os.lstat(path)',
        '        print(path, oct(info.st_mode), info.st_uid, int(info.st_mtime) < 1500000000 or ".pyc" in path)',
      ].join('\n');
      const listed = inside(image.id, 1000, image.python, '-c', list).trim().split('\n').sort();
      const own = (path: string, mode: string): string => `${path} 0o${mode} 1000 True`;
      assert.deepEqual(
        listed.filter((line) => !/egg-info|^setup\.py|__pycache__\/setup/.test(line)),
        [
          own('__pycache__', '40755'),
          own('tests', '100644'),
          own('tiny', '40755'),
          own('tiny/__init__.py', '100644'),
          own('tiny/__pycache__', '40755'),
          own('tiny/__pycache__/__init__.cpython-39.pyc', '100644'),
          own('tiny/__pycache__/linked.cpython-39.pyc', '100644'),
          own('tiny/broken.py', '100644'),
          own('tiny/linked.py', '120777'),
          own('tiny/more', '40755'),
          own('tiny/more/__pycache__', '40755'),
          own('tiny/more/__pycache__/run.cpython-39.pyc', '100644'),
          own('tiny/more/run.py', '100755'),
        ],
      );
      const said = await readFile(/log: ([^\s)]+)/.exec(log.join('\n'))?.[1] ?? '', 'utf8');
      assert.doesNotMatch(said, /-m venv|uv pip/, 'only what differs is sent');
    } finally {
      await rm(join(source, 'tests'), { force: true });
      for (const name of ['more', 'linked.py', 'broken.py']) {
        await rm(join(source, 'tiny', name), { recursive: true });
      }
      for (const [path, content] of kept) {
        await mkdir(dirname(join(source, path)), { recursive: true });
        await writeFile(join(source, path), content);
      }
    }
  });

  it('have the packages that they need, where those of the version are others @full', async function () {
    const path = join(source, 'setup.py');
    const compiled = join(source, 'tiny', 'speed.c');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('["six"]', '["six", "toml"]'));
    try {
      const said: string[] = [];
      // With a source to compile, it is installed again in any case.
      for (const number of [15, 17]) {
        if (number === 17) await writeFile(compiled, '');
        const log: string[] = [];
        const image = await make(instanceOf(number), { log });
        const imported = inside(image.id, 1000, image.python, '-c', 'import toml; print(toml)');
        assert.match(imported, /toml/);
        said.push(await readFile(/log: ([^\s)]+)/.exec(log.join('\n'))?.[1] ?? '', 'utf8'));
        const names = (await docker.listImages({ filters: { label: [`swt-bench.repo=${repo}`] } }))
          .flatMap(({ RepoTags }) => RepoTags ?? [])
          .filter((name) => name.includes(`project-${number}`));
        assert.equal(names.length, 1);
      }
      for (const log of said) {
        assert.match(log, /uv pip install .*changed\.txt/, 'into the environment of the version');
        assert.doesNotMatch(log, /-m venv/);
      }
    } finally {
      await writeFile(path, text);
      await rm(compiled, { force: true });
    }
  });

  it('take compiled files of what did not change, and compile the rest @full', async function () {
    const path = join(source, 'tiny', '__init__.py');
    const text = await readFile(path, 'utf8');
    await writeFile(path, `${text}# changed\n`);
    const kept = join(storage, 'images', 'compiled');
    const files = await readdir(kept);
    assert.ok(files.length > 0, 'of this repository at this version');
    try {
      const image = await make(instanceOf(12));
      const check = [
        'import glob, os, struct',
        'for path in sorted(glob.glob("**/__pycache__/*.pyc", recursive=True)):',
        '    folder, name = os.path.split(path)',
        '    info = os.stat(os.path.join(os.path.dirname(folder), name.split(".")[0] + ".py"))',
        '    head = open(path, "rb").read(16)',
        '    print(name, struct.unpack("<II", head[8:]) == (int(info.st_mtime) & 0xFFFFFFFF, info.st_size), os.stat(path).st_uid)',
      ].join('\n');
      const listed = inside(image.id, 1000, image.python, '-c', check).trim().split('\n');
      assert.ok(listed.some((line) => line.startsWith('__init__.')));
      assert.ok(listed.some((line) => line.startsWith('test_answer.')));
      for (const line of listed) assert.match(line, /^\S+ True 1000$/);
      // A damaged file is not used.
      for (const name of files) await writeFile(join(kept, name), 'x'.repeat(2000));
      await make(instanceOf(13));
      const log = join(storage, 'images', 'logs', `${owner}__project-13.log`);
      assert.match(await readFile(log, 'utf8'), /compiled files in .* are discarded/);
    } finally {
      await writeFile(path, text);
    }
  });

  it('are built on the row’s own image, without its history @full', async function () {
    const name = `${owner}/row:1`;
    extra.push(name);
    // Like a published image: R and later commits, a file that R does not have, a built part.
    const python = baseImage.replace('{python}', '3.11');
    const container = await docker.createContainer({
      Image: python,
      Entrypoint: ['sleep', '600'],
      Labels: { 'swt-test': 'E' },
      HostConfig: { Init: true, NetworkMode: 'none' },
    });
    try {
      await container.start();
      const script = [
        'mkdir /testbed && cd /testbed && git init -q . && git config user.email a@b && git config user.name a',
        'mkdir tiny && echo "x = 1" > tiny/__init__.py && echo "*.so" > .gitignore',
        'git add . && git commit -qm R && echo "secret fix" > tiny/later.py && git add . && git commit -qm later',
        'echo built > tiny/fast.so',
      ].join(' && ');
      execFileSync('docker', ['exec', container.id, 'sh', '-c', script]);
      await container.commit({ repo: `${owner}/row`, tag: '1' });
    } finally {
      await container.remove({ force: true });
    }
    const image = await make(instanceOf(3, { environment: { image: name } }));
    assert.equal(image.from, 'row');
    assert.match(image.pythonVersion, /^3\.11\./);
    const see = (...argv: string[]): string => inside(image.id, image.user, ...argv);
    assert.doesNotMatch(see('ls', '-A'), /^\.git$/m);
    assert.equal(
      see('sh', '-c', 'ls tiny').trim().split('\n').join(' '),
      '__init__.py __pycache__ fast.so',
    );
    assert.match(see('cat', 'tiny/__init__.py'), /return 41/);
  });

  it('say which image a row names that is not to be had', async () => {
    const name = `127.0.0.1:9/${owner}/nothing:1`;
    await assert.rejects(make(instanceOf(4, { environment: { image: name } })), (error) => {
      assert.ok(error instanceof HumanError);
      assert.ok(error.message.includes(name), error.message);
      return true;
    });
  });

  it('use a prebuilt image that is here', async function () {
    const name = prebuiltName(instanceOf(5).id, owner);
    extra.push(name);
    await docker
      .getImage(baseImage.replace('{python}', '3.11'))
      .tag({ repo: name.replace(/:latest$/, ''), tag: 'latest' });
    const image = await make(instanceOf(5), { settings: { prebuilt: owner } });
    assert.equal(image.from, 'prebuilt');
  });

  it('do not wait again for a prebuilt image that was not to be had', async function () {
    const settings = { prebuilt: `127.0.0.1:9/${owner}` };
    const other = { version: '2.0' };
    const logs: string[][] = [[], []];
    // 2.0 has no environment yet; a base image with another Python fails after the question of
    // pulling.
    const wrong = { ...settings, baseImage: baseImage.replace('{python}', '3.11') };
    for (const log of logs) {
      await assert.rejects(
        make(instanceOf(6, other), { settings: wrong, log }),
        /3\.11.*needs 3\.9/,
      );
    }
    assert.match(logs[0]?.join('\n') ?? '', /no prebuilt image/);
    assert.doesNotMatch(logs[1]?.join('\n') ?? '', /prebuilt/, 'it is said once');
    const text = await readFile(join(storage, 'images', 'logs', `${owner}__project-6.log`), 'utf8');
    assert.match(text, /within the last hour found that it is not available/);
  });

  it('leave no container and no image behind when cancelled @full', async function () {
    for (const [number, step, version] of [
      [7, /resolving|inspecting/, '2.0'],
      [8, /adding R/, '2.0'],
      [9, /installing R/, '2.0'],
      [16, /adding R/, '1.0'],
    ] as const) {
      const instance = instanceOf(number, { createdAt: '2019-07-01T00:00:00Z', version });
      const abort = new AbortController();
      await assert.rejects(
        make(instance, {
          signal: abort.signal,
          onProgress: (text) => {
            if (step.test(text)) setTimeout(() => abort.abort(), 200);
          },
        }),
        Cancelled,
        String(step),
      );
      // The removal of a container whose work had ended goes on by itself.
      while ((await containersOf(instance.id)).length > 0) await sleep(100);
      const images = await docker.listImages({
        filters: { label: [`swt-bench.instance=${instance.id}`] },
      });
      assert.deepEqual(images, []);
    }
  });

  it('say what cannot be resolved, and where the log is @full', async function () {
    const path = join(source, 'setup.py');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"six"', '"six>9000"'));
    try {
      await assert.rejects(make(instanceOf(10)), (error) => {
        assert.ok(error instanceof HumanError);
        assert.match(error.message, /six/);
        assert.match(error.message, new RegExp(`${owner}__project-10\\.log`));
        return true;
      });
    } finally {
      await writeFile(path, text);
    }
  });

  it('are made by one of two that ask at once @full', async function () {
    const log: string[] = [];
    const [one, other] = await Promise.all([
      make(instanceOf(11), { log }),
      make(instanceOf(11), { log }),
    ]);
    assert.deepEqual(one, other);
    assert.equal(log.filter((line) => /building its image/.test(line)).length, 1);
  });

  describe('and their budget', () => {
    const ours = async () =>
      (await imageUse(connection, storage)).filter((image) => image.repo === repo);

    it('counts what several share once', async () => {
      const images = await ours();
      const environment = images.find(
        ({ kind, carries }) =>
          kind === 'environment' && carries.length > 1 && carries.includes(first.id),
      );
      const instance = images.find(({ id }) => id === first.id);
      assert.ok(environment && instance);
      const { Size } = await docker.getImage(first.id).inspect();
      assert.ok(instance.bytes + environment.bytes < Size, 'the base image is not of ours');
      assert.ok(instance.bytes > 0);
    });

    it('counts the packages that were fetched, on this machine, and frees them', async () => {
      const kept = (await imageUse(connection, storage)).find(({ name }) => name === 'packages');
      assert.equal(kept?.kind, 'cache');
      // uv alone, which resolves requirements, is larger.
      assert.ok(kept.bytes > 1e7, String(kept.bytes));
      const { removed } = await removeImages(connection, storage, ['packages'], {
        reporter: silentReporter,
      });
      assert.deepEqual(
        removed.map(({ name }) => name),
        ['packages'],
      );
      const after = await imageUse(connection, storage);
      assert.ok(!after.some(({ name }) => name === 'packages'));
    });

    it('never removes what a container uses, what others made, and what is named otherwise', async () => {
      const foreign = `${owner}/foreign:1`;
      extra.push(foreign);
      await docker.getImage(first.id).tag({ repo: `${owner}/foreign`, tag: '1' });
      const container = await docker.createContainer({
        Image: first.id,
        Labels: { 'swt-test': 'E' },
      });
      try {
        const base = (await docker.getImage(baseImage.replace('{python}', '3.9')).inspect()).Id;
        const { removed, kept } = await removeImages(connection, storage, [first.id, base], {
          reporter: silentReporter,
        });
        assert.deepEqual(removed, []);
        assert.deepEqual(
          kept.map(({ why }) => why),
          ['a container uses it'],
        );
      } finally {
        await container.remove({ force: true });
      }
      const { removed } = await removeImages(connection, storage, [first.id], {
        reporter: silentReporter,
      });
      assert.equal(removed.length, 1);
      await docker.getImage(foreign).inspect();
    });
  });
});
