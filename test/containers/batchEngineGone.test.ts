import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { silent } from '../../src/domain/work';
import type { Prediction } from '../../src/domain/instance';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import { runBatch, type BatchHandle, type BatchOutcome } from '../../src/batch/runBatch';
import type { BatchRequest } from '../../src/batch/batchRequest';
import { readJournal } from '../../src/results/journal';
import { runFolder } from '../../src/results/runFolder';
import { runStore } from '../../src/evaluation/testRun';
import { candidate, onEngine } from '../contract/subjects';
import { loadParser } from '../unit/python/loadParser';
import { containersOf, testSettings } from './dockerForTests';
import { secondEngineFor, type SecondEngine } from './secondEngine';
import { environments } from '../../src/environments/environments';

const count = 8;

onEngine('docker', 'a batch whose engine goes away @full', (subject) => {
  let second: SecondEngine | undefined;
  const own = (): SecondEngine => {
    assert.ok(second !== undefined);
    return second;
  };
  before(async function () {
    second = await secondEngineFor(this, subject().instance.id);
  });
  after(() => second?.dispose());
  afterEach(async () => {
    await second?.start();
  });

  /** Every other candidate fails on both sides by its own fault; no other one may fail. */
  const predictions = (): Prediction[] =>
    Array.from({ length: count }, (_, index) => ({
      instanceId: subject().instance.id,
      model: `m${index}`,
      patch: candidate(
        `import time; time.sleep(0.4); self.assertEqual(purr(), ${index % 2 === 0 ? 2 : 3})`,
        `tests/test_${index}.py`,
      ),
    }));
  const reasons = Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? 'success' : 'fails on both sides',
  );
  const requestFor = async (folder: string, times: number): Promise<BatchRequest> => {
    const { instance, trees, storage } = subject();
    const engine = await openEngine({
      engines,
      environments,
      name: 'docker',
      storage,
      assets: resolve('src/engine'),
      values: { docker: testSettings({ host: own().host }) },
    });
    return {
      instances: [instance],
      predictions: predictions(),
      engine,
      python: await loadParser(),
      store: runStore(folder),
      sources: new Map([['*', trees.source.from]]),
      storage,
      workers: 2,
      timeoutSeconds: 120,
      format: 'unified',
      formats: [],
      mode: 'unit-test',
      fresh: false,
      results: { out: join(folder, 'out'), runId: 'r', dataset: 'made up', predictions: [] },
      retry: { times, firstDelay: 300 },
      reporter: silent,
    };
  };
  const lines = async (folder: string) =>
    (await readJournal(runFolder(join(folder, 'out'), 'r'))).lines;
  /** Runs a batch. Once some candidates are finished and others run, it disturbs the engine. */
  const batch = async (
    folder: string,
    times: number,
    meanwhile?: (batch: BatchHandle) => Promise<void>,
  ): Promise<BatchOutcome> => {
    const request = await requestFor(folder, times);
    let begun: Promise<void> | undefined;
    try {
      const batch = runBatch(request, {
        onProgress: ({ done, running }) => {
          if (done >= 2 && running.length > 0) begun ??= meanwhile?.(batch);
        },
      });
      const outcome = await batch.done;
      await begun;
      assert.equal(meanwhile === undefined, begun === undefined);
      return outcome;
    } finally {
      await begun;
      await request.engine.dispose();
    }
  };
  const newFolder = (): Promise<string> => mkdtemp(join(subject().storage, 'batch-'));

  it('says what the engine has to work with', async () => {
    const { engine } = await requestFor(await newFolder(), 0);
    const { NCPU, MemTotal } = (await own().docker.info()) as { NCPU: number; MemTotal: number };
    assert.deepEqual(engine.machine, { cores: NCPU, memoryBytes: MemTotal });
    await engine.dispose();
  });

  for (const [how, stop] of [
    ['killed', () => own().kill()],
    ['stopped', () => own().stop()],
  ] as const) {
    it(`${how}, and comes back: every candidate has its own grade`, async () => {
      const folder = await newFolder();
      const { entries, reused } = await batch(folder, 8, async () => {
        await sleep(300);
        await stop();
        await sleep(500);
        await own().start();
      });
      assert.equal(reused, 0);
      assert.deepEqual(
        entries.map((each) => each.reason),
        reasons,
      );
      assert.equal((await lines(folder)).length, count);
    });
  }

  it('and does not come back: all are accounted for, none by its own fault, and it goes on later', async () => {
    const folder = await newFolder();
    const { entries } = await batch(folder, 1, async () => {
      await sleep(300);
      await own().kill();
    });
    assert.equal(entries.length, count);
    const graded = entries.filter((each) => each.evaluated);
    assert.ok(graded.length >= 2 && graded.length < count, `${graded.length} graded`);
    for (const [index, entry] of entries.entries()) {
      assert.equal(entry.reason, entry.evaluated ? reasons[index] : 'environment failed');
      if (!entry.evaluated) assert.match(entry.explanation, /engine at unix:|Lost the Docker/);
    }
    const before = await lines(folder);
    assert.equal(before.length, count);

    await own().start();
    const again = await batch(folder, 1);
    assert.equal(again.reused, graded.length);
    assert.deepEqual(
      again.entries.map((each) => each.reason),
      reasons,
    );
    const kept = new Map((await lines(folder)).map((line) => [line.model, line]));
    assert.equal(kept.size, count);
    // Finished grades stay identical.
    for (const line of before.filter((each) => each.evaluated)) {
      assert.deepEqual(kept.get(line.model), line);
    }
    assert.deepEqual(await containersOf(subject().instance.id, own().docker), []);
  });
});
