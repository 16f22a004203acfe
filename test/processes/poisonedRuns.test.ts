import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sides } from '../../src/domain/outcome';
import { HumanError, silent } from '../../src/domain/work';
import { audiences } from '../../src/engine/engine';
import { localEngine } from '../../src/engine/local/localEngine';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { environments } from '../../src/environments/environments';
import type { Trees } from '../../src/repository/trees';
import { ask } from '../contract/run';
import { bareEnvironment, sitePackagesOf } from '../environments';
import { isEveryday } from '../everyday';
import { loadParser } from '../unit/python/loadParser';
import { useExample, write, type Example } from './exampleRepository';

const tracer = resolve('src/engine/tracer');

/** A patch that adds a file. */
const file = (path: string, text: string): string => {
  const lines = text.split('\n');
  return `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;
};

/** A test of unittest with a body of some lines. */
const test = (body: string): string =>
  [
    'import unittest',
    'from cat import purr',
    'class A(unittest.TestCase):',
    '    def test_a(self):',
    ...body
      .trim()
      .split('\n')
      .map((line) => `        ${line}`),
  ].join('\n');

const honest = test('self.assertEqual(purr(), 2)');

/** Python code that writes a compiled file, current for a source of this size and time. */
const compiledFrom = (source: string, text: string, size: string, time: string): string => `
import importlib.util, marshal, os, struct
source = ${JSON.stringify(source)}
code = compile(${JSON.stringify(text)}, source, "exec")
head = importlib.util.MAGIC_NUMBER + (bytes(4) if __import__("sys").version_info >= (3, 7) else b"")
target = importlib.util.cache_from_source(source)
os.makedirs(os.path.dirname(target), exist_ok=True)
with open(target, "wb") as out: out.write(head + struct.pack("<II", int(${time}), ${size}) + marshal.dumps(code))
`;

const alwaysTwo = 'def purr():\n    return 2\n';

/** One of each kind is tried each day. */
const everyday = [
  'a compiled file of a module of R',
  'a commit, hooks and settings in the repository',
  'files of the user',
  'a .pth',
];
const mark = (what: string): string => (everyday.includes(what) ? '' : ' @full');

/**
 * Each leaves something behind that would make the honest candidate pass on both sides, or fail.
 */
const poisons: Record<string, string> = {
  'a compiled file of a module of R': compiledFrom(
    'cat.py',
    alwaysTwo,
    'os.stat("cat.py").st_size',
    'os.stat("cat.py").st_mtime',
  ),
  'a compiled file of a module of R, written into the one that is there': `
import os, py_compile
py_compile.compile("cat.py", doraise=True)
${compiledFrom('cat.py', alwaysTwo, 'os.stat("cat.py").st_size', 'os.stat("cat.py").st_mtime')}`,
  'a compiled file in the place of its source': `
import os, py_compile
open("evil.py", "w").write(${JSON.stringify(alwaysTwo)})
py_compile.compile("evil.py", cfile="cat.pyc", doraise=True)
os.remove("cat.py"); os.remove("evil.py")`,
  'a compiled file of the tests of another candidate': compiledFrom(
    'tests/test_new.py',
    honest.replace('self.assertEqual(purr(), 2)', 'pass'),
    String(honest.length + 1),
    'os.stat("tests/test_poison.py").st_mtime',
  ),
  'an edit that has no trace in size and time': `
import os
info = os.stat("cat.py"); text = open("cat.py").read()
open("cat.py", "w").write(text.replace("return 1", "return 2"))
os.utime("cat.py", ns=(info.st_atime_ns, info.st_mtime_ns))`,
  'modules that come before those that are meant': `
open("sitecustomize.py", "w").write("import cat; cat.purr = lambda: 2")
open("usercustomize.py", "w").write("import cat; cat.purr = lambda: 2")
open("unittest.py", "w").write("raise SystemExit(0)")`,
  'ignored files': `
import os
os.makedirs("build/lib"); open("build/lib/cat.py", "w").write(${JSON.stringify(alwaysTwo)})
open("kept.pyc", "w").write("other")`,
  'files of the user': `
import os, site
for folder in site.getusersitepackages(), os.path.expanduser("~"), os.environ["TMPDIR"]:
    os.makedirs(folder, exist_ok=True)
    for name in "usercustomize.py", "sitecustomize.py":
        open(os.path.join(folder, name), "w").write("import sys; sys.path.insert(0, '/'); import cat; cat.purr = lambda: 2")
    open(os.path.join(folder, "evil.pth"), "w").write("import cat; cat.purr = lambda: 2")
open(os.path.expanduser("~/.pydistutils.cfg"), "w").write("x")`,
  'a commit, hooks and settings in the repository': `
import os, subprocess
open("cat.py", "w").write(${JSON.stringify(alwaysTwo)})
subprocess.check_call(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qam", "x"])
os.makedirs(".git/hooks", exist_ok=True)
for name in "post-checkout", "post-index-change", "reference-transaction":
    open(".git/hooks/" + name, "w").write("#!/bin/sh\\ntouch hooked\\n"); os.chmod(".git/hooks/" + name, 0o755)
open(".git/config", "a").write('[core]\\n\\tworktree = /nowhere\\n\\tfsmonitor = touch hooked\\n[filter "x"]\\n\\tsmudge = tr 1 2\\n')
os.makedirs(".git/info", exist_ok=True); open(".git/info/attributes", "w").write("*.py filter=x\\n")
open(".git/objects/info/alternates", "w").write("/nowhere\\n")`,
  'an index of ours that overlooks an edit': `
import os, subprocess
own = os.path.dirname(open(".git/objects/info/alternates").read().strip())
env = dict(os.environ, GIT_DIR=own, GIT_WORK_TREE=".")
subprocess.check_call(["git", "update-index", "--assume-unchanged", "cat.py"], env=env)
open("cat.py", "w").write(${JSON.stringify(alwaysTwo)})`,
  'folders that cannot be written': `
import os
os.makedirs("deep/er"); open("deep/er/x", "w").close()
for path in "deep/er", "deep", "tests", "cat.py", ".": os.chmod(path, 0o500)`,
};

describe('what a run leaves behind', function () {
  let example: Example;
  let trees: Trees;
  let storage = '';
  let folder = '';
  let python = '';
  let site = '';
  useExample((made) => (example = made));
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'poison-test-'));
    const bare = bareEnvironment(folder);
    python = join(bare, 'bin', 'python');
    site = sitePackagesOf(python);
    await write(site, { 'dep.py': 'V = 1\n' });
    storage = await example.storage();
    trees = await example.prepare({ kind: 'commit', from: example.origin }, storage);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const during = async <T>(work: (session: InstanceSession) => Promise<T>): Promise<T> => {
    const engine = await localEngine({ environments, storage, tracer, python });
    const session = await openSession({
      instance: example.instance(),
      trees,
      engine,
      python: await loadParser(),
      store: runStore(storage),
    });
    try {
      return await work(session);
    } finally {
      await session.dispose();
      await engine.dispose();
    }
  };
  const outcomes = async (
    session: InstanceSession,
    text: string,
    path = 'tests/test_new.py',
  ): Promise<string> => {
    const set = { patch: file(path, text), files: [path] };
    const options = { timeoutSeconds: 60, reporter: silent, reuse: false };
    const { records } = await session.run(set, options);
    return sides
      .map((side) => records[side]?.trace.outcomes.map(({ outcome }) => outcome).join('+'))
      .join(' ');
  };
  const poison = (session: InstanceSession, body: string): Promise<string> =>
    outcomes(session, test(body), 'tests/test_poison.py');

  /** Each day the few share the sessions that are opened; in the full run each has its own. */
  const groups = isEveryday
    ? [everyday.filter((what) => what in poisons)]
    : Object.keys(poisons).map((what) => [what]);
  for (const group of groups) {
    it(`no other run sees: ${group.join('; ')}`, async () => {
      await during(async (session) => {
        // Of several, each runs again after all the others; one by itself after the honest candidate.
        const turns = group.length > 1 ? group : [...group, ...group];
        for (const [turn, what] of turns.entries()) {
          const told = `${what}, turn ${turn + 1}`;
          assert.equal(await poison(session, poisons[what] ?? ''), 'passed passed', told);
          assert.equal(await outcomes(session, honest), 'failed passed', `after ${told}`);
        }
        for (const what of group) {
          assert.equal(
            await poison(session, poisons[what] ?? ''),
            'passed passed',
            `${what}, last`,
          );
        }
      });
      assert.equal(await during((session) => outcomes(session, honest)), 'failed passed', 'later');
    });
  }

  it('no other run sees: a program that goes on @full', async function () {
    if (process.platform !== 'linux') this.skip();
    const started = join(folder, 'started');
    const word = 'goes_on_in_the_poison_test';
    // A process without its parents, group, session and variables, which ignores all signals it
    // can.
    const body = `
import os, subprocess, sys, textwrap
code = textwrap.dedent('''
import os, signal, sys
os.setsid()
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork(): os._exit(0)
open(sys.argv[1], "w").close()
while True: # ${word}
    try: open(sys.argv[2], "w").write("def purr(): return 2")
    except OSError: pass
''')
subprocess.Popen([sys.executable, "-I", "-c", code, ${JSON.stringify(started)}, os.path.abspath("cat.py")], env={}).wait()
while not os.path.exists(${JSON.stringify(started)}): pass`;
    await during(async (session) => {
      assert.equal(await poison(session, body), 'passed passed');
      const living = await Promise.all(
        (await readdir('/proc'))
          .filter((name) => /^\d+$/.test(name))
          .map((name) => readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')),
      );
      assert.deepEqual(
        living.filter((line) => line.includes(word) && line.includes('-I')),
        [],
      );
      assert.equal(await outcomes(session, honest), 'failed passed');
    });
  });

  it('no other run sees: a compiled file of an installed package', async () => {
    const usesDep = test('import dep; self.assertEqual(dep.V, purr())');
    const source = join(site, 'dep.py');
    const body = `${compiledFrom(source, 'V = 2\n', 'os.stat(source).st_size', 'os.stat(source).st_mtime')}`;
    await during(async (session) => {
      assert.equal(await outcomes(session, usesDep), 'passed failed');
      assert.equal(await poison(session, body), 'passed passed');
      assert.equal(await outcomes(session, usesDep), 'passed failed');
    });
    assert.equal(await during((session) => outcomes(session, usesDep)), 'passed failed');
  });

  const changes: Record<string, [deed: string, mended: () => Promise<void>]> = {
    'a .pth': [
      'open(place + "/evil.pth", "w").write("import sys")',
      () => rm(join(site, 'evil.pth')),
    ],
    'a module': [
      'open(place + "/sitecustomize.py", "w").write("import sys")',
      () => rm(join(site, 'sitecustomize.py')),
    ],
    'the content of a package, with its size and time': [
      `
import os
info = os.stat(place + "/dep.py"); open(place + "/dep.py", "w").write("V = 9\\n")
os.utime(place + "/dep.py", ns=(info.st_atime_ns, info.st_mtime_ns))`,
      () => write(site, { 'dep.py': 'V = 1\n' }),
    ],
  };
  for (const [what, [deed, mend]] of Object.entries(changes)) {
    it(`a run that changes the environment is not graded, nor is any before that is put right: ${what}${mark(what)}`, async () => {
      const isRefused = (error: unknown): boolean =>
        error instanceof HumanError &&
        error.message.includes('changed while tests ran') &&
        error.message.includes(site) &&
        /force-reinstall/.test(error.next ?? '');
      const body = `place = ${JSON.stringify(site)}\n${deed.trim()}`;
      await during(async (session) => {
        assert.equal(await outcomes(session, honest), 'failed passed');
        await assert.rejects(poison(session, body), isRefused);
        await assert.rejects(outcomes(session, honest), isRefused);
      });
      await assert.rejects(
        during((session) => outcomes(session, honest)),
        isRefused,
      );
      await during(async (session) => {
        await assert.rejects(outcomes(session, honest), isRefused);
        await mend();
        assert.equal(await outcomes(session, honest), 'failed passed');
      });
      assert.equal(existsSync(join(storage, 'environments')), true);
      assert.deepEqual(await readdir(join(storage, 'environments')), []);
    });
  }

  it('a record that names files of another installation refuses no run, and stays', async () => {
    const records = join(storage, 'environments');
    const body = `open(${JSON.stringify(join(site, 'evil.pth'))}, "w").write("import sys")`;
    await during((session) => assert.rejects(poison(session, body), /changed while tests ran/));
    const [name = ''] = await readdir(records);
    await rm(join(site, 'evil.pth'));
    // The other installation's file is as that record says: it never existed.
    const record = JSON.parse(await readFile(join(records, name), 'utf8')) as object;
    const text = JSON.stringify({ ...record, files: { [join(folder, 'other', 'a.py')]: 'gone' } });
    await writeFile(join(records, name), text);
    await during(async (session) => {
      assert.equal(await outcomes(session, honest), 'failed passed');
    });
    assert.equal(await readFile(join(records, name), 'utf8'), text);
    await rm(join(records, name));
  });

  it('a run that changes the environment is not graded, also when the other side changes it once more while that is found out @full', async () => {
    // The second side waits until the first change is known, and repeats it.
    const body = `
import glob, os, time
def change(): open(${JSON.stringify(join(site, 'dep.py'))}, "w").write("V = 9\\n")
try: is_first = os.close(os.open(${JSON.stringify(join(folder, 'first'))}, os.O_CREAT | os.O_EXCL)) is None
except OSError: is_first = False
end = time.time() + 20
while not is_first and time.time() < end and not glob.glob(${JSON.stringify(join(storage, 'environments', '*.json'))}): pass
change()`;
    await during(async (session) => {
      for (let round = 0; round < 4; round += 1) {
        assert.equal(await outcomes(session, honest), 'failed passed');
        await rm(join(folder, 'first'), { force: true });
        await assert.rejects(poison(session, body), /changed while tests ran/, `${round}`);
        await assert.rejects(outcomes(session, honest), /changed while tests ran/, `${round}`);
        await write(site, { 'dep.py': 'V = 1\n' });
      }
    });
  });

  it('is kept of what was compiled from R alone, for the pairs that follow', async () => {
    const seen = test(
      'import cat, os; open(os.environ["TMPDIR"] + "/x", "w"); print("compiled", os.path.exists(cat.__cached__))',
    );
    const first = async (session: InstanceSession): Promise<string> => {
      const set = { patch: file('tests/test_new.py', seen), files: ['tests/test_new.py'] };
      const { records } = await session.run(set, {
        timeoutSeconds: 60,
        reporter: silent,
        reuse: false,
      });
      return records.base?.log ?? '';
    };
    await during(async (session) => {
      await first(session);
      await first(session);
    });
    const kept = await readdir(join(storage, 'instances', 'octo__cat-1', 'compiled'), {
      recursive: true,
    });
    assert.ok(kept.some((name) => name.endsWith('.pyc')));
    assert.match(await during(first), /compiled True/);
  });

  it('is not kept for models: which modules are compiled would tell what T* imports', async () => {
    const engine = await localEngine({ environments, storage, tracer, python });
    try {
      for (const audience of audiences) {
        const place = await engine.prepare(example.instance(), trees, {
          audience,
          reporter: silent,
        });
        const pair = await place.openPair({ reporter: silent });
        await pair.base.load('');
        const isThere = await ask(
          pair.base,
          'import json, os; print(json.dumps(os.path.exists("__pycache__")))',
        );
        assert.equal(isThere, audience === 'grading', audience);
        await pair.dispose();
      }
    } finally {
      await engine.dispose();
    }
  });
});
