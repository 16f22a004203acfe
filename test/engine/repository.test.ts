import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
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
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as tar from 'tar';
import type { Instance } from '../../src/domain/instance';
import { Cancelled, HumanError } from '../../src/domain/problem';
import { silent } from '../../src/domain/reporter';
import { git, GitError } from '../../src/repository/git';
import { parseSources, sourceOf, type TreeSource } from '../../src/repository/source';
import {
  applyToTree,
  copyTree,
  editsOf,
  prepareTrees,
  resetTree,
  whyNotApply,
  writeTreeOfR,
  type Trees,
} from '../../src/repository/trees';

type Files = Readonly<Record<string, string | Buffer>>;

/** R of the example. `kept.pyc` is ignored and published all the same. */
const filesOfR: Files = {
  'cat.py': 'def purr():\n    return 1\n',
  'dos.txt': 'one\r\ntwo\r\n',
  'data/blob.bin': Buffer.from([0, 1, 2, 255, 10, 0]),
  'tests/test_cat.py': 'def test_purr():\n    pass\n',
  '.gitignore': '*.pyc\nbuild/\n',
  'kept.pyc': 'published\n',
  'dir with blank/naïve.txt': 'x\n',
};
const fixed = 'def purr():\n    return 2\n';

const goldenPatch = `diff --git a/cat.py b/cat.py
--- a/cat.py
+++ b/cat.py
@@ -1,2 +1,2 @@
 def purr():
-    return 1
+    return 2
`;

const added = (path: string, mode = '100644'): string =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+evil\n`;

describe('repositories and trees', function () {
  this.timeout(60_000);
  let folder = '';
  let storage = '';
  let origin = '';
  let base = '';
  let later = '';
  const environment = { ...process.env };

  /** Git as a test needs it, apart from the code under test and from the user's settings. */
  function plain(cwd: string, ...args: string[]): string {
    return execFileSync('git', args, {
      cwd,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: '/nowhere',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@example.org',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@example.org',
      },
    }).trim();
  }

  async function write(root: string, files: Files): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    }
  }

  const instance = (more: Partial<Instance> = {}): Instance => ({
    id: 'octo__cat-1',
    repo: 'octo/cat',
    baseCommit: base,
    version: '',
    issue: '',
    hints: '',
    createdAt: '',
    goldenPatch,
    goldenTests: '',
    failToPass: undefined,
    passToPass: undefined,
    ...more,
  });

  const prepare = (source: TreeSource, more: Partial<Instance> = {}): Promise<Trees> =>
    prepareTrees(instance(more), source, storage, { reporter: silent });

  before(async () => {
    folder = realpathSync(await mkdtemp(join(tmpdir(), 'repository-test-')));
    // Whatever a user may have set must not change a tree: signing, hooks, line endings, attributes,
    // templates, ignored files, prefixes of diffs.
    const home = join(folder, 'home');
    await write(home, {
      '.config/git/attributes': '*.py text eol=crlf\n*.txt filter=shout\n*.bin diff=cat\n',
      'template/info/exclude': 'tests/\n',
      'template/hooks/pre-commit': '#!/bin/sh\nexit 1\n',
      'hooks/pre-commit': '#!/bin/sh\nexit 1\n',
      'hooks/post-checkout': '#!/bin/sh\nexit 1\n',
      config: `[user]
	name = Somebody
	useConfigOnly = true
[commit]
	gpgSign = true
[gpg]
	program = /bin/false
[core]
	autocrlf = true
	hooksPath = ${home}/hooks
	attributesFile = ${home}/.config/git/attributes
	excludesFile = ${home}/template/info/exclude
[init]
	templateDir = ${home}/template
	defaultBranch = trunk
[diff]
	noprefix = true
	external = /bin/false
[apply]
	whitespace = error
[filter "shout"]
	clean = tr a-z A-Z
	smudge = tr a-z A-Z
	required = true
`,
    });
    for (const path of ['template/hooks/pre-commit', 'hooks/pre-commit', 'hooks/post-checkout']) {
      await chmod(join(home, path), 0o755);
    }
    process.env['HOME'] = home;
    process.env['XDG_CONFIG_HOME'] = join(home, '.config');
    process.env['GIT_CONFIG_GLOBAL'] = join(home, 'config');
    // As inside a hook of another repository.
    process.env['GIT_DIR'] = join(folder, 'elsewhere.git');
    process.env['GIT_INDEX_FILE'] = join(folder, 'elsewhere.index');
    process.env['GIT_DIFF_OPTS'] = '--unified=0';
    process.env['GIT_DEFAULT_HASH'] = 'sha256';

    origin = join(folder, 'origin');
    await write(origin, filesOfR);
    await symlink('cat.py', join(origin, 'link.py'));
    plain(origin, 'init', '-q', '-b', 'main');
    plain(origin, 'add', '-A', '-f');
    await write(origin, { 'run.sh': '#!/bin/sh\n' });
    await chmod(join(origin, 'run.sh'), 0o755);
    plain(origin, 'add', '-A', '-f');
    plain(origin, 'commit', '-q', '-m', 'base');
    base = plain(origin, 'rev-parse', 'HEAD');
    await write(origin, { 'cat.py': fixed, 'later.py': 'the answer\n' });
    plain(origin, 'add', '-A');
    plain(origin, 'commit', '-q', '-m', 'the fix');
    plain(origin, 'tag', 'v2');
    later = plain(origin, 'rev-parse', 'HEAD');
  });
  after(async () => {
    for (const name of Object.keys(process.env)) {
      if (!(name in environment)) delete process.env[name];
    }
    Object.assign(process.env, environment);
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => (storage = await mkdtemp(join(folder, 'storage-'))));

  async function assertIsR(tree: string): Promise<void> {
    for (const [path, content] of Object.entries(filesOfR)) {
      assert.deepEqual(readFileSync(join(tree, path)), Buffer.from(content), path);
    }
    assert.equal(plain(tree, 'status', '--porcelain', '--ignored'), '');
    assert.equal(plain(tree, 'rev-list', '--all', '--count'), '1');
    assert.equal(plain(tree, 'remote'), '');
    assert.equal(plain(tree, 'tag'), '');
    assert.deepEqual(
      plain(tree, 'ls-files', '-z').split('\0').filter(Boolean).sort(),
      [...Object.keys(filesOfR), 'link.py', 'run.sh'].sort(),
    );
  }

  /** No object of the tree's repository is or holds what came after R. */
  function assertKnowsNothingLater(tree: string): void {
    const objects = plain(
      tree,
      'cat-file',
      '--batch-all-objects',
      '--batch-check=%(objectname) %(objecttype)',
    ).split('\n');
    const known = new Set(objects.map((line) => line.split(' ')[0]));
    for (const object of ['HEAD', 'HEAD:later.py', 'HEAD:cat.py', 'HEAD^{tree}']) {
      assert.equal(known.has(plain(origin, 'rev-parse', object)), false, object);
    }
    assert.equal(objects.filter((line) => line.endsWith(' commit')).length, 1);
    assert.equal(existsSync(join(tree, '.git', 'objects', 'info', 'alternates')), false);
    assert.throws(() => plain(tree, 'cat-file', '-e', later));
  }

  describe('trees of a git repository with later history', () => {
    it('R has one commit, no remote and nothing of later; R∘X* has the patch', async () => {
      const trees = await prepare({ kind: 'commit', from: origin });
      await assertIsR(trees.base);
      assertKnowsNothingLater(trees.base);
      assert.equal(readFileSync(join(trees.base, 'link.py'), 'utf8'), filesOfR['cat.py']);
      assert.equal(await readFile(join(trees.fixed, 'cat.py'), 'utf8'), fixed);
      assert.equal(existsSync(join(trees.fixed, 'later.py')), false);
      assert.equal(plain(trees.fixed, 'status', '--porcelain', '--ignored'), '');
      assert.equal(trees.digest.base, plain(origin, 'rev-parse', `${base}^{tree}`));
      assert.equal(trees.digest.fixed, plain(trees.fixed, 'rev-parse', 'HEAD^{tree}'));
      assert.notEqual(trees.digest.base, trees.digest.fixed);
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
        assertKnowsNothingLater(trees.base);
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
            error.message.includes(`Commit ${missing} of octo/cat cannot be had from ${from}`) &&
            (error.next ?? '').includes('--source octo/cat='),
        );
      }
      assert.deepEqual(await readdir(join(storage, 'trees', 'octo__cat-1')), []);
    });

    it('an address that leads nowhere', async () => {
      await assert.rejects(prepare({ kind: 'commit', from: `file://${folder}/nowhere.git` }), {
        name: 'HumanError',
        message: /cannot be had from file:/,
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
      assert.deepEqual(await readdir(join(storage, 'trees', 'octo__cat-1')), []);
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
      assert.deepEqual(await readdir(join(storage, 'trees', 'octo__cat-1')), []);
    });
  });

  describe('trees of a snapshot', () => {
    /** The files of R as a release holds them, with what lies about in a used folder. */
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
      assertKnowsNothingLater(trees.base);
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
      assert.equal((await readdir(join(storage, 'trees', 'octo__cat-1'))).length, 1);
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

  describe('a working copy', () => {
    let tree = '';
    beforeEach(async () => {
      tree = join(storage, 'tree');
      await writeTreeOfR(instance(), { kind: 'commit', from: origin }, tree, { reporter: silent });
    });

    /** What a patch of the edits makes of a fresh R. */
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

    it('is put back to its commit: edits, new, ignored and staged files go', async () => {
      await write(tree, { 'cat.py': 'x', 'new.py': 'x', 'build/out': 'x', 'sub/.git/HEAD': 'x' });
      plain(tree, 'add', 'new.py');
      await rm(join(tree, 'tests'), { recursive: true });
      await resetTree(tree);
      await assertIsR(tree);
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
          // Without prefixes git takes the first folder of a path away; what is left stays inside.
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
      assert.equal((await git(name, { userConfig: true })).trim(), 'Somebody');
    });
  });
});
