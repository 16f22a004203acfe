import assert from 'node:assert/strict';
import { withoutHiddenSurvivors } from '../../../../src/editor/runs/dashboardContent';
import { simulatedStudy } from '../../dashboard/simulated';

describe('surviving mutants in the editor', () => {
  it('have their code only for revealed instances', () => {
    const [run] = simulatedStudy({ instances: 2, methods: 1 }).runs;
    assert.ok(run);
    const survivor = { path: 'a.py', line: 1, operator: 'number', before: '1', after: '2' };
    const entries = run.entries.map((entry) => ({
      ...entry,
      mutants: { killed: 1, all: 2 },
      survivors: [{ ...survivor, status: 'survived' as const }],
    }));
    const [first, second] = run.instances;
    const revealed = { has: (id: string) => id === first?.id };
    const [shown] = withoutHiddenSurvivors([{ ...run, entries }], revealed);
    assert.ok(shown && second);
    for (const { instance, mutants, survivors } of shown.entries) {
      assert.equal(survivors?.length, instance === second.id ? undefined : 1);
      assert.deepEqual(mutants, { killed: 1, all: 2 });
    }
  });
});
