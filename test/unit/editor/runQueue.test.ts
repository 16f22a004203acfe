import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Cancelled } from '../../../src/domain/work';
import { RunQueue } from '../../../src/editor/instance/runQueue';

const never = new AbortController().signal;

/** A promise that the test resolves. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

describe('RunQueue', () => {
  it('runs one at a time, in the order in which they were asked for', async () => {
    const queue = new RunQueue();
    const log: string[] = [];
    const first = gate();
    const one = queue.inTurn(never, async () => {
      log.push('first begins');
      await first.opened;
      log.push('first ends');
    });
    const two = queue.inTurn(never, async () => log.push('second'));
    await new Promise(setImmediate);
    assert.deepEqual(log, ['first begins']);
    assert.equal(queue.length, 2);
    first.open();
    await Promise.all([one, two]);
    assert.deepEqual(log, ['first begins', 'first ends', 'second']);
    assert.equal(queue.length, 0);
  });

  it('goes on after work that fails, and gives each its own result', async () => {
    const queue = new RunQueue();
    const failing = queue.inTurn(never, () => Promise.reject(new Error('broken')));
    const good = queue.inTurn(never, async () => 7);
    await assert.rejects(failing, /broken/);
    assert.equal(await good, 7);
  });

  it('ends what waits at once when it is cancelled, and never begins it', async () => {
    const queue = new RunQueue();
    const first = gate();
    const abort = new AbortController();
    const one = queue.inTurn(never, () => first.opened);
    let began = false;
    const two = queue.inTurn(abort.signal, async () => (began = true));
    abort.abort();
    await assert.rejects(two, Cancelled);
    first.open();
    await one;
    assert.equal(began, false);
    await assert.rejects(
      queue.inTurn(abort.signal, async () => (began = true)),
      Cancelled,
    );
    assert.equal(began, false);
  });

  it('lets nothing begin before what was cancelled while it ran has ended', async () => {
    const queue = new RunQueue();
    const abort = new AbortController();
    const ending = gate();
    let ended = false;
    const one = queue.inTurn(abort.signal, async () => {
      await ending.opened;
      ended = true;
      throw new Cancelled();
    });
    const waiting = new AbortController();
    const two = queue.inTurn(waiting.signal, async () => undefined);
    const three = queue.inTurn(never, async () => ended);
    await new Promise(setImmediate);
    abort.abort();
    waiting.abort();
    await assert.rejects(two, Cancelled);
    ending.open();
    await assert.rejects(one, Cancelled);
    assert.equal(await three, true);
  });

  it('never has two at work, whoever is cancelled', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ turns: fc.nat(3), cancelAt: fc.option(fc.nat(6)) }), { maxLength: 8 }),
        async (works) => {
          const queue = new RunQueue();
          let atWork = 0;
          let most = 0;
          const aborts = works.map(() => new AbortController());
          const all = works.map(({ turns }, index) =>
            queue
              .inTurn(aborts[index]?.signal ?? never, async () => {
                most = Math.max(most, ++atWork);
                for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
                atWork--;
              })
              .catch((error: unknown) => assert.ok(error instanceof Cancelled)),
          );
          for (let turn = 0; turn <= 6; turn++) {
            works.forEach(({ cancelAt }, index) => {
              if (cancelAt === turn) aborts[index]?.abort();
            });
            await new Promise(setImmediate);
          }
          await Promise.all(all);
          assert.ok(most <= 1);
          assert.equal(queue.length, 0);
        },
      ),
      { numRuns: 50 },
    );
  });
});
