import assert from 'node:assert/strict';
import { nodeUses } from '../../../src/study/measures/nodeUse';

const run = { instances: [], entries: [], models: [] };

describe('what nodes were used for', () => {
  it('is told of runs, and once of a predictions file that several of them grade', () => {
    const made = [{ from: 'a.jsonl', seconds: { one: 7 } }];
    assert.deepEqual(
      nodeUses({
        runs: [
          { ...run, label: 'tests', nodeSeconds: { one: 1, two: 2 }, made },
          { ...run, label: 'again', made },
          { ...run, label: 'elsewhere' },
        ],
        repairRuns: [{ label: 'fixes', nodeSeconds: { two: 3 } }],
      }),
      [
        { purpose: 'predictions', name: 'a.jsonl', seconds: { one: 7 } },
        { purpose: 'tests', name: 'tests', seconds: { one: 1, two: 2 } },
        { purpose: 'code patches', name: 'fixes', seconds: { two: 3 } },
      ],
    );
  });
});
