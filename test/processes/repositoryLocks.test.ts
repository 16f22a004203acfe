import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cancelled, silent, type Reporter } from '../../src/domain/work';
import { withLockedRunFolder } from '../../src/results/lockedRunFolder';
import { withLock, hasEnded, holdersOf, holdFolder, ownerWord } from '../../src/repository/lock';
import { treesFolder } from '../../src/repository/storage';
import { prepareTrees } from '../../src/repository/trees';
import { assertIsR, useExample, write, type Example } from './exampleRepository';
import { prepareElsewhere, stallingGit } from './stallingGit';

/** Collects what is reported. */
function collecting(): { reporter: Reporter; steps: string[] } {
  const steps: string[] = [];
  return { steps, reporter: { log: () => undefined, progress: (step) => void steps.push(step) } };
}

describe('locks', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'locks-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));
  const options = { reporter: silent, what: 'works' };

  it('let one work at a time, also within one process, and are gone afterwards', async () => {
    const path = join(folder, 'deep', 'one');
    let inside = 0;
    let most = 0;
    let begun = 0;
    const { reporter, steps } = collecting();
    const results = await Promise.all(
      [1, 2, 3].map((n) =>
        withLock(path, { ...options, reporter }, async () => {
          most = Math.max(most, ++inside);
          // The first one stays until all have arrived.
          if (++begun === 1) while (steps.length < 2) await sleep(5);
          inside -= 1;
          return n;
        }),
      ),
    );
    assert.deepEqual(results, [1, 2, 3]);
    assert.equal(most, 1);
    assert.deepEqual(await readdir(dirname(path)), []);
  });

  it('are released when the work fails', async () => {
    const path = join(folder, 'two');
    await assert.rejects(
      withLock(path, options, () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await withLock(path, options, () => Promise.resolve('free')), 'free');
  });

  it('say that they are waited for, and waiting can be cancelled', async () => {
    const path = join(folder, 'three');
    const { reporter, steps } = collecting();
    const abort = new AbortController();
    await withLock(path, options, async () => {
      const second = withLock(
        path,
        { reporter, what: 'prepares octo__cat-1', signal: abort.signal },
        () => Promise.resolve(),
      );
      while (steps.length === 0) await sleep(20);
      abort.abort();
      await assert.rejects(second, Cancelled);
    });
    assert.deepEqual(steps, ['waiting for another process that prepares octo__cat-1']);
  });

  it('of a run folder wait for another machine that may be gone', async () => {
    const path = join(folder, 'requeued');
    const begin = (): Promise<string> =>
      withLockedRunFolder(
        path,
        { out: folder, runId: 'night', signal: new AbortController().signal },
        () => Promise.resolve([]),
        () => Promise.resolve('begun'),
      );
    await mkdir(join(path, 'run.lock'), { recursive: true });
    const lock = await stat(join(path, 'run.lock'));
    const mark = `${lock.ino}:${lock.birthtimeMs}`;
    await writeFile(join(path, 'run.owner'), `1-0123456789ab-1 ${mark}`);
    // The machine renewed the lock 28 seconds ago, and never again.
    const last = Date.now() / 1000 - 28;
    await utimes(join(path, 'run.lock'), last, last);
    assert.equal(await begin(), 'begun');
  });

  it('of a run folder are refused while another machine renews them', async () => {
    const path = join(folder, 'elsewhere');
    await mkdir(join(path, 'run.lock'), { recursive: true });
    const lock = await stat(join(path, 'run.lock'));
    await writeFile(join(path, 'run.owner'), `1-0123456789ab-1 ${lock.ino}:${lock.birthtimeMs}`);
    const renewing = setInterval(
      () => void utimes(join(path, 'run.lock'), new Date(), new Date()),
      50,
    );
    const begun = withLockedRunFolder(
      path,
      { out: folder, runId: 'night', signal: new AbortController().signal },
      () => Promise.resolve([]),
      () => Promise.resolve('begun'),
    );
    await assert.rejects(begun, /Another process is writing the run night/);
    clearInterval(renewing);
  });

  it('of a holder on another machine are taken over when it gives no sign for long', async () => {
    const path = join(folder, 'four');
    await mkdir(`${path}.lock`);
    await writeFile(`${path}.owner`, '1-0123456789ab-1 what');
    const long = Date.now() / 1000 - 3600;
    await utimes(`${path}.lock`, long, long);
    assert.equal(await withLock(path, options, () => Promise.resolve('mine')), 'mine');
  });

  it('know a process that has ended from one that has its number', async () => {
    const word = await ownerWord();
    assert.equal(await hasEnded(word), false);
    const [, machine = '', started = ''] = word.split('-');
    assert.equal(await hasEnded(`999999999-${machine}-1`), true);
    if (started !== '') assert.equal(await hasEnded(`${process.pid}-${machine}-1`), true);
    for (const unknown of ['', 'x', '1-2', `999999999-0123456789ab-1`]) {
      assert.equal(await hasEnded(unknown), false, unknown);
    }
  });

  it('marks of use count while their process lives', async () => {
    const path = join(folder, 'used');
    const release = await holdFolder(path);
    assert.deepEqual(await holdersOf(path), [process.pid]);
    const [, machine = ''] = (await ownerWord()).split('-');
    const dead = join(`${path}.in-use`, `999999999-${machine}-1.x`);
    await writeFile(dead, '');
    assert.deepEqual(await holdersOf(path), [process.pid]);
    assert.equal(existsSync(dead), false);
    await release();
    assert.deepEqual(await holdersOf(path), []);
  });
});

describe('several processes on one instance @full', function () {
  let example: Example;
  let storage = '';
  let request = '';
  useExample((made) => (example = made));
  beforeEach(async () => {
    storage = await example.storage();
    request = join(storage, 'request.json');
    await ask(`file://${example.origin}`);
  });
  const ask = (from: string): Promise<void> =>
    write(storage, {
      'request.json': JSON.stringify({
        instance: example.instance(),
        source: { kind: 'commit', from },
        storage,
      }),
    });

  it('two at once do the work once', async () => {
    const fake = await stallingGit(join(storage, 'bin'), 'never');
    const both = [prepareElsewhere(request, fake.env), prepareElsewhere(request, fake.env)];
    const outputs = await Promise.all(both.map((each) => each.ended));
    const bases = outputs.map((text) => /^done (.*)$/m.exec(text)?.[1]);
    assert.ok(bases[0] !== undefined, outputs.join('\n'));
    assert.equal(bases[0], bases[1]);
    await assertIsR(bases[0]);
    const run = (word: string): number =>
      fake.commands().filter((each) => each.startsWith(word)).length;
    // Each side has a pack of its own.
    assert.deepEqual([run('clone'), run('pack-objects'), run('read-tree')], [1, 2, 1]);
  });

  it('the second says what it waits for', async () => {
    const fake = await stallingGit(join(storage, 'bin'), '*clone*');
    const first = prepareElsewhere(request, fake.env);
    await fake.stalled();
    const { reporter, steps } = collecting();
    const second = prepareTrees(
      example.instance(),
      { kind: 'commit', from: `file://${example.origin}` },
      storage,
      { reporter },
    );
    while (!steps.some((step) => step.startsWith('waiting'))) await sleep(20);
    await fake.letGo();
    assert.match(await first.ended, /^done /m);
    await assertIsR((await second).base);
    assert.ok(steps.includes('waiting for another process that prepares octo__cat-1'));
  });

  for (const [name, at] of [
    ['the clone', '*clone*'],
    ['fetching files', '*fetch*'],
    ['packing R', '*pack-objects*'],
    ['writing files', '*read-tree*'],
    ['writing the tree of R∘X*', '*write-tree*'],
  ] as const) {
    it(`one killed in ${name} leaves nothing that is in the way`, async () => {
      const origin = join(storage, 'partial.git');
      example.clonePartial(origin);
      await ask(`file://${origin}`);
      const fake = await stallingGit(join(storage, 'bin'), at);
      const killed = prepareElsewhere(request, fake.env);
      await fake.stalled();
      killed.child.kill('SIGKILL');
      await killed.ended;
      const left = await readdir(join(storage, 'locks'));
      assert.ok(
        left.some((each) => each.endsWith('.lock')),
        'it held a lock',
      );
      const next = await prepareElsewhere(request).ended;
      await fake.letGo();
      const tree = /^done (.*)$/m.exec(next)?.[1];
      assert.ok(tree !== undefined, next);
      await assertIsR(tree);
      assert.deepEqual(await readdir(join(storage, 'locks')), []);
      assert.equal((await readdir(treesFolder(storage, 'octo__cat-1'))).length, 1);
      assert.deepEqual(
        (await readdir(join(storage, 'mirrors'))).filter((each) => !each.endsWith('.in-use')),
        ['octo__cat'],
      );
    });
  }
});
