import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { git, GitError } from '../../src/repository/git';
import { openWorkingCopy, type WorkingCopy } from '../../src/repository/workingCopy';
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
  this.timeout(300_000);
  let example: Example;
  let trees: Trees;
  let tree = '';
  let copy: WorkingCopy;
  useExample((made) => (example = made));
  beforeEach(async () => {
    const storage = await example.storage();
    trees = await example.prepare({ kind: 'commit', from: example.origin }, storage);
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

  it('keeps compiled files of packages that R has', async () => {
    await write(tree, { '__pycache__/cat.cpython-311.pyc': 'x' });
    await copy.reset();
    assert.ok(existsSync(join(tree, '__pycache__/cat.cpython-311.pyc')));
  });

  it('gives a file another time when it has another content, whoever wrote it', async () => {
    const time = (): number => Math.floor(statSync(join(tree, 'cat.py')).mtimeMs / 1000);
    // As a test writes it that runs: compiled within the second in which it is put back.
    await write(tree, { 'cat.py': 'def purr():\n    return 5\n' });
    const written = time();
    await copy.reset();
    const restored = time();
    assert.notEqual(restored, written);
    await copy.apply(goldenPatch);
    const patched = time();
    assert.equal(new Set([written, restored, patched]).size, 3);
    await copy.reset();
    assert.equal(time(), restored);
    await copy.apply(goldenPatch);
    assert.equal(time(), patched);
  });

  it('has a repository that tests can ask, and that knows nothing of R∘X*', async () => {
    assert.equal(plain(tree, 'log', '--format=%s'), 'R of octo__cat-1');
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
