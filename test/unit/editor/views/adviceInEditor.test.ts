import assert from 'node:assert/strict';
import type { RunEntry } from '../../../../src/domain/study/entry';
import { adviceInEditor } from '../../../../src/editor/runs/adviceInEditor';
import { simulatedRuns } from '../../dashboard/simulated';

describe('an entry of the dashboard in the editor', () => {
  const explanation = 'No host. Give --source octo/cat=PATH_OR_URL of a repository that has it';
  const [sample] = simulatedRuns({ instances: 1, methods: 1 })[0]?.entries ?? [];
  assert.ok(sample);
  const entry = (reason: RunEntry['reason']): RunEntry => ({ ...sample, reason, explanation });

  it('names the setting where nothing could be evaluated, since a window has no options', () => {
    const told = adviceInEditor(entry('source not available')).explanation;
    assert.match(told, /octo\/cat in the setting swt-bench\.repositorySources/);
    assert.doesNotMatch(told, /--source/);
  });

  it('is unchanged where tests ran, whose names may look like an option', () => {
    const graded = entry('passes on R');
    assert.equal(adviceInEditor(graded), graded);
  });
});
