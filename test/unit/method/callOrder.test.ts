import assert from 'node:assert/strict';
import { Cancelled } from '../../../src/domain/work';
import { CallOrder } from '../../../src/method/tools/callOrder';

const uses = { usesCandidate: true };

/** Lets everything run that waits for nothing else. */
const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('the order of calls on one candidate', () => {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  let order = new CallOrder();
  beforeEach(() => {
    order = new CallOrder();
    began.splice(0);
    ends.clear();
  });
  const call = (name: string, signal?: AbortSignal, tool = uses): Promise<string> =>
    order.inTurn(tool, signal, async () => {
      began.push(name);
      await new Promise<void>((done) => ends.set(name, done));
      return name;
    });

  it('is that in which they came, also after one that fails', async () => {
    const failing = order.inTurn(uses, undefined, () => Promise.reject(new Error('it failed')));
    const calls = [call('apply'), call('run')];
    await assert.rejects(failing, /it failed/);
    await settle();
    assert.deepEqual(began, ['apply']);
    ends.get('apply')?.();
    await calls[0];
    await settle();
    assert.deepEqual(began, ['apply', 'run']);
    ends.get('run')?.();
    assert.equal(await calls[1], 'run');
  });

  it('lets calls that do not use the candidate begin at once', async () => {
    void call('run');
    await settle();
    void call('apply');
    void call('read', undefined, { usesCandidate: false });
    await settle();
    assert.deepEqual(began, ['run', 'read']);
  });

  it('lets a cancelled call go without letting later ones overtake', async () => {
    const stop = new AbortController();
    void call('first');
    const cancelled = call('second', stop.signal);
    void call('third');
    stop.abort();
    await assert.rejects(cancelled, Cancelled);
    await settle();
    assert.deepEqual(began, ['first']);
    ends.get('first')?.();
    await settle();
    assert.deepEqual(began, ['first', 'third']);
  });
});
