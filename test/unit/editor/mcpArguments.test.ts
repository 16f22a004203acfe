import assert from 'node:assert/strict';
import { Command } from 'commander';
import { mcpArguments, type McpRequest } from '../../../src/editor/tools/mcpArguments';
import { dockerSettings } from '../../../src/engine/docker/dockerSettings';
import { valuesOf, withEngineOptions } from '../../../src/commands/options/engineOptions';
import { beyondCore } from '../../../src/commands/beyondCore';

const local: McpRequest = {
  id: 'owner__name-1',
  dataset: '/data/set with spaces.jsonl',
  sources: ['owner/name=/src', '/elsewhere'],
  storage: '/storage',
  timeoutSeconds: 300,
  engine: { name: 'local', values: { local: { python: '/venv' } }, isPythonNamed: true },
  runTestsLocally: false,
};

/** The arguments as the command line parses them. */
function read(args: readonly string[]): Record<string, unknown> {
  const [name, ...rest] = args;
  assert.equal(name, 'mcp');
  const command = withEngineOptions(new Command('mcp'), beyondCore)
    .exitOverride()
    .requiredOption('--dataset <x>')
    .requiredOption('--id <x>')
    .option('--source <x>', '', (value, all: string[]) => [...all, value], [])
    .requiredOption('--storage <x>')
    .requiredOption('--timeout <n>');
  command.parse(rest, { from: 'user' });
  return command.opts();
}

describe('the arguments of the MCP server of an instance', () => {
  it('name the instance, where it comes from and the local engine', () => {
    const { dataset, id, source, storage, timeout, engine, python } = read(mcpArguments(local));
    assert.deepEqual(
      { dataset, id, source, storage, timeout, engine, python },
      {
        dataset: local.dataset,
        id: local.id,
        source: local.sources,
        storage: '/storage',
        timeout: '300',
        engine: 'local',
        python: '/venv',
      },
    );
  });

  it('let tests of models run with the local engine where a person allows it', () => {
    assert.ok(!mcpArguments(local).includes('--run-tests-locally'));
    const allowed = { ...local, runTestsLocally: true };
    assert.ok(mcpArguments(allowed).includes('--run-tests-locally'));
    const docker = { ...allowed, engine: { ...local.engine, name: 'docker' } };
    assert.ok(!mcpArguments(docker).includes('--run-tests-locally'));
  });

  it('say nothing of docker to the local engine, which refuses it', () => {
    assert.ok(!mcpArguments(local).some((each) => /docker|memory|network/.test(each)));
    const without = { ...local, engine: { ...local.engine, values: {} } };
    assert.ok(!mcpArguments(without).includes('--python'));
  });

  for (const given of [
    {},
    { prebuilt: '', network: [], host: 'unix:///run/x.sock' },
    {
      memoryMb: 777,
      cpus: 1.5,
      diskMb: 555,
      processes: 99,
      buildMinutes: 7,
      network: ['a/b', 'c__d-1'],
      budgetGb: 3,
      baseImage: 'x:{python}',
    },
  ]) {
    it(`carry the settings of the docker engine: ${JSON.stringify(given)}`, () => {
      const docker = dockerSettings.read(given);
      const engine = {
        ...local.engine,
        name: 'docker',
        values: { ...local.engine.values, docker },
      };
      const options = read(mcpArguments({ ...local, engine }));
      assert.equal(options['engine'], 'docker');
      assert.equal(options['python'], undefined);
      assert.deepEqual(valuesOf(dockerSettings, options), docker);
    });
  }
});
