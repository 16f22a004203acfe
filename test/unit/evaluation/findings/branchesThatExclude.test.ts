import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Trees } from '../../../../src/repository/trees';
import { branchesThatExclude } from '../../../../src/evaluation/findings/branchesThatExclude';
import { loadParser } from '../../python/loadParser';

describe('branches that exclude each other', () => {
  const source = 'def f(a):\n    if a:\n        b = 1\n    else:\n        b = 2\n    return b\n';

  let base = '';
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'swt-branches-'));
    await writeFile(join(base, 'm.py'), source);
  });
  after(() => rm(base, { recursive: true }));

  const found = async (counts: Readonly<Record<number, number>>): Promise<string[]> => {
    const lines = Object.entries(counts).map(
      ([line, count]) =>
        [Number(line), { shared: 0, byTest: new Map([['t.py::test_a', count]]) }] as const,
    );
    const python = await loadParser();
    const trees = { base, fixed: base } as Trees;
    return branchesThatExclude({ python, trees }, 'base', {
      candidate: new Map([['m.py', new Map(lines)]]),
    });
  };

  it('are named where both ran as often as their condition', async () => {
    assert.deepEqual(await found({ 2: 3, 3: 3, 5: 3, 6: 3 }), [
      'on R: t.py::test_a is recorded as running lines 3 and 5 of m.py each time it ran the condition on line 2, although these branches exclude each other',
    ]);
  });

  it('are not named where executions give these counts', async () => {
    for (const counts of [
      { 2: 2, 3: 1, 5: 1 },
      { 2: 1, 3: 1 },
      { 3: 1, 5: 1 },
      { 2: 3, 3: 3, 5: 2 },
    ]) {
      assert.deepEqual(await found(counts), []);
    }
  });
});
