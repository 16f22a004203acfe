import assert from 'node:assert/strict';
import { judgedDocument, judgedRepairsSchema } from '../../../src/repair/judgedRepairsSchema';
import { assertPublished } from '../results/publishedSchema';

describe('the published schema of judged code patches', () => {
  it('is the one in media/schema (UPDATE_SCHEMAS=1 writes it)', async () => {
    const { value: version } = judgedRepairsSchema.shape.version;
    await assertPublished(
      'resolutions.schema.json',
      {
        title: `Judged code patches, version ${version}`,
        description: 'What `swt-bench evaluate --kind repair --json` prints.',
      },
      judgedRepairsSchema,
    );
  });

  it('allows every kind of result, with nothing that it does not name', () => {
    const group = { success: 1, failure: 0 };
    const document = judgedDocument(
      {
        judged: [
          {
            ...{ instance: 'a', model: 'm', sample: 1, status: 'resolved', seconds: 1 },
            ...{ resolution: 'RESOLVED_FULL', lists: 'golden runs', difference: 'd' },
            tests: { FAIL_TO_PASS: group, PASS_TO_PASS: group },
            strict: { resolved: null, reason: 'golden tests unknown', explanation: 'why' },
            location: { file: true, function: false, line: false },
            notes: ['note'],
            appliedWith: 'patch',
            cost: { dollars: 1, inputTokens: 1, outputTokens: 1, seconds: 1 },
            madeBy: { method: 'x', model: 'y' },
            ranked: {
              ...{ sample: 2, group: 1, regressions: 0, reproduction: 'none' },
              draw: { set: 1, sets: 4, round: 2, rounds: 10 },
            },
            stages: {
              located: [
                {
                  ...{ step: 'locations', set: 1, lines: 3 },
                  contains: { file: true, function: true, line: false },
                },
              ],
              dollars: { files: 0.1 },
            },
            oracle: true,
          },
          {
            ...{ instance: 'a', model: 'm', sample: 2, status: 'error', seconds: 0 },
            ...{ failure: 'no disk', hindrance: 'environment failed' },
            infra: { reason: 'out_of_memory', tier: 'environment' },
          },
        ],
        reused: 1,
      },
      { instances: [], run: 'run', engine: 'simulated engine', problems: ['line 3 is not JSON'] },
    );
    assert.deepEqual(judgedRepairsSchema.strict().parse(document), document);
    assert.equal(document.rates.length, 1);
  });
});
