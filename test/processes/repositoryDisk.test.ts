import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { storageCommand } from '../../src/commands/storage/storage';
import { Cancelled, HumanError } from '../../src/domain/work';
import {
  diskUse,
  freeEnvironments,
  freeInstance,
  freeMirror,
  freeVectors,
} from '../../src/repository/disk';
import { GitError } from '../../src/repository/git';
import { holdFolder } from '../../src/repository/lock';
import {
  noSpace,
  defaultStorage,
  environmentsFolder,
  instanceFolder,
  mirrorFolder,
  repoOfMirror,
} from '../../src/repository/storage';
import { holdTrees, type Trees } from '../../src/repository/trees';
import { makeWorkspace } from '../../src/repository/workspace';
import { useExample, write, type Example } from './exampleRepository';

describe('the storage folder', function () {
  let example: Example;
  let storage = '';
  useExample((made) => (example = made));
  beforeEach(async () => (storage = await example.storage()));
  const prepare = (id = 'octo__cat-1'): Promise<Trees> =>
    example.prepare({ kind: 'commit', from: `file://${example.origin}` }, storage, { id });

  it('is where the environment says', () => {
    const home = join(homedir(), '.cache', 'swt-bench');
    assert.equal(defaultStorage({ SWT_BENCH_STORAGE: '/a/b' }), '/a/b');
    assert.equal(defaultStorage({ SWT_BENCH_STORAGE: 'b' }), resolve('b'));
    assert.equal(defaultStorage({ XDG_CACHE_HOME: '/c' }), join('/c', 'swt-bench'));
    assert.equal(defaultStorage({ XDG_CACHE_HOME: 'c', SWT_BENCH_STORAGE: '' }), home);
    assert.equal(defaultStorage({}), home);
  });

  it('has no place for names that lead out of it', () => {
    for (const id of ['', '..', '../x', 'a/b', '.x', 'a\\b', 'a\0', 'x'.repeat(300)]) {
      assert.throws(() => instanceFolder(storage, id), HumanError, JSON.stringify(id));
    }
    for (const repo of ['', 'x', '../..', 'a/..', 'a/b/c', '/a/b', 'a/.', './b']) {
      assert.throws(() => mirrorFolder(storage, repo), HumanError, JSON.stringify(repo));
    }
    for (const repo of ['octo/cat', 'pytest-dev/pytest', 'a/_b', 'a/b__c', 'a/b.py']) {
      assert.equal(repoOfMirror(mirrorFolder('/s', repo).split(/[\\/]/).at(-1) ?? ''), repo);
    }
  });

  it('says what it takes, as du does, by instance and mirror', async () => {
    await Promise.all([prepare(), prepare('octo__cat-2')]);
    await write(storage, {
      'data/swt-bench/rows.jsonl': 'x'.repeat(100_000),
      'instances/octo__cat-1/runs/ab/cd.json': 'x'.repeat(50_000),
      'pairs/1-x/base/a.py': 'x',
      'vectors/ab/abc.vectors': 'x'.repeat(30_000),
      'virtualenvs/ab/pyvenv.cfg': 'x'.repeat(20_000),
      'instances/not ours/a.txt': 'x'.repeat(10_000),
    });
    const du = (path: string): number =>
      1024 * Number.parseInt(execFileSync('du', ['-sk', path], { encoding: 'utf8' }), 10);
    const use = await diskUse(storage);
    assert.deepEqual(use.instances.map(({ id }) => id).sort(), ['octo__cat-1', 'octo__cat-2']);
    assert.deepEqual(
      use.mirrors.map(({ repo }) => repo),
      ['octo/cat'],
    );
    assert.equal(use.mirrors[0]?.bytes, du(mirrorFolder(storage, 'octo/cat')));
    const one = use.instances.find(({ id }) => id === 'octo__cat-1');
    const real = du(instanceFolder(storage, 'octo__cat-1'));
    assert.ok(Math.abs((one?.bytes ?? 0) - real) < 32_000, `${one?.bytes} ${real}`);
    assert.ok(use.datasets >= 100_000 && use.datasets < 150_000);
    assert.ok(use.sandboxes > 0 && use.other >= 10_000);
    assert.ok(use.vectors >= 30_000 && use.vectors < 60_000);
    assert.ok(use.environments >= 20_000 && use.environments < 60_000);
    assert.ok(Math.abs(use.total - du(storage)) < 64_000);
    // The kept size is the same.
    assert.deepEqual((await diskUse(storage)).mirrors, use.mirrors);
    const abort = new AbortController();
    abort.abort();
    await assert.rejects(diskUse(storage, { signal: abort.signal }), Cancelled);
  });

  it('frees vectors apart from the rest', async () => {
    await write(storage, { 'vectors/ab/abc.vectors': 'x', 'data/swt-bench/rows.jsonl': 'x' });
    await freeVectors(storage);
    await freeVectors(storage);
    assert.deepEqual(await readdir(storage), ['data']);
  });

  it('frees virtual environments that no test uses', async () => {
    await write(storage, { 'virtualenvs/ab/pyvenv.cfg': 'x', 'data/swt-bench/rows.jsonl': 'x' });
    const release = await holdFolder(environmentsFolder(storage));
    await assert.rejects(
      freeEnvironments(storage),
      /The virtual environment is being used by process/,
    );
    assert.ok(existsSync(join(environmentsFolder(storage), 'ab')));
    await release();
    await freeEnvironments(storage);
    assert.ok(!existsSync(environmentsFolder(storage)));
    assert.ok(existsSync(join(storage, 'data/swt-bench/rows.jsonl')));
  });

  it('is empty where there is none', async () => {
    assert.equal((await diskUse(join(storage, 'none'))).total, 0);
  });

  it('frees an instance and a mirror, and makes them again', async () => {
    await prepare();
    await prepare('octo__cat-2');
    await write(storage, { 'instances/octo__cat-1/notes.txt': 'mine' });
    await freeInstance(storage, 'octo__cat-1');
    assert.deepEqual(await readdir(instanceFolder(storage, 'octo__cat-1')), ['notes.txt']);
    await freeInstance(storage, 'octo__cat-2');
    assert.equal(existsSync(instanceFolder(storage, 'octo__cat-2')), false);
    await freeMirror(storage, 'octo/cat');
    assert.deepEqual(await readdir(join(storage, 'mirrors')), []);
    const trees = await prepare();
    assert.ok(existsSync(trees.base));
    await freeInstance(storage, 'never__there-1');
  });

  it('does not free what is in use', async () => {
    const trees = await prepare();
    const release = await holdTrees(trees);
    const reading = await holdFolder(mirrorFolder(storage, 'octo/cat'));
    const inUse = new RegExp(`is being used by process ${process.pid}`);
    await assert.rejects(freeInstance(storage, 'octo__cat-1'), inUse);
    await assert.rejects(freeMirror(storage, 'octo/cat'), inUse);
    assert.ok(existsSync(trees.base));
    await release();
    await reading();
    await freeInstance(storage, 'octo__cat-1');
    await freeMirror(storage, 'octo/cat');
  });

  describe('on the command line', () => {
    async function run(more: object): Promise<{ status: number; out: string; err: string }> {
      let out = '';
      let err = '';
      const status = await storageCommand(
        { storage, ...more },
        {
          stdout: (text) => void (out += text),
          data: (text) => void (out += text),
          stderr: (text) => void (err += text),
          stdin: async () => Buffer.alloc(0),
          interactive: false,
          signal: new AbortController().signal,
          assets: '',
          bundled: { dataset: '', predictions: '', source: '' },
        },
      );
      return { status, out, err };
    }

    it('shows and frees', async () => {
      await prepare();
      const shown = await run({});
      assert.equal(shown.status, 0);
      assert.match(shown.out, /mirror octo\/cat +\d+\.\d MB\n.*octo__cat-1 +\d+\.\d MB\n/);
      const freed = await run({ free: ['octo__cat-1'], json: true });
      const document = JSON.parse(freed.out) as { freed: number; instances: unknown[] };
      assert.ok(document.freed > 0);
      assert.deepEqual(document.instances, []);
      await run({ freeAll: true });
      assert.deepEqual((await diskUse(storage)).mirrors, []);
    });

    it('names what is not there, and what is in use', async () => {
      const trees = await prepare();
      await assert.rejects(run({ free: ['octo__cat-7'] }), /has nothing stored for octo__cat-7/);
      await assert.rejects(run({ freeMirror: ['../x'] }), HumanError);
      const release = await holdTrees(trees);
      const { status, err } = await run({ freeAll: true });
      assert.equal(status, 1);
      assert.match(err, /octo__cat-1 is being used by process/);
      assert.deepEqual((await diskUse(storage)).mirrors, []);
      await release();
    });
  });

  describe('on a disk that is full', () => {
    it('is known in the words of Node and of git', () => {
      const code = (name: string): Error => Object.assign(new Error(name), { code: name });
      for (const error of [
        code('ENOSPC'),
        code('EDQUOT'),
        new GitError('clone', 'fatal: write error: No space left on device\n', 128),
        new GitError('read-tree', 'error: unable to write file x: Disk quota exceeded', 128),
      ]) {
        assert.match(
          noSpace(error, '/there')?.message ?? '',
          /No space left on the disk of \/there/,
        );
      }
      assert.equal(noSpace(code('EACCES'), '/there'), undefined);
    });

    let small = '';
    before(async function () {
      small = join(example.folder, 'small');
      await mkdir(small);
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', small], {
          stdio: 'ignore',
        });
      } catch {
        small = '';
        console.log('      skipped: a small file system cannot be mounted without root');
        this.skip();
      }
    });
    after(() => {
      if (small !== '') execFileSync('umount', ['-l', small]);
    });
    const full = (error: unknown): boolean =>
      error instanceof HumanError &&
      error.message.includes(`No space left on the disk of ${small}`) &&
      /swt-bench storage/.test(error.next ?? '');
    /** Fills the disk until about this many bytes are free. */
    const fill = async (left: number): Promise<void> => {
      for (const name of await readdir(small)) await rm(join(small, name), { recursive: true });
      await writeFile(join(small, 'filler'), Buffer.alloc(256 * 1024 - left));
    };

    for (const kind of ['commit', 'address', 'snapshot'] as const) {
      for (const left of [12, 24, 40, 64]) {
        it(`${left} kB, from ${kind}: says so and leaves nothing`, async () => {
          await fill(left * 1024);
          const snapshot = join(storage, 'snapshot');
          await write(storage, { 'snapshot/cat.py': 'def purr():\n    return 1\n' });
          await write(storage, { 'snapshot/large.txt': 'large\n'.repeat(20_000) });
          const from = { commit: example.origin, address: `file://${example.origin}`, snapshot };
          await assert.rejects(
            example.prepare(
              { kind: kind === 'snapshot' ? 'snapshot' : 'commit', from: from[kind] },
              small,
            ),
            full,
          );
          const names = (await readdir(small, { recursive: true })).filter((name) =>
            /instances.|mirrors.*\.[0-9a-f]{8}-|\.lock$/.test(name),
          );
          assert.deepEqual(names, []);
        });
      }
    }

    it('a workspace: says so and leaves nothing', async () => {
      const trees = await prepare();
      await fill(40 * 1024);
      const folder = join(small, 'workspace');
      await assert.rejects(
        makeWorkspace(example.instance(), trees, { dataset: 'x', sources: [] }, folder),
        full,
      );
      assert.equal(existsSync(folder), false);
      assert.deepEqual(
        (await readdir(small)).filter((name) => name.startsWith('.swt-bench')),
        [],
      );
    });
  });
});
