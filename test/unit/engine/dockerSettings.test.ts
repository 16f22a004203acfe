import assert from 'node:assert/strict';
import { HumanError } from '../../../src/domain/work';
import { dockerSettings } from '../../../src/engine/docker/dockerSettings';
import { kubernetesSettings } from '../../../src/engine/kubernetes/kubernetesSettings';

describe('settings of the docker engine', () => {
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
        () => dockerSettings.read({ [key]: value }, ({ key }) => `setting ${key}`),
        (error: unknown) => {
          assert.ok(error instanceof HumanError);
          assert.match(
            error.message,
            new RegExp(`^setting ${key} has the invalid value .*\\. Use `),
          );
          return true;
        },
      );
    });
  }
});

describe('settings of the kubernetes engine', () => {
  for (const [key, value] of [
    ['namespace', 'Upper'],
    ['mirrors', ['docker.io']],
    ['pullSecrets', ['']],
    ['tolerations', ['a:b:c']],
    ['priorityClass', ''],
    ['pendingMinutes', 0],
    ['acceptNetwork', 'yes'],
  ] as const) {
    it(`refuse ${JSON.stringify(value)} for ${key}`, () => {
      assert.throws(() => kubernetesSettings.read({ [key]: value }), HumanError);
    });
  }

  it('take what is written as it should be', () => {
    const given = {
      namespace: 'tests',
      mirrors: ['docker.io/=mirror/'],
      tolerations: ['a=b:NoRun'],
    };
    assert.deepEqual(kubernetesSettings.read(given), { ...kubernetesSettings.read(), ...given });
  });
});
