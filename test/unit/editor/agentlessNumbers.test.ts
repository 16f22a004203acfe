import assert from 'node:assert/strict';
import { Command } from 'commander';
import packageJson from '../../../package.json';
import texts from '../../../package.nls.json';
import { withAgentlessOptions } from '../../../src/commands/options/agentlessOptions';
import { readAgentlessNumbers } from '../../../src/editor/generate/agentlessNumbers';
import {
  agentlessNumbers,
  agentlessSettings,
  numberBounds,
} from '../../../src/method/agentless/agentlessSettings';
import { embeddingProviders } from '../../../src/method/models/providers';

const { properties } = packageJson.contributes.configuration.find(({ id }) => id === 'models')!;
const setting = properties['swt-bench.repair.agentless'] as unknown as Readonly<
  Record<'default' | 'properties' | 'additionalProperties', unknown>
>;

describe('the numbers of Agentless in the editor', () => {
  it('are offered with the defaults, bounds and texts of their table', () => {
    const table = Object.entries(agentlessNumbers);
    assert.deepEqual(
      setting.default,
      Object.fromEntries(table.map(([name, { default: value }]) => [name, value])),
    );
    assert.equal(setting.additionalProperties, false);
    const expected = table.map(([name, { kind, default: usual }]) => {
      const { isWhole, ...bounds } = numberBounds[kind];
      const description = `%setting.repair.agentless.${name}%`;
      const type = isWhole ? 'integer' : 'number';
      return [name, { type, ...bounds, default: usual, description }];
    });
    assert.deepEqual(Object.entries(setting.properties as object), expected);
    for (const [name, { stage, meaning }] of table) {
      assert.equal(
        (texts as Readonly<Record<string, string>>)[`setting.repair.agentless.${name}`],
        `Stage ${stage}: ${meaning}.`,
      );
    }
  });

  it('are recorded where they differ from the paper', () => {
    assert.deepEqual(readAgentlessNumbers(undefined), { numbers: {}, problems: [] });
    assert.deepEqual(readAgentlessNumbers(setting.default), { numbers: {}, problems: [] });
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

describe('the setting of the embedding model', () => {
  it('offers the providers that have embeddings', () => {
    const { pattern, default: usual } = properties['swt-bench.repair.embeddingModel']!;
    const isGood = (name: string): boolean => new RegExp(pattern).test(name);
    assert.ok(isGood(usual), 'none');
    for (const provider of embeddingProviders) assert.ok(isGood(`${provider}/some`), provider);
    assert.ok(!isGood('anthropic/some'));
  });
});
