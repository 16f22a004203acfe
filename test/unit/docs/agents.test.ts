import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { acpPresets } from '../../../src/method/acp/acpPresets';
import { agentPrograms, nodeRuntime } from '../../../src/method/acp/install/agentPrograms';
import { placeholders } from '../../../src/method/acp/agentEnvironment';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'models.md'), 'utf8');

describe('the agents that are known by name', () => {
  it('stand in the page on models, with the versions that are installed and their models', () => {
    assert.deepEqual(
      Object.keys(agentPrograms),
      acpPresets.map(({ name }) => name),
    );
    for (const { name, title, providers } of acpPresets) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`acp:${name}\` `)) ?? '';
      const program = agentPrograms[name];
      assert.ok(row.includes(`| ${title} `), name);
      assert.ok(
        row.includes(`${program?.registry} \`${program?.package}\` ${program?.version} `),
        name,
      );
      for (const provider of providers) assert.ok(row.includes(`\`${provider}\``), provider);
    }
    const { node, npm } = nodeRuntime;
    assert.ok(page.includes(`fetches Node ${node} and npm ${npm},`));
    assert.ok(page.includes(`node@${node.split('.')[0]}`));
    for (const name of Object.keys(placeholders)) assert.ok(page.includes(`\`{${name}}\``), name);
  });
});
