import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Instance } from '../../src/domain/instance';
import { HumanError } from '../../src/domain/work';
import { tarOf } from '../../src/engine/sandbox/archive';
import { inContainer, type BuildContainer } from '../../src/engine/docker/build/buildContainer';
import type { LimitHit } from '../../src/engine/docker/build/confinement';
import { connect, type DockerConnection } from '../../src/engine/docker/connection/connect';
import type { InstanceImage } from '../../src/engine/environmentMaker';
import { prepareTrees } from '../../src/repository/trees';
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
import { servePackages, type PackageIndex, type Release } from './packageIndex';
import { environments } from '../../src/environments/environments';

const mark = randomBytes(6).toString('hex');
const owner = `hostile${mark}`;
const repo = `${owner}/project`;
const evil = `evil-${mark}`;
/**
 * In `login`, the three bytes `ab:` precede the secret, so that it also appears unchanged in
 * base64.
 */
const secret = `sesame-${randomBytes(12).toString('hex')}`;
const login = `ab:${secret}`;
const python = baseImage.replace('{python}', '3.9');

interface Report {
  readonly step: string;
  readonly user: number;
  readonly status: {
    readonly CapEff: string;
    readonly CapPrm: string;
    readonly NoNewPrivs: string;
  };
  readonly processes: readonly string[];
  readonly files: readonly string[];
  readonly programs: readonly string[];
  readonly connected: readonly string[];
  readonly interfaces: readonly string[];
  readonly mounted: readonly string[];
  readonly mounts: readonly string[];
  readonly killed: readonly string[];
  readonly forked: number;
  readonly memory: boolean;
}

describe('building an environment from hostile code @full', () => {
  let folder: string;
  let storage: string;
  let source: string;
  let connection: DockerConnection;
  let index: PackageIndex;
  let env: NodeJS.ProcessEnv;
  const made: string[] = [];
  const reporter = { log: () => undefined, progress: () => undefined };

  before(async function () {
    await needDocker(this, ['3.9']);
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-hostile-'));
    storage = join(folder, 'storage');
    source = join(folder, 'source');
    connection = await connect({});
    // The address at which containers could reach it if they had a network.
    const network = (await docker.getNetwork('bridge').inspect()) as {
      IPAM: { Config: { Gateway?: string }[] };
    };
    const host = network.IPAM.Config[0]?.Gateway ?? '127.0.0.1';
    const attack = await readFile(join(__dirname, 'hostileSetup.py'), 'utf8');
    const releases: Release[] = [];
    index = await servePackages(host, login, releases);
    const [, port = ''] = index.host.split(':');
    const attackOf = (name: string): string =>
      attack.replace('@HOST@', host).replace('@PORT@', port).replaceAll('@NAME@', name);
    const content = gzipSync(
      await tarOf(
        Object.entries({
          'setup.py': `${attackOf(evil)}\nfrom setuptools import setup\nsetup(name="${evil}", version="1.0", py_modules=["evil_${mark}"])\n`,
          [`evil_${mark}.py`]: 'x = 1\n',
          'PKG-INFO': `Metadata-Version: 1.2\nName: ${evil}\nVersion: 1.0\n`,
        }).map(([name, text]) => ({ path: `${evil}-1.0/${name}`, content: Buffer.from(text) })),
      ),
    );
    releases.push({ name: evil, filename: `${evil}-1.0.tar.gz`, content });
    const setup = `${attackOf('R')}\nfrom setuptools import setup\nsetup(name="tiny", version="1.0", packages=["tiny"], install_requires=["six", "${evil}"])\n`;
    const files = {
      'setup.py': setup,
      'tiny/__init__.py': 'def answer():\n    return 41\n',
      'tests/test_answer.py': 'def test_answer():\n    assert True\n',
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(source, path)), { recursive: true });
      await writeFile(join(source, path), text);
    }
    env = {
      ...process.env,
      ...(certificates === undefined
        ? {}
        : { PIP_CERT: certificates, SSL_CERT_FILE: certificates }),
      PIP_INDEX_URL: index.url,
      PIP_TRUSTED_HOST: host,
    };
  });

  after(async function () {
    await index?.close();
    for (const id of made) await removeImagesOf(id);
    await removeImagesOfRepository(repo);
    await connection?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const instanceOf = (number: number): Instance => ({
    ...{ id: `${owner}__project-${number}`, repo, baseCommit: 'a'.repeat(40), version: '1.0' },
    ...{ issue: 'It answers 41', hints: '', createdAt: '2019-06-01T00:00:00Z' },
    goldenPatch:
      '--- a/tiny/__init__.py\n+++ b/tiny/__init__.py\n@@ -1,2 +1,2 @@\n def answer():\n-    return 41\n+    return 42\n',
    ...{ goldenTests: '', failToPass: undefined, passToPass: undefined },
  });

  async function make(
    instance: Instance,
    settings: Parameters<typeof testSettings>[0] = {},
  ): Promise<InstanceImage> {
    made.push(instance.id);
    const trees = await prepareTrees(instance, { kind: 'snapshot', from: source }, storage, {
      reporter,
    });
    return environments.instanceImage(
      { connection, instance, storage, trees, settings: testSettings(settings), env },
      { reporter },
    );
  }

  /** The reports of set-up programs, which arrive at the index as names of projects. */
  function reports(): Report[] {
    const pieces = new Map<string, string[]>();
    for (const name of index.asked) {
      const [, id = '', at = '', text = ''] =
        /^leak-([0-9a-f]+)-(\d+)-([0-9a-f]+)$/.exec(name) ?? [];
      if (id === '') continue;
      const list = pieces.get(id) ?? [];
      list[Number(at)] = text;
      pieces.set(id, list);
    }
    return [...pieces.values()].map(
      (list) => JSON.parse(Buffer.from(list.join(''), 'hex').toString()) as Report,
    );
  }

  let image: InstanceImage;

  it('builds it all the same, with packages of an index that wants a login', async function () {
    image = await make(instanceOf(1));
    assert.equal(image.from, 'built');
    assert.deepEqual(index.strangers, [], 'nothing is asked for without the login');
    const seen = execFileSync(
      'docker',
      [
        ...['run', '--rm', '--network', 'none', '--entrypoint', image.python, image.id],
        ...['-c', `import evil_${mark}, six, tiny; print(six.__version__)`],
      ],
      { encoding: 'utf8' },
    );
    assert.equal(seen.trim(), '1.12.0');
  });

  it('shows it no secret, no program that others run, no network, and no rights', function () {
    const file = execFileSync(
      'docker',
      [
        ...['run', '--rm', '--network', 'none', '--entrypoint', 'cat', image.id],
        '/testbed/attack.json',
      ],
      { encoding: 'utf8' },
    );
    const all = [...reports(), JSON.parse(file) as Report];
    // The metadata of R and of what it requires, its wheel, and the installation of R.
    assert.ok(all.length >= 4, `${all.length} reports`);
    assert.ok(all.some(({ step }) => step === '/testbed'));
    for (const report of all) {
      const { step, status, forked, interfaces, user, mounts, memory, ...found } = report;
      assert.deepEqual(
        found,
        {
          ...found,
          processes: [],
          files: [],
          programs: [],
          connected: [],
          mounted: [],
          killed: [],
        },
        `in ${step}`,
      );
      assert.equal(user, 1000, step);
      assert.match(status.CapEff, /^0+$/);
      assert.match(status.CapPrm, /^0+$/);
      assert.equal(status.NoNewPrivs, '1');
      assert.deepEqual(interfaces, ['lo']);
      const ours = mounts.filter(
        (place) =>
          !/^\/(etc\/(hosts|hostname|resolv\.conf)|usr\/s?bin\/docker-init|sbin\/docker-init)$/.test(
            place,
          ),
      );
      assert.deepEqual(ours, [], 'nothing is shared with any other container');
      assert.ok(forked < 256, `${forked} processes`);
      assert.equal(memory, false, 'twice the memory that there is');
    }
  });

  it('keeps the login out of images, their history, their layers and the log', async function () {
    const forms = [secret, Buffer.from(login).toString('base64'), encodeURIComponent(login)];
    const holds = (data: Buffer): string[] => forms.filter((form) => data.includes(form));
    const history = execFileSync('docker', ['history', '--no-trunc', '--format', 'json', image.id]);
    assert.deepEqual(holds(history), []);
    const configuration = JSON.stringify(await docker.getImage(image.id).inspect());
    assert.deepEqual(holds(Buffer.from(configuration)), []);
    const layers = join(folder, 'layers');
    await mkdir(layers);
    execFileSync('sh', ['-c', `docker save ${image.id} | tar -x -C ${layers}`]);
    const walk = async (place: string): Promise<string[]> =>
      (await readdir(place, { withFileTypes: true, recursive: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
    const files = await walk(layers);
    assert.ok(files.some((path) => path.endsWith('.tar')));
    for (const path of files) assert.deepEqual(holds(await readFile(path)), [], path);
    // Records, logs, programs and packages on this machine.
    const kept = await walk(join(storage, 'images'));
    assert.ok(kept.some((path) => path.endsWith('.log')));
    for (const path of kept) assert.deepEqual(holds(await readFile(path)), [], path);
  });

  it('says which limit the set-up program of R hit, and what to do', async function () {
    const path = join(source, 'setup.py');
    const text = await readFile(path, 'utf8');
    const bomb = 'import os\nif os.getcwd() == "/testbed":\n    while True:\n        os.fork()\n';
    await writeFile(path, bomb + text);
    try {
      await assert.rejects(make(instanceOf(2), { processes: 48 }), (error) => {
        assert.ok(error instanceof HumanError);
        assert.match(
          error.message,
          // Its requirements are resolved by the same program, at the same time.
          /^Could not (install R|resolve the requirements) of .*: it reached the limit of 48 processes/,
        );
        assert.match(error.message, /--processes.*-2\.log/);
        return true;
      });
    } finally {
      await writeFile(path, text);
    }
    assert.deepEqual(await containersOf(instanceOf(2).id), []);
  });

  describe('has limits', () => {
    const purpose = { instance: `${owner}__limits` };

    const inside = <T>(
      limits: Parameters<typeof testSettings>[0],
      work: (container: BuildContainer, log: string[]) => Promise<T>,
    ): Promise<T> => {
      const log: string[] = [];
      const take = (text: string): void => void log.push(text);
      const place = {
        ...{ connection, work: { reporter }, limits: testSettings(limits) },
        log: { path: '/the/log', line: take, output: take, close: async () => undefined },
      };
      return inContainer(place, { image: python, purpose, runs: 'foreign' }, (container) => {
        container.superviseWith('/usr/bin/python3');
        return work(container, log);
      });
    };

    const hit =
      (limit: LimitHit, words: RegExp) =>
      (error: unknown): boolean => {
        assert.ok(error instanceof HumanError);
        assert.equal((error as HumanError & { limit?: LimitHit }).limit, limit);
        assert.match(error.message, words);
        assert.match(error.message, /\/the\/log/);
        return true;
      };

    const run = (container: BuildContainer, program: string) =>
      container.attempt(['python3', '-c', program], { isForeign: true, doing: 'do it' });

    for (const [name, limit, settings, program, words] of [
      [
        'memory',
        'memory',
        { memoryMb: 256 },
        'x = []\nwhile True: x.append(b"x" * (1 << 20))',
        /used up its 256 MiB of memory.*--memory/,
      ],
      [
        'processes',
        'processes',
        { processes: 32 },
        'import os\nwhile True: os.fork()',
        /limit of 32 processes.*--processes/,
      ],
      [
        'what is written',
        'disk',
        { diskMb: 64 },
        'n = 0\nwhile True:\n  n += 1\n  with open("/tmp/%d" % n, "wb") as f: f.write(b"x" * (1 << 20))',
        /more than 64 MiB.*--disk/,
      ],
      [
        'what is written to files without a name',
        'disk',
        { diskMb: 64 },
        'import os\nx = []\nwhile True:\n  x.append(os.open("/tmp/x", os.O_CREAT | os.O_RDWR)); os.unlink("/tmp/x"); os.write(x[-1], b"x" * (1 << 20))',
        /more than 64 MiB.*--disk/,
      ],
      [
        'time',
        'time',
        { buildMinutes: 0.05 },
        'while True: pass',
        /0\.05 minutes.*--build-minutes/,
      ],
      ['output', 'output', {}, 'while True: print("x" * 10000)', /printed without end/],
    ] as const) {
      it(`on ${name}, which it is told of by its name`, async function () {
        await assert.rejects(
          inside(settings, (container) => run(container, program)),
          hit(limit, words),
        );
        assert.deepEqual(await containersOf(purpose.instance), []);
      });
    }

    it('and leaves no process behind, whatever a command starts', async () => {
      await inside({}, async (container) => {
        const program = [
          'import os, signal, time',
          'for number in range(1, 32):',
          '    try: signal.signal(number, signal.SIG_IGN)',
          '    except (OSError, ValueError): pass',
          'for _ in range(20):',
          '    if os.fork() == 0:',
          '        os.setsid()',
          '        if os.fork() == 0: time.sleep(3600)',
          '        os._exit(0)',
        ].join('\n');
        assert.equal((await run(container, program)).code, 0);
        const { standard } = await container.attempt([
          'sh',
          '-c',
          'grep -l "^Uid:.1000" /proc/[0-9]*/status; true',
        ]);
        assert.equal(standard, '');
      });
    });

    it('and gives back the status of a command that fails by itself', async () => {
      await inside({}, async (container) => {
        assert.equal((await run(container, 'raise SystemExit(7)')).code, 7);
        const killed = await run(container, 'import os; os.kill(os.getpid(), 9)');
        assert.equal(killed.code, 137);
      });
    });
  });
});
