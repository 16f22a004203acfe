import assert from 'node:assert/strict';
import manifest from '../../../package.json';
import { engineNames } from '../../../src/engine/engine';

describe('the engines', () => {
  it('are those that the editor offers, each with its description', () => {
    const running = manifest.contributes.configuration.find((each) => each.id === 'running');
    const { properties } = running as unknown as {
      properties: Record<string, { enum: string[]; enumDescriptions: string[] }>;
    };
    const setting = properties['swt-bench.engine'];
    assert.deepEqual(setting?.enum, engineNames);
    assert.deepEqual(
      setting?.enumDescriptions,
      engineNames.map((name) => `%setting.engine.${name}%`),
    );
  });
});
