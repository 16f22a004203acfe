import assert from 'node:assert/strict';
import type { RunData } from '../../../../src/study/entry';
import { dashboardProblems } from '../../../../src/editor/runs/dashboardContent';

describe('what a dashboard says beside its runs', () => {
  const listed: RunData = { label: 'listed', instances: [], entries: [] };
  const library = {
    problems: ['/runs/broken: no manifest'],
    run: (label: string) => (label === 'listed' ? listed : undefined),
  };

  it('is what could not be read, of all runs', () => {
    assert.deepEqual(dashboardProblems(library, []), library.problems);
  });

  it('is which of the chosen runs are no longer listed', () => {
    assert.deepEqual(dashboardProblems(library, ['listed']), []);
    assert.deepEqual(dashboardProblems(library, ['listed', 'gone']), [
      'The run gone is no longer in the list. To restore it, run "SWT-Bench: Add Results…"',
    ]);
  });
});
