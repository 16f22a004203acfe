import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HumanError, silent } from '../../src/domain/work';
import { writeTreeOfR } from '../../src/repository/trees';
import { copyTree } from '../../src/repository/trees/copyTree';
import { markerPath, readMarker } from '../../src/repository/workspace';
import { WorkspaceRepository } from '../../src/repository/workspaceRepository';
import { filesOfR, plain, useExample, write, type Example } from './exampleRepository';

interface HostileFolder {
  readonly makeHostile: (
    folder: string,
    options: { canary: string; listener?: string; source?: string },
  ) => void;
}

describe('a workspace whose repository runs whatever git can be told to run', function () {
  let example: Example;
  let scratch = '';
  let folder = '';
  let canary = '';
  let repository: WorkspaceRepository;
  useExample((made) => (example = made));
  const fired = (): string[] => (existsSync(canary) ? readdirSync(canary).sort() : []);

  let base = '';
  before(async () => {
    const place = await example.storage();
    const from = await repositoryWithSubmodule(join(place, 'from'));
    const baseCommit = plain(from, 'rev-parse', 'HEAD');
    base = join(place, 'base');
    const source = { kind: 'commit', from } as const;
    await writeTreeOfR(example.instance({ baseCommit }), source, base, { reporter: silent });
  });
  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'hostile-test-'));
    folder = join(scratch, 'workspace');
    canary = join(scratch, 'canary');
    await copyTree(base, folder);
    await write(folder, { [markerPath]: '{"format":1,"id":"octo__cat-1","dataset":"bundled"}' });
    const place = join(__dirname, '..', 'windows', 'hostileFolder.mjs');
    const { makeHostile } = (await import(pathToFileURL(place).href)) as HostileFolder;
    makeHostile(folder, { canary });
    // The submodule of R is under the attacker's control as well.
    await cp(join(folder, 'inner'), join(folder, 'helpers'), { recursive: true });
    repository = new WorkspaceRepository(folder, join(scratch, 'own'));
  });
  afterEach(() => rm(scratch, { recursive: true, force: true }));

  async function repositoryWithSubmodule(from: string): Promise<string> {
    plain(example.folder, 'clone', '-q', example.origin, from);
    plain(from, 'update-index', '--add', '--cacheinfo', `160000,${example.base},helpers`);
    plain(from, 'commit', '-q', '-m', 'with a submodule');
    return from;
  }

  it('does so when git is run in it, so that this test tests something', () => {
    const asked = ['add tests inner', 'status', 'diff HEAD', 'diff --cached HEAD', 'add --all'];
    for (const args of asked.map((each) => each.split(' '))) {
      spawnSync('git', args, { cwd: folder, env: { PATH: process.env['PATH'] } });
    }
    const names = fired().join(' ');
    for (const each of ['fsmonitor', 'clean-workspace', 'externalDiff', 'hook-post-index-change']) {
      assert.match(names, new RegExp(`git-${each}`), names);
    }
    assert.match(names, /-(inner|nested)/, 'repositories in it were entered');
  });

  it('runs nothing when its edits are looked at, time and again', async () => {
    await write(folder, { 'cat.py': 'def purr():\n    return 3\n' });
    const patch = await repository.edits();
    assert.match(patch, /^\+def test_evil/m);
    assert.match(patch, /^\+ {4}return 3$/m);
    assert.match(patch, /b\/evil\.cfg/);
    assert.doesNotMatch(patch, /(inner|beside|helpers)\//, 'of repositories in it nothing is told');
    assert.doesNotMatch(patch, /Subproject|b\/\.swt-bench/);
    assert.equal(await repository.edits(), patch);
    assert.deepEqual(fired(), []);
  });

  it('runs nothing when R is read from it', async () => {
    assert.ok((await repository.paths()).includes('cat.py'));
    assert.equal(await repository.read('cat.py'), 'def purr():\n    return 2\n');
    const many = await repository.readMany(['cat.py', 'dos.txt', 'none.py']);
    assert.deepEqual([...many.keys()], ['cat.py', 'dos.txt']);
    assert.equal(many.get('dos.txt'), filesOfR['dos.txt']);
    assert.deepEqual(fired(), []);
  });

  it('runs nothing as the source of R, nor does a repository in it', async () => {
    const r = await repository.r();
    const ask = (from: string, baseCommit: string, out: string): Promise<string> =>
      writeTreeOfR(example.instance({ baseCommit }), { kind: 'commit', from }, join(scratch, out), {
        reporter: silent,
        storage: join(scratch, 'storage'),
      });
    await ask(folder, r, 'again');
    assert.match(await readFile(join(scratch, 'again', 'cat.py'), 'utf8'), /return 2/);
    for (const name of ['nested', 'inner', 'beside']) {
      const from = join(folder, name);
      const head = plain(join(folder, 'inner'), 'rev-parse', 'HEAD');
      await ask(from, head, name);
      assert.equal(await readFile(join(scratch, name, 'a.py'), 'utf8'), 'x\n');
      // A missing object would be fetched from the address in its configuration.
      await assert.rejects(ask(from, 'f'.repeat(40), `${name}-missing`), HumanError);
    }
    // Also by address, where git itself has to open the repository.
    await assert.rejects(
      ask(`file://${join(folder, 'nested')}`, 'f'.repeat(40), 'by-address'),
      HumanError,
    );
    assert.deepEqual(fired(), []);
  });

  it('runs nothing when files are missing that a partial clone would fetch', async () => {
    const clone = join(scratch, 'partial');
    const server = join(scratch, 'server.git');
    example.clonePartial(server);
    plain(scratch, 'clone', '-q', '--bare', '--filter=blob:none', `file://${server}`, clone);
    const evil = await readFile(join(folder, 'nested', 'config'), 'utf8');
    const ask = (out: string): Promise<string> =>
      writeTreeOfR(example.instance(), { kind: 'commit', from: clone }, join(scratch, out), {
        reporter: silent,
        storage: join(scratch, 'storage'),
      });
    await writeFile(join(clone, 'config'), evil);
    await assert.rejects(ask('not'), HumanError);
    await writeFile(join(clone, 'config'), evil.replace(/url = .*/, `url = ext::${canary}`));
    await assert.rejects(ask('neither'), HumanError);
    assert.deepEqual(fired(), []);
    // The origin of its files is only data: git alone fetches from there.
    await writeFile(join(clone, 'config'), evil.replace(/url = .*/, `url = file://${server}`));
    await ask('fetched');
    assert.equal(await readFile(join(scratch, 'fetched', 'cat.py'), 'utf8'), filesOfR['cat.py']);
    assert.deepEqual(fired(), []);
  });

  it('is refused where its repository is elsewhere, or borrows from elsewhere', async () => {
    const lent = join(folder, '.git', 'objects', 'info', 'alternates');
    await mkdir(join(lent, '..'), { recursive: true });
    await writeFile(lent, `${join(example.origin, '.git', 'objects')}\n`);
    await assert.rejects(repository.edits(), /borrows objects from another repository/);
    await rm(lent);
    await rename(join(folder, '.git'), join(scratch, 'moved.git'));
    await writeFile(join(folder, '.git'), `gitdir: ${join(scratch, 'moved.git')}\n`);
    await assert.rejects(repository.edits(), HumanError);
    await rm(join(folder, '.git'));
    await symlink(join(scratch, 'moved.git'), join(folder, '.git'));
    await assert.rejects(repository.edits(), HumanError);
    await rm(join(folder, '.git'));
    await rename(join(scratch, 'moved.git'), join(folder, '.git'));
    assert.notEqual(await repository.edits(), '', 'it is looked at again when it is there');
  });

  it('is refused where its objects are links or pipes', async () => {
    const packs = join(folder, '.git', 'objects', 'pack');
    await rename(packs, join(scratch, 'packs'));
    await symlink(join(scratch, 'packs'), packs);
    await assert.rejects(repository.edits(), /borrows objects from another repository/);
    await rm(packs);
    await rename(join(scratch, 'packs'), packs);
    // Git would wait for a writer of this pipe.
    execFileSync('mkfifo', [join(packs, 'multi-pack-index')]);
    await assert.rejects(repository.edits(), /borrows objects from another repository/);
    await rm(join(packs, 'multi-pack-index'));
    assert.notEqual(await repository.edits(), '');
  });

  it('is a source of R that names no other place', async () => {
    const r = await repository.r();
    const ask = (from: string, baseCommit: string, out: string): Promise<string> =>
      writeTreeOfR(example.instance({ baseCommit }), { kind: 'commit', from }, join(scratch, out), {
        reporter: silent,
        storage: join(scratch, 'storage'),
      });
    // A file is missing that the address in its configuration has.
    const server = join(scratch, 'server.git');
    plain(scratch, 'clone', '-q', '--bare', example.origin, server);
    plain(server, 'config', 'uploadpack.allowFilter', 'true');
    const clone = join(scratch, 'clone');
    plain(scratch, 'clone', '-q', '--filter=blob:none', '--no-checkout', `file://${server}`, clone);
    plain(clone, 'update-ref', 'refs/swt-bench/R', example.base);
    const partial = new WorkspaceRepository(clone, join(scratch, 'own-partial'));
    await assert.rejects(ask(await partial.repository(), example.base, 'partial'), HumanError);
    // A further folder of objects is not followed either.
    await writeFile(join(folder, '.git', 'commondir'), clone);
    await ask(await repository.repository(), r, 'again');
    assert.match(await readFile(join(scratch, 'again', 'cat.py'), 'utf8'), /return 2/);
    assert.deepEqual(fired(), []);
  });

  it('is no workspace where its marker is a pipe, a link, or endless', async () => {
    const marker = join(folder, markerPath);
    assert.equal((await readMarker(folder))?.id, 'octo__cat-1');
    await rename(marker, join(scratch, 'marker.json'));
    await symlink(join(scratch, 'marker.json'), marker);
    assert.equal(await readMarker(folder), undefined);
    await rm(marker);
    execFileSync('mkfifo', [marker]);
    assert.equal(await readMarker(folder), undefined);
    await rm(marker);
    await symlink('/dev/zero', marker);
    assert.equal(await readMarker(folder), undefined);
    await rm(join(folder, '.swt-bench'), { recursive: true });
    await mkdir(join(scratch, '.swt-bench'));
    await rename(join(scratch, 'marker.json'), join(scratch, markerPath));
    await symlink(join(scratch, '.swt-bench'), join(folder, '.swt-bench'));
    assert.equal(await readMarker(folder), undefined);
  });
});
