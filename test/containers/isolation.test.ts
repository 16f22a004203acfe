import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { silent } from '../../src/domain/work';
import type { RunRecord } from '../../src/engine/engine';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import { runStore } from '../../src/evaluation/testRun';
import { openSession } from '../../src/evaluation/session';
import { ask, processesWith, runCode } from '../contract/run';
import { candidate, counted, onEngine, usePair } from '../contract/subjects';
import { loadParser } from '../unit/python/loadParser';

const small = { memoryMb: 256, processes: 64, diskMb: 64 };

interface Abuse {
  readonly code: string;
  /** The expected ending of the run. */
  readonly ending: RunRecord['ending'];
  readonly remark?: RegExp;
  /** Time limit of the run, for a program that goes on after its first limit. */
  readonly seconds?: number;
}

const mark = 'abuse_by_a_test';

/** Malicious programs, with the expected report on each. */
const abuses: Record<string, Abuse> = {
  'blocks all signals and goes on without end': {
    code: `
import os, signal
for each in range(4): os.fork()
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
while True: pass # ${mark}`,
    ending: 'timed out',
  },
  'is a fork bomb': {
    code: `
import os
while True:
    try: os.fork()
    except OSError: pass # ${mark}`,
    ending: 'too many processes',
    remark: /process/,
  },
  'starts threads without end': {
    code: `
import threading, time
while True:
    try: threading.Thread(target=time.sleep, args=(600,)).start()
    except RuntimeError: time.sleep(0.1) # ${mark}`,
    ending: 'too many processes',
    seconds: 3,
    remark: /process/,
  },
  'takes all memory': {
    code: `
taken = []
while True: taken.append(bytearray(1 << 20)) # ${mark}`,
    ending: 'out of memory',
  },
  'takes all memory in children': {
    code: `
import os, time
for each in range(8):
    if os.fork() == 0:
        taken = []
        while True: taken.append(bytearray(1 << 20)) # ${mark}
while True: time.sleep(1)`,
    ending: 'out of memory',
    seconds: 20,
    remark: /memory/,
  },
  'prints without end into a file that has no name': {
    code: `
import os, tempfile, time
file = tempfile.TemporaryFile()
os.dup2(file.fileno(), 1)
while True:
    try: os.write(1, b"x" * (1 << 16)) # ${mark}
    except OSError: time.sleep(0.1)`,
    ending: 'too much output',
  },
  'prints as much into a file that it wants': {
    code: `
import os, time
os.dup2(os.open("/tmp/wanted", os.O_WRONLY | os.O_CREAT), 1)
while True:
    try: os.write(1, b"x" * (1 << 16)) # ${mark}
    except OSError: time.sleep(0.1)`,
    ending: 'disk full',
  },
  'writes one big file': {
    code: `
with open("big", "wb") as file:
    while True: file.write(b"x" * (1 << 20)) # ${mark}`,
    ending: 'disk full',
  },
  'writes many small files': {
    code: `
import itertools, os
for each in itertools.count():
    if each % 1000 == 0: os.makedirs("many/%d" % each); os.chdir("many/%d" % each)
    with open(str(each), "wb") as file: file.write(b"x") # ${mark}`,
    ending: 'disk full',
  },
  'writes files that have no name': {
    code: `
import os
files = []
while True:
    files.append(open("big", "wb")); os.unlink("big")
    for each in range(16): files[-1].write(b"x" * (1 << 20)); files[-1].flush() # ${mark}`,
    ending: 'disk full',
  },
  'fills other places where anybody may write': {
    code: `
import os
places = [each for each in ("/var/tmp", "/run/lock", "/var/lock") if os.access(each, os.W_OK)]
count = 0
while True:
    for place in places or ["."]:
        count += 1
        with open("%s/%d" % (place, count), "wb") as file: file.write(b"x" * (1 << 20)) # ${mark}`,
    ending: 'disk full',
  },
  'prints without end, on both streams, what is no text': {
    code: `
import os
if os.fork() == 0: os.dup2(1, 2)
while True: os.write(2, b"\\xff\\x00{\\"kind\\": \\"done\\", \\"bytes\\": 0}\\n" * 1000) # ${mark}`,
    ending: 'too much output',
  },
  'kills its parent, the first process, and everything that it may': {
    code: `
import os, signal
for pid in [os.getppid(), 1] + [int(each) for each in os.listdir("/proc") if each.isdigit()]:
    if pid == os.getpid(): continue
    for number in signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT:
        try: os.kill(pid, number)
        except (PermissionError, ProcessLookupError): pass
for number in signal.SIGKILL, signal.SIGSTOP:
    try: os.kill(-1, number)
    except (PermissionError, ProcessLookupError): pass`,
    ending: 'exited',
  },
  'kills its process group and itself': {
    code: 'import os; os.kill(0, 9)',
    ending: 'exited',
  },
  'stops itself': {
    code: 'import os, signal; os.kill(os.getpid(), signal.SIGSTOP)',
    ending: 'timed out',
  },
  'removes everything that it may': {
    code: 'import subprocess; subprocess.call("rm -rf --no-preserve-root / 2> /dev/null", shell=True)',
    ending: 'exited',
  },
  'leaves a daemon with a cleared environment': {
    code: `
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        os.chdir("/")
        os.execve(sys.executable, ["daemon", "-c", "import time\\nwhile True: time.sleep(1) # ${mark}"], {})
    os._exit(0)
os.wait()`,
    ending: 'exited',
  },
};

onEngine(
  'docker',
  'a sandbox survives a test that',
  (subject) => {
    const pair = usePair(subject);
    for (const [what, { code, ending, remark, seconds }] of Object.entries(abuses)) {
      it(what, async () => {
        // After a failure, the next test starts with a fresh pair.
        await pair()
          .base.load('')
          .catch(() => pair.again());
        const { base } = pair();
        await base.load('');
        const record = await runCode(base, code, {
          timeoutSeconds: seconds ?? (ending === 'timed out' ? 3 : 200),
        });
        assert.equal(record.ending, ending, `${record.log.slice(-500)} ${record.remarks?.join()}`);
        if (remark !== undefined) assert.match(record.remarks?.join('; ') ?? '', remark);
        await base.load('').catch(async () => {
          // Files that only the image had are gone, so another pair is opened, as sessions do.
          assert.match(what, /removes everything/);
          await pair.again();
        });
        const next = await runCode(pair().base, 'print("next")');
        assert.deepEqual([next.ending, next.log, next.remarks], ['exited', 'next\n', []]);
        assert.deepEqual(await processesWith(pair().base, mark), []);
      });
    }
  },
  small,
);

onEngine('docker', 'a test in a sandbox', (subject) => {
  const pair = usePair(subject);
  beforeEach(() => pair().base.load(''));

  it('has no rights and no way to get any', async () => {
    const found = await ask<Record<string, unknown>>(
      pair().base,
      `
import ctypes, json, os, shutil, subprocess
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
found = {"uid": os.getuid(), "groups": os.getgroups(), "privileges": status["NoNewPrivs"]}
found["capabilities"] = [status[key] for key in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
def may(what, deed):
    try:
        deed(); found[what] = "yes"
    except Exception as error:
        found[what] = "no"
may("setuid", lambda: os.setuid(0))
may("setgid", lambda: os.setgid(0))
shutil.copy("/bin/sh", "shell"); os.chmod("shell", 0o6777)
found["as whom"] = subprocess.check_output(["./shell", "-p", "-c", "id -u"]).decode().strip()
for user in "root", "daemon":
    may("su " + user, lambda: subprocess.check_output(["su", "-c", "id", user], stdin=subprocess.DEVNULL, stderr=-1, timeout=20))
libc = ctypes.CDLL(None, use_errno=True)
found["mount"] = libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
found["namespace"] = libc.unshare(0x10000000 | 0x00020000)
found["device"] = os.access("/dev/sda", os.F_OK) or os.access("/dev/mem", os.R_OK)
print(json.dumps(found))`,
    );
    assert.notEqual(found['uid'], 0);
    assert.equal(found['as whom'], String(found['uid']));
    const { uid, ...rest } = found;
    delete rest['as whom'];
    void uid;
    const none = '0000000000000000';
    assert.deepEqual(rest, {
      ...{ groups: [], privileges: '1', capabilities: [none, none, none, none] },
      ...{ setuid: 'no', setgid: 'no', 'su root': 'no', 'su daemon': 'no' },
      ...{ mount: -1, namespace: -1, device: false },
    });
  });

  it('reaches no network', async () => {
    const found = await ask<Record<string, unknown>>(
      pair().base,
      `
import json, os, socket
found = {"interfaces": [name for _, name in socket.if_nameindex()]}
for host, port in ("1.1.1.1", 53), ("172.17.0.1", 80), ("169.254.169.254", 80):
    try: socket.create_connection((host, port), timeout=5); found[host] = "reached"
    except OSError: found[host] = "not reached"
try: socket.getaddrinfo("pypi.org", 443); found["name"] = "found"
except OSError: found["name"] = "not found"
listening = socket.socket(); listening.bind(("127.0.0.1", 0)); listening.listen(1)
socket.create_connection(listening.getsockname()).close(); found["itself"] = "reached"
print(json.dumps(found))`,
    );
    assert.deepEqual(found, {
      interfaces: (found['interfaces'] as string[]).filter(
        (name) => !/^(eth|veth|en|wl)/.test(name),
      ),
      ...{
        '1.1.1.1': 'not reached',
        '172.17.0.1': 'not reached',
        '169.254.169.254': 'not reached',
      },
      ...{ name: 'not found', itself: 'reached' },
    });
  });

  it('finds no engine, nothing of this machine, and nothing of other processes', async () => {
    const found = await ask<Record<string, unknown>>(
      pair().base,
      `
import json, os
sockets, opened, seen = [], [], []
for folder, folders, names in os.walk("/"):
    if folder in ("/proc", "/sys"): del folders[:]
    sockets += [os.path.join(folder, name) for name in names if name.endswith(".sock")]
for pid in os.listdir("/proc"):
    if not pid.isdigit() or int(pid) in (os.getpid(),): continue
    for what in "environ", "mem", "fd", "cwd", "root":
        try:
            os.listdir("/proc/%s/%s" % (pid, what)) if what in ("fd", "cwd", "root") else open("/proc/%s/%s" % (pid, what), "rb").read(1)
            opened.append((pid, what))
        except OSError: pass
mounts = [line.split() for line in open("/proc/mounts")]
print(json.dumps({"sockets": sockets, "opened": opened, "mounted": [each[1] for each in mounts if each[0].startswith("/dev/") and each[1] not in ("/etc/resolv.conf", "/etc/hostname", "/etc/hosts")]}))`,
    );
    assert.deepEqual(found, { sockets: [], opened: [], mounted: [] });
  });

  it('changes nothing of the agent, the tracer, the interpreter or another run', async () => {
    const changed = await ask<string[]>(
      pair().base,
      `
import json, os, sys, sysconfig
changed = []
places = ["/swt", "/usr", "/etc", "/opt", "/root", "/home", sys.prefix, sysconfig.get_paths()["purelib"]]
for place in places:
    for folder, folders, names in os.walk(place):
        for path in [folder] + [os.path.join(folder, name) for name in names]:
            if not os.path.islink(path) and os.access(path, os.W_OK): changed.append(path)
for deed in (lambda: os.rename("/swt", "/tmp/swt"), lambda: os.remove("/swt/tracer/sitecustomize.py"), lambda: os.chmod("/swt/tracer", 0o777)):
    try:
        deed(); changed.append("a deed")
    except OSError: pass
print(json.dumps(changed))`,
    );
    assert.deepEqual(changed, []);
    const line = counted.split('\n').indexOf('        total += 1') + 1;
    const record = await runCode(pair().base, 'import cat; cat.purr()', {
      countLines: new Map([['cat.py', [line]]]),
    });
    assert.equal(record.trace.counts[0]?.shared, 3);
  });

  it('leaves nothing where the next one could find it', async () => {
    const places = `
import json, os
places = []
for folder, folders, names in os.walk("/"):
    if folder in ("/proc", "/sys"): del folders[:]
    elif os.access(folder, os.W_OK) and not folder.startswith(os.getcwd()): places.append(folder)
`;
    const word = 'left_for_the_next_one';
    const left = await ask<string[]>(
      pair().base,
      `${places}
for place in places: open(os.path.join(place, "${word}"), "w").close()
print(json.dumps(places))`,
    );
    assert.ok(left.includes('/tmp'), left.join());
    await pair().base.load('');
    const found = await ask<string[]>(
      pair().base,
      `
import json, os
found = []
for folder, folders, names in os.walk("/"):
    if folder in ("/proc", "/sys"): del folders[:]
    found += [os.path.join(folder, each) for each in names if each == "${word}"]
print(json.dumps(found))`,
    );
    assert.deepEqual(found, []);
  });

  it('has no room for records of a trace without end', async () => {
    const code = `
import json, os
with open(os.path.join(json.load(open(os.environ["SWT_TRACE_CONFIG"]))["out"], "x.jsonl"), "wb") as file:
    for each in range(1 << 10): file.write(b"x" * (1 << 20))`;
    const record = await runCode(pair().base, code, { timeoutSeconds: 60 });
    assert.ok(record.ending !== 'exited' || record.exitCode !== 0, record.ending);
    const next = await runCode(pair().base, 'print("next")');
    assert.equal(next.log, 'next\n');
  });
});

onEngine(
  'docker',
  'an instance has one status when its candidate',
  (subject) => {
    const bodies: Record<string, readonly [body: string, status: RegExp]> = {
      'takes all memory': ['x = [bytearray(1 << 20) for each in range(1 << 20)]', /memory/],
      'fills the disk': ['open("big", "wb").write(b"x" * (1 << 27))', /disk|File too large/],
      'prints without end': [
        '\n+        import os\n+        while True: os.write(2, b"x" * 1000)',
        // pytest captures the output in a file, which may fill the disk first.
        /output|disk|No space left on device/,
      ],
      'goes on without end': ['\n+        while True: pass', /time/],
    };
    for (const [what, [body, status]] of Object.entries(bodies)) {
      it(what, async () => {
        const session = await openSession({
          instance: subject().instance,
          trees: subject().trees,
          engine: subject().engine,
          python: await loadParser(),
          store: runStore(await mkdtemp(join(subject().storage, 'runs-'))),
        });
        const grade = (text: string) =>
          evaluateCandidate(
            session,
            { model: 'abuse', text, format: 'unified', mode: 'unit-test' },
            { timeoutSeconds: 8, reporter: silent, reuse: true },
          );
        try {
          const lines = body.startsWith('\n') ? 5 + body.split('\n').length - 1 : 5;
          const result = await grade(
            candidate(body)
              .replace('+1,5', `+1,${lines}`)
              .replace(/\+ +\n/, '+        pass\n'),
          );
          const said = JSON.stringify([result.strict, result.notes, result.tests]);
          assert.equal(result.strict.success, false, said);
          assert.match(said, status);
          const good = await grade(candidate('self.assertEqual(purr(), 2)'));
          assert.equal(good.strict.success, true, good.strict.explanation);
        } finally {
          await session.dispose();
        }
        assert.deepEqual(await subject().sandboxes(), []);
      });
    }
  },
  small,
);
