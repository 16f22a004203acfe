import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { sides, type Side } from '../../src/domain/outcome';
import { silent } from '../../src/domain/work';
import { runStore } from '../../src/evaluation/testRun';
import { openSession } from '../../src/evaluation/session';
import { ask, runCode } from '../contract/run';
import { candidate, onEngine, secret, usePair } from '../contract/subjects';
import { loadParser } from '../unit/python/loadParser';

/** What X* changes, adds and removes. */
const ofGolden = ['cat.py', 'gone.txt', 'link.py', `${secret}.py`];

const functions = `
import glob, json, os, platform, pwd, socket, subprocess, sys
of_golden = ${JSON.stringify(ofGolden)}
def git(*words):
    done = subprocess.run(("git",) + words, stdout=-1, stderr=-2)
    return [done.returncode, done.stdout.decode("latin-1")]
def read(path):
    try: return open(path).read()
    except OSError: return None
def everything():
    for folder, folders, names in os.walk("."):
        for name in folders + names:
            path = os.path.join(folder, name)
            if path[2:] not in of_golden and not any(os.path.basename(path).startswith(each[:-3] + ".") for each in of_golden):
                yield path
`;

onEngine('docker', 'both sides of a pair', (subject) => {
  const pair = usePair(subject);
  const onBoth = async <T>(code: string): Promise<Record<Side, T>> => {
    const [base, fixed] = await Promise.all(
      sides.map((side) => ask<T>(pair()[side], functions + code)),
    );
    return { base: base as T, fixed: fixed as T };
  };
  const alike = async (code: string): Promise<unknown> => {
    const { base, fixed } = await onBoth<unknown>(code);
    assert.deepEqual(fixed, base);
    return base;
  };
  beforeEach(() => Promise.all(sides.map((side) => pair()[side].load(''))));

  it('have one machine, user, path and environment', async () => {
    const seen = (await alike(`
print(json.dumps({
    "cwd": os.getcwd(), "user": os.getuid(), "groups": os.getgroups(), "environment": dict(os.environ), "path": sys.path,
    "host": [socket.gethostname(), platform.node(), os.uname().nodename], "hosts": read("/etc/hosts"),
    "group": read("/proc/self/cgroup"), "status": read("/etc/hostname"), "root": sorted(os.listdir("/")),
}))`)) as { readonly host: readonly string[]; readonly group: string };
    assert.doesNotMatch(JSON.stringify(seen), /base|fixed|octo__cat/);
    assert.doesNotMatch(JSON.stringify(seen), /[0-9a-f]{12}/, 'the number of a container');
  });

  it('know the user by name, with a home that is theirs', async () => {
    const [name, group, home, isOurs] = (await alike(`
import grp
me = pwd.getpwuid(os.getuid())
print(json.dumps([me.pw_name, grp.getgrgid(os.getgid()).gr_name, me.pw_dir, me.pw_dir == os.environ["HOME"] and os.access(me.pw_dir, os.W_OK)]))`)) as unknown[];
    assert.deepEqual([name, group, isOurs], ['sandbox', 'sandbox', true], String(home));
  });

  it('have a repository of one commit that tells nothing apart, and is clean', async () => {
    const seen = (await alike(`
found = {}
for words in [
    "log --all --format=%an|%ae|%ad|%cn|%ce|%cd|%s|%b|%P|%D", "status --porcelain --untracked-files=all", "diff HEAD", "diff-files",
    "diff-index HEAD", "branch -a --format=%(refname)", "tag", "remote -v", "stash list", "for-each-ref --format=%(refname)", "reflog --all",
    "config --list --local",
]:
    found[words] = git(*words.split(" "))
found["unreachable"] = git("fsck", "--full", "--unreachable", "--no-reflogs", "--no-progress")
found["files"] = sorted(each for each in glob.glob(".git/**", recursive=True) + glob.glob(".git/.*") if "objects" not in each)
found["exclude"] = read(".git/info/exclude")
print(json.dumps(found))`)) as Readonly<Record<string, readonly [number, string]>>;
    for (const [words, answer] of Object.entries(seen)) {
      if (/^(log|branch|for-each|config|files|exclude|tag)/.test(words)) continue;
      assert.deepEqual(answer, [0, ''], words);
    }
    assert.deepEqual(seen['tag'], [0, 'v1.2.0\n'], 'the version of R');
    const log = Object.entries(seen).find(([words]) => words.startsWith('log'))?.[1][1] ?? '';
    assert.equal(log.trimEnd().split('\n').length, 1, log);
    assert.doesNotMatch(log, new RegExp(`${secret}|octo|cat`));
    const objects = await onBoth<[string[], string[]]>(`
stored = git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")[1].split()
reached = git("rev-list", "--objects", "--all", "--no-object-names")[1].split()
print(json.dumps([sorted(set(stored)), sorted(set(reached))]))`);
    for (const side of sides) {
      const [stored, reached] = objects[side];
      assert.ok(stored.length > 10);
      assert.deepEqual(stored, reached, side);
    }
  });

  it('know each file of the tree in the index as it lies there', async () => {
    // Without reading any file, as programs do that determine a version.
    const code = 'print(json.dumps([git("diff-files"), git("diff-index", "HEAD")]))';
    const clean = [
      [0, ''],
      [0, ''],
    ];
    assert.deepEqual(await alike(code), clean);
    const change = `diff --git a/tests/test_cat.py b/tests/test_cat.py
--- a/tests/test_cat.py
+++ b/tests/test_cat.py
@@ -1,2 +1,2 @@
-def test_purr():
+def test_meow():
     pass
`;
    for (const side of sides) await pair()[side].load(change);
    const changed = (await alike(code)) as readonly [number, string][];
    assert.match(changed[0]?.[1] ?? '', /^\S+ 100644 [^\n]* M\ttests\/test_cat\.py\n$/);
    for (const side of sides) await pair()[side].load('');
    assert.deepEqual(await alike(code), clean, 'no trace of what another candidate changed');
  });

  it('have files and folders of the same times, those beside X* included', async () => {
    await alike(
      `print(json.dumps({path: os.lstat(path).st_mtime_ns for path in everything() if "/objects" not in path and "__pycache__" not in path and "egg-info" not in path}))`,
    );
    const recent = (await alike(`
start = os.stat("/swt/agent/swt_agent.py").st_ctime
print(json.dumps(sorted(path for path in everything() if os.lstat(path).st_ctime > start and "/objects" not in path)))`)) as string[];
    assert.ok(recent.includes('./.git/HEAD'));
    const golden = await onBoth<string[]>(`
start = os.stat("/swt/agent/swt_agent.py").st_ctime
print(json.dumps([path for path in of_golden if os.path.lexists(path) and os.lstat(path).st_ctime < start]))`);
    assert.deepEqual(golden, { base: [], fixed: [] }, 'files of X* are written on both sides');
  });

  it('have one time for a file that X* changes', async () => {
    const times = (await alike(
      'print(json.dumps({path: os.lstat(path).st_mtime_ns for path in ("cat.py", "link.py")}))',
    )) as Readonly<Record<string, number>>;
    assert.notEqual(times['cat.py'], times['link.py']);
  });

  it('have folders with the same numbers of links and the same changes, those of what X* adds and removes included', async () => {
    await alike(`
start = os.stat("/swt/agent/swt_agent.py").st_ctime
folders = [path for path in [".", *everything()] if os.path.isdir(path) and not os.path.islink(path) and "/objects/" not in path]
print(json.dumps({path: [os.stat(path).st_nlink, os.stat(path).st_ctime > start] for path in folders}))`);
  });

  it('hold nothing of the other one', async () => {
    const found = await onBoth<string[]>(`
word = ${JSON.stringify([...secret].reverse().join(''))}[::-1].encode()
found = [path for path in glob.glob("**", recursive=True) if word in path.encode() or os.path.isfile(path) and word in open(path, "rb").read()]
found += [each for each in git("rev-list", "--objects", "--all")[1].split() if word in each.encode()]
print(json.dumps(found))`);
    assert.deepEqual(found.base, []);
    assert.ok(found.fixed.length > 0);
    const gone = await onBoth<boolean>(
      'print(json.dumps("gone.txt" in git("ls-tree", "--name-only", "HEAD")[1].split("\\n")))',
    );
    assert.deepEqual(gone, { base: true, fixed: false });
  });

  it('have the same name of the container for whoever asks from within', async () => {
    const { log } = await runCode(pair().base, 'import socket; print(socket.gethostname())');
    assert.equal(log, 'sandbox\n');
  });

  it('count the same lines, as far as a test can read what is counted', async () => {
    const session = await openSession({
      instance: subject().instance,
      trees: subject().trees,
      engine: subject().engine,
      python: await loadParser(),
      store: runStore(await mkdtemp(join(subject().storage, 'runs-'))),
    });
    try {
      const body =
        'import os; path = os.environ.get("SWT_TRACE_CONFIG", ""); print("READ", open(path).read() if os.path.exists(path) else "")';
      const { records } = await session.run(
        { patch: candidate(body), files: ['tests/test_new.py'] },
        { timeoutSeconds: 60, reporter: silent, reuse: false },
      );
      const read = sides.map((side) => /READ .*/.exec(records[side]?.log ?? '')?.[0]);
      assert.ok(read[0] !== undefined, records.base?.log);
      assert.equal(read[1], read[0]);
    } finally {
      await session.dispose();
    }
  });
});
