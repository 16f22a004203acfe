import assert from 'node:assert/strict';
import { pauseGate } from '../../../src/batch/work/pauseGate';
import { durationText, planText, progressText } from '../../../src/batch/progressText';
import { throughput } from '../../../src/batch/throughput';
import { workersFor } from '../../../src/batch/workersFor';

describe('throughput', () => {
  it('is not known until a candidate is done', () => {
    assert.deepEqual(throughput(() => 0).estimate(5), {});
  });

  it('is candidates per hour, without the time of a pause', () => {
    let now = 0;
    const speed = throughput(() => now);
    for (let done = 0; done < 3; done += 1) {
      now += 30_000;
      speed.finished();
    }
    assert.deepEqual(speed.estimate(10), { perHour: 120, secondsLeft: 300 });
    speed.pause();
    now += 3_600_000;
    assert.deepEqual(speed.estimate(10), { perHour: 120, secondsLeft: 300 });
    speed.resume();
    now += 30_000;
    speed.finished();
    assert.deepEqual(speed.estimate(0), { perHour: 120, secondsLeft: 0 });
  });

  it('follows a batch that becomes faster', () => {
    let now = 0;
    const speed = throughput(() => now);
    now += 1_000_000;
    speed.finished();
    for (let done = 0; done < 500; done += 1) {
      now += 1000;
      speed.finished();
    }
    assert.deepEqual(speed.estimate(60), { perHour: 3600, secondsLeft: 60 });
  });
});

describe('workers', () => {
  const gib = 2 ** 30;
  const docker = { sandboxBytes: 4 * gib };
  const local = {};

  it('have a core for each side, and the memory that both may use', () => {
    assert.equal(workersFor({ ...docker, machine: { cores: 16, memoryBytes: 64 * gib } }), 8);
    assert.equal(workersFor({ ...docker, machine: { cores: 16, memoryBytes: 24 * gib } }), 3);
    assert.equal(workersFor({ ...local, machine: { cores: 16, memoryBytes: 24 * gib } }), 8);
    assert.equal(workersFor({ ...local, machine: { cores: 16, memoryBytes: 8 * gib } }), 4);
  });

  it('are one on the smallest machine', () => {
    assert.equal(workersFor({ ...docker, machine: { cores: 1, memoryBytes: gib } }), 1);
    assert.equal(workersFor({ ...local, machine: { cores: 1, memoryBytes: gib / 4 } }), 1);
  });

  it('are at least one where nobody says what the machine has', () => {
    assert.ok(workersFor(local) >= 1);
  });
});

describe('progress in words', () => {
  const progress = { done: 12, total: 400, reused: 0, running: [], paused: false };

  it('has what is done, how fast, and how long it will take', () => {
    assert.equal(progressText(progress), '12 of 400 done');
    assert.equal(
      progressText({ ...progress, perHour: 85.4, secondsLeft: 16_380 }),
      '12 of 400 done, 85 per hour, 4 h 33 min left',
    );
    assert.equal(
      progressText({ ...progress, done: 400, paused: true, perHour: 2.25, secondsLeft: 0 }),
      '400 of 400 done, paused, 2.3 per hour',
    );
  });

  it('has times that a person can read', () => {
    const texts = [0.2, 59, 60, 3599, 3600, 172_799, 180_000].map(durationText);
    assert.deepEqual(texts, [
      '1 s',
      '59 s',
      '1 min',
      '1 h 0 min',
      '1 h 0 min',
      '2 d 0 h',
      '2 d 2 h',
    ]);
  });

  it('begins with what is planned', () => {
    const counts = {
      ...{ candidates: 10, instances: 1, environments: 1, base: 4, golden: 2, candidate: 20 },
      ...{ runs: 26 },
    };
    assert.equal(
      planText(counts, '2 workers, local engine'),
      '10 candidates on 1 instance in 1 environment: at most 26 runs (base and golden runs are shared); 2 workers, local engine',
    );
  });
});

describe('a pause', () => {
  it('holds whoever comes until it ends, or the signal fires', async () => {
    const gate = pauseGate();
    const { signal } = new AbortController();
    await gate.open(signal);
    gate.pause();
    const passed: string[] = [];
    const first = gate.open(signal).then(() => passed.push('first'));
    const stop = new AbortController();
    const second = gate.open(stop.signal).then(() => passed.push('second'));
    stop.abort();
    await second;
    assert.deepEqual([passed, gate.paused], [['second'], true]);
    gate.resume();
    await first;
    assert.deepEqual([passed, gate.paused], [['second', 'first'], false]);
  });
});
