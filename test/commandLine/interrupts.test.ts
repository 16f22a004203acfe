import assert from 'node:assert/strict';
import { spawnSync, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJournal } from '../../src/results/journal';
import { runFolder } from '../../src/results/runFolder';
import { onSample, scratch, start, type Answer } from './cli';

const id = 'tallybook__tallybook-217';

/** How many descriptors of a process are a file. */
function descriptorsOf(pid: number | undefined, path: string): number {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(join(folder, fd)) === path;
    } catch {
      return false;
    }
  }).length;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

describe('Ctrl-C', function () {
  // The limit is generous, since a busy machine takes longer.
  const folder = scratch();

  /**
   * Waits for the end of a process without a time limit of its own, since the time depends on the
   * machine.
   */
  const untilEnded = async (child: ChildProcess): Promise<void> => {
    while (!hasEnded(child)) await sleep(10);
  };
  /** Waits until a command has said that it stops. */
  const untilItStops = async (child: ChildProcess, said: () => string): Promise<void> => {
    while (!said().includes('stopping') && !hasEnded(child)) await sleep(10);
  };
  /** A shell reports 130 for both: death by SIGINT, and exit status 130. */
  const wasInterrupted = async (child: ChildProcess, answer: Promise<Answer>): Promise<void> => {
    const { status, stderr } = await answer;
    assert.ok(
      child.signalCode === 'SIGINT' || status === 130,
      `${child.signalCode ?? status}: ${stderr}`,
    );
  };
  const isAlive = (pid: number): boolean =>
    existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

  it('ends a batch whose tests heed nothing, and nothing of it is left @full', async function () {
    if (process.platform !== 'linux') return this.skip();
    const mark = join(folder.path, `pids-${Date.now()}`);
    const test = [
      'import os, signal, time',
      '',
      'def test_never_ends():',
      '    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):',
      '        signal.signal(number, signal.SIG_IGN)',
      '    if os.fork() == 0:',
      '        os.setsid()',
      `    with open(${JSON.stringify(mark)}, 'a') as file:`,
      '        file.write("%d\\n" % os.getpid())',
      '    time.sleep(1000)',
    ];
    const patch = [
      'diff --git a/tests/test_never.py b/tests/test_never.py',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/tests/test_never.py',
      `@@ -0,0 +1,${test.length} @@`,
      ...test.map((line) => `+${line}`),
      '',
    ].join('\n');
    const row = { instance_id: id, model_name_or_path: 'never', model_patch: patch };
    const predictions = await folder.file('never.jsonl', `${JSON.stringify(row)}\n`);
    const storage = join(folder.path, 'storage');
    const out = join(folder.path, 'out');
    const more = ['--predictions', 'gold', '--out', out, '--run-id', 'night', '--workers', '1'];
    const { child, answer } = start(onSample(storage, predictions, ...more));
    const pids = (): number[] =>
      existsSync(mark) ? readFileSync(mark, 'utf8').split('\n').filter(Boolean).map(Number) : [];
    // Both sides, each with a child in a session of its own.
    while (pids().length < 4) {
      assert.ok(!hasEnded(child), 'it ended by itself');
      await sleep(20);
    }
    child.kill('SIGINT');
    await untilEnded(child);
    const { status, stderr } = await answer;
    assert.equal(status, 130, stderr);
    assert.match(stderr, /stopping… \(interrupt again to stop immediately\)/);
    while (pids().some(isAlive)) await sleep(20);
    assert.deepEqual(await readdir(join(storage, 'pairs')).catch(() => []), []);
    assert.deepEqual((await readdir(runFolder(out, 'night'))).sort(), [
      'entries.jsonl',
      'run.json',
    ]);
    assert.deepEqual((await readJournal(runFolder(out, 'night'))).problems, []);
  });

  describe('while the system does not give back what it was asked to read', () => {
    let pipe = '';
    beforeEach(async function () {
      pipe = join(await realpath(folder.path), `pipe-${Date.now()}.jsonl`);
      if (!existsSync('/proc/self/fd') || spawnSync('mkfifo', [pipe]).status !== 0) this.skip();
    });
    let end: number | undefined;
    afterEach(() => {
      if (end !== undefined) closeSync(end);
      end = undefined;
    });
    const blocked = async (): Promise<ReturnType<typeof start>> => {
      // Nobody ever writes to this pipe. With both ends open, opening it waits for nobody.
      end = openSync(pipe, constants.O_RDWR);
      const begun = start(onSample(join(folder.path, 'storage'), '/dev/stdin'), {}, end);
      while (descriptorsOf(begun.child.pid, pipe) < 2) {
        assert.ok(!hasEnded(begun.child), 'it ended by itself');
        await sleep(20);
      }
      return begun;
    };

    it('ends it when given twice', async () => {
      const { child, answer } = await blocked();
      let said = '';
      child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
      child.kill('SIGINT');
      await untilItStops(child, () => said);
      child.kill('SIGINT');
      await untilEnded(child);
      await wasInterrupted(child, answer);
    });

    it('ends it when given once', async () => {
      const { child, answer } = await blocked();
      child.kill('SIGINT');
      await untilEnded(child);
      await wasInterrupted(child, answer);
    });
  });

  it('given twice ends a batch that is under way @full', async () => {
    const storage = join(folder.path, 'storage-twice');
    const out = join(folder.path, 'out-twice');
    const { child, answer } = start(onSample(storage, 'gold', '--out', out, '--run-id', 'night'));
    while (!existsSync(join(runFolder(out, 'night'), 'run.json'))) {
      assert.ok(!hasEnded(child), 'it ended by itself');
      await sleep(10);
    }
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.kill('SIGINT');
    await untilItStops(child, () => said);
    child.kill('SIGINT');
    await untilEnded(child);
    assert.equal((await answer).status ?? 130, 130);
    // The command resumes, as after a kill.
    const again = await start(
      onSample(storage, 'gold', '--out', out, '--run-id', 'night', '--json'),
    ).answer;
    assert.equal(again.status, 0, again.stderr);
  });
});
