import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingGroups, variablesOf } from '../../../src/engine/engines';

const docs = (name: string): string =>
  readFileSync(join(__dirname, '..', '..', '..', 'docs', name), 'utf8');

describe('the engines', () => {
  it('have a row in the docs for each setting, with its option', () => {
    const text = [docs('containers.md'), docs('kubernetes.md'), docs('settings.md')].join('\n');
    const rows = text.split('\n').filter((line) => line.startsWith('|'));
    for (const { all } of settingGroups()) {
      for (const { id, flag, key } of all) {
        const names = [`\`${id}\``, `\`${key}\``, `\`${id.split('.').at(-1)}\``];
        const found = rows.filter((row) => names.some((name) => row.includes(`| ${name} `)));
        assert.ok(
          found.some(
            (row) => flag === undefined || row.includes(flag) || id.split('.').length === 2,
          ),
          `${id} with ${flag}`,
        );
      }
    }
  });

  it('are found by their variables, where those are set', () => {
    const environment = { KUBECONFIG: '/k', DOCKER_HOST: 'tcp://h', OPENAI_API_KEY: 'secret' };
    assert.deepEqual(variablesOf('kubernetes', environment), { KUBECONFIG: '/k' });
    assert.deepEqual(variablesOf('docker', environment), { DOCKER_HOST: 'tcp://h' });
    assert.deepEqual(variablesOf('local', environment), {});
    assert.deepEqual(variablesOf('kubernetes', {}), {});
  });
});
