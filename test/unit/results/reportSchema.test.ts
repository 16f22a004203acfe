import assert from 'node:assert/strict';
import { harnessUnapplied } from '../../../src/domain/harness';
import { ungraded } from '../../../src/domain/verdict';
import type { BatchEntry } from '../../../src/results/entry';
import { toReport } from '../../../src/results/report';
import {
  readableReportSchema,
  reportSchema,
  reportFileSchema,
  reportVersion,
} from '../../../src/results/reportSchema';
import { candidateResult } from '../evaluation/examples';
import { assertPublished } from './publishedSchema';

const entries: readonly BatchEntry[] = [
  { prediction: { instanceId: 'a', model: 'm', patch: 'p' }, result: candidateResult() },
  {
    prediction: { instanceId: 'a', model: 'm', patch: 'p', sample: 2 },
    result: candidateResult({
      strict: ungraded('does not apply', 'hunk 1', false),
      harness: harnessUnapplied(true),
      changeCoverage: undefined,
      goldenCoverage: undefined,
      runs: {},
      difference: 'harness grading: resolved; another rule',
      diagnostics: [{ severity: 'error', line: 3, message: 'hunk 1 does not apply' }],
      findings: [{ kind: 'edits what runs tests', evidence: ['pytest.ini is added'] }],
    }),
    seconds: 1.25,
  },
  {
    prediction: { instanceId: 'a', model: 'm', patch: '' },
    failure: 'no such commit',
    why: 'source not available',
  },
  {
    prediction: {
      ...{ instanceId: 'a', model: 'm', patch: 'p' },
      trajectoryFindings: [
        { kind: 'history', severity: 'warning', step: 3, text: 'git reflog', why: 'reaches' },
        { kind: 'tells the sides apart', severity: 'note', step: 0, text: '__version__' },
      ],
    },
    result: candidateResult(),
  },
];

describe('the published schema of reports', () => {
  it('is the one in media/schema (UPDATE_SCHEMAS=1 writes it)', async () => {
    await assertPublished(
      'report.schema.json',
      {
        title: `Report of one candidate on one instance, version ${reportVersion}`,
        description:
          'report.json as `swt-bench evaluate --out` writes it: the report by the id of its instance. Keys of the SWT-Bench harness keep their meaning there.',
      },
      reportFileSchema,
    );
  });

  it('allows the reports of every kind of entry, and keeps all of them', () => {
    for (const entry of entries) {
      const report = JSON.parse(JSON.stringify(toReport(entry))) as unknown;
      assert.deepEqual(reportSchema.parse(report), report);
      assert.deepEqual(reportFileSchema.parse({ a: report }), { a: report });
    }
  });

  it('is read leniently, but not where it contradicts itself', () => {
    for (const entry of entries) {
      const report = JSON.parse(JSON.stringify(toReport(entry))) as Record<string, unknown>;
      assert.ok(readableReportSchema.safeParse(report).success);
      const { strict } = report;
      if (strict === null) continue;
      const { success } = strict as { success: boolean };
      const forged = { ...report, strict: { ...(strict as object), success: !success } };
      const { error } = readableReportSchema.safeParse(forged);
      assert.equal(error?.issues[0]?.path.join('.'), 'strict.success');
    }
  });

  it('has the version of the strict block', () => {
    const report = JSON.parse(JSON.stringify(toReport(entries[0] as BatchEntry))) as {
      strict: object;
    };
    assert.ok(
      !reportSchema.safeParse({ ...report, strict: { ...report.strict, version: 2 } }).success,
    );
  });
});
