import assert from 'node:assert/strict';
import { EnvironmentNotes } from '../../../src/editor/instance/environmentNotes';

describe('notes on the environment of an instance', () => {
  const made = () => {
    const kept = new Map<string, unknown>();
    const said: (string | undefined)[] = [];
    const log: string[] = [];
    const memento = {
      get: (key: string) => kept.get(key) as never,
      update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)),
    };
    const reporter = { log: (line: string) => void log.push(line), progress: () => {} };
    const notes: EnvironmentNotes = new EnvironmentNotes(
      ...([memento, reporter, () => said.push(notes.step ?? notes.last), 'en'] as const),
    );
    return { notes, said, log, memento, reporter };
  };

  it('are the steps while it is made, and then nothing', async () => {
    const { notes, said } = made();
    const result = await notes.during('Environment of X', async (tell) => {
      assert.equal(notes.step, 'Environment of X');
      tell('installing');
      await Promise.resolve();
      return 7;
    });
    assert.equal(result, 7);
    assert.equal(notes.step, undefined);
    assert.deepEqual(said, ['Environment of X', 'installing', undefined]);
  });

  it('let a second one wait for the first, however that ends', async () => {
    const { notes } = made();
    let fail = (): void => {};
    const gate = new Promise<never>((_, reject) => (fail = () => reject(new Error('no network'))));
    const first = notes.during('Environment of X', () => gate);
    const second = notes.settled().then(() => notes.step);
    fail();
    await assert.rejects(first, /no network/);
    assert.equal(await second, undefined);
    await notes.settled();
  });

  it('keep the last result, in the log and for later windows', async () => {
    const { notes, said, log, memento, reporter } = made();
    assert.equal(notes.last, undefined);
    await notes.keep((time) => `Made at ${time}: /x/bin/python`);
    assert.match(notes.last ?? '', /^Made at \d+\/\d+\/\d+, \d+:\d+\s[AP]M: \/x\/bin\/python$/);
    assert.deepEqual(said, [notes.last]);
    assert.deepEqual(log, [notes.last]);
    assert.equal(new EnvironmentNotes(memento, reporter, () => {}, 'en').last, notes.last);
  });
});
