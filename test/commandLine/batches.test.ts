import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { readJournal, type JournalLine } from '../../src/results/journal';
import { runFolder } from '../../src/results/runFolder';
import { cli, onSample, sample, scratch, start, type Answer, type Evaluation } from './cli';

const id = 'tallybook__tallybook-217';

/** The fields that must be the same however often a batch was interrupted. */
const figures = ({ finished: _finished, seconds: _seconds, ...line }: JournalLine): unknown => line;

describe('batches on the command line', function () {
  const folder = scratch();
  let storage = '';
  before(() => (storage = join(folder.path, 'storage')));

  const rows = async (): Promise<Record<string, string>[]> =>
    (await readFile(join(sample, 'predictions.jsonl'), 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, string>);
  const lines = (list: readonly unknown[]): string =>
    list.map((each) => `${JSON.stringify(each)}\n`).join('');

  /** All candidates of the sample, and further ones that differ in the names of their tests. */
  const many = async (copies: number): Promise<string> => {
    const all = await rows();
    const some = all.find((row) => row['model_name_or_path'] === 'covers-some');
    for (let copy = 1; copy <= copies; copy += 1) {
      all.push({
        ...some,
        model_name_or_path: `copy-${copy}`,
        model_patch: (some?.['model_patch'] ?? '').replace(/^(\+ +def test_\w+)/m, `$1_${copy}`),
      });
    }
    return folder.file(`many-${copies}.jsonl`, lines(all));
  };

  /** One candidate, and more of it that differ in the names of their tests. */
  const few = async (copies: number): Promise<string> => {
    const text = await readFile(await many(copies), 'utf8');
    return folder.file(
      `few-${copies}.jsonl`,
      lines(
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, string>)
          .filter((row) => /^(covers-some|copy-\d+)$/.test(row['model_name_or_path'] ?? '')),
      ),
    );
  };

  const evaluate = (out: string, predictions: string, ...more: string[]): string[] =>
    onSample(storage, predictions, '--out', out, '--run-id', 'night', '--workers', '2', ...more);
  const journalOf = async (out: string) => readJournal(runFolder(out, 'night'));
  const summaries = async (out: string): Promise<[string, unknown][]> => {
    const names = (await readdir(join(out, 'evaluation_results'))).sort();
    return Promise.all(
      names.map(async (name): Promise<[string, unknown]> => [
        name,
        JSON.parse(await readFile(join(out, 'evaluation_results', name), 'utf8')),
      ]),
    );
  };
  /** Kept runs, with a stamp that differs if a file was written again. */
  const keptRuns = async (): Promise<Map<string, number>> => {
    const runs = join(storage, 'instances', id, 'runs');
    const names = await readdir(runs, { recursive: true }).catch(() => []);
    const kept = new Map<string, number>();
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      kept.set(name, (await stat(join(runs, name))).ino);
    }
    return kept;
  };
  const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
    while (!(await holds())) await sleep(20);
  };
  const hasLines = (out: string, count: number) => async (): Promise<boolean> =>
    (await journalOf(out)).lines.length >= count;

  it('killed at many random moments lose nothing, run nothing twice, and come to equal numbers @full', async () => {
    const predictions = await many(10);
    const out = join(folder.path, 'killed');
    const seed = Date.now() % 100_000;
    let state = seed;
    const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
    let kills = 0;
    let before: { journal: readonly JournalLine[]; runs: Map<string, number> } = {
      journal: [],
      runs: new Map(),
    };
    let last: Answer | undefined;
    while (last === undefined) {
      const { child, answer } = start(evaluate(out, predictions));
      // Kill some before any session is open, some during a run, some while a report is written.
      const delay = kills < 12 ? sleep(100 + random() * 1500).then(() => 'kill') : undefined;
      const first = await Promise.race([answer, ...(delay === undefined ? [] : [delay])]);
      if (typeof first === 'string') child.kill('SIGKILL');
      const ended = await answer;
      if (ended.status !== null) last = ended;
      else kills += 1;
      const { lines, problems } = await journalOf(out);
      const runs = await keptRuns();
      const told = `seed ${seed}, after kill ${kills}`;
      assert.deepEqual(problems, [], told);
      assert.deepEqual(lines.slice(0, before.journal.length), before.journal, told);
      for (const [name, inode] of before.runs) assert.equal(runs.get(name), inode, told);
      before = { journal: lines, runs };
    }
    assert.equal(last.status, 0, last.stderr);
    assert.ok(kills >= 5, `only ${kills} kills, seed ${seed}`);

    storage = join(folder.path, 'storage-at-once');
    const atOnce = join(folder.path, 'at-once');
    const answer = await cli(evaluate(atOnce, predictions));
    assert.equal(answer.status, 0, answer.stderr);
    const inOrder = (list: readonly JournalLine[]): unknown[] =>
      [...list].sort((a, b) => a.model.localeCompare(b.model)).map(figures);
    // The keys contain the path of the environment, which is the same here.
    assert.deepEqual(inOrder(before.journal), inOrder((await journalOf(atOnce)).lines));
    assert.deepEqual(await summaries(out), await summaries(atOnce));
    const table = (text: string): string[] =>
      text.split('\n').filter((line) => !line.startsWith('written: '));
    assert.deepEqual(table(last.stdout), table(answer.stdout));
    const names = await readdir(runFolder(out, 'night'));
    assert.deepEqual(names.sort(), ['entries.jsonl', 'run.json']);
    const listed = async (folder: string): Promise<string[]> =>
      (await readdir(folder, { recursive: true })).sort();
    assert.deepEqual(await listed(out), await listed(atOnce), 'nothing half-written is left');
  });

  it('stopped by Ctrl-C end with 130, and go on where they were', async () => {
    const predictions = await few(3);
    const out = join(folder.path, 'stopped');
    storage = join(folder.path, 'storage-stopped');
    const { child, answer } = start(evaluate(out, predictions));
    await until(hasLines(out, 1));
    child.kill('SIGINT');
    assert.equal((await answer).status, 130);
    const { lines } = await journalOf(out);
    assert.ok(lines.length >= 1);
    assert.ok(!existsSync(join(runFolder(out, 'night'), 'live.json')));
    const again = await cli([...evaluate(out, predictions), '--json']);
    assert.equal(again.status, 0, again.stderr);
    const document = JSON.parse(again.stdout) as Evaluation & { readonly reused: number };
    assert.equal(document.reused, lines.length);
    assert.equal(document.results.length, 4);
    assert.deepEqual((await journalOf(out)).lines.slice(0, lines.length), lines);
  });

  it('of which one is under way refuse another on the same run @full', async () => {
    const predictions = await many(10);
    const out = join(folder.path, 'twice');
    storage = join(folder.path, 'storage-twice');
    const { child, answer } = start(evaluate(out, predictions));
    await until(() => existsSync(join(runFolder(out, 'night'), 'run.json')));
    const second = await cli(evaluate(out, predictions));
    child.kill('SIGKILL');
    await answer;
    assert.equal(second.status, 2, second.stdout);
    assert.match(second.stderr, /Another process is writing the run night in .*--run-id/);
  });

  it('go on where a process was killed while it took the folder, and left no name @full', async () => {
    const out = join(folder.path, 'nameless');
    storage = join(folder.path, 'storage-nameless');
    const lock = join(runFolder(out, 'night'), 'run.lock');
    await mkdir(lock, { recursive: true });
    // Nearly the age at which a lock counts as abandoned.
    const old = Date.now() / 1000 - 25;
    await utimes(lock, old, old);
    const answer = await cli(evaluate(out, 'none'));
    assert.equal(answer.status, 0, answer.stderr);
    assert.equal((await journalOf(out)).lines.length, 1);
  });

  it('that nobody has named are not in the way of one another, and are gone on with @full', async () => {
    const out = join(folder.path, 'unnamed');
    storage = join(folder.path, 'storage-unnamed');
    const named = async (predictions: string): Promise<string> => {
      const answer = await cli(onSample(storage, predictions, '--out', out, '--json'));
      assert.equal(answer.status, 0, answer.stderr);
      return (JSON.parse(answer.stdout) as { readonly run_id: string }).run_id;
    };
    assert.equal(await named('none'), 'run');
    assert.equal(await named('gold'), 'run-2');
    assert.equal(await named('none'), 'run');
    assert.equal(await named('gold'), 'run-2');
    assert.deepEqual((await readdir(join(out, 'runs'))).sort(), ['run', 'run-2']);
  });

  it('do not touch a folder that holds another run, unless they are to begin anew @full', async () => {
    const out = join(folder.path, 'other');
    storage = join(folder.path, 'storage-other');
    assert.equal((await cli(evaluate(out, 'gold'))).status, 0);
    const { lines } = await journalOf(out);
    for (const [more, what] of [
      [['--timeout', '60'], /--timeout was 1800 and is 60/],
      [['--predictions', 'none'], /the predictions differ/],
      [['--mode', 'reproduction-script'], /--mode was unit-test and is reproduction-script/],
    ] as const) {
      const answer = await cli(evaluate(out, 'gold', ...more));
      assert.equal(answer.status, 2);
      assert.match(answer.stderr, what);
      assert.match(answer.stderr, /--run-id .*--fresh/);
    }
    assert.deepEqual((await journalOf(out)).lines, lines);
    const fresh = await cli(evaluate(out, 'none', '--fresh'));
    assert.equal(fresh.status, 0, fresh.stderr);
    assert.deepEqual(
      (await journalOf(out)).lines.map((line) => line.model),
      ['none'],
    );
  });

  it('run again what has lost its report, and nothing else @full', async () => {
    const out = join(folder.path, 'lost');
    storage = join(folder.path, 'storage-other');
    assert.equal((await cli(evaluate(out, 'gold', '--predictions', 'none'))).status, 0);
    const [gold] = (await journalOf(out)).lines;
    const report = join(out, gold?.report ?? '');
    const text = await readFile(report, 'utf8');
    await writeFile(report, text.slice(0, text.length / 2));
    const again = await cli(evaluate(out, 'gold', '--predictions', 'none', '--json'));
    assert.equal((JSON.parse(again.stdout) as { reused: number }).reused, 1);
    const mended = JSON.parse(await readFile(report, 'utf8')) as Record<string, object>;
    assert.deepEqual(Object.keys(mended), [id]);
  });

  it('take several files, gzipped too, as samples of a model, with what making them took @full', async () => {
    const [first, second] = await rows();
    const out = join(folder.path, 'samples');
    storage = join(folder.path, 'storage-other');
    const one = await folder.file(
      'one.jsonl',
      lines([{ ...first, model_name_or_path: 'm', cost: 0.25, usage: { prompt_tokens: 1000 } }]),
    );
    const two = join(folder.path, 'two.jsonl.gz');
    await writeFile(two, gzipSync(lines([{ ...second, model_name_or_path: 'm' }])));
    const answer = await cli(evaluate(out, one, '--predictions', two, '--json'));
    assert.equal(answer.status, 0, answer.stderr);
    // Two workers may finish in either order.
    const entries = [...(await journalOf(out)).lines].sort((a, b) => a.sample - b.sample);
    assert.deepEqual(
      entries.map((each) => [each.model, each.sample, each.success, each.cost]),
      [
        ['m', 1, true, { dollars: 0.25, inputTokens: 1000 }],
        ['m', 2, true, undefined],
      ],
    );
    const logs = join(out, 'run_instance_swt_logs', 'night');
    assert.ok(existsSync(join(logs, 'm@2', id, 'report.json')));
    assert.ok(existsSync(join(out, 'evaluation_results', 'm@2.night.json')));
    assert.deepEqual(Object.keys((JSON.parse(answer.stdout) as { rates: object }).rates), [
      'm',
      'm@2',
    ]);
  });

  it('say at once that a results folder cannot be written', async () => {
    storage = join(folder.path, 'storage-other');
    const file = await folder.file('a-file', '');
    const answer = await cli(evaluate(join(file, 'out'), 'gold'));
    assert.equal(answer.status, 2);
    assert.match(answer.stderr, /The results folder .*a-file.out cannot be written \(ENOTDIR/);
    if (process.platform !== 'linux') return;
    // Paths for which the system reports that existing folders are missing.
    for (const out of ['/proc/swt-bench', '/proc/self/fd/none/out', '/sys/swt-bench/out']) {
      const nowhere = await cli(evaluate(out, 'gold'));
      assert.equal(nowhere.status, 2);
      assert.match(nowhere.stderr, /The results folder \/\S+ cannot be written \(E\w+.*--out/);
    }
  });

  describe('on a disk of their own @full', () => {
    let disk = '';
    const mount = async (context: Mocha.Context, size: string): Promise<void> => {
      disk = await mkdtemp(join(folder.path, 'disk-'));
      const options = ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk];
      // Only root may mount.
      if (spawnSync('mount', options).status !== 0) context.skip();
    };
    afterEach(() => {
      spawnSync('umount', [disk]);
    });

    it('that is read-only, or full, say so before anything runs', async function () {
      await mount(this, '512k');
      storage = join(folder.path, 'storage-other');
      const full = await cli(evaluate(join(disk, 'out'), 'gold'));
      assert.equal(full.status, 2);
      assert.match(full.stderr, /No space left on the disk of the results folder .*--out/);
      spawnSync('mount', ['-o', 'remount,ro', disk]);
      const locked = await cli(evaluate(join(disk, 'out'), 'gold'));
      assert.equal(locked.status, 2);
      assert.match(locked.stderr, /The results folder .* cannot be written \(EROFS/);
    });

    it('that becomes full stop, keep what is finished, and go on when there is room', async function () {
      await mount(this, '1200k');
      const out = join(disk, 'out');
      storage = join(folder.path, 'storage-full');
      const predictions = await many(10);
      const { answer } = start(evaluate(out, predictions));
      await until(hasLines(out, 1));
      await mkdir(join(disk, 'filler'));
      // Fill the rest, whatever the page size is.
      for (let part = 0; ; part += 1) {
        const path = join(disk, 'filler', String(part));
        const written = await writeFile(path, Buffer.alloc(16_384)).then(
          () => true,
          () => false,
        );
        if (!written) break;
      }
      const stopped = await answer;
      assert.equal(stopped.status, 2, stopped.stdout);
      assert.match(
        stopped.stderr,
        /is on a full disk\. Stopped; \d+ finished results? (is|are) saved/,
      );
      const { lines, problems } = await journalOf(out);
      assert.deepEqual(problems, []);
      assert.ok(lines.length >= 1);
      await rm(join(disk, 'filler'), { recursive: true });
      spawnSync('mount', ['-o', 'remount,size=64m', disk]);
      const again = await cli(evaluate(out, predictions, '--json'));
      assert.equal(again.status, 0, again.stderr);
      assert.equal((JSON.parse(again.stdout) as { reused: number }).reused, lines.length);
    });
  });
});
