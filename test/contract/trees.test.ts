import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sides } from '../../src/domain/outcome';
import { Cancelled } from '../../src/domain/work';
import { SandboxUnusable } from '../../src/engine/engine';
import { GitError } from '../../src/repository/git';
import { added, plain, write } from '../processes/exampleRepository';
import { ask, runCode, treeIn, treeOf } from './run';
import { counted, latinName, onEachEngine, usePair } from './subjects';

onEachEngine('the trees in sandboxes', (subject) => {
  const pair = usePair(subject);
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await pair.again();
  });
  /** Fails unless both sandboxes contain exactly their trees. */
  const assertPristine = async (): Promise<void> => {
    const there = await Promise.all(sides.map((side) => treeIn(pair()[side])));
    for (const [at, side] of sides.entries()) {
      assert.deepEqual(there[at], treeOf(subject().trees[side]), side);
    }
  };
  const loadBoth = async (patch: string): Promise<void> => {
    await Promise.all(sides.map((side) => pair()[side].load(patch)));
  };

  /** A patch with every kind of change to R, and the resulting tree. */
  const thorough = async (): Promise<{ patch: string; tree: Record<string, string> }> => {
    const { trees, storage } = subject();
    const copy = await mkdtemp(join(storage, 'copy-'));
    plain(storage, 'clone', '-q', trees.base, copy);
    await write(copy, {
      'tests/test_cat.py': 'def test_purr():\n    assert True\n',
      'tests/deep/er/test_new.py': 'x = 1\n',
      'tests/a file.txt': 'blank\n',
      'tests/empty': '',
      'tests/no-newline': 'x',
      'tests/blob.bin': Buffer.from([0, 255, 1, 254, 10, 13]),
      'tests/naïve.py': 'x\n',
      'dos.txt': 'one\r\nthree\r\n',
    });
    await writeFile(Buffer.concat([Buffer.from(`${copy}/tests/`), latinName]), 'new\n');
    await chmod(join(copy, 'tests/test_cat.py'), 0o755);
    await chmod(join(copy, 'run.sh'), 0o644);
    await rm(join(copy, 'data'), { recursive: true });
    await unlink(join(copy, 'kept.pyc'));
    await symlink('../cat.py', join(copy, 'tests/link.py'));
    await unlink(join(copy, 'dir with blank/naïve.txt'));
    await symlink('nowhere', join(copy, 'dir with blank/naïve.txt'));
    plain(copy, 'add', '-A', '-f');
    const patch = execFileSync('git', ['diff', '--cached', '--binary'], { cwd: copy, env: gitEnv });
    plain(copy, 'commit', '-qm', 'candidate');
    const tree = treeOf(copy);
    await rm(copy, { recursive: true });
    return { patch: patch.toString('utf8'), tree };
  };

  it('are R and R∘X*', assertPristine);

  it('have the version of R as the only tag, whatever a run did to it', async () => {
    // As setuptools-scm asks, and a project that lacks the tag takes 0.1 for its version.
    const code = `
import json, subprocess
def git(*words): return subprocess.check_output(("git",) + words).decode().strip()
print(json.dumps([git("describe", "--dirty", "--tags", "--long", "--match", "*[0-9]*"), git("tag"), git("rev-parse", "--short", "HEAD")]))`;
    const moved = 'import subprocess\nsubprocess.check_call(("git", "tag", "v9"))\n';
    await loadBoth('');
    for (const side of sides) {
      const [described, tags, commit] = await ask<string[]>(pair()[side], code);
      assert.deepEqual([described, tags], [`v1.2.0-0-g${commit}`, 'v1.2.0'], side);
      const left = `${moved}subprocess.check_call(("git", "tag", "-d", "v1.2.0"))`;
      assert.equal((await runCode(pair()[side], left)).exitCode, 0);
      await pair()[side].load('');
      assert.equal((await ask<string[]>(pair()[side], code))[1], 'v1.2.0', side);
    }
  });

  it('have what a candidate makes of them, and nothing of it afterwards', async () => {
    const { patch, tree } = await thorough();
    for (const again of [1, 2]) {
      await loadBoth(patch);
      assert.deepEqual(await treeIn(pair().base), tree, `base, ${again}`);
      const fixed = await treeIn(pair().fixed);
      const pristine = treeOf(subject().trees.fixed);
      for (const path of new Set([...Object.keys(tree), ...Object.keys(pristine)])) {
        const isOfX = treeOf(subject().trees.base)[path] !== pristine[path];
        assert.equal(fixed[path], isOfX ? pristine[path] : tree[path], `fixed, ${path}`);
      }
      await loadBoth('');
      await assertPristine();
    }
  });

  it('go from one candidate to another', async () => {
    const { patch, tree } = await thorough();
    const other = added('tests/deep') + added('tests/other.py', '100755');
    for (const side of sides) {
      await pair()[side].load(patch);
      await pair()[side].load(other);
    }
    const expected = treeOf(subject().trees.base);
    const now = await treeIn(pair().base);
    for (const path of ['tests/deep', 'tests/other.py']) {
      assert.ok(now[path] !== undefined, path);
      delete now[path];
    }
    assert.deepEqual(now, expected);
    await pair().base.load(patch);
    assert.deepEqual(await treeIn(pair().base), tree);
    await loadBoth('');
    await assertPristine();
  });

  it('stay as they are when a candidate does not apply', async () => {
    const bad = [
      'diff --git a/cat.py b/cat.py\n--- a/cat.py\n+++ b/cat.py\n@@ -1 +1 @@\n-def meow():\n+x\n',
      added('cat.py'),
      added('../evil.py'),
      added('/tmp/evil-of-the-contract.py'),
      added('.git/evil'),
      added('link.py/evil.py'),
    ];
    for (const patch of bad) {
      for (const side of sides) await assert.rejects(pair()[side].load(patch), GitError, patch);
    }
    assert.equal(existsSync('/tmp/evil-of-the-contract.py'), false);
    const outside = 'import json, os; print(json.dumps(os.path.exists("../evil.py")))';
    assert.equal(await ask(pair().base, outside), false);
    await loadBoth('');
    await assertPristine();
  });

  it('are loaded by nobody who has cancelled', async () => {
    const controller = new AbortController();
    controller.abort();
    for (const side of sides) {
      await assert.rejects(pair()[side].load(added('x.py'), controller.signal), Cancelled);
    }
    await loadBoth('');
    await assertPristine();
  });

  it('have a repository that tests can ask', async () => {
    const git = (text: string): Promise<string> =>
      ask(
        pair().base,
        `import json, subprocess; print(json.dumps(subprocess.run(${JSON.stringify(['git', ...text.split(' ')])}, stdout=-1, check=True).stdout.decode("latin-1")))`,
      );
    assert.equal((await git('log --format=%s')).trim(), 'swt-bench');
    assert.equal(await git('show HEAD:cat.py'), counted);
    const status = async () => (await git('status --porcelain')).replace(ofInstalling, '');
    assert.equal(await status(), '');
    await pair().base.load(added('tests/new.py'));
    assert.equal(await status(), '?? tests/new.py\n');
    await loadBoth('');
  });

  const git =
    'import os, subprocess, shutil\ndef git(*a): subprocess.run(("git",) + a, check=True)\n';
  const identity = '"-c", "user.name=a", "-c", "user.email=a@b"';
  const deeds: Record<string, string> = {
    'edit, add, delete and stage': `
open("cat.py", "w").write("x")
os.makedirs("build"); open("build/out", "w").write("x")
open("new.py", "w").write("x"); open("more.pyc", "w").write("x")
git("add", "new.py")
shutil.rmtree("tests")`,
    commit: `
open("cat.py", "w").write("def purr():\\n    return 5\\n"); open("new.py", "w").write("x")
git("add", "-A"); git(${identity}, "commit", "-q", "-m", "x")
git("tag", "left"); git("checkout", "-q", "-b", "other")`,
    'edit without any trace in size and time': `
info = os.stat("dos.txt"); text = open("dos.txt", "rb").read()
open("dos.txt", "wb").write(text.replace(b"one", b"ONE"))
os.utime("dos.txt", ns=(info.st_atime_ns, info.st_mtime_ns))`,
    'leave locks and settings of git': `
for name in "index.lock", "HEAD.lock", "config.lock": open(".git/" + name, "w").close()
os.makedirs(".git/hooks", exist_ok=True)
open(".git/hooks/post-checkout", "w").write("#!/bin/sh\\necho x > hooked\\n")
os.chmod(".git/hooks/post-checkout", 0o755)
os.makedirs(".git/info", exist_ok=True)
open(".git/info/attributes", "w").write("*.py filter=shout\\n")
open(".git/config", "a").write('[core]\\n\\tworktree = /nowhere\\n[filter "shout"]\\n\\tsmudge = tr a-z A-Z\\n')`,
    'hide an edit from git': `
git("update-index", "--assume-unchanged", "cat.py"); open("cat.py", "w").write("x")`,
    'remove the repository': `
shutil.rmtree(".git")`,
    'put something else into the place of the repository': `
shutil.rmtree(".git"); open(".git", "w").write("gitdir: /nowhere\\n")`,
    'make repositories of folders': `
for name in "tests", "data", "sub": git("init", "-q", name)`,
    'remove everything that they may': `
# everything
for name in os.listdir("."):
    shutil.rmtree(name, ignore_errors=True) if os.path.isdir(name) and not os.path.islink(name) else os.remove(name)`,
    'take away all permissions': `
for name in "cat.py", "data", "tests", "dir with blank", ".git", ".": os.chmod(name, 0)`,
    'give away permissions': `
os.chmod("cat.py", 0o777); os.chmod("run.sh", 0o600); os.chmod("tests", 0o777)`,
    'put links into the place of files and folders': `
shutil.move("tests", "moved"); os.symlink("moved", "tests")
os.remove("cat.py"); os.symlink("dos.txt", "cat.py")
os.symlink("/dev/zero", "endless.py"); os.symlink("/", "data/up")`,
    'put folders into the place of files': `
os.remove("cat.py"); os.makedirs("cat.py/deep"); open("cat.py/deep/x", "w").close()
os.remove("link.py"); os.mkdir("link.py")`,
    'make hard links': `
os.link("cat.py", "same.py"); open("same.py", "a").write("x"); os.link("dos.txt", "run.sh.new"); os.replace("run.sh.new", "run.sh")`,
    'leave names that are not UTF-8, long or strange': `
os.makedirs(b"caf\\xe9/x"); open(b"caf\\xe9/x/\\xff.py", "w").close()
for name in "a" * 250, "new\\nline.py", "-rf", "*.py", " ", "\\\\": open(name, "w").close()`,
    'nest folders deeply': `
top = os.getcwd()
for each in range(25):
    os.mkdir("d" * 100); os.chdir("d" * 100)`,
    'leave packages that have only compiled files': `
os.makedirs("gone/__pycache__"); open("gone/__pycache__/gone.cpython-39.pyc", "w").close()`,
    'leave pipes and sockets': `
import socket
os.mkfifo("pipe.py"); os.mkfifo("data/pipe"); socket.socket(socket.AF_UNIX).bind("s.py")`,
  };
  for (const [what, deed] of Object.entries(deeds)) {
    it(`are R and R∘X* again when tests ${what}`, async () => {
      await loadBoth(added('tests/candidate.py'));
      const records = await Promise.all(sides.map((side) => runCode(pair()[side], git + deed)));
      for (const { exitCode, log } of records) assert.equal(exitCode, 0, log);
      await loadBoth('').catch(async (error: unknown) => {
        // What an image has beside the tree exists nowhere else, so only a new pair restores it.
        assert.ok(error instanceof SandboxUnusable && deed.includes('everything'), String(error));
        await pair.again();
      });
      await assertPristine();
      const log =
        'import json, subprocess; print(json.dumps(subprocess.run(["git", "status", "--porcelain", "--ignored"], stdout=-1, check=True).stdout.decode()))';
      const status = await ask<string>(pair().base, log);
      assert.equal(
        status.replace(/^!! (.*\/)?__pycache__\/\n/gm, '').replace(ofInstalling, ''),
        '',
      );
    });
  }
});

/** What git reports about files of the installed repository outside the tree. */
const ofInstalling = /^(!!|\?\?) cat\.egg-info\/\n/m;

const gitEnv = {
  PATH: process.env['PATH'],
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
