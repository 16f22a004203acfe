import assert from 'node:assert/strict';
import { Cancelled } from '../../../../src/domain/work';
import { PodTurns, type Opening, type Placing } from '../../../../src/engine/kubernetes/podTurns';

/** A cluster with room for some pods, in which pods wait until there is room. */
class Room {
  readonly removed: string[] = [];
  private readonly waiting: (() => void)[] = [];
  /** The most that was taken at once. */
  most = 0;
  private taken = 0;

  constructor(private readonly size: number) {}

  readonly opening =
    (name: string): Opening<string> =>
    async ({ signal, placed }: Placing) => {
      while (this.taken >= this.size) {
        await new Promise<void>((resolve) => {
          this.waiting.push(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        if (signal.aborted) throw new Cancelled();
      }
      this.taken += 1;
      this.most = Math.max(this.most, this.taken);
      placed();
      // A pod starts some time after it has a node.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) {
        await this.remove(name);
        throw new Cancelled();
      }
      return name;
    };

  readonly remove = (name: string): Promise<void> => {
    this.removed.push(name);
    this.taken -= 1;
    this.waiting.splice(0).forEach((wake) => wake());
    return Promise.resolve();
  };

  /** Opens a pair on turns of one process, and closes it. */
  async pair(turns: PodTurns, name: string, more: Partial<Hooks> = {}): Promise<void> {
    const opened = await this.open(turns, name, more);
    await Promise.all(opened.map(this.remove));
  }

  open(turns: PodTurns, name: string, more: Partial<Hooks> = {}): Promise<string[]> {
    return turns.open([this.opening(`${name} R`), this.opening(`${name} fixed`)], {
      ...{ remove: this.remove, onQueued: nothing, onShort: nothing, onReleased: nothing },
      ...more,
    });
  }
}

type Hooks = {
  readonly signal: AbortSignal;
  readonly onQueued: () => void;
  readonly onShort: () => void;
  readonly onReleased: () => void;
};
const nothing = (): void => undefined;

/** Halves are held for ever, so that nothing but turns prevents a deadlock. */
const patient = { short: 3_600_000, hold: 3_600_000, longestRest: 3_600_000, random: () => 0.5 };

describe('pods that are opened together', () => {
  it('are had by one pair after the other where there is room for one', async () => {
    const room = new Room(2);
    const turns = new PodTurns(patient);
    let queued = 0;
    const onQueued = (): void => void (queued += 1);
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => room.pair(turns, name, { onQueued })));
    assert.equal(room.most, 2);
    assert.equal(room.removed.length, 8);
    assert.equal(queued, 3);
  });

  it('are all opened at once where there is room for all', async () => {
    const room = new Room(8);
    const turns = new PodTurns(patient);
    const pairs = await Promise.all(['a', 'b', 'c', 'd'].map((name) => room.open(turns, name)));
    assert.equal(room.most, 8);
    assert.deepEqual(pairs[2], ['c R', 'c fixed']);
    assert.deepEqual(room.removed, []);
  });

  it('are given back by processes that hold halves, until each has had a pair', async () => {
    const room = new Room(2);
    // Each process has turns of its own. Their holds differ, as random ones do.
    let released = 0;
    const onReleased = (): void => void (released += 1);
    const half = room.opening('a foreign half');
    const held = await half({ signal: new AbortController().signal, placed: nothing });
    const timing = (random: number) => ({
      short: 1,
      hold: 5,
      longestRest: 40,
      random: () => random,
    });
    const both = [0.1, 0.7].map((random, at) =>
      room.pair(new PodTurns(timing(random)), String(at), { onReleased }),
    );
    while (released === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await room.remove(held);
    await Promise.all(both);
    assert.equal(room.most, 2);
  });

  it('leave nothing when one of them cannot be opened', async () => {
    const room = new Room(1);
    const turns = new PodTurns(patient);
    const failing: Opening<string> = () => Promise.reject(new Error('no image'));
    const work = { ...hooks, remove: room.remove };
    await assert.rejects(turns.open([room.opening('R'), failing], work), /no image/);
    assert.deepEqual(room.removed, ['R']);
    // The other one waits for room, and does so no longer.
    const [held = ''] = await turns.open([room.opening('held')], work);
    await assert.rejects(turns.open([room.opening('R'), failing], work), /no image/);
    await room.remove(held);
    assert.deepEqual(await turns.open([room.opening('next')], work), ['next']);
  });

  it('give their turn up when they are cancelled, while they wait for it or for room', async () => {
    const room = new Room(2);
    const turns = new PodTurns(patient);
    const first = await room.open(turns, 'a');
    const cancelled = [new AbortController(), new AbortController()];
    const waiting = cancelled.map(({ signal }, at) => room.open(turns, `b${at}`, { signal }));
    const last = room.open(turns, 'c');
    cancelled.forEach((each) => each.abort());
    for (const each of waiting) await assert.rejects(each, Cancelled);
    await Promise.all(first.map(room.remove));
    assert.deepEqual(await last, ['c R', 'c fixed']);
    assert.equal(room.most, 2);
  });

  it('say when room is short, so that what nobody needs is removed', async () => {
    const room = new Room(2);
    const turns = new PodTurns({ ...patient, short: 1 });
    const [spare = ''] = await turns.open([room.opening('spare')], {
      ...hooks,
      remove: room.remove,
    });
    let times = 0;
    // The spare one is still starting when room is short for the first time.
    const onShort = (): void => {
      times += 1;
      if (times === 2) void room.remove(spare);
    };
    const opened = await room.open(turns, 'a', { onShort });
    assert.deepEqual(opened, ['a R', 'a fixed']);
  });
});

const hooks = { onQueued: nothing, onShort: nothing, onReleased: nothing };
