import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Cancelled } from '../../../../src/domain/work';
import { MemoryGate } from '../../../../src/engine/docker/sandbox/memoryGate';

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('memory of runs', () => {
  it('lets both sides run at once when there is enough, else one after the other', async () => {
    const gate = new MemoryGate(10);
    const first = await gate.admit(6);
    let second: (() => void) | undefined;
    void gate.admit(6).then((release) => (second = release));
    await later();
    assert.equal(second, undefined);
    first();
    await later();
    assert.ok(second);
    const third = await gate.admit(4);
    third();
  });

  it('lets a run that wants more than there is run alone', async () => {
    const gate = new MemoryGate(10);
    const release = await gate.admit(50);
    let other = false;
    void gate.admit(1).then(() => (other = true));
    await later();
    assert.equal(other, false);
    release();
    await later();
    assert.equal(other, true);
  });

  it('lets others pass when the one that waits is cancelled', async () => {
    const gate = new MemoryGate(10);
    const release = await gate.admit(6);
    const cancel = new AbortController();
    const large = gate.admit(10, cancel.signal);
    let small = false;
    void gate.admit(4).then(() => (small = true));
    await later();
    assert.equal(small, false);
    cancel.abort();
    await assert.rejects(large, Cancelled);
    await later();
    assert.equal(small, true);
    release();
  });

  it('never gives out more than there is, and gives everything back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            bytes: fc.integer({ min: 1, max: 20 }),
            steps: fc.integer({ min: 0, max: 3 }),
          }),
          {
            maxLength: 20,
          },
        ),
        async (runs) => {
          const gate = new MemoryGate(10);
          let used = 0;
          await Promise.all(
            runs.map(async ({ bytes, steps }) => {
              const release = await gate.admit(bytes);
              used += Math.min(bytes, 10);
              assert.ok(used <= 10);
              for (let step = 0; step < steps; step++) await later();
              used -= Math.min(bytes, 10);
              release();
              release();
            }),
          );
          const all = await gate.admit(10);
          all();
        },
      ),
    );
  });
});
