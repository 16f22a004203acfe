import assert from 'node:assert/strict';
import { entryForPage } from '../../../../src/editor/runs/entryForPage';
import { simulatedStudy } from '../../dashboard/simulated';

describe('an entry for the dashboard in the editor', () => {
  it('advises settings where its report advises options, and tells no file', () => {
    const [entry] = simulatedStudy({ instances: 1, methods: 1 }).runs[0]?.entries ?? [];
    assert.ok(entry);
    const explanation =
      'Commit 8117 of octo/ledger cannot be obtained. Give --source octo/ledger=PATH_OR_URL of a repository that has it';
    const shown = entryForPage({ ...entry, explanation, report: 'octo__ledger-5/report.json' });
    assert.equal('report' in shown, false);
    assert.equal(
      shown.explanation,
      'Commit 8117 of octo/ledger cannot be obtained. Give octo/ledger in the setting swt-bench.repositorySources the path or address of a repository that has it',
    );
  });
});
