import assert from 'node:assert/strict';
import { RetryingMemo, retryingMemoOf } from '../../../src/domain/work';

/** Work that the test ends; `begun` counts how often it began. */
function steered() {
  const ends: { readonly give: (value: string) => void; readonly fail: (why: Error) => void }[] =
    [];
  const work = (): Promise<string> =>
    new Promise((give, fail) => {
      ends.push({ give, fail });
    });
  const end = (number: number) => ends[number] ?? assert.fail(`work ${number} has not begun`);
  return { work, end, begun: () => ends.length };
}

describe('a retrying memo', () => {
  it('does the work once, for all who ask while it is under way and after', async () => {
    const { work, end, begun } = steered();
    const memo = new RetryingMemo(work);
    assert.equal(begun(), 0);
    const both = [memo.get(), memo.get()];
    end(0).give('made');
    assert.deepEqual(await Promise.all(both), ['made', 'made']);
    assert.equal(await memo.get(), 'made');
    assert.equal(begun(), 1);
  });

  it('keeps no failure, and has forgotten it when the first who asked learns of it', async () => {
    const { work, end, begun } = steered();
    const memo = new RetryingMemo(work);
    const second = memo.get().catch(() => memo.get());
    end(0).fail(new Error('the network is down'));
    await new Promise(setImmediate);
    end(1).give('made');
    assert.equal(await second, 'made');
    assert.equal(begun(), 2);
  });

  it('gives what it is asked with to the work that begins', async () => {
    const memo = new RetryingMemo(async (first: number, second: number) => first + second);
    assert.equal(await memo.get(1, 2), 3);
    assert.equal(await memo.get(10, 20), 3);
  });

  it('tells what was made without beginning work, and without a failure', async () => {
    const { work, end, begun } = steered();
    const memo = new RetryingMemo(work);
    assert.equal(await memo.made(), undefined);
    assert.equal(begun(), 0);
    void memo.get().catch(() => undefined);
    const made = memo.made();
    end(0).fail(new Error('no'));
    assert.equal(await made, undefined);
    void memo.get();
    end(1).give('made');
    assert.equal(await memo.made(), 'made');
  });

  it('begins anew after it was told to forget, whatever becomes of the former work', async () => {
    const { work, end, begun } = steered();
    const memo = new RetryingMemo(work);
    const former = memo.get();
    memo.forget();
    const later = memo.get();
    end(0).fail(new Error('too late'));
    await assert.rejects(former, /too late/);
    end(1).give('made');
    assert.equal(await later, 'made');
    assert.equal(await memo.get(), 'made');
    assert.equal(begun(), 2);
  });

  it('is one of its own for each key of a map', async () => {
    const kept = new Map<string, Promise<string>>();
    const { work, end, begun } = steered();
    const [a, again] = [retryingMemoOf(kept, 'a', work), retryingMemoOf(kept, 'a', work)];
    const b = retryingMemoOf(kept, 'b', work);
    end(0).give('of a');
    end(1).fail(new Error('no b'));
    assert.deepEqual(await Promise.all([a, again]), ['of a', 'of a']);
    await assert.rejects(b, /no b/);
    assert.deepEqual([...kept.keys()], ['a']);
    assert.equal(begun(), 2);
  });
});
