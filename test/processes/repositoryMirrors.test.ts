import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { Cancelled, HumanError, silent } from '../../src/domain/work';
import { sourceOf, parseSources } from '../../src/repository/source';
import { instanceFolder, mirrorFolder } from '../../src/repository/storage';
import { prepareTrees, type Trees } from '../../src/repository/trees';
import {
  added,
  assertIsR,
  assertKnowsNothingLater,
  plain,
  useExample,
  write,
  type Example,
} from './exampleRepository';
import { gitServer, type GitServer } from './gitServer';
import { stallingGit } from './stallingGit';

describe('mirrors', function () {
  let example: Example;
  let server: GitServer | undefined;
  let storage = '';
  let path: string | undefined;
  useExample((made) => (example = made));
  before(async function () {
    path = process.env['PATH'];
    server = await gitServer(example.folder);
    if (server === undefined) this.skip();
  });
  after(() => server?.close());
  beforeEach(async () => (storage = await example.storage()));
  afterEach(() => {
    if (path !== undefined) process.env['PATH'] = path;
  });

  let count = 0;
  /** A copy of the example on the server, with and without partial clones. */
  function served(partial = true): { readonly url: string; readonly path: string } {
    const name = `served-${count++}.git`;
    const path = join(example.folder, name);
    example.clonePartial(path);
    if (!partial) plain(path, 'config', 'uploadpack.allowFilter', 'false');
    return { url: `${server?.address}/${name}`, path };
  }
  const prepare = (from: string, more?: Partial<Instance>): Promise<Trees> =>
    example.prepare({ kind: 'commit', from }, storage, more);
  const mirror = (): string => mirrorFolder(storage, 'octo/cat');
  const blobsOf = (gitDir: string): string[] =>
    plain(gitDir, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)')
      .split('\n')
      .filter((line) => line.endsWith(' blob'));
  const commitOn = async (origin: string, name: string): Promise<string> => {
    const work = join(storage, `work-${name}`);
    plain(storage, 'clone', '-q', origin, work);
    await write(work, { [`${name}.py`]: `${name}\n` });
    plain(work, 'add', '-A');
    plain(work, 'commit', '-q', '-m', name);
    plain(work, 'push', '-q', 'origin', `HEAD:refs/heads/${name}`);
    return plain(work, 'rev-parse', 'HEAD');
  };

  it('hold every commit and only the files that were needed, fetched all at once', async () => {
    const { url } = served();
    const trees = await prepare(url);
    await assertIsR(trees.base);
    assertKnowsNothingLater(trees.base, example);
    assert.equal(plain(mirror(), 'rev-list', '--all', '--count'), '2');
    const ofR = plain(example.origin, 'ls-tree', '-r', example.base).split('\n');
    assert.equal(blobsOf(mirror()).length, new Set(ofR.map((line) => line.split(/\s/)[2])).size);
    assert.equal(server?.fetches() ?? 0, 2, 'one clone, one fetch');
  });

  it('are made once, and serve what they have without the server', async () => {
    const { url, path } = served();
    await prepare(url);
    await rm(instanceFolder(storage, 'octo__cat-1'), { recursive: true });
    await rm(path, { recursive: true });
    await assertIsR((await prepare(url)).base);
    // Kept trees need neither mirror nor server.
    await rm(mirror(), { recursive: true });
    await assertIsR((await prepare(url)).base);
  });

  it('work with a server that knows no partial clones', async () => {
    await assertIsR((await prepare(served(false).url)).base);
  });

  it('fetch a commit that is missing by itself, under the address asked for', async () => {
    const { url, path } = served();
    await prepare(url);
    const commit = await commitOn(path, 'newer');
    const other = await commitOn(path, 'unwanted');
    const moved = join(example.folder, `moved-${count}.git`);
    example.clonePartial(moved);
    plain(moved, 'fetch', '-q', path, '+refs/heads/*:refs/heads/*');
    await rm(path, { recursive: true });
    const trees = await prepare(`file://${moved}`, {
      baseCommit: commit,
      goldenPatch: added('new'),
    });
    assert.equal(readFileSync(join(trees.base, 'newer.py'), 'utf8'), 'newer\n');
    assert.equal(plain(mirror(), 'rev-parse', `refs/swt-bench/${commit}`), commit);
    // Only this commit was fetched: no other object is new there.
    const known = plain(mirror(), 'cat-file', '--batch-all-objects', '--batch-check');
    assert.equal(known.includes(other), false);
    assert.equal(readFileSync(join(mirror(), 'config'), 'utf8').includes(moved), false);
  });

  it('find a commit given by an abbreviated id', async () => {
    const { url, path } = served();
    await prepare(url);
    const commit = await commitOn(path, 'short');
    const trees = await prepare(url, {
      baseCommit: commit.slice(0, 10),
      goldenPatch: added('new'),
    });
    assert.equal(readFileSync(join(trees.base, 'short.py'), 'utf8'), 'short\n');
  });

  it('are fetched into although a killed git left its locks and half a pack there', async () => {
    const { url, path } = served();
    await prepare(url);
    const commit = await commitOn(path, 'newer');
    const refs = join(mirror(), 'refs', 'swt-bench');
    await mkdir(refs, { recursive: true });
    const left = [
      join(mirror(), 'packed-refs.lock'),
      join(mirror(), 'config.lock'),
      join(mirror(), 'objects', 'pack', 'tmp_pack_AbCdEf'),
      join(refs, `${commit}.lock`),
    ];
    for (const each of left) await writeFile(each, 'half');
    await prepare(url, { baseCommit: commit, goldenPatch: added('new') });
    for (const each of left) assert.equal(existsSync(each), false, each);
  });

  it('are made again when what stands there is no repository', async () => {
    await mkdir(mirror(), { recursive: true });
    await writeFile(join(mirror(), 'config'), 'half');
    await mkdir(`${mirror()}.01234567-89ab-4cde-8f01-23456789abcd`);
    await assertIsR((await prepare(served().url)).base);
    assert.deepEqual((await readdir(join(storage, 'mirrors'))).sort(), [
      'octo__cat',
      'octo__cat.in-use',
    ]);
  });

  it('do not write down a password in the address', async () => {
    const { url } = served();
    const secret = url.replace('http://', 'http://me:secret@');
    const trees = await prepare(secret);
    assert.equal(trees.source.from, url.replace('http://', 'http://***@'));
    assert.equal(readFileSync(join(mirror(), 'config'), 'utf8').includes('secret'), false);
    const missing = '0123456789'.repeat(4);
    await assert.rejects(prepare(secret, { baseCommit: missing }), (error) => {
      assert.ok(error instanceof HumanError);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });

  it('a local repository is read as it is, without a mirror', async () => {
    await prepare(example.origin);
    assert.equal(existsSync(join(storage, 'mirrors')), false);
  });

  it('a local partial clone fetches what it lacks', async () => {
    // Not through the server, which cannot answer while this process is blocked.
    const { path } = served();
    const local = join(storage, 'partial');
    plain(storage, 'clone', '-q', '--bare', '--filter=blob:none', `file://${path}`, local);
    await assertIsR((await prepare(local)).base);
  });

  it('a local repository checked out in part, with filters of its own, gives the whole of R', async () => {
    const local = join(storage, 'sparse');
    plain(storage, 'clone', '-q', example.origin, local);
    plain(local, 'sparse-checkout', 'set', '--no-cone', '/cat.py');
    plain(local, 'config', 'filter.shout.smudge', 'tr a-z A-Z');
    await writeFile(join(local, '.git', 'info', 'attributes'), '*.py filter=shout\n');
    await assertIsR((await prepare(local)).base);
  });

  it('cloning can be cancelled, and leaves nothing', async () => {
    const { url } = served();
    const fake = await stallingGit(join(storage, 'bin'), '*clone*');
    process.env['PATH'] = fake.env['PATH'];
    const abort = new AbortController();
    const work = prepareTrees(example.instance(), { kind: 'commit', from: url }, storage, {
      reporter: silent,
      signal: abort.signal,
    });
    await fake.stalled();
    abort.abort();
    await assert.rejects(work, Cancelled);
    await fake.letGo();
    assert.deepEqual(await readdir(join(storage, 'mirrors')), []);
    assert.deepEqual(await readdir(join(storage, 'locks')), []);
    assert.equal(existsSync(instanceFolder(storage, 'octo__cat-1')), false);
  });

  describe('a repository that vanished', () => {
    const cases: readonly [string, () => string, RegExp][] = [
      [
        'from a server',
        () => `${server?.address}/nothing.git`,
        /the repository does not exist or is private .*moved or been deleted/,
      ],
      [
        'from a host that is unknown',
        () => 'http://nowhere.invalid/x.git',
        /the host does not exist/,
      ],
      ['from a server that is down', () => 'http://127.0.0.1:1/x.git', /the connection failed/],
      ['from a disk', () => `file://${storage}/nothing.git`, /it is not a git repository/],
    ];
    for (const [name, from, why] of cases) {
      it(name, async () => {
        await assert.rejects(prepare(from()), (error) => {
          assert.ok(error instanceof HumanError, String(error));
          assert.match(error.message, why);
          assert.match(error.message, /Commit [0-9a-f]{40} of octo\/cat cannot be fetched from/);
          assert.match(error.next ?? '', /--source octo\/cat=/);
          assert.doesNotMatch(error.message, /\n/);
          return true;
        });
        assert.deepEqual(await readdir(join(storage, 'mirrors')), []);
        assert.equal(existsSync(instanceFolder(storage, 'octo__cat-1')), false);
      });
    }

    it('from this machine, after its source was looked up', async () => {
      const local = join(storage, 'local');
      plain(storage, 'clone', '-q', '--bare', example.origin, local);
      const source = await sourceOf(example.instance(), parseSources([local]));
      await rm(local, { recursive: true });
      await assert.rejects(example.prepare(source, storage), /is no longer a git repository/);
    });

    it('an archive on a server is asked to be downloaded', async () => {
      await assert.rejects(
        sourceOf(example.instance(), parseSources(['https://example.org/cat-1.0.tar.gz'])),
        { name: 'HumanError', message: /is a remote archive.*Download it/ },
      );
    });
  });
});
