import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  agentlessNumbers,
  agentlessSettings,
  agentlessStages,
} from '../../../src/method/agentless/agentlessSettings';
import { settingsOf } from '../../../src/commands/options/agentlessOptions';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'repair.md'), 'utf8');

describe('the settings of Agentless', () => {
  it('stand in the page on repairs, with their defaults, beside their stages', () => {
    const rows = page.split('\n').filter((line) => /^\| `\w+` +\|/.test(line));
    const rowOf = (stage: string): string =>
      rows.find((row) => row.startsWith(`| \`${stage}\` `)) ?? '';
    for (const stage of agentlessStages) assert.notEqual(rowOf(stage), '', stage);
    for (const { option, stage, default: usual } of Object.values(agentlessNumbers)) {
      assert.ok(rowOf(stage).includes(`\`${option} ${usual}\``), option);
    }
  });

  it('have options whose names are theirs', () => {
    for (const [name, { option }] of Object.entries(agentlessNumbers)) {
      const camel = option.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      assert.equal(camel, name);
    }
  });

  it('are those of the paper where no option says otherwise', () => {
    assert.deepEqual(settingsOf({ method: 'Agentless' }), agentlessSettings());
    const { topFiles, skip, until, chunkTokens } = settingsOf({
      ...{ method: 'agentless', topFiles: 2, skip: ['folders'], until: 'elements' },
    });
    assert.deepEqual([topFiles, skip, until, chunkTokens], [2, ['folders'], 'elements', 512]);
    assert.throws(
      () => settingsOf({ method: 'rag', topFiles: 2 }),
      /--top-files applies to agentless/,
    );
  });
});
