import assert from 'node:assert/strict';
import { Cancelled, atOnce, inTurns, turnsOf, type Stepwise } from '../../../src/domain/work';

function* counting(to: number, seen: number[]): Stepwise<string> {
  for (let step = 1; step <= to; step += 1) {
    seen.push(step);
    yield;
  }
  return 'done';
}

describe('work in turns', () => {
  it('gives others a turn once they have waited for long, and not before', async () => {
    let now = 0;
    const turns = turnsOf(undefined, () => now);
    let others = 0;
    setImmediate(() => (others += 1));
    await turns.pause();
    now = 9;
    await turns.pause();
    assert.equal(others, 0);
    now = 10;
    await turns.pause();
    assert.equal(others, 1);
    setImmediate(() => (others += 1));
    now = 19;
    await turns.pause();
    assert.equal(others, 1);
  });

  it('ends where a signal is aborted while others have their turn', async () => {
    const end = new AbortController();
    let now = 0;
    const turns = turnsOf(end.signal, () => (now += 1));
    setImmediate(() => end.abort());
    const seen: number[] = [];
    await assert.rejects(inTurns(counting(1000, seen), turns), Cancelled);
    assert.ok(seen.length > 1 && seen.length < 1000, String(seen.length));
  });

  it('gives what the work gives, in turns or at once', async () => {
    assert.equal(await inTurns(counting(5, []), turnsOf(undefined)), 'done');
    assert.equal(atOnce(counting(5, [])), 'done');
  });

  it('throws what the work throws', async () => {
    function* broken(): Stepwise<void> {
      yield;
      throw new Error('broken');
    }
    await assert.rejects(inTurns(broken(), turnsOf(undefined)), /broken/);
  });
});
