import assert from 'node:assert/strict';
import type { RunEntry } from '../../../../src/study/entry';
import { entryForPage } from '../../../../src/editor/runs/dashboardContent';
import { simulatedRuns } from '../../dashboard/simulated';

describe('an entry for the dashboard in the editor', () => {
  const explanation =
    'Commit 8117 of octo/ledger cannot be obtained. Give --source octo/ledger=PATH_OR_URL of a repository that has it';
  const [sample] = simulatedRuns({ instances: 1, methods: 1 })[0]?.entries ?? [];
  assert.ok(sample);
  const entry = (reason: RunEntry['reason']): RunEntry => ({
    ...sample,
    reason,
    explanation,
    report: 'octo__ledger-5/report.json',
  });

  it('names the setting where nothing could be evaluated, since a window has no options', () => {
    assert.equal(
      entryForPage(entry('source not available')).explanation,
      'Commit 8117 of octo/ledger cannot be obtained. Give octo/ledger in the setting swt-bench.repositorySources the path or address of a repository that has it',
    );
  });

  it('keeps the explanation where tests ran, whose names may look like an option', () => {
    assert.equal(entryForPage(entry('passes on R')).explanation, explanation);
  });

  it('has no file of its report', () => {
    assert.equal('report' in entryForPage(entry('passes on R')), false);
  });
});
