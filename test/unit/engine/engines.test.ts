import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../../package.json';
import { engineNames, settingGroups, variablesOf } from '../../../src/engine/engines';

interface Property {
  readonly type: string;
  readonly default: unknown;
  readonly minimum?: number;
  readonly items?: { readonly type: string };
  readonly enum?: readonly string[];
  readonly enumDescriptions?: readonly string[];
}

const properties: Readonly<Record<string, Property>> = Object.assign(
  {},
  ...manifest.contributes.configuration.map((each) => each.properties),
) as Record<string, Property>;

const docs = (name: string): string =>
  readFileSync(join(__dirname, '..', '..', '..', 'docs', name), 'utf8');

describe('the engines', () => {
  it('are those that the editor offers, each with its description', () => {
    const setting = properties['swt-bench.engine'];
    assert.deepEqual(setting?.enum, engineNames());
    assert.deepEqual(
      setting?.enumDescriptions,
      engineNames().map((name) => `%setting.engine.${name}%`),
    );
    assert.equal(setting?.default, engineNames()[0]);
  });

  it('have in the editor the settings of their descriptors, with the same types and bounds', () => {
    for (const { id, type, default: byDefault, minimum } of settingGroups().flatMap(
      ({ all }) => all,
    )) {
      const { description: _, ...shown } = { description: '', ...properties[id] };
      assert.deepEqual(
        { type: shown.type, items: shown.items, default: shown.default, minimum: shown.minimum },
        {
          type: type === 'strings' ? 'array' : type,
          items: type === 'strings' ? { type: 'string' } : undefined,
          default: byDefault ?? '',
          minimum: type === 'integer' || type === 'number' ? minimum : undefined,
        },
        id,
      );
    }
  });

  it('have a row in the docs for each setting, with its option', () => {
    const text = [docs('containers.md'), docs('kubernetes.md'), docs('settings.md')].join('\n');
    const rows = text.split('\n').filter((line) => line.startsWith('|'));
    for (const { all } of settingGroups()) {
      for (const { id, flag, key } of all) {
        const names = [`\`${id}\``, `\`${key}\``];
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
