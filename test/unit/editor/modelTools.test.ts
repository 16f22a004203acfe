import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import titles from '../../../package.nls.json';
import { idOfTool, mcpProviderId, modelToolNames } from '../../../src/editor/shell/names';
import { tools } from '../../../src/method/tools/tools';

const file = join(__dirname, '..', '..', '..', 'package.json');

interface Manifest {
  readonly contributes: {
    languageModelTools: unknown[];
    readonly mcpServerDefinitionProviders: readonly { readonly id: string }[];
  };
}

const read = (): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

describe('the tools in package.json', () => {
  it('are those that the extension registers', () => {
    assert.deepEqual(
      modelToolNames,
      tools.map((tool) => tool.name),
    );
    for (const name of modelToolNames) assert.match(idOfTool(name), /^[\w-]+$/);
  });

  it('have a title and a description for people', () => {
    const texts: Readonly<Record<string, string>> = titles;
    for (const { name } of tools) {
      assert.ok((texts[`tool.${name}`] ?? '').length > 5, name);
      assert.ok((texts[`tool.${name}.description`] ?? '').length > 20, name);
    }
  });

  it('come with a provider of MCP servers of the id that the extension registers', () => {
    const ids = read().contributes.mcpServerDefinitionProviders.map(({ id }) => id);
    assert.deepEqual(ids, [mcpProviderId]);
  });
});
