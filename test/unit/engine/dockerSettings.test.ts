import assert from 'node:assert/strict';
import { readDockerSettings } from '../../../src/engine/docker/readSettings';
import { dockerSettings } from '../../../src/engine/docker/settings';
import { HumanError } from '../../../src/domain/problem';
import manifest from '../../../package.json';

const nameOf = (key: string): string => `setting ${key}`;

describe('settings of the docker engine', () => {
  it('are the defaults where nothing is given', () => {
    assert.deepEqual(readDockerSettings({}, nameOf), dockerSettings.parse({}));
  });

  it('are the same by default in the editor', () => {
    const { properties } = manifest.contributes.configuration;
    const defaults = dockerSettings.parse({});
    const inEditor = {
      baseImage: properties['swt-bench.docker.baseImage'].default,
      prebuilt: properties['swt-bench.docker.prebuilt'].default,
      memoryMb: properties['swt-bench.docker.memory'].default,
      processes: properties['swt-bench.docker.processes'].default,
      cpus: properties['swt-bench.docker.cpus'].default,
      diskMb: properties['swt-bench.docker.disk'].default,
      network: properties['swt-bench.docker.network'].default,
      idleMinutes: properties['swt-bench.docker.idleMinutes'].default,
      budgetGb: properties['swt-bench.docker.budget'].default,
    };
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
