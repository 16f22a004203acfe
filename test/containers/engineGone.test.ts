import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sides } from '../../src/domain/outcome';
import { HumanError, silent } from '../../src/domain/work';
import type { Engine } from '../../src/engine/engine';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { runCode } from '../contract/run';
import { candidate, onEngine } from '../contract/subjects';
import { loadParser } from '../unit/python/loadParser';
import { containersOf, plainDocker, testSettings } from './dockerForTests';
import { secondEngineFor, type SecondEngine } from './secondEngine';
import { environments } from '../../src/environments/environments';

const good = candidate('self.assertEqual(purr(), 2)');
const sleeping = candidate('pass').replace(
  '+import unittest\n',
  '+import time; print("started", flush=True); time.sleep(600)\n',
);
const files = ['tests/test_new.py'];
const options = { timeoutSeconds: 120, reporter: silent, reuse: false };

onEngine('docker', 'when the engine goes away @full', (subject) => {
  let second: SecondEngine | undefined;
  let engine: Engine | undefined;
  let session: InstanceSession;
  const own = (): SecondEngine => {
    assert.ok(second !== undefined);
    return second;
  };
  before(async function () {
    second = await secondEngineFor(this, subject().instance.id);
  });
  after(() => second?.dispose());
  beforeEach(async () => {
    const { instance, trees, storage } = subject();
    engine = await openEngine({
      engines,
      environments,
      name: 'docker',
      storage,
      assets: resolve('src/engine'),
      values: { docker: testSettings({ host: own().host }) },
    });
    session = await openSession({
      ...{ instance, trees, engine, python: await loadParser() },
      store: runStore(await mkdtemp(join(storage, 'runs-'))),
    });
  });
  afterEach(async () => {
    await own().start();
    await session.dispose();
    await engine?.dispose();
    const left = await containersOf(subject().instance.id, own().docker);
    assert.deepEqual(left, [], 'containers are left');
  });

  const outcomes = async (patch: string, reuse = false): Promise<string> => {
    const { records } = await session.run({ patch, files }, { ...options, reuse });
    return sides
      .map((side) => records[side]?.trace.outcomes.map(({ outcome }) => outcome).join('+'))
      .join(' ');
  };
  /**
   * Starts tests that do not end. Once both sides run them, returns the promise of their result.
   */
  const startSleeping = (): Promise<{ readonly end: Promise<unknown> }> =>
    new Promise((resolve, reject) => {
      const running = new Set<string>();
      const end = session.run(
        { patch: sleeping, files, script: true },
        {
          ...options,
          onOutput: (side, text) => {
            if (text.includes('started')) running.add(side);
            if (running.size === 2) resolve({ end });
          },
        },
      );
      end.catch(reject);
    });
  const saysWhatIsGone = (error: unknown): boolean => {
    assert.ok(error instanceof HumanError, String(error));
    assert.match(error.message, new RegExp(own().socket), 'names the address');
    assert.doesNotMatch(error.message, /ECONN|ENOENT|socket hang up|undefined|\n/);
    return true;
  };

  for (const [how, stop] of [
    ['killed', () => own().kill()],
    ['stopped', () => own().stop()],
  ] as const) {
    it(`${how} in the middle of a run: says so, keeps what was done, and goes on afterwards`, async () => {
      const first = await session.run({ patch: good, files }, options);
      const before = first.records.base?.log;
      const run = await startSleeping();
      const stopped = stop();
      await assert.rejects(run.end, saysWhatIsGone);
      await stopped;
      await assert.rejects(outcomes(good), saysWhatIsGone);
      await own().start();
      const { records } = await session.run({ patch: good, files }, { ...options, reuse: true });
      assert.equal(records.base?.log, before, 'the run before is kept');
      assert.equal(await outcomes(good), 'failed passed');
    });
  }

  it('killed between runs: says so, and goes on afterwards', async () => {
    assert.equal(await outcomes(good), 'failed passed');
    await own().kill();
    await assert.rejects(outcomes(good), saysWhatIsGone);
    await assert.rejects(outcomes(good), saysWhatIsGone);
    await own().start();
    assert.equal(await outcomes(good), 'failed passed');
  });

  it('killed and started again between runs: nobody notices', async () => {
    assert.equal(await outcomes(good), 'failed passed');
    await own().kill();
    await own().start();
    assert.equal(await outcomes(good), 'failed passed');
  });

  it('its socket no longer exists: says so, and goes on afterwards', async () => {
    const { socket } = own();
    await session.environment({ reporter: silent });
    await rename(socket, `${socket}.away`);
    try {
      await assert.rejects(outcomes(good), saysWhatIsGone);
      await assert.rejects(
        openEngine({
          engines,
          environments,
          name: 'docker',
          storage: subject().storage,
          assets: resolve('src/engine'),
          values: { docker: testSettings({ host: own().host }) },
        }),
        saysWhatIsGone,
      );
    } finally {
      await rename(`${socket}.away`, socket);
    }
    assert.equal(await outcomes(good), 'failed passed');
  });
});

onEngine('docker', 'when the command is killed @full', (subject) => {
  it('its containers end by themselves and are removed at the next start, no others', async () => {
    const { instance, trees, storage } = subject();
    const request = join(storage, 'pair.json');
    await writeFile(request, JSON.stringify({ instance, trees, storage }));
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', join(__dirname, 'pairProcess.ts'), request],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    const own = await subject().place.openPair({ reporter: silent });
    const before = await containersOf(instance.id);
    assert.equal(before.length, 4);
    child.kill('SIGKILL');
    await once(child, 'exit');
    while ((await containersOf(instance.id, plainDocker, false)).length > 2) await setTimeout(200);
    const other = await subject().open();
    try {
      const after = await containersOf(instance.id);
      assert.equal(after.length, 2, `${before.join()} became ${after.join()}`);
      assert.equal((await runCode(own.base, 'print("here")')).log, 'here\n');
    } finally {
      await own.dispose();
      await other.dispose();
    }
    assert.deepEqual(await containersOf(instance.id), []);
  });
});
