import assert from 'node:assert/strict';
import { Command } from 'commander';
import { withAgentlessOptions } from '../../../src/commands/options/agentlessOptions';
import { readAgentlessNumbers } from '../../../src/editor/generate/agentlessNumbers';
import {
  agentlessNumbers,
  agentlessSettings,
} from '../../../src/method/agentless/agentlessSettings';

describe('the numbers of Agentless in the editor', () => {
  it('are recorded where they differ from the paper', () => {
    assert.deepEqual(readAgentlessNumbers(undefined), { numbers: {}, problems: [] });
    assert.deepEqual(
      readAgentlessNumbers({ repairSamples: agentlessNumbers.repairSamples.default }),
      { numbers: {}, problems: [] },
    );
    const { numbers } = readAgentlessNumbers({ repairSamples: 2, topFiles: 3, chunkOverlap: 0 });
    assert.deepEqual(numbers, { repairSamples: 2 });
    assert.equal(agentlessSettings(numbers).topFiles, 3);
  });

  it('take what their options take, and nothing else', () => {
    const values = [-1, 0, 0.5, 1, 2, 2.5, 7, 1e300];
    for (const [name, { option }] of Object.entries(agentlessNumbers)) {
      for (const value of values) {
        const command = withAgentlessOptions(new Command())
          .exitOverride()
          .configureOutput({
            writeErr: () => undefined,
          });
        let isOption = true;
        try {
          command.parse([`${option}=${value}`], { from: 'user' });
        } catch {
          isOption = false;
        }
        const isSetting = readAgentlessNumbers({ [name]: value }).problems.length === 0;
        assert.equal(isSetting, isOption, `${name} ${value}`);
      }
    }
  });

  it('that are faulty are told by their names', () => {
    const { numbers, problems } = readAgentlessNumbers({
      ...{ topFiles: 0, repairTemperature: 3, samples: 4 },
      ...{ reproductionSamples: '40', locationSamples: 1 },
    });
    assert.deepEqual(numbers, { locationSamples: 1 });
    assert.deepEqual(problems, [
      'topFiles is 0 and not a whole number from 1',
      'repairTemperature is 3 and not a number from 0 to 2',
      'reproductionSamples is "40" and not a whole number from 1',
      'samples is not known',
    ]);
    assert.deepEqual(readAgentlessNumbers([3]).problems, ['it is no object']);
  });
});
