import assert from 'node:assert/strict';
import { sides } from '../../src/domain/outcome';
import type { RunRecord } from '../../src/engine/engine';
import { outputLimit } from '../../src/engine/programs/boundedOutput';
import { ask, planOf, processesWith, runCode } from './run';
import { counted, onEachEngine, usePair } from './subjects';

/** A patch that adds a file. */
const file = (path: string, text: string): string => {
  const lines = text.replace(/\n$/, '').split('\n');
  return `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;
};

const outcomesOf = (record: RunRecord): Record<string, string> =>
  Object.fromEntries(
    record.trace.outcomes
      .filter(({ test: id }) => id.includes('test_'))
      .map(({ test: id, outcome }) => [id.split('::').slice(1).join('::'), outcome]),
  );

onEachEngine('a run', (subject) => {
  const pair = usePair(subject);
  const base = () => pair().base;
  beforeEach(async () => {
    await Promise.all(sides.map((side) => pair()[side].load('')));
  });

  it('has the outcomes of unittest', async () => {
    const tests = `
import unittest
from cat import purr
class A(unittest.TestCase):
    def test_one(self): self.assertEqual(purr(), 1)
    def test_two(self): self.assertEqual(purr(), 2)
    def test_error(self): raise ValueError("é \\udcff")
    @unittest.skip("no")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_xfailed(self): self.fail()
    @unittest.expectedFailure
    def test_xpassed(self): pass
    def test_parts(self):
        for each in range(3):
            with self.subTest(each=each): self.assertNotEqual(each, 1)
`;
    const plan = {
      ...planOf('-m', 'unittest', '-v', 'tests.test_new'),
      runner: 'unittest' as const,
    };
    const [one, two] = await Promise.all(
      sides.map(async (side) => {
        await pair()[side].load(file('tests/test_new.py', tests));
        return pair()[side].run({ plan, countLines: new Map(), timeoutSeconds: 60 });
      }),
    );
    assert.ok(one !== undefined && two !== undefined);
    const rest = {
      'A::test_error': 'failed',
      'A::test_skipped': 'skipped',
      'A::test_xfailed': 'xfailed',
      'A::test_xpassed': 'failed',
      'A::test_parts': 'failed',
    };
    const asRead = (record: RunRecord) => {
      const outcomes = outcomesOf(record);
      // Records may distinguish errors from failures, as unittest does.
      if (outcomes['A::test_error'] === 'error') outcomes['A::test_error'] = 'failed';
      return outcomes;
    };
    assert.deepEqual(asRead(one), {
      ...{ 'A::test_one': 'passed', 'A::test_two': 'failed' },
      ...rest,
    });
    assert.deepEqual(asRead(two), {
      ...{ 'A::test_one': 'failed', 'A::test_two': 'passed' },
      ...rest,
    });
    assert.equal(one.exitCode, 1);
    assert.match(one.log, /test_one .*ok\n/);
    assert.match(one.log, /ValueError: é/);
  });

  it('has the outcomes of pytest, with names that hold blanks', async function () {
    if (subject().place.environment.packages['pytest'] === undefined) {
      assert.equal(subject().name, 'local', 'an image has pytest');
      this.skip();
    }
    const tests = `
import pytest
from cat import purr
@pytest.mark.parametrize("a", [1, 2], ids=["one life", "two [lives] - é"])
def test_lives(a): assert purr() == a
def test_fixture(nowhere): pass
`;
    const plan = {
      ...planOf('-m', 'pytest', '-p', 'no:cacheprovider', '-rA', 'tests/test_new.py'),
      runner: 'pytest' as const,
    };
    const records = await Promise.all(
      sides.map(async (side) => {
        await pair()[side].load(file('tests/test_new.py', tests));
        return pair()[side].run({ plan, countLines: new Map(), timeoutSeconds: 60 });
      }),
    );
    const [one, two] = records.map((record) => Object.values(outcomesOf(record)).sort().join(' '));
    assert.equal(one, 'error failed passed');
    assert.equal(two, 'error failed passed');
    const names = Object.keys(outcomesOf(records[0] as RunRecord));
    assert.ok(names.includes('test_lives[one life]'), names.join('; '));
    assert.equal(outcomesOf(records[0] as RunRecord)['test_lives[one life]'], 'passed');
    assert.equal(outcomesOf(records[1] as RunRecord)['test_lives[one life]'], 'failed');
  });

  it('counts executions exactly, by test, also in threads and child processes', async () => {
    const tests = `
import subprocess, sys, threading, unittest
from cat import purr
class A(unittest.TestCase):
    def test_once(self): purr()
    def test_twice(self): purr(); purr()
    def test_thread(self):
        thread = threading.Thread(target=purr); thread.start(); thread.join()
    def test_child(self): subprocess.check_call([sys.executable, "-c", "import cat; cat.purr()"])
`;
    const plan = { ...planOf('-m', 'unittest', 'tests.test_new'), runner: 'unittest' as const };
    const line = counted.split('\n').indexOf('        total += 1') + 1;
    const countLines = new Map([['cat.py', [line, line + 1]]]);
    const counts = await Promise.all(
      sides.map(async (side) => {
        await pair()[side].load(file('tests/test_new.py', tests));
        const { trace, log } = await pair()[side].run({ plan, countLines, timeoutSeconds: 60 });
        // The child has no key: its counts are used, with a remark that says so.
        const [remark = '', ...others] = trace.problems;
        assert.match(remark, /cat\.py:\d+ and 1 more .* from programs that tests started/, log);
        assert.deepEqual(others, [], log);
        return trace.counts
          .map((each) => ({
            line: each.line - line,
            ...Object.fromEntries(
              [...each.byTest].map(([id, count]) => [id.split('::').at(-1) ?? id, count]),
            ),
          }))
          .sort((a, b) => a.line - b.line);
      }),
    );
    const expected = [
      { line: 0, test_once: 3, test_twice: 6, test_thread: 3, test_child: 3 },
      { line: 1, test_once: 1, test_twice: 2, test_thread: 1, test_child: 1 },
    ];
    assert.deepEqual(counts, [expected, expected]);
  });

  it('hashes as it is told, and the same each time', async () => {
    const hash = async (hashSeed?: number): Promise<string> =>
      (await runCode(base(), 'print(hash("swt"))', { hashSeed })).log.trim();
    const usual = await hash();
    assert.equal(await hash(), usual);
    assert.equal(await hash(0), usual);
    const other = await hash(5);
    assert.notEqual(other, usual);
    assert.equal(await hash(5), other);
  });

  it('gives out its output while it goes on, and ends when it is cancelled', async () => {
    const controller = new AbortController();
    let seen = '';
    const mark = 'cancelled_in_the_contract';
    const record = await runCode(base(), stubborn(mark), {
      signal: controller.signal,
      timeoutSeconds: 600,
      onOutput: (text) => {
        seen += text;
        if (seen.includes('ready\n')) controller.abort();
      },
    });
    assert.equal(record.ending, 'cancelled');
    assert.match(record.log, /^ready\n/);
    assert.deepEqual(await processesWith(base(), mark), []);
  });

  it('does not start when it was cancelled before', async () => {
    const controller = new AbortController();
    controller.abort();
    const code = 'open("started", "w")';
    const record = await runCode(base(), code, { signal: controller.signal });
    assert.equal(record.ending, 'cancelled');
    const isThere = 'import json, os; print(json.dumps(os.path.exists("started")))';
    assert.equal(await ask(base(), isThere), false);
  });

  it('ends when its time is up, with what it has done by then, and leaves no process', async () => {
    const mark = 'timed_out_in_the_contract';
    const tests = `
import os, signal, subprocess, sys, time, unittest
class A(unittest.TestCase):
    def test_a(self): pass
    def test_b(self):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600) # ${mark}"], start_new_session=True)
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP: signal.signal(number, signal.SIG_IGN)
        while True: pass
`;
    await base().load(file('tests/test_new.py', tests));
    const plan = {
      ...planOf('-m', 'unittest', '-v', 'tests.test_new'),
      runner: 'unittest' as const,
    };
    // A busy machine may not reach the test in time: then try again with a longer limit.
    for (const timeoutSeconds of [4, 16, 64]) {
      const record = await base().run({ plan, countLines: new Map(), timeoutSeconds });
      assert.equal(record.ending, 'timed out');
      assert.deepEqual(await processesWith(base(), mark), []);
      if (outcomesOf(record)['A::test_a'] === undefined && timeoutSeconds < 64) continue;
      assert.equal(outcomesOf(record)['A::test_a'], 'passed');
      assert.match(record.log, /test_a .*ok\n/);
      break;
    }
  });

  it('ends when it prints without end', async () => {
    const code = 'import sys\nwhile True: sys.stdout.write("all work and no play " * 1000 + "\\n")';
    const record = await runCode(base(), code);
    assert.equal(record.ending, 'too much output');
    assert.ok(record.log.length < outputLimit / 8, String(record.log.length));
    assert.match(record.log, /^all work/);
    assert.equal((await runCode(base(), 'print("next")')).log, 'next\n');
  });

  it('passes its output on, whatever it is', async () => {
    const code = `
import os, time
os.write(1, b"out \\xff\\xfe ")
time.sleep(0.05)
os.write(1, b"\\xc3")
time.sleep(0.05)
os.write(1, b"\\xa9\\r\\n\\x00\\x1b[31m end")`;
    let streamed = '';
    const record = await runCode(base(), code, { onOutput: (text) => (streamed += text) });
    assert.equal(record.log, 'out \ufffd\ufffd é\r\n\x00\x1b[31m end');
    assert.equal(streamed, record.log);
  });

  it('says how it ended', async () => {
    const exit = await runCode(base(), 'raise SystemExit(3)');
    assert.deepEqual([exit.ending, exit.exitCode, exit.killedBy], ['exited', 3, undefined]);
    const killed = await runCode(base(), 'import os; os.kill(os.getpid(), 9)');
    assert.deepEqual(
      [killed.ending, killed.exitCode, killed.killedBy],
      ['exited', undefined, 'SIGKILL'],
    );
    const nowhere = await base().run({
      plan: { ...planOf('-c', ''), cwd: 'nowhere' },
      countLines: new Map(),
      timeoutSeconds: 60,
    });
    assert.equal(nowhere.ending, 'not started');
    assert.match(nowhere.startError ?? '', /no such file|ENOENT/i);
  });

  it('ends with its program, not with what that leaves behind', async () => {
    const mark = 'left_behind_in_the_contract';
    const code = `
import os, subprocess, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600) # ${mark}"], {})
    os._exit(0)
os.wait()
print("done")`;
    const record = await runCode(base(), code);
    assert.deepEqual([record.ending, record.exitCode], ['exited', 0], record.log);
    assert.deepEqual(await processesWith(base(), mark), []);
  });

  it('has nothing on its input, a home and temporary files of its own, and no secrets', async () => {
    process.env['SWT_CONTRACT_TOKEN'] = 'secret';
    try {
      const code = `
import json, os, sys, tempfile
home = os.path.expanduser("~")
there = sorted(os.listdir(home) + os.listdir(tempfile.gettempdir()))
for folder in home, tempfile.gettempdir(): open(os.path.join(folder, "left"), "w").close()
print(json.dumps([sys.stdin.read(), there, sorted(each for each in os.environ if "TOKEN" in each)]))`;
      for (const again of [1, 2]) {
        assert.deepEqual(await ask(base(), code), ['', [], []], `run ${again}`);
      }
    } finally {
      delete process.env['SWT_CONTRACT_TOKEN'];
    }
  });

  it('has arguments and variables as the plan gives them', async () => {
    const args = ['a b', '', '"$HOME"', 'é\n', '*', '--'];
    const code =
      'import json, os, sys; print(json.dumps([sys.argv[1:], os.environ["SWT_WORD"], os.path.basename(os.getcwd())]))';
    const plan = { ...planOf('-c', code, ...args), env: { SWT_WORD: 'é $x' }, cwd: 'tests' };
    const record = await base().run({ plan, countLines: new Map(), timeoutSeconds: 60 });
    assert.deepEqual(JSON.parse(record.log), [args, 'é $x', 'tests']);
  });
});

/**
 * Code whose children ignore signals and leave their process group. It prints `ready` and
 * continues.
 */
const stubborn = (mark: string): string => `
import os, signal, sys, time
for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
    signal.signal(number, signal.SIG_IGN)
for each in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600) # ${mark}"])
        break
else:
    print("ready", flush=True)
while True:
    time.sleep(1)
`;
