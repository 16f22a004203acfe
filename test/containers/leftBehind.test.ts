import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { silent } from '../../src/domain/work';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { ask, runCode } from '../contract/run';
import { candidate, onEngine, usePair } from '../contract/subjects';
import { loadParser } from '../unit/python/loadParser';

/** One way in which a run leaves something behind, and how the next run would find it. */
interface Channel {
  readonly leave: string;
  readonly find: string;
}

const open = `
import ctypes, glob, importlib.util, json, os, pwd, site, socket, stat, struct, subprocess, sys
library = ctypes.CDLL(None, use_errno=True)
def attempt(deed, *words):
    try: return deed(*words)
    except Exception: return None
def write(path, text="x"):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file: file.write(text)
`;

/** Compiled code for a module of R, with the time and size of its source. */
const poisonCompiled = `
import py_compile
info = os.stat("cat.py")
path = importlib.util.cache_from_source(os.path.abspath("cat.py"))
code = compile("def purr(): return 77", "cat.py", "exec")
import marshal
data = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(info.st_mtime) & 0xffffffff, info.st_size) + marshal.dumps(code)
try: os.remove(path)
except OSError: pass
os.makedirs(os.path.dirname(path), exist_ok=True)
open(path, "wb").write(data)
`;

const channels: Record<string, Channel> = {
  'compiled code for a module of R': {
    leave: poisonCompiled,
    find: 'import cat; print("" if cat.purr() == 1 else "poisoned")',
  },
  'compiled code written into the file that was there': {
    leave: poisonCompiled
      .replace('try: os.remove(path)\nexcept OSError: pass\n', '')
      .replace(
        'open(path, "wb").write(data)',
        'before = os.stat(path); open(path, "r+b").write(data); os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))',
      ),
    find: 'import cat; print("" if cat.purr() == 1 else "poisoned")',
  },
  'compiled code of a module that is not there': {
    leave:
      'write("__pycache__/ghost.cpython-39.pyc"); write("ghost.pyc"); write("tests/__pycache__/x.pyc")',
    find: 'print(glob.glob("**/ghost*", recursive=True) + glob.glob("tests/__pycache__/x*") or "")',
  },
  'what pytest rewrites and remembers': {
    leave:
      'write("tests/test_left.py", "def test_left():\\n    assert 0\\n"); subprocess.call([sys.executable, "-m", "pytest", "-q", "tests"])',
    find: 'print(glob.glob("**/*pytest*", recursive=True) + [".pytest_cache"] * os.path.exists(".pytest_cache") or "")',
  },
  'modules of the user, and start-up code': {
    leave: `
home = pwd.getpwuid(os.getuid()).pw_dir if attempt(pwd.getpwuid, os.getuid()) else "/nowhere"
places = {site.getusersitepackages(), os.path.join(home, ".local/lib/python3.9/site-packages"), os.path.expanduser("~")} | set(sys.path)
for place in places:
    attempt(write, os.path.join(place, "usercustomize.py"), "print('poisoned')")
    attempt(write, os.path.join(place, "left.pth"), "import sys; print('poisoned')\\n")`,
    find: 'import usercustomize',
  },
  'shared memory, semaphores and queues of System V': {
    leave: `
library.shmget(4711, 4096, 0o1666); library.semget(4711, 1, 0o1666); library.msgget(4711, 0o1666)
library.shmat(library.shmget(4711, 4096, 0o666), None, 0)`,
    find: 'print([line for kind in ("shm", "sem", "msg") for line in open("/proc/sysvipc/" + kind).read().splitlines()[1:]] or "")',
  },
  'queues and shared memory of POSIX': {
    leave: `
queues = attempt(ctypes.CDLL, "librt.so.1") or library
queues.mq_open(b"/left", os.O_CREAT | os.O_RDWR, 0o666, None)
write("/dev/shm/sem.left"); write("/dev/shm/left")`,
    find: 'print(os.listdir("/dev/shm") + (os.listdir("/dev/mqueue") if os.path.isdir("/dev/mqueue") else []) or "")',
  },
  'a process that answers on a socket without a name': {
    leave: `
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        one = socket.socket(socket.AF_UNIX); one.bind("\\0left"); one.listen(1)
        two = socket.socket(); two.bind(("127.0.0.1", 47111)); two.listen(1)
        write("/tmp/swt/tmp/ready")
        while True: time.sleep(1)
    os._exit(0)
os.wait()
while not os.path.exists("/tmp/swt/tmp/ready"): time.sleep(0.01)`,
    find: `
one = socket.socket(socket.AF_UNIX)
print("reached" if attempt(one.connect, "\\0left") is not None or one.connect_ex("\\0left") == 0 else "")
two = socket.socket(); print("reached" if two.connect_ex(("127.0.0.1", 47111)) == 0 else "")`,
  },
  'attributes, times and permissions of folders': {
    leave: `
for path in "tests", ".", "data", ".git": attempt(os.setxattr, path, "user.left", b"x"); os.utime(path, (1, 1))
for path in "cat.py", "dos.txt": attempt(os.setxattr, path, "user.left", b"x")
os.chmod("data", 0o777)`,
    find: `
found = [path for path in ("tests", ".", "data", ".git", "cat.py", "dos.txt") if "user.left" in os.listxattr(path)]
found += [path for path in ("tests", ".", "data", ".git") if os.stat(path).st_mtime != 400000000]
print(found + [oct(os.stat("data").st_mode)] * (stat.S_IMODE(os.stat("data").st_mode) != 0o755) or "")`,
  },
  'flags of folders': {
    leave: `
import fcntl
for path in "tests", ".", "data", ".git":
    folder = os.open(path, os.O_RDONLY)
    flags = struct.unpack("l", fcntl.ioctl(folder, 0x80086601, bytes(8)))[0]
    fcntl.ioctl(folder, 0x40086602, struct.pack("l", flags | 0x40 | 0x80))`,
    find: `
import fcntl
found = {}
for path in "tests", ".", "data", ".git", "cat.py":
    flags = struct.unpack("l", fcntl.ioctl(os.open(path, os.O_RDONLY), 0x80086601, bytes(8)))[0]
    if flags & (0x40 | 0x80): found[path] = flags
print(found or "")`,
  },
  'an edit that size and time do not show': {
    leave: `
info = os.stat("cat.py"); text = open("cat.py").read()
open("cat.py", "w").write(text.replace("return 1", "return 7")); os.utime("cat.py", ns=(info.st_atime_ns, info.st_mtime_ns))`,
    find: 'import cat; print("" if cat.purr() == 1 else "poisoned")',
  },
  'an edit through memory, through another name and through a name that is gone': {
    leave: `
import mmap
with open("cat.py", "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0); at = memory.find(b"return 1"); memory[at + 7:at + 8] = b"7"; memory.flush(); memory.close()
os.link("dos.txt", "other"); open("other", "r+b").write(b"ONE"); os.remove("other")
os.rename("setup.py", "moved"); open("moved", "a").write("#"); os.rename("moved", "setup.py")`,
    find: `
import cat
print("" if (cat.purr(), open("dos.txt").read()[:3], open("setup.py").read()[-1]) == (1, "one", "\\n") else "poisoned")`,
  },
  'files that git ignores': {
    leave:
      'write("build/left.py"); write("build/lib/cat.py"); write("kept.pyc"); write("data/left.pyc")',
    find: 'print(["build"] * os.path.exists("build") + glob.glob("data/left*") + [1] * (open("kept.pyc").read() != "published\\n") or "")',
  },
  'special files and folders that nobody may read': {
    leave: `
os.mkfifo("left"); os.makedirs("closed/deep"); os.chmod("closed", 0)
os.chmod("tests", 0o555); os.chmod("cat.py", 0o400)`,
    find: `
found = [path for path in ("left", "closed") if os.path.lexists(path)]
print(found + [path for path, mode in (("tests", 0o755), ("cat.py", 0o644)) if stat.S_IMODE(os.stat(path).st_mode) != mode] or "")`,
  },
  'an empty folder that is gone': {
    leave: 'import shutil; shutil.rmtree("__pycache__", True); shutil.rmtree(".git/refs", True)',
    find: 'print("" if os.path.isdir("__pycache__") and os.path.isdir(".git/refs/heads") else "gone")',
  },
  'settings and files of git': {
    leave: `
subprocess.call(["git", "config", "user.name", "left"]); subprocess.call(["git", "stash", "list"])
write(".git/hooks/pre-commit"); write(".git/info/exclude", "*"); write(".git/left")
subprocess.call(["git", "update-index", "--assume-unchanged", "cat.py"])
write(os.path.expanduser("~/.gitconfig"), "[user]\\n\\tname = left\\n")`,
    find: `
found = [path for path in (".git/hooks/pre-commit", ".git/left") if os.path.exists(path)]
done = subprocess.run(["git", "config", "user.name"], stdout=-1).stdout.decode()
print(found + [done] * bool(done) + [1] * (open(".git/info/exclude").read() == "*") or "")`,
  },
  'the files of the agent and of the tracer': {
    leave: `
for folder, folders, names in os.walk("/swt"):
    for name in folders + names: attempt(write, os.path.join(folder, name), "raise SystemExit(3)"); attempt(os.remove, os.path.join(folder, name))
    attempt(write, os.path.join(folder, "left.py"))`,
    find: 'print(glob.glob("/swt/**/left.py", recursive=True) or "")',
  },
  'settings of the kernel and mounts': {
    leave: `
for folder, folders, names in os.walk("/proc/sys"):
    for name in names:
        path = os.path.join(folder, name)
        if os.access(path, os.W_OK): attempt(write, path, "1")
library.mount(b"none", b"/tmp/swt/tmp", b"tmpfs", 0, None)`,
    find: 'print([line for line in open("/proc/mounts") if "/tmp/swt" in line] or "")',
  },
};

onEngine('docker', 'what a run leaves behind is not seen by the next one:', (subject) => {
  const pair = usePair(subject);
  for (const [what, { leave, find }] of Object.entries(channels)) {
    it(what, async () => {
      const { base } = pair();
      await base.load('');
      const before = await runCode(base, open + find);
      const left = await runCode(base, open + leave);
      assert.equal(left.ending, 'exited');
      // Also when the same candidate runs again without a new load.
      for (const again of [1, 2]) {
        await base.load('');
        const after = await runCode(base, open + find);
        assert.deepEqual([after.log, after.exitCode], [before.log, before.exitCode], `${again}`);
      }
      if (before.exitCode === 0) assert.equal(before.log.trim(), '');
    });
  }

  it('a candidate’s own files, compiled ones included', async () => {
    const { base } = pair();
    const all = `
found = sorted(os.path.join(folder, name) for folder, folders, names in os.walk(".") for name in folders + names)
print(json.dumps(found))`;
    await base.load('');
    const before = await ask<string[]>(base, open + all);
    await base.load(candidate('pass', 'tests/deep/test_new.py') + candidate('pass', 'more/x.py'));
    const record = await runCode(base, 'import tests.deep.test_new, more.x');
    assert.equal(record.exitCode, 0, record.log);
    await base.load('');
    assert.deepEqual(await ask<string[]>(base, open + all), before);
  });

  it('compiled files that are gone are made again, from R', async () => {
    const { base } = pair();
    const compiled =
      'info = os.stat(importlib.util.cache_from_source(os.path.abspath("cat.py"))); print(info.st_uid == os.getuid(), info.st_size > 50)';
    await base.load('');
    await runCode(base, `${open}import shutil; shutil.rmtree("__pycache__")`);
    await base.load('');
    const { log } = await runCode(base, open + compiled, {});
    assert.equal(log, 'True True\n');
  });
});

/** Bodies of tests that poison what they can reach, each on a line. */
const poisoners: Record<string, string> = {
  'writes compiled code for a module of R':
    'import importlib.util as u, marshal, os, struct; i = os.stat("cat.py"); p = u.cache_from_source(os.path.abspath("cat.py")); os.path.exists(p) and os.remove(p); os.makedirs(os.path.dirname(p), exist_ok=True); open(p, "wb").write(u.MAGIC_NUMBER + struct.pack("<III", 0, int(i.st_mtime) & 0xffffffff, i.st_size) + marshal.dumps(compile("def purr(): return 9", "cat.py", "exec")))',
  'edits the code that is tested': 'open("cat.py", "w").write("def purr():\\n    return 9\\n")',
  'leaves modules and start-up code where it may':
    'import os, site, sys; [open(os.path.join(p, n), "w").write("raise SystemExit(7)") for p in sys.path + [os.path.expanduser("~"), "tests", "/tmp"] for n in ("sitecustomize.py", "usercustomize.py", "conftest.py", "unittest.py") if os.path.isdir(p) and os.access(p, os.W_OK)]',
  'commits the fix and stashes its file':
    'import subprocess; open("cat.py", "a").write("purr = lambda: 2\\n"); subprocess.call(["git", "-c", "user.name=a", "-c", "user.email=b", "commit", "-qam", "x"]); subprocess.call(["git", "stash", "-u"])',
  'leaves a process that edits the code again':
    'import os, time; os.fork() == 0 and (os.setsid(), [(open("cat.py", "w").write("def purr(): return 9"), time.sleep(0.001)) for each in range(10**6)])',
};

onEngine('docker', 'a candidate on a warm pair', (subject) => {
  const during = async <T>(work: (session: InstanceSession) => Promise<T>): Promise<T> => {
    const session = await openSession({
      instance: subject().instance,
      trees: subject().trees,
      engine: subject().engine,
      python: await loadParser(),
      store: runStore(await mkdtemp(join(subject().storage, 'runs-'))),
    });
    try {
      return await work(session);
    } finally {
      await session.dispose();
    }
  };
  const grade = async (session: InstanceSession, body: string): Promise<string> => {
    const result = await evaluateCandidate(
      session,
      { model: 'poison', text: candidate(body), format: 'unified', mode: 'unit-test' },
      { timeoutSeconds: 60, reporter: silent, reuse: false },
    );
    const { covered, executable } = result.changeCoverage ?? {};
    const tests = result.tests.map(({ transition }) => transition).join();
    return `${tests} ${covered}/${executable} ${result.strict.success}`;
  };
  const honest = 'self.assertEqual(purr(), 2)';
  let alone = '';
  before(async () => {
    alone = await during((session) => grade(session, honest));
    assert.equal(alone, 'F→P 2/2 true');
  });
  for (const [what, body] of Object.entries(poisoners)) {
    it(`is graded as when alone, beside one that ${what} @full`, async () => {
      const poisoner = await during(async (session) => {
        const first = await grade(session, body);
        assert.equal(await grade(session, honest), alone, 'after the poisoner');
        return first;
      });
      await during(async (session) => {
        assert.equal(await grade(session, honest), alone, 'before the poisoner');
        assert.equal(await grade(session, body), poisoner, 'the poisoner, after the honest one');
      });
    });
  }
});
