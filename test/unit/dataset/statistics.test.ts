import assert from 'node:assert/strict';
import { countWords, statistics, type StatisticsItem } from '../../../src/dataset/statistics';
import type { UnsoundReason, Validation } from '../../../src/domain/soundness';

const validation = (more: Partial<Validation>): Validation => ({
  id: 'a',
  reasons: [],
  repetitions: 1,
  date: '',
  engine: 'local',
  environment: '',
  flaky: [],
  golden: {},
  goldenAdded: {},
  base: {},
  added: 0,
  removed: 0,
  seconds: 1,
  ...more,
});

const item = (more: Partial<StatisticsItem>): StatisticsItem => ({
  entry: { id: 'a', issue: '', tests: { files: [], lines: 0 } },
  ...more,
});

const figure = (items: readonly StatisticsItem[], key: string) => {
  const row = statistics(items).rows.find((each) => each.key === key);
  assert.ok(row !== undefined, key);
  return [row.mean, row.max, row.n];
};

describe('statistics of a selection', () => {
  const items = [
    item({
      entry: { id: 'a', issue: 'one two three', tests: { files: ['t.py'], lines: 10 } },
      codebase: { files: 100, lines: 2000 },
      validation: validation({
        base: { 'P→P': 7, 'F→F': 2, 'P→F': 1, '-→-': 5, 'P→-': 4 },
        golden: { 'F→P': 3, 'P→P': 8 },
        goldenAdded: { 'F→P': 2 },
        added: 2,
        removed: 1,
        baseCoverage: 0.5,
      }),
    }),
    item({ entry: { id: 'b', issue: 'one', tests: { files: ['t.py', 'u.py'], lines: 20 } } }),
    item({ validation: validation({ base: { 'P→P': 1 }, added: 4 }) }),
  ];

  it('gives mean and maximum, and for how many instances each is known', () => {
    assert.equal(statistics(items).selected, 3);
    assert.deepEqual(figure(items, 'issue_words'), [4 / 3, 3, 3]);
    assert.deepEqual(figure(items, 'codebase_files'), [100, 100, 1]);
    assert.deepEqual(figure(items, 'codebase_lines'), [2000, 2000, 1]);
    assert.deepEqual(figure(items, 'existing_f2p'), [0, 0, 2]);
    assert.deepEqual(figure(items, 'existing_f2f'), [1, 2, 2]);
    assert.deepEqual(figure(items, 'existing_p2p'), [4, 7, 2]);
    assert.deepEqual(figure(items, 'existing_p2f'), [0.5, 1, 2]);
    assert.deepEqual(figure(items, 'existing_total'), [5.5, 10, 2]);
    assert.deepEqual(figure(items, 'existing_coverage'), [0.5, 0.5, 1]);
    assert.deepEqual(figure(items, 'golden_f2p'), [1, 2, 2]);
    assert.deepEqual(figure(items, 'golden_p2p'), [0, 0, 2]);
    assert.deepEqual(figure(items, 'golden_added'), [3, 4, 2]);
    assert.deepEqual(figure(items, 'golden_removed'), [0.5, 1, 2]);
    assert.deepEqual(figure(items, 'golden_files'), [1, 2, 3]);
    assert.deepEqual(figure(items, 'golden_lines'), [10, 20, 3]);
  });

  it('does not take tests that never ran for none', () => {
    const broken = (kind: UnsoundReason['kind']) =>
      item({ validation: validation({ reasons: [{ kind, explanation: '', tests: [] }] }) });
    for (const kind of [
      'environment failed',
      'golden patch does not apply',
      'timed out',
    ] as const) {
      assert.deepEqual(figure([broken(kind)], 'existing_total'), [undefined, undefined, 0], kind);
      assert.deepEqual(figure([broken(kind)], 'golden_added'), [undefined, undefined, 0], kind);
    }
    assert.deepEqual(figure([broken('flaky')], 'existing_total'), [0, 0, 1]);
    const older: { goldenAdded?: unknown } = validation({ golden: { 'F→P': 3 } });
    delete older.goldenAdded;
    assert.deepEqual(figure([item({ validation: older as Validation })], 'golden_f2p'), [
      undefined,
      undefined,
      0,
    ]);
  });

  it('knows nothing of an empty selection', () => {
    for (const row of statistics([]).rows) {
      assert.deepEqual([row.mean, row.max, row.n], [undefined, undefined, 0], row.key);
    }
  });

  it('counts words with their punctuation marks apart', () => {
    const counts: [string, number][] = [
      ['', 0],
      [' \n\t', 0],
      ['Hello, world.', 4],
      ['a.b.c(x, 1.5) is 1,000 wide', 9],
      ["it's a 'quoted' word", 6],
      ['## Title\n```python\nx = 3\n```', 11],
      ['see http://x.org/y?a=1', 6],
      ['naïve 数学', 2],
      ['wait... what', 3],
    ];
    for (const [text, words] of counts) assert.equal(countWords(text), words, text);
  });
});
