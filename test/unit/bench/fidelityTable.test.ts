import assert from 'node:assert/strict';
import type { FidelityRow } from '../../bench/fidelity/fidelityRow';
import { fidelityTable } from '../../bench/fidelity/fidelityTable';

const row = (id: string, more: Partial<FidelityRow> = {}): FidelityRow => ({
  ...{
    key: 'k',
    id,
    repo: 'octo/cat',
    version: '1',
    date: '2026-01-01T00:00:00Z',
    engine: 'local',
  },
  ...{ source: { kind: 'commit' }, seconds: 60, bytes: 2 ** 29 },
  ...(more.notRun === undefined && { resolved: true, strictSuccess: true, differing: [] }),
  ...more,
});

describe('the table of fidelity', () => {
  const differing = (cause: 'flaky' | 'unexplained', test: string) =>
    ({ test, listed: 'none', here: 'PASS_TO_PASS', cause, detail: `because | ${cause}` }) as const;

  it('counts rows by repository: those that ran, are equal, or are explained', () => {
    const text = fidelityTable(
      [
        row('a'),
        row('b', { differing: [differing('flaky', 's'), differing('flaky', 't')] }),
        row('c', { differing: [differing('unexplained', 'u')], resolved: false }),
        row('d', { notRun: 'no wheel' }),
        row('e', { repo: 'octo/dog' }),
      ],
      [
        ...['a', 'b', 'c', 'd', 'not tried'].map((id) => ({ id, repo: 'octo/cat' })),
        { id: 'e', repo: 'octo/dog' },
        { id: 'f', repo: 'octo/eel' },
      ],
      '2026-01-02',
    );
    const lines = text.split('\n');
    assert.ok(lines.includes('As of 2026-01-02, 5 of 7 rows were tried.'));
    assert.ok(
      lines.includes('| octo/cat | 5 | 4 | 3 | 2 | 3 | 1 | 1 | 2 | 4 min | 2.0 GiB |'),
      text,
    );
    assert.ok(lines.includes('| **all** | 7 | 5 | 4 | 3 | 4 | 2 | 2 | 3 | 5 min | 2.5 GiB |'));
    assert.ok(lines.includes('| flaky | 2 | 1 | octo/cat |'));
    assert.ok(lines.includes(String.raw`| b | commit | 2 | flaky | because \| flaky |`));
    assert.ok(lines.includes('| d | commit | no wheel |'));
    assert.ok(lines.includes('| octo/eel | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 min | 0.0 GiB |'));
    assert.deepEqual(lines.slice(lines.indexOf('## Each row') + 4).filter(Boolean), [
      '| a | commit | yes | yes | equal |',
      '| b | commit | yes | yes | 2 flaky |',
      '| c | commit | no | yes | 1 unexplained |',
      '| d | commit | | | did not run |',
      '| not tried | | | | not tried |',
      '| e | commit | yes | yes | equal |',
      '| f | | | | not tried |',
    ]);
  });

  it('counts an environment once that rows share', () => {
    const shared = { interpreter: '/e/bin/python', environmentBytes: 2 ** 30 };
    const rows = [row('a', shared), row('b', shared), row('c', { ...shared, interpreter: '/f' })];
    const text = fidelityTable(rows, rows, '2026-01-02');
    assert.match(text, /\*\*all\*\* .* 3\.5 GiB \|/);
  });

  it('says what was run in vain for a test without a cause', () => {
    const shown = row('a', { differing: [differing('unexplained', 't')], tried: ['two seeds'] });
    const text = fidelityTable([shown], [shown], '2026-01-02');
    assert.match(text, /because \\\| unexplained; also run: two seeds \|/);
  });

  it('names the release, what was taken out of it, and the day of packages', () => {
    const source = { kind: 'release', release: 'Cat-3.0a1', takenOut: ['X*', 'T*'] } as const;
    const packageDay = { wanted: '2019-07-12', taken: '2019-10-23' };
    const shown = row('a', {
      source: { ...source, takenOut: [...source.takenOut] },
      packageDay,
      differing: [differing('flaky', 't')],
    });
    const text = fidelityTable([shown], [shown], '2026-01-02');
    assert.match(text, /\| Cat-3\.0a1 without X\* and T\*; packages of 2019-10-23 \|/);
  });
});
