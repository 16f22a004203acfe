import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import type { TreeSource } from '../../src/repository/source';
import { prepareTrees, type Trees } from '../../src/repository/trees';
import { WorkspaceRepository } from '../../src/repository/workspaceRepository';

export type Files = Readonly<Record<string, string | Buffer>>;

/** R of the example. Git ignores `kept.pyc`, but tracks it. */
export const filesOfR: Files = {
  'cat.py': 'def purr():\n    return 1\n',
  'dos.txt': 'one\r\ntwo\r\n',
  'data/blob.bin': Buffer.from([0, 1, 2, 255, 10, 0]),
  'tests/test_cat.py': 'def test_purr():\n    pass\n',
  '.gitignore': '*.pyc\nbuild/\n',
  'kept.pyc': 'published\n',
  'dir with blank/naïve.txt': 'x\n',
};
export const fixed = 'def purr():\n    return 2\n';

export const goldenPatch = `diff --git a/cat.py b/cat.py
--- a/cat.py
+++ b/cat.py
@@ -1,2 +1,2 @@
 def purr():
-    return 1
+    return 2
`;

export const added = (path: string, mode = '100644'): string =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+evil\n`;

/** Git for tests, independent of the code under test and of the user's settings. */
export function plain(cwd: string, ...args: string[]): string {
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

export async function write(root: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

/** The example as it lies on the disk. */
export interface Example {
  readonly folder: string;
  /** The repository with R, the fix and a tag. */
  readonly origin: string;
  /** The commit that is R. */
  readonly base: string;
  /** The commit after it. */
  readonly later: string;
  instance(more?: Partial<Instance>): Instance;
  prepare(source: TreeSource, storage: string, more?: Partial<Instance>): Promise<Trees>;
  /** Makes a bare clone of the example that serves partial clones. */
  clonePartial(path: string): void;
  /** A new, empty storage folder. */
  storage(): Promise<string>;
}

/** Makes the example before the tests of a `describe` and removes it afterwards. */
export function useExample(given: (example: Example) => void): void {
  const environment = { ...process.env };
  let folder = '';
  before(async () => {
    folder = realpathSync(await mkdtemp(join(tmpdir(), 'repository-test-')));
    const { origin, base, later } = await make(folder);
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
    given({
      folder,
      origin,
      base,
      later,
      instance,
      prepare: (source, storage, more) =>
        prepareTrees(instance(more), source, storage, { reporter: silent }),
      clonePartial(path) {
        plain(folder, 'clone', '-q', '--bare', origin, path);
        plain(path, 'config', 'uploadpack.allowFilter', 'true');
      },
      storage: () => mkdtemp(join(folder, 'storage-')),
    });
  });
  after(async () => {
    for (const name of Object.keys(process.env)) {
      if (!(name in environment)) delete process.env[name];
    }
    Object.assign(process.env, environment);
    await rm(folder, { recursive: true, force: true });
  });
}

async function make(
  folder: string,
): Promise<{ readonly origin: string; readonly base: string; readonly later: string }> {
  // No user setting may change a tree: signing, hooks, line endings, attributes, templates, ignored
  // files, prefixes of diffs.
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

  const origin = join(folder, 'origin');
  await write(origin, filesOfR);
  await symlink('cat.py', join(origin, 'link.py'));
  plain(origin, 'init', '-q', '-b', 'main');
  plain(origin, 'add', '-A', '-f');
  await write(origin, { 'run.sh': '#!/bin/sh\n' });
  await chmod(join(origin, 'run.sh'), 0o755);
  plain(origin, 'add', '-A', '-f');
  plain(origin, 'commit', '-q', '-m', 'base');
  const base = plain(origin, 'rev-parse', 'HEAD');
  await write(origin, { 'cat.py': fixed, 'later.py': 'the answer\n' });
  plain(origin, 'add', '-A');
  plain(origin, 'commit', '-q', '-m', 'the fix');
  plain(origin, 'tag', 'v2');
  const later = plain(origin, 'rev-parse', 'HEAD');
  return { origin, base, later };
}

/** The edits of a workspace, as a window sees them when it opens it for the first time. */
export async function editsOf(folder: string, signal?: AbortSignal): Promise<string> {
  const own = await mkdtemp(join(tmpdir(), 'edits-test-'));
  try {
    return await new WorkspaceRepository(folder, join(own, 'repository')).edits(signal);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

export async function assertIsR(tree: string): Promise<void> {
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

/** Asserts that no object of the tree's repository is, or contains, anything after R. */
export function assertKnowsNothingLater(tree: string, { origin, later }: Example): void {
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
