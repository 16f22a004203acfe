import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  runProcess,
  type ProcessRequest,
  type ProcessResult,
} from '../../src/engine/programs/process';

/** Whether a process is alive; a zombie is not. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** Defines `note(name)`, which writes the process id to a file for the test, atomically. */
const note = `
import os, signal, subprocess, sys, time
def note(name):
    path = os.path.join(os.environ['NOTES'], name)
    with open(path + '.part', 'w') as file:
        file.write(str(os.getpid()))
    os.rename(path + '.part', path)
def wait_for(*names):
    while not all(os.path.exists(os.path.join(os.environ['NOTES'], name)) for name in names):
        time.sleep(0.01)
def stubborn():
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
`;

/**
 * A child that ignores signals, one in a session of its own, and a daemon that ignores signals. The
 * daemon is forked twice, so that its parent is gone, and has a session of its own.
 */
const family = `${note}
def stay(name):
    stubborn()
    note(name)
    while True:
        time.sleep(1)
def spawn(name, own_session=False, twice=False):
    if os.fork() == 0:
        if own_session:
            os.setsid()
        if twice and os.fork() != 0:
            os._exit(0)
        stay(name)
spawn('child')
spawn('session', own_session=True)
spawn('daemon', own_session=True, twice=True)
wait_for('child', 'session', 'daemon')
note('main')
print('ready', flush=True)
`;

/**
 * Ids of the processes with a variable in their environment; empty where the system does not show
 * it.
 */
async function processesWith(variable: string): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(variable) && lives(Number(pid)) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

const ways: readonly (readonly [string, string | undefined])[] = [
  ['running a process', 'python3'],
  ['running a process where there need be no Python', undefined],
];
for (const [title, agent] of ways)
  describe(title, function () {
    let notes = '';
    const withAgent = agent === undefined ? () => undefined : it;

    beforeEach(async () => (notes = await mkdtemp(join(tmpdir(), 'process-test-'))));
    afterEach(() => rm(notes, { recursive: true, force: true }));

    function run(
      argv: readonly string[],
      more: Partial<ProcessRequest> = {},
    ): Promise<ProcessResult> {
      return runProcess({
        argv,
        cwd: notes,
        env: { PATH: process.env['PATH'] ?? '', NOTES: notes },
        timeoutSeconds: 250,
        outputLimit: 64 * 1024 * 1024,
        python: agent,
        ...more,
      });
    }
    const python = (code: string, more: Partial<ProcessRequest> = {}): Promise<ProcessResult> =>
      run(['python3', '-c', code], more);
    const shell = (code: string, more: Partial<ProcessRequest> = {}): Promise<ProcessResult> =>
      run(['sh', '-c', code], more);

    /** Numbers of the noted processes by name. */
    async function noted(): Promise<Map<string, number>> {
      const names = (await readdir(notes)).filter((name) => !name.endsWith('.part'));
      return new Map(names.map((name) => [name, Number(readFileSync(join(notes, name), 'utf8'))]));
    }

    async function assertAllGone(...names: string[]): Promise<void> {
      const pids = await noted();
      assert.deepEqual([...pids.keys()].sort(), [...names].sort());
      for (const [name, pid] of pids) assert.equal(lives(pid), false, `${name} (${pid}) lives on`);
    }

    describe('that ends by itself', () => {
      it('gives its exit status and both of its streams', async () => {
        const result = await shell('echo out; echo err >&2; exit 3');
        assert.equal(result.ending, 'exited');
        assert.equal(result.exitCode, 3);
        assert.equal(result.killedBy, undefined);
        assert.equal(result.startError, undefined);
        assert.deepEqual(result.output.trim().split('\n').sort(), ['err', 'out']);
        assert.equal(result.outputBytes, 8);
        assert.equal(result.leftBehind, 0);
      });

      it('names the signal that killed it', async () => {
        const result = await shell('kill -9 $$');
        assert.deepEqual(
          [result.ending, result.exitCode, result.killedBy],
          ['exited', undefined, 'SIGKILL'],
        );
      });

      it('gets the folder, the environment and nothing on standard input', async () => {
        const result = await shell('pwd -P; echo "$NOTES"; wc -c; env | grep -c HOME', {
          env: { PATH: process.env['PATH'] ?? '', NOTES: 'a=b c' },
        });
        assert.equal(result.output.split('\n')[1], 'a=b c');
        assert.equal(result.output.split('\n')[2]?.trim(), '0');
        assert.equal(result.output.split('\n')[3]?.trim(), '0');
        assert.ok(result.output.startsWith('/'));
      });

      withAgent('inherits no file of the program that runs it', async () => {
        // VS Code opens its logs as this does, so that its children have them.
        const python = join(notes, 'python');
        await writeFile(python, `#!/bin/sh\nexec 9>/dev/null\nexec ${agent} "$@"\n`, {
          mode: 0o755,
        });
        const result = await shell('(echo inherited >&9) 2>/dev/null || echo none', { python });
        assert.equal(result.output.trim(), 'none');
      });

      it('streams output as it comes, characters whole', async () => {
        const pieces: string[] = [];
        const result = await python(
          `${note}
for byte in 'R\u2218X* \u{1F600} \u00e9\\n'.encode():
    os.write(1, bytes([byte]))
    time.sleep(0.002)
`,
          { onOutput: (text) => pieces.push(text) },
        );
        assert.equal(pieces.join(''), 'R∘X* 😀 é\n');
        assert.equal(result.output, 'R∘X* 😀 é\n');
      });

      it('loses nothing of what it wrote last', async () => {
        const size = 1_500_000;
        const result = await python(`import sys; sys.stdout.write('x' * ${size - 4} + 'end\\n')`);
        assert.equal(result.outputBytes, size);
        assert.equal(result.output.length, size);
        assert.ok(result.output.endsWith('end\n'));
      });

      it('may close its streams and go on', async () => {
        const result = await python(`${note}
print('before', flush=True)
os.close(1)
os.close(2)
time.sleep(0.3)
note('main')
os._exit(7)
`);
        assert.deepEqual([result.ending, result.exitCode], ['exited', 7]);
        assert.equal(result.output, 'before\n');
        assert.deepEqual([...(await noted()).keys()], ['main']);
      });

      withAgent('takes what it left behind with it', async () => {
        const result = await python(`${family}\nos._exit(5)`);
        assert.deepEqual([result.ending, result.exitCode], ['exited', 5]);
        assert.equal(result.output, 'ready\n');
        assert.equal(result.leftBehind, 3);
        await assertAllGone('main', 'child', 'session', 'daemon');
      });

      withAgent(
        'takes what matches nothing of it: no parent, group, session, environment or folder',
        async () => {
          const result = await python(`${note}
import subprocess
def go(seconds):
    return subprocess.Popen(['sleep', seconds], env={}, cwd='/', start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid
for name, pid in (('first', go('4321')), ('second', go('4322'))):
    with open(os.path.join(os.environ['NOTES'], name), 'w') as file:
        file.write(str(pid))
sys.exit(3)
`);
          assert.deepEqual([result.ending, result.exitCode, result.leftBehind], ['exited', 3, 2]);
          await assertAllGone('first', 'second');
        },
      );

      withAgent('is stopped when it starts threads without end', async function () {
        const result = await python(`
import threading, time
threading.stack_size(1 << 16)
try:
    while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError: pass`);
        // A system that refuses earlier has a limit of its own.
        if (result.ending === 'exited') this.skip();
        assert.equal(result.ending, 'too many processes');
      });

      withAgent('may be the target of its own signals, and those to its parent', async () => {
        const result = await python(
          `${note}\nnote('main')\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(100)`,
        );
        assert.deepEqual([result.ending, result.killedBy], ['exited', 'SIGKILL']);
        const killed = await python(
          `${note}\nnote('main')\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(100)`,
        );
        assert.deepEqual([killed.ending, killed.killedBy], ['exited', 'SIGKILL']);
        await assertAllGone('main');
      });

      it('dies of a closed pipe as it would in a shell', async () => {
        assert.equal((await shell('sh -c "kill -PIPE \\$\\$"; echo $?')).output.trim(), '141');
      });

      withAgent('does not wait for a background job that holds its output open', async () => {
        const result = await shell('sleep 1000 & echo $! > "$NOTES/sleep"; echo done');
        assert.deepEqual([result.ending, result.exitCode, result.output], ['exited', 0, 'done\n']);
        assert.equal(result.leftBehind, 1);
        await assertAllGone('sleep');
      });
    });

    describe('that is stopped', () => {
      withAgent('by the time limit, with its whole family', async () => {
        // On a busy machine the family may not be complete in time: then try again with a longer
        // limit.
        for (const timeoutSeconds of [2, 8, 32]) {
          const result = await python(`${family}\nstay('stayed')`, { timeoutSeconds });
          assert.equal(result.ending, 'timed out');
          assert.equal(result.exitCode, undefined);
          assert.equal(result.killedBy, 'SIGKILL');
          if (!(await noted()).has('stayed')) continue;
          assert.equal(result.output, 'ready\n');
          break;
        }
        await assertAllGone('main', 'child', 'session', 'daemon', 'stayed');
      });

      withAgent('by the caller, with its whole family', async () => {
        const controller = new AbortController();
        const result = await python(`${family}\nstay('stayed')`, {
          signal: controller.signal,
          onOutput: () => controller.abort(),
        });
        assert.equal(result.ending, 'cancelled');
        const pids = await noted();
        assert.ok(['main', 'child', 'session', 'daemon'].every((name) => pids.has(name)));
        for (const [name, pid] of pids) assert.equal(lives(pid), false, `${name} lives on`);
      });

      withAgent('while it forks without end', async () => {
        const controller = new AbortController();
        const result = await python(
          `${note}
print('ready', flush=True)
# The first process stays; each of the others goes as soon as its child runs.
for step in range(20000):
    if os.fork() != 0:
        if step > 0:
            os._exit(0)
        while True:
            time.sleep(1)
    time.sleep(0.001)
    open(os.path.join(os.environ['NOTES'], 'last'), 'w').write(str(os.getpid()))
`,
          {
            signal: controller.signal,
            onOutput: () =>
              void (async () => {
                const seen = new Set<string>();
                while (seen.size < 5) {
                  seen.add(await readFile(join(notes, 'last'), 'utf8').catch(() => ''));
                  await delay(1);
                }
                controller.abort();
              })(),
          },
        );
        assert.equal(result.ending, 'cancelled');
        assert.equal(lives(Number(readFileSync(join(notes, 'last'), 'utf8'))), false);
        assert.deepEqual(await processesWith(`NOTES=${notes}`), [], 'the chain goes on');
      });

      it('before it began', async () => {
        const controller = new AbortController();
        controller.abort();
        const result = await shell('touch "$NOTES/main"', { signal: controller.signal });
        assert.deepEqual([result.ending, result.exitCode], ['cancelled', undefined]);
        assert.equal(existsSync(join(notes, 'main')), false);
      });

      it('leaves no listener on a signal that was not used', async () => {
        const { signal } = new AbortController();
        let listeners = 0;
        const counted = new Proxy(signal, {
          get(target, name) {
            if (name === 'addEventListener') listeners += 1;
            if (name === 'removeEventListener') listeners -= 1;
            const value: unknown = Reflect.get(target, name, target);
            return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          },
        });
        await shell('true', { signal: counted });
        assert.equal(listeners, 0);
      });

      it('because it prints without end; what is kept and streamed is bounded', async () => {
        let streamed = 0;
        const megabyte = 1024 * 1024;
        const result = await python(
          `${note}
note('main')
for _ in range(100):
    os.write(1, b'head' * 262144)
note('end')
`,
          {
            outputLimit: 10 * megabyte,
            onOutput: (text) => {
              streamed += text.length;
            },
          },
        );
        assert.equal(result.ending, 'too much output');
        assert.ok(result.outputBytes > 10 * megabyte && result.outputBytes < 11 * megabyte);
        assert.ok(result.output.length < 4.3 * megabyte);
        assert.match(result.output, /\n\[\.\.\. \d+ bytes of output omitted \.\.\.\]\n/);
        assert.ok(streamed >= 2 * megabyte && streamed < 3 * megabyte);
        await assertAllGone('main');
      });

      it('not when a long output stays below the limit: its beginning and its end are kept', async () => {
        const result = await python(
          `print('first'); [print('x' * 99) for _ in range(60000)]; print('last')`,
        );
        assert.equal(result.ending, 'exited');
        assert.equal(result.outputBytes, 6_000_011);
        assert.ok(result.output.startsWith('first\n') && result.output.endsWith('\nlast\n'));
        const left = Number(/\[\.\.\. (\d+) bytes/.exec(result.output)?.[1]);
        assert.equal(left + result.output.replace(/\n\[\.\.\. .*\]\n/, '').length, 6_000_011);
      });
    });

    describe('that cannot be started', () => {
      const impossible: readonly [string, readonly string[], Partial<ProcessRequest>][] = [
        ['a program that does not exist', ['no-such-program-here'], {}],
        ['a folder that does not exist', ['sh', '-c', 'true'], { cwd: '/no/such/folder' }],
        ['a file that is no program', ['/etc/passwd'], {}],
        ['no program at all', [], {}],
        ['an argument that is too long', ['sh', '-c', 'true', 'x'.repeat(8_000_000)], {}],
      ];
      for (const [name, argv, more] of impossible) {
        it(name, async () => {
          const result = await run(argv, more);
          assert.equal(result.ending, 'not started');
          assert.equal(result.exitCode, undefined);
          assert.notEqual(result.startError ?? '', '');
          assert.equal(result.output, '');
        });
      }
    });

    it('allows any time limit', async () => {
      for (const timeoutSeconds of [Number.POSITIVE_INFINITY, 1e9, 2 ** 31]) {
        const result = await shell('sleep 0.1; echo done', { timeoutSeconds });
        assert.deepEqual([result.ending, result.output], ['exited', 'done\n']);
      }
    });
  });
