import assert from 'node:assert/strict';
import { savedCoverage } from '../../../../src/editor/coverage/shownCoverage';
import { toReport } from '../../../../src/results/report';
import { candidateResult } from '../../evaluation/examples';

const instance = 'octo__cat-1';
const result = candidateResult({ instance });
const reportOf = (more: Parameters<typeof candidateResult>[0] = {}): string =>
  JSON.stringify({
    [instance]: toReport({
      prediction: { instanceId: instance, model: 'm', patch: 'p' },
      result: { ...result, ...more },
    }),
  });

describe('the change coverage of a saved report', () => {
  it('is that of its instance, without the texts of the lines and the count of each test', () => {
    const { changeCoverage } = result;
    assert.ok(changeCoverage !== undefined && changeCoverage.lines.length > 0);
    assert.deepEqual(savedCoverage(reportOf(), instance), {
      ...changeCoverage,
      lines: changeCoverage.lines.map((line) => ({ ...line, text: '', executions: {} })),
    });
  });

  it('says which lines the candidate lost', () => {
    const { changeCoverage } = result;
    assert.ok(changeCoverage !== undefined);
    const lines = changeCoverage.lines.map((line) => ({ ...line, lost: true as const }));
    const saved = savedCoverage(
      reportOf({ changeCoverage: { ...changeCoverage, lines } }),
      instance,
    );
    assert.ok(saved?.lines.every(({ lost }) => lost));
  });

  it('is unknown where the report has none', () => {
    assert.equal(savedCoverage(reportOf({ changeCoverage: undefined }), instance), undefined);
    assert.equal(savedCoverage(reportOf(), 'octo__cat-2'), undefined);
    assert.equal(savedCoverage('{}', instance), undefined);
  });

  it('is unknown where the report cannot be read', () => {
    assert.equal(savedCoverage('{"octo__cat-1": ', instance), undefined);
    assert.equal(savedCoverage('[1]', instance), undefined);
    const broken = reportOf().replaceAll('"newly covered"', '"covered"');
    assert.notEqual(broken, reportOf());
    assert.equal(savedCoverage(broken, instance), undefined);
  });
});
