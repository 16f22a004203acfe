import assert from 'node:assert/strict';
import type { FidelityRow } from '../../bench/fidelity/fidelityRow';
import {
  fidelityLine,
  fidelityOrder,
  forEachRow,
  isSettled,
  onReleases,
  readFidelityJournal,
} from '../../bench/fidelity/fidelityLoop';

const row = (id: string, more: Partial<FidelityRow> = {}): FidelityRow => ({
  ...{ key: 'k', id, repo: 'octo/cat', version: '1', date: '2026-01-01T00:00:00Z' },
  ...{ engine: 'local', source: { kind: 'commit' }, seconds: 60, bytes: 0 },
  ...more,
});

const unexplained = {
  test: 't',
  listed: 'none',
  here: 'PASS_TO_PASS',
  cause: 'unexplained',
  detail: 'no failure',
} as const;

describe('the loop over the rows of a dataset', () => {
  it('reads of a journal the last line about each row, with the time of all', () => {
    const lines = [
      row('a', { notRun: 'no wheel', seconds: 5, bytes: 9 }),
      row('b'),
      row('a', { resolved: true, seconds: 7 }),
    ].map((each) => JSON.stringify(each));
    const journal = readFidelityJournal([...lines, '{"id":"c"}', '{"id":"b","torn'].join('\n'));
    assert.deepEqual([...journal.keys()], ['a', 'b']);
    const { notRun, resolved, seconds, bytes } = journal.get('a') ?? {};
    assert.deepEqual(
      { notRun, resolved, seconds, bytes },
      { notRun: undefined, resolved: true, seconds: 12, bytes: 9 },
    );
  });

  it('puts rows of a version beside each other, unless an order is asked for', () => {
    const rows = [
      { id: 'a', repo: 'x/y', version: '2', createdAt: '2020-02-01' },
      { id: 'b', repo: 'x/y', version: '1', createdAt: '2020-03-01' },
      { id: 'c', repo: 'x/y', version: '2', createdAt: '2020-01-01' },
    ];
    const ids = (asked?: string[]) => fidelityOrder(rows, asked).map(({ id }) => id);
    assert.deepEqual(ids(), ['b', 'c', 'a']);
    assert.deepEqual(ids(['a', 'b', 'c']), ['a', 'b', 'c']);
  });

  it('passes over rows of which a call would find out nothing more', () => {
    const asked = { fresh: false, causes: false, quick: false };
    const ran = row('a', { resolved: true, differing: [] });
    const open = row('a', { resolved: true, differing: [unexplained] });
    assert.equal(isSettled(ran, 'k', asked), true);
    assert.equal(isSettled(undefined, 'k', asked), false);
    assert.equal(isSettled(ran, 'other', asked), false);
    assert.equal(isSettled({ ...ran, notRun: 'no wheel' }, 'k', asked), false);
    assert.equal(isSettled(ran, 'k', { ...asked, fresh: true }), false);
    assert.equal(isSettled(ran, 'k', { ...asked, causes: true }), false);
    // A quick call leaves further runs to a later one, which makes them once.
    assert.equal(isSettled(open, 'k', { ...asked, quick: true }), true);
    assert.equal(isSettled(open, 'k', asked), false);
    assert.equal(isSettled({ ...open, tried: ['seeds'] }, 'k', asked), true);
  });

  it('tries the next release where nothing runs, up to three, and says why the first did not', async () => {
    const releases = ['3.0a1', '3.0b1', '3.0', '3.1'];
    const tried: string[] = [];
    const tryOn = (runs: string) => (passedOver: readonly string[]) => {
      const release = releases.find((each) => !passedOver.includes(each)) ?? '';
      tried.push(release);
      const notRun = release === runs ? undefined : `nothing runs on ${release}`;
      return Promise.resolve(row('a', { source: { kind: 'release', release }, notRun }));
    };
    const found = await onReleases(tryOn('3.0b1'));
    assert.deepEqual([found?.source.release, tried.splice(0)], ['3.0b1', ['3.0a1', '3.0b1']]);
    const none = await onReleases(tryOn('3.1'));
    assert.equal(none?.notRun, 'nothing runs on 3.0a1');
    assert.deepEqual(tried, ['3.0a1', '3.0b1', '3.0']);
  });

  it('tries a commit once, and keeps what a settled row says', async () => {
    let times = 0;
    const failed = await onReleases(() => {
      times += 1;
      return Promise.resolve(row('a', { notRun: 'no wheel' }));
    });
    assert.deepEqual([failed?.notRun, times], ['no wheel', 1]);
    assert.equal(await onReleases(() => Promise.resolve(undefined)), undefined);
  });

  it('does all rows once, as many at a time as there are workers', async () => {
    const done: number[] = [];
    let atOnce = 0;
    let most = 0;
    await forEachRow([1, 2, 3, 4, 5], 2, async (each) => {
      most = Math.max(most, ++atOnce);
      await Promise.resolve();
      atOnce -= 1;
      done.push(each);
    });
    assert.deepEqual([done, most], [[1, 2, 3, 4, 5], 2]);
  });

  it('says of a row what became of it', () => {
    assert.equal(
      fidelityLine(row('a', { notRun: 'no wheel' }), 3),
      'a: did not run: no wheel (60 s, 3 left)',
    );
    assert.equal(fidelityLine(row('a', { differing: [] }), 0), 'a: lists equal (60 s, 0 left)');
    const line = fidelityLine(row('a', { differing: [unexplained, unexplained] }), 1);
    assert.equal(line, 'a: 2 differ: unexplained (60 s, 1 left)');
  });
});
