import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cancelled } from '../../../src/domain/work';
import type { RunRecord } from '../../../src/engine/engine';
import { runStore, type RunKey } from '../../../src/evaluation/testRun';
import { runRecord } from './examples';

const key = (more: Partial<RunKey> = {}): RunKey => ({
  instance: 'octo__cat-1',
  tree: 'f00',
  patch: 'diff',
  environment: 'CPython',
  request: {
    plan: {
      runner: 'pytest',
      args: ['-m', 'pytest', 't.py'],
      env: {},
      cwd: '.',
      files: ['t.py'],
      notRun: [],
    },
    countLines: new Map([['a.py', [1, 2]]]),
    timeoutSeconds: 60,
  },
  ...more,
});

const record = runRecord({
  exitCode: 1,
  log: 'R∘X* \u0000 \n',
  trace: {
    counts: [{ path: 'a.py', line: 1, shared: 1, byTest: new Map([['t.py::a[$map]', 3]]) }],
    outcomes: [{ test: 't.py::a', outcome: 'failed', message: '{"$map": 1}' }],
  },
});

describe('kept runs', () => {
  let folder = '';
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'runs-test-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A run function that counts its calls. */
  function counted(result: RunRecord = record): { run: () => Promise<RunRecord>; times: number } {
    const counter = {
      times: 0,
      run: () => {
        counter.times += 1;
        return Promise.resolve(result);
      },
    };
    return counter;
  }

  async function entries(): Promise<string[]> {
    const names = await readdir(folder, { recursive: true });
    return names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
  }

  it('are run once and read afterwards, also by another process', async () => {
    const { run } = counted();
    assert.deepEqual(await runStore(folder).getOrRun(key(), true, run), record);
    const again = counted();
    const kept = await runStore(folder).getOrRun(key(), true, again.run);
    assert.equal(again.times, 0);
    assert.deepEqual(JSON.parse(JSON.stringify(kept)), JSON.parse(JSON.stringify(record)));
    assert.deepEqual(kept.trace.counts, record.trace.counts);
    assert.equal(kept.killedBy, undefined);
  });

  it('are other runs when anything they depend on differs', async () => {
    const { request } = key();
    const others: RunKey[] = [
      key(),
      key({ tree: 'f01' }),
      key({ patch: 'diff ' }),
      key({ environment: 'PyPy' }),
      key({ tag: 'v1.2.0' }),
      key({ request: { ...request, timeoutSeconds: 61 } }),
      key({ request: { ...request, countLines: new Map([['a.py', [1]]]) } }),
      key({ request: { ...request, plan: { ...request.plan, args: ['-m', 'pytest'] } } }),
      key({ request: { ...request, plan: { ...request.plan, env: { A: '1' } } } }),
    ];
    const store = runStore(folder);
    const counter = counted();
    for (const each of others) await store.getOrRun(each, true, counter.run);
    assert.equal(counter.times, others.length);
    assert.equal((await entries()).length, others.length);
  });

  it('are run again when asked to, and replace what was kept', async () => {
    const store = runStore(folder);
    await store.getOrRun(key(), true, counted().run);
    const fresh = { ...record, exitCode: 2 };
    const counter = counted(fresh);
    assert.equal((await store.getOrRun(key(), false, counter.run)).exitCode, 2);
    assert.equal(counter.times, 1);
    assert.equal((await store.getOrRun(key(), true, counted().run)).exitCode, 2);
  });

  it('of another command are made once more by one that wants fresh runs, and only once', async () => {
    await runStore(folder).getOrRun(key(), true, counted().run);
    const store = runStore(folder, { fresh: true });
    const counter = counted({ ...record, exitCode: 2 });
    await Promise.all([1, 2].map(() => store.getOrRun(key(), true, counter.run)));
    await store.getOrRun(key(), true, counter.run);
    assert.equal(counter.times, 1);
    assert.equal((await runStore(folder).getOrRun(key(), true, counted().run)).exitCode, 2);
  });

  it('damaged entries are not used, whatever the damage', async () => {
    const store = runStore(folder);
    await store.getOrRun(key(), true, counted().run);
    const [path = ''] = await entries();
    const whole = await readFile(path, 'utf8');
    const damages = [
      '',
      '\n',
      '{}',
      whole.slice(0, -1),
      whole.slice(0, whole.length / 2),
      whole.slice(0, 64),
      whole.replace('"exitCode":1', '"exitCode":0'),
      `${whole} `,
      whole.replace('\n', '\n\n'),
    ];
    for (const damage of damages) {
      await writeFile(path, damage);
      const counter = counted();
      assert.deepEqual(await store.getOrRun(key(), true, counter.run), record);
      assert.equal(counter.times, 1, JSON.stringify(damage.slice(0, 80)));
      assert.equal(await readFile(path, 'utf8'), whole);
    }
  });

  it('runs that were stopped are given back and not kept', async () => {
    const store = runStore(folder);
    for (const ending of ['timed out', 'too much output', 'cancelled', 'not started'] as const) {
      const result = await store.getOrRun(key(), true, counted({ ...record, ending }).run);
      assert.equal(result.ending, ending);
    }
    const unfinished = [{ pid: 7, argv: [], lastTest: 't.py::a' }];
    const broken = [
      { ...record, exitCode: undefined, killedBy: 'SIGKILL' },
      { ...record, trace: { ...record.trace, unfinished } },
    ];
    for (const each of broken) await store.getOrRun(key(), true, counted(each).run);
    assert.deepEqual(await entries(), []);
  });

  it('two callers at once share one run', async () => {
    const store = runStore(folder);
    const counter = counted();
    const all = await Promise.all([1, 2, 3].map(() => store.getOrRun(key(), true, counter.run)));
    assert.equal(counter.times, 1);
    for (const each of all) assert.deepEqual(each, record);
    await Promise.all([
      store.getOrRun(key(), true, counter.run),
      store.getOrRun(key({ tree: 'f01' }), true, counter.run),
    ]);
    assert.equal(counter.times, 2);
  });

  it('a caller who wants a fresh run does not share an earlier one', async () => {
    const store = runStore(folder);
    const counter = counted();
    await Promise.all([
      store.getOrRun(key(), true, counter.run),
      store.getOrRun(key(), false, counter.run),
    ]);
    assert.equal(counter.times, 2);
  });

  it('a run that fails for one caller is run for the other', async () => {
    const store = runStore(folder);
    const counter = counted();
    const [first, second, third] = await Promise.allSettled([
      store.getOrRun(key(), true, () => Promise.reject(new Cancelled())),
      store.getOrRun(key(), true, counter.run),
      store.getOrRun(key(), true, counter.run),
    ]);
    assert.ok(first.status === 'rejected' && first.reason instanceof Cancelled);
    assert.ok(second.status === 'fulfilled' && third.status === 'fulfilled');
    assert.equal(counter.times, 1);
    await assert.rejects(
      store.getOrRun(key({ tree: 'x' }), true, () => Promise.reject(new Error('no'))),
      /no/,
    );
  });

  it('a place that cannot be written to costs no result', async () => {
    const blocked = join(folder, 'file');
    await writeFile(blocked, '');
    const result = await runStore(join(blocked, 'runs')).getOrRun(key(), true, counted().run);
    assert.deepEqual(result, record);
  });

  it('leave nothing half-written beside them', async () => {
    await runStore(folder).getOrRun(key(), true, counted().run);
    const names = await readdir(folder, { recursive: true });
    assert.equal(names.length, 5);
    assert.match(
      names.at(-1) ?? '',
      /^instances[\\/]octo__cat-1[\\/]runs[\\/][0-9a-f]{2}[\\/][0-9a-f]{64}\.json$/,
    );
  });
});
