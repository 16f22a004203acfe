import assert from 'node:assert/strict';
import { readDockerSettings } from '../../../src/engine/docker/readDockerSettings';
import { dockerSettings } from '../../../src/engine/docker/dockerSettings';
import { HumanError } from '../../../src/domain/work';
import { dockerSettingKeys } from '../../../src/editor/shell/settingNames/dockerSettingKeys';

import manifest from '../../../package.json';

const nameOf = (key: string): string => `setting ${key}`;

describe('settings of the docker engine', () => {
  it('are the defaults where nothing is given', () => {
    assert.deepEqual(readDockerSettings({}, nameOf), dockerSettings.parse({}));
  });

  it('are the same by default in the editor', () => {
    const containers = manifest.contributes.configuration.find((each) => each.id === 'containers');
    const { properties } = containers as unknown as {
      properties: Record<string, { default: unknown }>;
    };
    const defaults = dockerSettings.parse({});
    const keys = Object.keys(defaults) as (keyof typeof defaults)[];
    const inEditor = Object.fromEntries(
      keys.map((key) => [key, properties[dockerSettingKeys[key]]?.default]),
    );
    assert.deepEqual(inEditor, defaults);
  });

  for (const [key, value] of [
    ['memoryMb', 63],
    ['memoryMb', 1.5],
    ['memoryMb', 'much'],
    ['processes', 1],
    ['cpus', -1],
    ['cpus', Number.NaN],
    ['diskMb', 0],
    ['network', 'psf/requests'],
    ['network', [1]],
    ['idleMinutes', -1],
    ['buildMinutes', 0],
    ['budgetGb', 0],
    ['host', 3],
  ] as const) {
    it(`refuse ${JSON.stringify(value)} for ${key}, by its name and with what can be`, () => {
      assert.throws(
        () => readDockerSettings({ [key]: value }, nameOf),
        (error: unknown) => {
          assert.ok(error instanceof HumanError);
          assert.match(error.message, new RegExp(`^setting ${key} cannot be .*\\. Write `));
          return true;
        },
      );
    });
  }
});
