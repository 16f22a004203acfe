import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import * as tar from 'tar';
import type { Instance } from '../../src/domain/instance';
import { Cancelled, HumanError, silent } from '../../src/domain/work';
import { sourceOf, type TreeSource, parseSources } from '../../src/repository/source';
import { instanceFolder, treesFolder } from '../../src/repository/storage';
import { prepareTrees, type Trees } from '../../src/repository/trees';
import {
  assertIsR,
  assertKnowsNothingLater,
  filesOfR,
  fixed,
  goldenPatch,
  plain,
  useExample,
  write,
  type Example,
} from './exampleRepository';

describe('trees of R and R∘X*', function () {
  let example: Example;
  let folder = '';
  let origin = '';
  let base = '';
  let storage = '';
  useExample((made) => {
    example = made;
    ({ folder, origin, base } = made);
  });
  beforeEach(async () => (storage = await example.storage()));
  const instance = (more?: Partial<Instance>): Instance => example.instance(more);
  const prepare = (source: TreeSource, more?: Partial<Instance>): Promise<Trees> =>
    example.prepare(source, storage, more);

  describe('trees of a git repository with later history', () => {
    it('R has one commit, no remote and nothing of later; R∘X* has the patch', async () => {
      const trees = await prepare({ kind: 'commit', from: origin });
      await assertIsR(trees.base);
      assertKnowsNothingLater(trees.base, example);
      assert.equal(readFileSync(join(trees.base, 'link.py'), 'utf8'), filesOfR['cat.py']);
      assert.equal(await readFile(join(trees.fixed, 'cat.py'), 'utf8'), fixed);
      assert.equal(existsSync(join(trees.fixed, 'later.py')), false);
      assert.equal(plain(trees.fixed, 'status', '--porcelain', '--ignored'), '');
      assert.equal(trees.digest.base, plain(origin, 'rev-parse', `${base}^{tree}`));
      assert.equal(trees.digest.fixed, plain(trees.fixed, 'rev-parse', 'HEAD^{tree}'));
      assert.notEqual(trees.digest.base, trees.digest.fixed);
    });

    it('neither side tells which one it is, or that there is another', async () => {
      const snapshot = join(await mkdtemp(join(folder, 'snapshot-')), 'cat');
      plain(folder, 'clone', '-q', origin, snapshot);
      plain(snapshot, 'checkout', '-q', base);
      for (const source of [
        { kind: 'commit', from: origin },
        { kind: 'snapshot', from: snapshot },
      ] as const) {
        const trees = await prepare(source);
        const sides = [trees.base, trees.fixed];
        const told = sides.map((tree) => {
          assert.equal(plain(tree, 'rev-list', '--all', '--reflog', '--count'), '1');
          assert.equal(plain(tree, 'fsck', '--unreachable', '--no-reflogs'), '');
          const listed = (...args: string[]): string[] =>
            plain(tree, ...args)
              .split('\n')
              .sort();
          assert.deepEqual(
            listed('cat-file', '--batch-all-objects', '--batch-check=%(objectname)'),
            listed('rev-list', '--all', '--objects', '--no-object-names'),
          );
          const commit = plain(tree, 'rev-parse', 'HEAD');
          assert.equal(
            plain(tree, 'for-each-ref', '--format=%(objectname)'),
            `${commit}\n${commit}`,
          );
          return [
            plain(tree, 'log', '--all', '--format=%an %ae %ad %cn %ce %cd %P %B %D'),
            plain(tree, 'status', '--porcelain', '--ignored', '--branch'),
            plain(tree, 'for-each-ref', '--format=%(refname)'),
            readdirSync(join(tree, '.git'), { recursive: true })
              .map((name) =>
                String(name).replace(/[0-9a-f]{2}(\/[0-9a-f]{38})?$|[0-9a-f]{40}/g, 'ID'),
              )
              .sort(),
          ];
        });
        assert.deepEqual(told[0], told[1]);
        assert.doesNotMatch(JSON.stringify(told), /octo|golden|patch/i);
      }
    });

    it('leaves the repository it came from as it was', async () => {
      const state = (): string =>
        plain(origin, 'status', '--porcelain') +
        plain(origin, 'for-each-ref') +
        readFileSync(join(origin, '.git', 'index'), 'latin1') +
        readFileSync(join(origin, '.git', 'config'), 'utf8');
      const was = state();
      await prepare({ kind: 'commit', from: origin });
      assert.equal(state(), was);
    });

    it('bare, by address, and as a linked work tree', async () => {
      const bare = join(folder, 'bare.git');
      plain(folder, 'clone', '-q', '--bare', origin, bare);
      const linked = join(folder, 'linked');
      plain(origin, 'worktree', 'add', '-q', '--detach', linked, 'v2');
      for (const where of [bare, `file://${bare}`, linked]) {
        const source = await sourceOf(instance(), parseSources([`octo/cat=${where}`]));
        assert.deepEqual(source, { kind: 'commit', from: where });
        const trees = await prepare(source);
        await assertIsR(trees.base);
        assertKnowsNothingLater(trees.base, example);
      }
      plain(origin, 'worktree', 'remove', '--force', linked);
    });

    it('a missing commit: names repository, commit, place and what to do', async () => {
      const missing = '0123456789'.repeat(4);
      for (const from of [origin, `file://${origin}`]) {
        await assert.rejects(
          prepare({ kind: 'commit', from }, { baseCommit: missing }),
          (error) =>
            error instanceof HumanError &&
            error.message.includes(
              `Commit ${missing} of octo/cat cannot be fetched from ${from}`,
            ) &&
            (error.next ?? '').includes('--source octo/cat='),
        );
      }
      assert.equal(existsSync(instanceFolder(storage, 'octo__cat-1')), false);
    });

    it('an address that leads nowhere', async () => {
      await assert.rejects(prepare({ kind: 'commit', from: `file://${folder}/nowhere.git` }), {
        name: 'HumanError',
        message: /cannot be fetched from file:/,
      });
    });

    it('a golden patch that does not apply: names the instance and what to check', async () => {
      await assert.rejects(
        prepare(
          { kind: 'commit', from: origin },
          { goldenPatch: goldenPatch.replace('return 1', 'return 7') },
        ),
        (error) =>
          error instanceof HumanError &&
          /golden patch of octo__cat-1 does not apply .*cat\.py/.test(error.message) &&
          /base_commit/.test(error.next ?? ''),
      );
      assert.equal(existsSync(instanceFolder(storage, 'octo__cat-1')), false);
    });

    it('an object that is not what its id says: matches nothing of it', async () => {
      const forged = join(await mkdtemp(join(folder, 'forged-')), 'cat');
      plain(folder, 'clone', '-q', origin, forged);
      const id = plain(forged, 'rev-parse', `${base}:cat.py`);
      const packs = join(forged, '.git', 'objects', 'pack');
      await cp(packs, `${packs}.away`, { recursive: true });
      await rm(packs, { recursive: true });
      for (const name of readdirSync(`${packs}.away`).filter((each) => each.endsWith('.pack'))) {
        const input = readFileSync(join(`${packs}.away`, name));
        execFileSync('git', ['unpack-objects', '-q'], { cwd: forged, input });
      }
      const place = join(forged, '.git', 'objects', id.slice(0, 2), id.slice(2));
      await rm(place, { force: true });
      const content = 'def purr():\n    return 1\nimport evil\n';
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, deflateSync(`blob ${content.length}\0${content}`));
      await assert.rejects(prepare({ kind: 'commit', from: forged }), {
        name: 'HumanError',
        message: /an object of commit [0-9a-f]{12} does not match its ID/,
      });
      // Trees of the same commit are equal wherever they come from; this snapshot must not be
      // mistaken for one.
      await assertIsR((await prepare({ kind: 'commit', from: origin })).base);
    });

    it('cancelled, leaves nothing', async () => {
      const controller = new AbortController();
      controller.abort();
      await assert.rejects(
        prepareTrees(instance(), { kind: 'commit', from: origin }, storage, {
          reporter: silent,
          signal: controller.signal,
        }),
        Cancelled,
      );
      assert.equal(existsSync(instanceFolder(storage, 'octo__cat-1')), false);
    });
  });

  describe('trees of a snapshot', () => {
    /** The files of R as in a release, with leftovers of a used folder. */
    async function snapshot(name: string): Promise<string> {
      const root = join(await mkdtemp(join(folder, 'snapshot-')), name);
      await write(root, filesOfR);
      await symlink('cat.py', join(root, 'link.py'));
      await write(root, { 'run.sh': '#!/bin/sh\n' });
      await chmod(join(root, 'run.sh'), 0o755);
      return root;
    }

    it('a folder', async () => {
      const root = await snapshot('cat-1.0');
      await write(root, { '__pycache__/cat.cpython-311.pyc': 'x', '.venv/bin/python': 'x' });
      const source = await sourceOf(instance(), parseSources([root]));
      assert.deepEqual(source, { kind: 'snapshot', from: root });
      const trees = await prepare(source);
      assert.deepEqual(trees.source, source);
      await assertIsR(trees.base);
      assert.equal(trees.digest.base, plain(origin, 'rev-parse', `${base}^{tree}`));
    });

    it('a .tar.gz with a single folder at its top, without the repository inside it', async () => {
      const root = await snapshot('cat-1.0');
      await cp(join(origin, '.git'), join(root, '.git'), { recursive: true });
      const archive = join(folder, 'cat-1.0.tar.gz');
      await tar.create({ gzip: true, file: archive, cwd: dirname(root) }, ['cat-1.0']);
      const source = await sourceOf(instance(), parseSources([`octo/cat=${archive}`]));
      assert.deepEqual(source, { kind: 'snapshot', from: archive });
      const trees = await prepare(source);
      await assertIsR(trees.base);
      assertKnowsNothingLater(trees.base, example);
    });

    it('a .tar with its files at the top', async () => {
      const root = await snapshot('cat-1.0');
      const archive = join(folder, 'flat.tar');
      await tar.create({ file: archive, cwd: root }, await readdir(root));
      await assertIsR((await prepare({ kind: 'snapshot', from: archive })).base);
    });

    it('an archive that is none', async () => {
      const archive = join(folder, 'broken.tar.gz');
      await writeFile(archive, '<html>not found</html>');
      await assert.rejects(prepare({ kind: 'snapshot', from: archive }), {
        name: 'HumanError',
        message: /broken\.tar\.gz cannot be unpacked .*Download it again/,
      });
    });

    it('a folder with what git or a copy cannot take: says what', async () => {
      const root = await snapshot('cat-1.0');
      await write(root, { '.gitattributes': '*.py working-tree-encoding=UTF-16\n' });
      await assert.rejects(prepare({ kind: 'snapshot', from: root }), {
        name: 'HumanError',
        message: /cannot check out octo__cat-1 from .* \(.*BOM is required.*another source/,
      });
      await rm(join(root, '.gitattributes'));
      await write(root, { '.GIT/config': '[core]\n' });
      assert.equal(
        existsSync(join((await prepare({ kind: 'snapshot', from: root })).base, '.GIT')),
        false,
      );
      execFileSync('mkfifo', [join(root, 'pipe')]);
      await assert.rejects(prepare({ kind: 'snapshot', from: root }), {
        name: 'HumanError',
        message: /cannot be copied .*pipe/,
      });
    });

    it('an archive whose entries lead out of it: leaves nothing', async () => {
      const root = await snapshot('cat-1.0');
      const outside = await mkdtemp(join(folder, 'outside-'));
      await write(outside, { secret: 'precious' });
      await symlink(outside, join(root, 'away'));
      const archive = join(folder, 'leading.tar');
      await tar.create({ file: archive, cwd: dirname(root) }, ['cat-1.0']);
      await assert.rejects(prepare({ kind: 'snapshot', from: archive }), {
        name: 'HumanError',
        message: /leading\.tar cannot be unpacked/,
      });
      assert.deepEqual(readdirSync(outside), ['secret']);
      assert.equal(existsSync(instanceFolder(storage, 'octo__cat-1')), false);
    });

    it('a golden patch that does not fit: asks for a closer one', async () => {
      const root = await snapshot('cat-0.1');
      await write(root, { 'cat.py': 'pass\n' });
      await assert.rejects(prepare({ kind: 'snapshot', from: root }), {
        name: 'HumanError',
        message: /golden patch .* does not apply .*closer to the base commit/,
      });
    });

    it('is taken again when it changed, and only then', async () => {
      const root = await snapshot('cat-1.0');
      const source: TreeSource = { kind: 'snapshot', from: root };
      const first = await prepare(source);
      await write(root, { '__pycache__/cat.cpython-311.pyc': 'y' });
      assert.equal((await prepare(source)).base, first.base);
      await write(root, { 'tests/test_cat.py': 'def test_purr():\n    pass\n\n' });
      const second = await prepare(source);
      assert.notEqual(second.base, first.base);
      assert.notEqual(second.digest.base, first.digest.base);
      // Same size, other time.
      await utimes(join(root, 'tests/test_cat.py'), 1, 1);
      assert.notEqual((await prepare(source)).base, second.base);
    });
  });

  it('run no program of R, where PATH has the folder that one is in', async function () {
    if (process.platform === 'win32') this.skip();
    const root = join(await mkdtemp(join(folder, 'programs-')), 'cat');
    const ran = join(root, '..', 'ran');
    await write(root, filesOfR);
    for (const name of ['git', 'patch']) {
      await write(root, { [name]: `#!/bin/sh\necho ${name} >> '${ran}'\nexit 1\n` });
      await chmod(join(root, name), 0o755);
    }
    const path = process.env['PATH'] ?? '';
    process.env['PATH'] = `.:${path}`;
    try {
      const source: TreeSource = { kind: 'snapshot', from: root };
      await prepare(source);
      // Its context is so far off that only GNU patch can apply it.
      const off = { goldenPatch: goldenPatch.replace(' def purr', ' def growl') };
      const trees = await prepare(source, off);
      assert.match(trees.appliedWith, /^patch /);
      assert.equal(await readFile(join(trees.fixed, 'cat.py'), 'utf8'), fixed);
    } finally {
      process.env['PATH'] = path;
    }
    assert.equal(existsSync(ran), false);
  });

  describe('where R is had', () => {
    it('from GitHub unless --source says otherwise, for one repository or for all', async () => {
      assert.deepEqual(await sourceOf(instance(), parseSources([])), {
        kind: 'commit',
        from: 'https://github.com/octo/cat.git',
      });
      const sources = parseSources([folder, 'octo/cat=https://example.org/cat.git']);
      assert.equal((await sourceOf(instance(), sources)).from, 'https://example.org/cat.git');
      assert.deepEqual(await sourceOf(instance({ repo: 'octo/dog' }), sources), {
        kind: 'snapshot',
        from: folder,
      });
      assert.deepEqual(await sourceOf(instance(), parseSources(['octo/cat=git@host.org:x/y'])), {
        kind: 'commit',
        from: 'git@host.org:x/y',
      });
    });

    it('refuses places that cannot be', async () => {
      for (const value of ['', ' ', 'octo/cat=', 'octo/cat= ']) {
        assert.throws(() => parseSources([value]), HumanError, JSON.stringify(value));
      }
      await assert.rejects(
        sourceOf(instance(), parseSources(['/no/such/place'])),
        /\/no\/such\/place of octo\/cat does not exist/,
      );
      const zip = join(folder, 'cat.zip');
      await writeFile(zip, 'PK');
      await assert.rejects(sourceOf(instance(), parseSources([zip])), /not a \.tar/);
    });
  });

  describe('trees that are kept', () => {
    it('are made once', async () => {
      const source: TreeSource = { kind: 'commit', from: origin };
      const first = await prepare(source);
      await writeFile(join(first.base, 'mark'), '');
      const second = await prepare(source);
      assert.deepEqual(second, first);
      assert.ok(existsSync(join(second.base, 'mark')));
      const other = await prepare(source, { goldenPatch: goldenPatch.replace('2\n', '3\n') });
      assert.notEqual(other.base, first.base);
    });

    it('can be asked for by several at once', async () => {
      const all = await Promise.all([1, 2, 3].map(() => prepare({ kind: 'commit', from: origin })));
      for (const trees of all) assert.deepEqual(trees, all[0]);
      await assertIsR(all[0]?.base ?? '');
      assert.equal((await readdir(treesFolder(storage, 'octo__cat-1'))).length, 1);
    });

    it('are made again when what stands there is not whole', async () => {
      const source: TreeSource = { kind: 'commit', from: origin };
      const { base: tree } = await prepare(source);
      const described = join(dirname(tree), 'trees.json');
      for (const damage of ['', '{"base": "abc', '{}', 'null', undefined]) {
        if (damage === undefined) await rm(described);
        else await writeFile(described, damage);
        await rm(join(tree, 'cat.py'));
        const again = await prepare(source);
        assert.equal(again.base, tree);
        await assertIsR(again.base);
        assert.equal(again.digest.base, plain(origin, 'rev-parse', `${base}^{tree}`));
      }
    });

    it('are made although a killed process left half of them beside', async () => {
      const source: TreeSource = { kind: 'commit', from: origin };
      const { base: tree } = await prepare(source);
      const kept = dirname(tree);
      // Half-way: R written and locked by git, no description yet.
      await cp(kept, `${kept}.4711`, { recursive: true });
      await writeFile(join(`${kept}.4711`, 'base', '.git', 'index.lock'), '');
      await rm(join(`${kept}.4711`, 'trees.json'));
      await rm(kept, { recursive: true });
      await writeFile(`${tree}.index`, 'half an index').catch(() => undefined);
      await assertIsR((await prepare(source)).base);
    });
  });
});
