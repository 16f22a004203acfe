import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { Cancelled, silent } from '../../src/domain/work';
import { git, GitError } from '../../src/repository/git';
import { whyNotApply, writeTreeOfR } from '../../src/repository/trees';
import { applyToTree } from '../../src/repository/trees/golden';
import { copyTree } from '../../src/repository/trees/copyTree';
import {
  added,
  assertIsR,
  editsOf,
  filesOfR,
  fixed,
  goldenPatch,
  plain,
  useExample,
  write,
  type Example,
  type Files,
} from './exampleRepository';

describe('working copies', function () {
  let example: Example;
  let folder = '';
  let origin = '';
  let storage = '';
  useExample((made) => {
    example = made;
    ({ folder, origin } = made);
  });
  beforeEach(async () => (storage = await example.storage()));
  const instance = (more?: Partial<Instance>): Instance => example.instance(more);

  describe('a working copy', () => {
    let tree = '';
    beforeEach(async () => {
      tree = join(storage, 'tree');
      await writeTreeOfR(instance(), { kind: 'commit', from: origin }, tree, { reporter: silent });
    });

    /** Applies a patch of the edits to a fresh R; returns the result. */
    async function replay(patch: string): Promise<string> {
      const fresh = join(storage, 'fresh');
      await rm(fresh, { recursive: true, force: true });
      await writeTreeOfR(instance(), { kind: 'commit', from: origin }, fresh, { reporter: silent });
      await applyToTree(fresh, patch);
      return fresh;
    }

    it('has no edits at first', async () => {
      assert.equal(await editsOf(tree), '');
    });

    it('gives new, deleted, changed, binary and moved files as a patch that applies', async () => {
      const files: Files = {
        'cat.py': 'def purr():\n    return "∘"\n',
        'dos.txt': 'one\r\nTWO\r\n',
        'data/blob.bin': Buffer.from([0, 9, 8, 7]),
        'tests/new/test_neu_é.py': 'def test_it():\n    pass',
        'new.bin': Buffer.from([0, 255, 254]),
        'empty.py': '',
      };
      await write(tree, files);
      await rm(join(tree, 'tests/test_cat.py'));
      await chmod(join(tree, 'run.sh'), 0o644);
      await write(tree, {
        'junk.pyc': 'x',
        '__pycache__/cat.cpython-311.pyc': 'x',
        '.pytest_cache/v': 'x',
        '.vscode/settings.json': '{}',
        'build/out': 'x',
      });
      const patch = await editsOf(tree);
      assert.match(patch, /^diff --git a\//m);
      assert.doesNotMatch(patch, /junk|__pycache__|pytest_cache|vscode|build\/out/);
      const fresh = await replay(patch);
      for (const [path, content] of Object.entries(files)) {
        assert.deepEqual(readFileSync(join(fresh, path)), Buffer.from(content), path);
      }
      assert.equal(existsSync(join(fresh, 'tests/test_cat.py')), false);
      assert.equal(await editsOf(fresh), patch);
    });

    it('keeps what is staged, and what is not, as it is', async () => {
      await write(tree, { 'cat.py': 'staged\n', 'staged.py': 'x\n' });
      plain(tree, 'add', 'cat.py', 'staged.py');
      await write(tree, { 'cat.py': 'not staged\n', 'loose.py': 'x\n' });
      const status = plain(tree, 'status', '--porcelain');
      const index = readFileSync(join(tree, '.git', 'index'));
      const patch = await editsOf(tree);
      assert.deepEqual(readFileSync(join(tree, '.git', 'index')), index);
      assert.equal(plain(tree, 'status', '--porcelain'), status);
      assert.match(patch, /\+not staged/);
      assert.doesNotMatch(patch, /^\+staged/m);
      assert.match(patch, /b\/loose\.py/);
      assert.deepEqual(
        (await readdir(join(tree, '.git'))).filter((name) => name.includes('swt-bench')),
        [],
      );
    });

    it('has no edits where R has submodules and files its own attributes would write otherwise', async () => {
      const odd = join(storage, 'odd');
      await write(odd, { '.gitattributes': '*.bat text\n*.sh text eol=crlf\n', 'a.py': 'x\n' });
      plain(odd, 'init', '-q', '-b', 'main');
      plain(odd, 'add', '-A');
      // As in old commits: stored with line ends that the attributes do not allow.
      const blob = plain(odd, 'hash-object', '-w', '--no-filters', join(origin, 'dos.txt'));
      plain(odd, 'update-index', '--add', '--cacheinfo', `100644,${blob},old.bat`);
      plain(odd, 'update-index', '--add', '--cacheinfo', `160000,${example.base},helpers`);
      plain(odd, 'commit', '-q', '-m', 'odd');
      const baseCommit = plain(odd, 'rev-parse', 'HEAD');
      const trees = await example.prepare({ kind: 'commit', from: odd }, storage, {
        baseCommit,
        goldenPatch: added('new.py'),
      });
      assert.equal(trees.digest.base, plain(odd, 'rev-parse', 'HEAD^{tree}'));
      const copy = join(storage, 'copy');
      await copyTree(trees.base, copy);
      for (const each of [trees.base, copy]) {
        assert.equal(readFileSync(join(each, 'old.bat'), 'latin1'), filesOfR['dos.txt']);
        assert.equal(await editsOf(each), '');
      }
      const listed = (tree: string): string[] => plain(tree, 'ls-tree', '-r', 'HEAD').split('\n');
      const before = listed(trees.base);
      assert.deepEqual(
        listed(trees.fixed)
          .filter((line) => !before.includes(line))
          .map((line) => line.split('\t')[1]),
        ['new.py'],
      );
    });

    it('gives edits of files that are not UTF-8, byte for byte', async () => {
      const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
      await write(tree, { 'tests/test_cat.py': latin('# -*- coding: latin-1 -*-\nx = "café"\n') });
      plain(tree, 'commit', '-qam', 'a file in another encoding');
      plain(tree, 'update-ref', 'refs/swt-bench/R', 'HEAD');
      const edited = latin('# -*- coding: latin-1 -*-\nx = "Café ÿ"\n');
      await write(tree, { 'tests/test_cat.py': edited });
      const patch = await editsOf(tree);
      plain(tree, 'checkout', '-q', '.');
      await applyToTree(tree, patch);
      assert.deepEqual(readFileSync(join(tree, 'tests/test_cat.py')), edited);
    });

    it('is as it was after a look at its edits that was cut short', async () => {
      await write(tree, { 'new.py': 'x\n', 'big.bin': Buffer.alloc(4_000_000, 7) });
      const inside = async (): Promise<string[]> =>
        (await readdir(join(tree, '.git'), { recursive: true })).sort();
      const before = await inside();
      // Use a folder of its own, since other processes handle their edits meanwhile.
      const temporary = await mkdtemp(join(tmpdir(), 'swt-bench-temporary-'));
      const usual = process.env['TMPDIR'];
      process.env['TMPDIR'] = temporary;
      try {
        for (let delay = 0; delay < 30; delay += 2) {
          const controller = new AbortController();
          setTimeout(() => controller.abort(), delay);
          await editsOf(tree, controller.signal).catch((error: unknown) =>
            assert.ok(error instanceof Cancelled, String(error)),
          );
          // Immediately: git must have ended.
          assert.deepEqual(await inside(), before);
        }
        assert.deepEqual(await readdir(temporary), []);
      } finally {
        if (usual === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = usual;
        await rm(temporary, { recursive: true, force: true });
      }
    });

    it('is copied with its repository', async () => {
      const copy = join(storage, 'deep', 'copy');
      await copyTree(tree, copy);
      await assertIsR(copy);
    });
  });

  describe('applying a patch', () => {
    let tree = '';
    beforeEach(async () => {
      tree = join(storage, 'tree');
      await writeTreeOfR(instance(), { kind: 'commit', from: origin }, tree, { reporter: silent });
    });
    const state = (): string => plain(tree, 'status', '--porcelain', '--ignored', '-uall');

    it('changes the files, also when the last newline is missing or lines end in blanks', async () => {
      await applyToTree(tree, goldenPatch.trimEnd().replace('return 2', 'return 2  '));
      assert.equal(await readFile(join(tree, 'cat.py'), 'utf8'), 'def purr():\n    return 2  \n');
    });

    it('says why it does not apply, in git’s words, and changes nothing', async () => {
      assert.equal(await whyNotApply(tree, goldenPatch), undefined);
      assert.equal(state(), '');
      const wrong = goldenPatch.replace('return 1', 'return 7');
      assert.equal(
        await whyNotApply(tree, wrong),
        'patch failed: cat.py:1; cat.py: patch does not apply',
      );
      assert.match((await whyNotApply(tree, 'no patch at all')) ?? '', /\S/);
      assert.match((await whyNotApply(tree, '')) ?? '', /\S/);
      assert.match((await whyNotApply(tree, added('cat.py'))) ?? '', /already exists/);
      assert.equal(state(), '');
    });

    it('changes nothing when one part of several does not fit', async () => {
      const half = added('fine.py') + goldenPatch.replace('return 1', 'return 7');
      await assert.rejects(applyToTree(tree, half), GitError);
      assert.equal(state(), '');
    });

    it('never writes outside the tree', async () => {
      const outside = join(storage, 'evil.py');
      const paths = ['../evil.py', 'tests/../../evil.py', outside, `/${outside}`, '.git/evil.py'];
      for (const path of paths) {
        for (const patch of [added(path), `--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+evil\n`]) {
          // Without prefixes, git strips the first folder of a path; the rest stays inside.
          await applyToTree(tree, patch).catch((error: unknown) => {
            assert.ok(error instanceof GitError, path);
          });
          assert.equal(existsSync(outside), false, path);
          assert.equal(existsSync(join(tree, '.git', 'evil.py')), false, path);
        }
      }
      for (const path of ['../evil.py', '.git/hooks/post-checkout', 'a/../../evil.py']) {
        await assert.rejects(applyToTree(tree, added(path)), GitError, path);
      }
    });

    it('never writes through a link, whether R has it or the patch makes it', async () => {
      const elsewhere = join(storage, 'elsewhere');
      await mkdir(elsewhere);
      await symlink(elsewhere, join(tree, 'out'));
      await assert.rejects(applyToTree(tree, added('out/evil.py')), /beyond a symbolic link/);
      const link = added('away', '120000').replace(
        '+evil\n',
        `+${elsewhere}\n\\ No newline at end of file\n`,
      );
      await assert.rejects(applyToTree(tree, link + added('away/evil.py')), GitError);
      assert.deepEqual(await readdir(elsewhere), []);
    });

    it('takes a folder below another repository for what it is', async () => {
      const inner = join(origin, 'inner');
      await write(inner, { 'cat.py': filesOfR['cat.py'] ?? '' });
      try {
        await applyToTree(inner, goldenPatch);
        assert.equal(await readFile(join(inner, 'cat.py'), 'utf8'), fixed);
      } finally {
        await rm(inner, { recursive: true });
      }
    });

    it('is cancelled by its signal', async () => {
      const controller = new AbortController();
      controller.abort();
      await assert.rejects(applyToTree(tree, goldenPatch, controller.signal), Cancelled);
      await assert.rejects(whyNotApply(tree, goldenPatch, controller.signal), Cancelled);
    });
  });

  describe('git', () => {
    it('fails in its own words', async () => {
      await assert.rejects(
        git(['rev-parse', '--verify', 'nothing'], { cwd: origin }),
        (error) => error instanceof GitError && error.status === 128 && /fatal/.test(error.stderr),
      );
    });

    it('is asked for when it is not there', async () => {
      const path = process.env['PATH'];
      process.env['PATH'] = join(folder, 'empty');
      try {
        await assert.rejects(git(['version']), { name: 'HumanError', message: /Install git/ });
      } finally {
        process.env['PATH'] = path;
      }
    });

    it('gives equal content the equal commit, whoever makes it and when', async () => {
      const ids = await Promise.all(
        ['one', 'two'].map(async (name) => {
          const out = join(storage, name);
          await writeTreeOfR(instance(), { kind: 'commit', from: origin }, out, {
            reporter: silent,
          });
          return plain(out, 'rev-parse', 'HEAD');
        }),
      );
      assert.equal(ids[0], ids[1]);
    });

    it('reads the user’s settings only where a server may have to be reached', async () => {
      const name = ['config', 'user.name'];
      await assert.rejects(git(name), GitError);
      assert.equal((await git(name, { fetches: true })).trim(), 'Somebody');
    });
  });
});
