import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, link, mkdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { git, GitError } from '../../src/repository/git';
import {
  openWorkingCopy,
  treeTime,
  type CompiledFiles,
  type WorkingCopy,
} from '../../src/repository/workingCopy';
import type { Trees } from '../../src/repository/trees';
import {
  added,
  assertIsR,
  filesOfR,
  fixed,
  goldenPatch,
  plain,
  useExample,
  write,
  type Example,
} from './exampleRepository';

describe('a copy in which tests run', function () {
  let example: Example;
  let trees: Trees;
  let tree = '';
  let copy: WorkingCopy;
  useExample((made) => (example = made));
  // No test of a copy may change what it is put back from, so that one is enough.
  before(async () => {
    const source = { kind: 'commit', from: example.origin } as const;
    trees = await example.prepare(source, await example.storage());
  });
  beforeEach(async () => {
    const storage = await example.storage();
    tree = join(storage, 'copy');
    copy = await openWorkingCopy(trees.base, tree, join(storage, 'copy.git'));
    await copy.reset();
  });
  const commit = (...args: string[]): string =>
    plain(tree, '-c', 'user.name=a', '-c', 'user.email=a', 'commit', '-q', '-m', 'x', ...args);

  const deeds: Record<string, () => Promise<unknown>> = {
    'edit, add, delete, stage and leave files that are ignored': async () => {
      await write(tree, { 'cat.py': 'x', 'new.py': 'x', 'build/out': 'x', 'kept.pyc': 'x' });
      plain(tree, 'add', 'new.py');
      await rm(join(tree, 'tests'), { recursive: true });
    },
    commit: async () => {
      await write(tree, { 'cat.py': 'def purr():\n    return 5\n', 'new.py': 'x' });
      plain(tree, 'add', '-A');
      commit();
    },
    'leave locks': async () => {
      for (const name of ['index.lock', 'HEAD.lock', 'refs/heads/R.lock', 'config.lock']) {
        writeFileSync(join(tree, '.git', name), '');
      }
    },
    'set up hooks, filters and files that git is to overlook': async () => {
      await write(tree, {
        '.git/hooks/post-checkout': '#!/bin/sh\necho x > hooked\n',
        '.git/info/exclude': '*\n',
        '.git/info/attributes': '*.py filter=shout\n',
        'hidden.py': 'x',
      });
      await chmod(join(tree, '.git/hooks/post-checkout'), 0o755);
      plain(tree, 'config', 'filter.shout.smudge', 'tr a-z A-Z');
      plain(tree, 'config', 'core.worktree', '/nowhere');
      plain(tree, 'config', 'clean.requireForce', 'true');
    },
    'hide an edit from git': async () => {
      plain(tree, 'update-index', '--assume-unchanged', 'cat.py');
      plain(tree, 'update-index', '--skip-worktree', 'tests/test_cat.py');
      await write(tree, { 'cat.py': 'x', 'tests/test_cat.py': 'x' });
    },
    'break or remove the repository': async () => {
      await rm(join(tree, '.git', 'objects'), { recursive: true });
      await rm(join(tree, '.git', 'HEAD'));
    },
    'put something else into the place of the repository': async () => {
      await rm(join(tree, '.git'), { recursive: true });
      await write(tree, { '.git': 'gitdir: /nowhere\n' });
    },
    'make repositories of folders': async () => {
      for (const folder of ['tests', 'data', 'sub']) {
        await mkdir(join(tree, folder), { recursive: true });
        plain(join(tree, folder), 'init', '-q');
      }
    },
    'put links into the place of files and folders': async () => {
      await rename(join(tree, 'tests'), join(tree, 'moved'));
      await symlink('moved', join(tree, 'tests'));
      await rm(join(tree, 'cat.py'));
      await symlink('dos.txt', join(tree, 'cat.py'));
      await symlink('/dev/zero', join(tree, 'endless.py'));
    },
    'leave names that are not UTF-8': async () => {
      const name = Buffer.concat([Buffer.from(`${tree}/caf`), Buffer.from([0xe9])]);
      await mkdir(name);
      writeFileSync(Buffer.concat([name, Buffer.from('/x.py')]), 'x');
    },
    'edit without any trace in size and time': async () => {
      const { atime, mtime } = statSync(join(tree, 'dos.txt'));
      writeFileSync(join(tree, 'dos.txt'), 'ONE\r\ntwo\r\n');
      await utimes(join(tree, 'dos.txt'), atime, mtime);
    },
    'take away permissions': async () => {
      await write(tree, { 'new/deep/x': 'x' });
      for (const path of ['new/deep', 'new', 'tests', 'cat.py', '.']) {
        await chmod(join(tree, path), 0o500);
      }
    },
    'make hard links': async () => {
      await link(join(tree, 'cat.py'), join(tree, 'same.py'));
      await link(join(tree, 'dos.txt'), join(tree, '..', 'outside'));
    },
    'leave a package that has only compiled files': () =>
      write(tree, { 'gone/__pycache__/gone.cpython-311.pyc': 'x' }),
  };
  for (const [what, deed] of Object.entries(deeds)) {
    it(`is R again when tests ${what}`, async () => {
      await deed();
      await copy.reset();
      await assertIsR(tree);
      await copy.apply(goldenPatch);
      assert.equal(readFileSync(join(tree, 'cat.py'), 'utf8'), fixed);
      await copy.reset();
      await assertIsR(tree);
    });
  }

  const compiledName = '__pycache__/cat.cpython-311.pyc';
  /** Compiled files of R's version of `cat.py`, and of no other version. */
  const compiledOfCat = async (): Promise<CompiledFiles> => {
    const made = join(tree, '..', 'cat.pyc');
    await write(join(tree, '..'), { 'cat.pyc': 'pristine' });
    const id = `${plain(tree, 'rev-parse', 'HEAD:cat.py')}-${String(filesOfR['cat.py']).length}`;
    return {
      suffix: '.cpython-311.pyc',
      find: (asked) => (asked.id === id ? made : undefined),
      ready: () => Promise.resolve(),
    };
  };

  it('removes what a run has compiled, and tells which modules that was', async () => {
    const other = join(tree, '..', 'other');
    const compiled = { suffix: '.cpython-311.pyc', find: () => undefined, ready: async () => {} };
    const own = await openWorkingCopy(trees.base, other, `${other}.git`, undefined, { compiled });
    await own.reset();
    await write(other, {
      [compiledName]: 'x',
      '__pycache__/cat.cpython-311-pytest-8.3.5.pyc': 'x',
      'tests/__pycache__/test_cat.cpython-311.pyc': 'x',
      'tests/__pycache__/gone.cpython-311.pyc': 'x',
      'cat.pyc': 'x',
    });
    assert.deepEqual((await own.compiledByRun()).map(({ path }) => path).sort(), [
      join(trees.base, 'cat.py'),
      join(trees.base, 'tests/test_cat.py'),
    ]);
    await own.reset();
    await assertIsR(other);
    for (const path of ['__pycache__', 'cat.pyc', 'tests/__pycache__']) {
      assert.equal(existsSync(join(other, path)), false, path);
    }
  });

  it('has the files that an installation writes into R, but never in place of its own', async () => {
    const made = join(tree, '..', 'made.py');
    writeFileSync(made, 'version = "7"\n');
    const paths = ['_version.py', 'pkg/new/_version.py', 'cat.py'];
    const installed = new Map(paths.map((path) => [path, made]));
    const other = join(tree, '..', 'other');
    const own = await openWorkingCopy(trees.base, other, `${other}.git`, undefined, { installed });
    await own.reset();
    for (const deed of [() => {}, () => rmSync(join(other, 'pkg'), { recursive: true })]) {
      deed();
      writeFileSync(join(other, '_version.py'), 'poisoned');
      await own.reset();
      for (const path of ['_version.py', 'pkg/new/_version.py']) {
        assert.equal(readFileSync(join(other, path), 'utf8'), 'version = "7"\n', path);
      }
      assert.equal(readFileSync(join(other, 'cat.py'), 'utf8'), filesOfR['cat.py']);
    }
  });

  it('has the compiled files that were made from R, whatever a run does to them', async () => {
    const compiled = await compiledOfCat();
    const other = join(tree, '..', 'other');
    const own = await openWorkingCopy(trees.base, other, `${other}.git`, undefined, { compiled });
    const path = join(other, compiledName);
    for (const deed of [
      async () => {},
      () => rm(join(other, '__pycache__'), { recursive: true }),
      async () => {
        // Same size, same time: only a stamp that no program can set shows the difference.
        const { atime, mtime } = statSync(path);
        writeFileSync(path, 'poisoned'.slice(0, 8));
        await utimes(path, atime, mtime);
      },
      () => rename(path, `${path}.moved`),
      () => symlink('../cat.py', `${path}.link`).then(() => rename(`${path}.link`, path)),
    ]) {
      await own.reset();
      assert.equal(readFileSync(path, 'utf8'), 'pristine');
      assert.equal(statSync(path).nlink, 1);
      await deed();
    }
    await own.reset();
    assert.deepEqual(readdirSync(join(other, '__pycache__')), [basename(compiledName)]);
    assert.equal(readFileSync(join(other, '..', 'cat.pyc'), 'utf8'), 'pristine');
  });

  it('gives all files one time, and those of a candidate another', async () => {
    const times = (): Record<string, number> =>
      Object.fromEntries(
        ['.', 'cat.py', 'link.py', 'tests', 'tests/test_cat.py', 'data/blob.bin'].map((path) => [
          path,
          lstatSync(join(tree, path)).mtimeMs / 1000,
        ]),
      );
    const before = times();
    assert.deepEqual([...new Set(Object.values(before))], [treeTime]);
    await copy.apply(goldenPatch);
    const { 'cat.py': patched = 0 } = times();
    // Otherwise the compiled file of one would pass for that of the other.
    assert.notEqual(patched, treeTime);
    await write(tree, { 'tests/test_cat.py': 'x' });
    await copy.reset();
    assert.deepEqual(times(), before);
    await copy.apply(goldenPatch);
    assert.equal(times()['cat.py'], patched);
  });

  it('shares no file with the pristine trees', async () => {
    for (const path of ['cat.py', 'dos.txt', 'data/blob.bin']) {
      assert.equal(statSync(join(trees.base, path)).ino === statSync(join(tree, path)).ino, false);
      await write(tree, { [path]: 'x' });
    }
    await copy.reset();
    for (const path of ['cat.py', 'dos.txt', 'data/blob.bin']) {
      assert.equal(statSync(join(tree, path)).nlink, 1, path);
    }
    await assertIsR(tree);
    await assertIsR(trees.base);
  });

  it('is of no more use when what it is put back from was changed', async () => {
    const storage = await example.storage();
    const own = await example.prepare({ kind: 'commit', from: example.origin }, storage);
    const place = join(storage, 'copy');
    const ofOwn = await openWorkingCopy(own.base, place, `${place}.git`);
    await ofOwn.reset();
    await write(own.base, { 'cat.py': 'x' });
    await write(place, { 'cat.py': 'x' });
    await assert.rejects(ofOwn.reset(), /another program changed .*cat\.py/);
  });

  it('is of no more use when its own repository was changed', async () => {
    plain(join(tree, '..'), '--git-dir', join(tree, '..', 'copy.git'), 'config', 'a.b', 'c');
    await assert.rejects(copy.reset(), /another program changed .*copy\.git/);
  });

  it('has a repository that tests can ask, and that knows nothing of R∘X*', async () => {
    assert.equal(plain(tree, 'log', '--format=%s'), 'swt-bench');
    assert.equal(plain(tree, 'show', 'HEAD:cat.py'), String(filesOfR['cat.py']).trim());
    assert.equal(plain(tree, 'fsck', '--no-dangling'), '');
    const last = plain(trees.fixed, 'rev-parse', 'HEAD');
    assert.throws(() => plain(tree, 'cat-file', '-e', last));
  });

  it('says what does not apply, and is R afterwards', async () => {
    await assert.rejects(copy.apply(goldenPatch.replace('return 1', 'return 7')), GitError);
    await assert.rejects(copy.apply(added('../evil.py')), GitError);
    await assert.rejects(copy.apply(added('.git/evil')), GitError);
    await assertIsR(tree);
    assert.equal(existsSync(join(tree, '..', 'evil.py')), false);
  });

  it('has no edits of R∘X* in its own kind of copy', async () => {
    const other = join(tree, '..', 'other');
    const after = await openWorkingCopy(trees.fixed, other, `${other}.git`);
    await after.reset();
    assert.equal(readFileSync(join(other, 'cat.py'), 'utf8'), fixed);
    assert.equal((await git(['status', '--porcelain'], { cwd: other })).trim(), '');
  });
});
