import assert from 'node:assert/strict';
import type { RunRecord, Sandbox } from '../../src/engine/engine';
import { contradictionsOf } from '../../src/evaluation/findings/inconsistentRecords';
import type { TestPlan } from '../../src/engine/runners/testPlan';
import { planOf } from './run';
import { onEachEngine, usePair } from './subjects';

/** A patch that adds files. */
const patchOf = (files: Readonly<Record<string, string>>): string =>
  Object.entries(files)
    .map(([path, text]) => {
      const lines = text.trim().split('\n');
      return `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;
    })
    .join('');

/** What a test can find out about its run's records by reading. */
const looking = `
import json, os, sys
CONFIG = json.load(open(os.environ["SWT_TRACE_CONFIG"]))
OUT = CONFIG["out"]
TEST = "tests/test_new.py::A::test_a"
def journals():
    return sorted(os.path.join(OUT, name) for name in os.listdir(OUT) if name.endswith(".jsonl"))
def own():
    return [path for path in journals() if os.path.basename(path).startswith("%d-" % os.getpid())][0]
def lines(path):
    return open(path).read().splitlines(True)
def append(path, *records):
    with open(path, "a") as stream:
        for record in records:
            stream.write(json.dumps(record, separators=(",", ":")) + "\\n")
def outcome(result="passed", test=TEST):
    return {"kind": "outcome", "test": test, "outcome": result, "seconds": 0.1, "phase": "call"}
def counts(number=1000, test=TEST):
    return {"kind": "counts", "test": test, "counts": {"0": number, "1": number}}
def process(pid, **more):
    return dict({"kind": "process", "format": 2, "pid": pid, "ppid": os.getpid(), "argv": ["python"],
                 "python": "3.11.7", "implementation": "cpython", "technique": "bytecode",
                 "slots": [["cat.py", 3], ["cat.py", 4]], "above": [os.getpid()]}, **more)
def invent(pid, *records, **more):
    path = os.path.join(OUT, "%d-0badcafe.jsonl" % pid)
    append(path, process(pid, **more), *records)
    return path
def totals(path, number=1000):
    with open(path.replace(".jsonl", ".counts"), "r+b") as stream:
        stream.write(number.to_bytes(8, "little") * 2)
def free():
    import subprocess
    done = subprocess.Popen(["true"]); done.wait()
    return done.pid
`;

const testsOf = (body: string): string => `
import os, subprocess, sys, unittest
import cat
from tests.looking import *
class A(unittest.TestCase):
    def test_a(self):
${body
  .trim()
  .split('\n')
  .map((line) => `        ${line}\n`)
  .join('')}
    def test_b(self): self.fail("always")
`;

const inUnittest: TestPlan = {
  ...planOf('-m', 'unittest', '-v', 'tests.test_new'),
  runner: 'unittest',
};

async function runOf(sandbox: Sandbox, body: string, plan = inUnittest): Promise<RunRecord> {
  const files = { 'tests/__init__.py': '#', 'tests/looking.py': looking };
  await sandbox.load(patchOf({ ...files, 'tests/test_new.py': testsOf(body) }));
  return sandbox.run({ plan, countLines: new Map([['cat.py', [3, 4]]]), timeoutSeconds: 60 });
}

const outcomesOf = (record: RunRecord): Record<string, string> =>
  Object.fromEntries(
    record.trace.outcomes.map(({ test, outcome }) => [test.split('::').at(-1) ?? '', outcome]),
  );

/** Executions of cat.py:4, attributed to any test. */
const executions = (record: RunRecord): number => {
  const line = record.trace.counts.find((each) => each.line === 4);
  return (line?.shared ?? 0) + [...(line?.byTest.values() ?? [])].reduce((a, b) => a + b, 0);
};

/**
 * How a test may tamper with the records, and the expected contradiction; none where the change has
 * no effect.
 */
const forgeries: Readonly<Record<string, { readonly code: string; readonly said?: RegExp }>> = {
  'an outcome in its own journal': {
    code: 'append(own(), outcome()); self.fail()',
    said: /were not written by it \(1\)/,
  },
  'counts in its own journal': { code: 'append(own(), counts())', said: /not written by it/ },
  'counters that it finds': {
    code: `
import gc
for each in gc.get_objects():
    if type(each).__name__ == "Cells":
        for cell in list(each): next(cell)`,
    said: /increased without an execution/,
  },
  'a record that is there already': {
    code: 'open(own(), "a").write(lines(own())[-1])',
  },
  'a record with the seal of another': {
    code: `
import re
last = lines(own())[-1]
open(own(), "a").write(json.dumps(outcome(), separators=(",", ":")) + last[last.index("\\t"):])`,
    said: /not written by it/,
  },
  'an outcome that it changes': {
    code: `
path = own()
text = open(path).read()
open(path, "w").write(text.replace('"test":null', '"test":"x"', 1))`,
    said: /missing/,
  },
  'records that it drops': {
    code: `
path = own()
kept = lines(path)
os.unlink(path)
open(path, "w").write("".join(kept[:2]))`,
    said: /records of process \d+ .* are missing/,
  },
  'a journal that it empties': { code: 'open(own(), "w").close()', said: /are missing/ },
  'an outcome of a process that nobody started': {
    code: 'invent(4000001, outcome(), {"kind": "exit"})',
    said: /as passed without the run's key/,
  },
  'counts of a process that nobody started': {
    code: 'totals_path = invent(4000001, {"kind": "begin", "test": TEST}, counts(), {"kind": "exit"})',
  },
  'an outcome of a process that it started': {
    code: 'invent(free(), outcome(), {"kind": "exit"})',
    said: /without the run's key/,
  },
  'a session of a process that it started': {
    code: 'invent(free(), {"kind": "session", "runner": "pytest", "version": "8"})',
    said: /record "session" without the run's key/,
  },
  'an outcome of a program that it starts': {
    code: `
code = "import sys; sys.path.insert(0, ''); from tests.looking import *; append(own(), outcome())"
self.assertEqual(subprocess.call([sys.executable, "-c", code]), 0)`,
    said: /without the run's key/,
  },
  'an outcome by a program that is not traced': {
    code: `
code = "import sys; sys.path.insert(0, ''); from tests.looking import *; append(%r, outcome())" % own()
self.assertEqual(subprocess.call([sys.executable, "-S", "-c", code]), 0)`,
    said: /not written by it/,
  },
  'the totals of its process': {
    code: 'totals(own())',
    said: /the counts? of cat.py:\d (and 1 more changed lines )?increased without an execution/,
  },
  'the totals of its process, at its end': {
    code: `
path = own().replace(".jsonl", ".counts")
class Late:
    def __del__(self, open=os.open, write=os.write, path=path, how=os.O_WRONLY):
        write(open(path, how), (1000).to_bytes(8, "little") * 2)
cat.late = Late()`,
  },
  'other totals in the place of those': {
    code: `
path = own().replace(".jsonl", ".counts")
os.unlink(path)
open(path, "wb").write((1000).to_bytes(8, "little") * 2)`,
  },
  'more counts than a program has counted': {
    code: `
code = "import sys; sys.path.insert(0, ''); from tests.looking import *; append(own(), counts())"
self.assertEqual(subprocess.call([sys.executable, "-c", code]), 0)`,
    said: /wrote more executions of cat.py:3 than it counted/,
  },
  'an outcome through the recorder': {
    code: 'sys.modules["swt_outcomes"].outcome(TEST, "error", 0.1, "call")',
    said: /test_new.py:\d+ wrote a record "outcome" instead of the recorder/,
  },
  'a record through the tracer': {
    code: 'sys.modules["swt_tracer"].write(outcome("failed"))',
    said: /wrote a record "outcome" instead of the recorder/,
  },
  'counts through the tracer': {
    code: 'sys.modules["swt_tracer"].write(counts())',
    said: /wrote a record "counts" instead of the recorder/,
  },
  'the outcome of another test through the runner': {
    code: 'sys.modules["swt_runner_unittest"]._write("tests/test_new.py::A::test_c", 0.1, {"outcome": "passed", "phase": "call"})',
    said: /test_c has the outcome passed but never started/,
  },
  'its own outcome through the runner': {
    code: 'sys.modules["swt_runner_unittest"]._write(TEST, 0.1, {"outcome": "failed", "phase": "call"})',
    said: /test_a has two outcomes: failed, then passed/,
  },
  'a failure, and leaves with status 0': {
    code: 'import atexit; atexit.register(lambda: os._exit(0))',
    said: /test_b is recorded as failed, but the run ended with exit status 0/,
  },
  'a session of its own, without the mark of this one': {
    code: `
for name in os.listdir(OUT):
    if name.endswith(".session"): os.unlink(os.path.join(OUT, name))
open("inner.py", "w").write("import unittest\\nclass A(unittest.TestCase):\\n    def test_x(self): pass\\n")
self.assertEqual(subprocess.call([sys.executable, "-m", "unittest", "-q", "inner"]), 0)
os.unlink("inner.py")`,
  },
};

/** Innocent programs, with the number of times that each executes cat.py:4. */
const honest: Readonly<Record<string, { readonly code: string; readonly times: number }>> = {
  'a function call': { code: 'cat.purr()', times: 3 },
  'a program': {
    code: 'subprocess.check_call([sys.executable, "-c", "import cat; cat.purr()"])',
    times: 3,
  },
  'a shell': {
    code: `subprocess.check_call("'%s' -c 'import cat; cat.purr()'; true" % sys.executable, shell=True)`,
    times: 3,
  },
  'a shell in a shell': {
    code: `subprocess.check_call(["sh", "-c", "sh -c \\"'%s' -c 'import cat; cat.purr()'; true\\"; true" % sys.executable])`,
    times: 3,
  },
  'a program in the background of a shell': {
    code: `subprocess.check_call("'%s' -c 'import cat; cat.purr()' & wait" % sys.executable, shell=True)`,
    times: 3,
  },
  'os.system': {
    code: `self.assertEqual(os.system("'%s' -c 'import cat; cat.purr()'; true" % sys.executable), 0)`,
    times: 3,
  },
  'os.popen': {
    code: `os.popen("'%s' -c 'import cat; cat.purr()'" % sys.executable).read()`,
    times: 3,
  },
  'os.spawnl': {
    code: 'os.spawnl(os.P_WAIT, sys.executable, sys.executable, "-c", "import cat; cat.purr()")',
    times: 3,
  },
  'os.posix_spawn': {
    code: 'os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-c", "import cat; cat.purr()"], os.environ), 0)',
    times: 3,
  },
  'a program that runs before it is its child': {
    code: 'subprocess.check_call([sys.executable, "-c", "import cat; cat.purr()"], preexec_fn=cat.purr)',
    times: 6,
  },
  'a fork': {
    code: `
pid = os.fork()
if pid == 0:
    cat.purr()
    os._exit(0)
os.waitpid(pid, 0)`,
    times: 3,
  },
  'a fork that becomes another program': {
    code: `
pid = os.fork()
if pid == 0:
    cat.purr()
    os.execv(sys.executable, [sys.executable, "-c", "import cat, subprocess, sys; cat.purr(); subprocess.call([sys.executable, '-c', 'import cat; cat.purr()'])"])
os.waitpid(pid, 0)`,
    times: 9,
  },
  'a daemon': {
    code: `
reading, writing = os.pipe()
pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    cat.purr()
    os.write(writing, b"x")
    os._exit(0)
os.waitpid(pid, 0)
os.read(reading, 1)
os.close(writing)
os.read(reading, 1)`,
    times: 3,
  },
  'a child that is killed': {
    code: `
import signal, time
reading, writing = os.pipe()
pid = os.fork()
if pid == 0:
    cat.purr()
    os.write(writing, b"x")
    time.sleep(60)
os.read(reading, 1)
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)`,
    times: 3,
  },
  ...Object.fromEntries(
    ['fork', 'spawn', 'forkserver'].map((method) => [
      `multiprocessing by ${method}`,
      {
        code: `
import multiprocessing
context = multiprocessing.get_context("${method}")
with context.Pool(2) as pool:
    pool.apply(cat.purr)
    pool.close()
    pool.join()`,
        times: 3,
      },
    ]),
  ),
  'a failed exec': {
    code: `
try: os.execv("/nowhere", ["x"])
except OSError: pass
cat.purr()`,
    times: 3,
  },
  'its own end': { code: 'cat.purr()\nimport atexit; atexit.register(cat.purr)', times: 6 },
};

onEachEngine('records', (subject) => {
  const pair = usePair(subject);

  for (const [what, { code, said }] of Object.entries(forgeries)) {
    it(`are believed of nobody who forges ${what}`, async () => {
      const record = await runOf(pair().base, code);
      const found = contradictionsOf(record, 'unittest');
      if (said === undefined) assert.deepEqual(found, [], record.log);
      else assert.match(found.join('\n'), said, record.log);
      const { test_b: other, test_x: inner } = outcomesOf(record);
      assert.notEqual(other, 'passed');
      assert.equal(inner, undefined);
      // If the run is credible, it must contain nothing forged.
      if (found.length === 0) {
        assert.equal(executions(record), 0);
        assert.deepEqual(outcomesOf(record), { test_a: 'passed', test_b: 'failed' });
      }
    });
  }

  for (const [what, { code, times }] of Object.entries(honest)) {
    it(`fit for a test with ${what}`, async () => {
      const record = await runOf(pair().base, code);
      assert.deepEqual(contradictionsOf(record, 'unittest'), [], record.log);
      assert.deepEqual(outcomesOf(record), { test_a: 'passed', test_b: 'failed' }, record.log);
      assert.equal(executions(record), times, record.trace.problems.join('\n'));
    });
  }
});
