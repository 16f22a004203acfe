import assert from 'node:assert/strict';
import { type RunData, type RunEntry, nothingKnown } from '../../../src/study/entry';
import { trajectoriesOfRuns } from '../../../src/editor/runs/trajectoriesOfRuns';
import { savedOrigin, type OriginOfRuns } from '../../../src/editor/trajectory/trajectoryOrigin';
import type { Trajectory } from '../../../src/trajectory/trajectory';

const path = __filename;
const cell = { run: 'r', model: 'm', sample: 1, instance: 'octo__cat-1' };

describe('where the trajectories of a restored panel are from', () => {
  it('is what the page has kept', () => {
    const origins = [
      { view: 'runs', path },
      { view: 'runs', path, run: 'r' },
      { view: 'dashboard', path, cell },
      { view: 'candidates', generation: 'g', sample: 2 },
    ];
    for (const origin of origins) {
      const kept: unknown = JSON.parse(JSON.stringify({ origin, row: { at: 1, instance: 'i' } }));
      assert.deepEqual(savedOrigin(kept), origin);
    }
  });

  it('is nothing where the page has kept something else', () => {
    for (const saved of [
      ...[undefined, null, 7, 'runs', [], {}, { origin: null }, { origin: { view: 'runs' } }],
      { origin: { view: 'files', path } },
      { origin: { view: 'runs', path: 'relative.jsonl' } },
      { origin: { view: 'runs', path: `${path}\0.jsonl` } },
      { origin: { view: 'runs', path: `/${'a'.repeat(40_000)}` } },
      { origin: { view: 'dashboard', path } },
      { origin: { view: 'dashboard', path, cell: { ...cell, sample: 0 } } },
      { origin: { view: 'candidates', generation: 'g', sample: '1' } },
    ]) {
      assert.equal(savedOrigin(saved), undefined, `${JSON.stringify(saved)}`);
    }
  });
});

describe('trajectories with the verdicts of listed runs', () => {
  const entry: RunEntry = {
    ...nothingKnown,
    ...{ instance: cell.instance, model: 'm', sample: 1, reason: 'success', explanation: '' },
    ...{ evaluated: true, success: true, failToPass: 1, seconds: 1 },
  };
  const listed: RunData = { label: 'r', instances: [], entries: [entry] };
  const library = {
    runs: [listed],
    run: (label: string) => (label === 'r' ? listed : undefined),
  };
  const trajectory: Trajectory = {
    ...{ instance: cell.instance, format: 'swt-bench', model: 'm', steps: [] },
  };
  const shown = (origin: OriginOfRuns) => trajectoriesOfRuns(library, origin).shownOf(trajectory);
  const verdict = { run: 'r', entry };
  const gone = 'The run gone is no longer in the list.';

  it('have that of the cell, of the run, or of any run', async () => {
    assert.equal(
      trajectoriesOfRuns(library, { view: 'dashboard', path, cell }).instance,
      cell.instance,
    );
    assert.deepEqual(await shown({ view: 'dashboard', path, cell }), { trajectory, verdict });
    assert.deepEqual(await shown({ view: 'runs', path, run: 'r' }), { trajectory, verdict });
    assert.deepEqual(await shown({ view: 'runs', path }), { trajectory, verdict });
  });

  it('say that the run is gone, in place of a verdict', async () => {
    const without = { trajectory, withoutVerdict: gone };
    const ofCell = { view: 'dashboard', path, cell: { ...cell, run: 'gone' } } as const;
    assert.deepEqual(await shown(ofCell), without);
    assert.deepEqual(await shown({ view: 'runs', path, run: 'gone' }), without);
  });
});
