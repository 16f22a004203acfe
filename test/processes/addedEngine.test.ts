import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { ProgramContext } from '../../src/commands/registerCommand';
import { registerEvaluate } from '../../src/commands/evaluate';
import { inTermsOfSettings } from '../../src/editor/shell/inTermsOfSettings';
import { mcpArguments } from '../../src/editor/tools/mcpArguments';
import type { EngineDescriptor, EngineRequest } from '../../src/engine/sandbox/descriptor';
import { engines, runsInContainers, variablesOf } from '../../src/engine/engines';
import { SettingGroup } from '../../src/engine/settings';
import { mayRunTestsOfModels } from '../../src/method/testsOfModels';
import { simulatedEngine } from './simulatedEngine';
import { beyondCore } from '../../src/commands/beyondCore';

const rooms = new SettingGroup('rooms', 'swt-bench.rooms.', {
  floor: {
    type: 'integer',
    default: 1,
    minimum: 0,
    expected: 'Write the number of a floor',
    option: {
      name: 'floorOfRoom',
      argument: '<n>',
      description: 'floor of the rooms',
      writing: 'number',
    },
  },
});

describe('an engine that is added by its descriptor alone', () => {
  let scratch: string;
  let assets: string;
  const asked: EngineRequest[] = [];
  const added: EngineDescriptor = {
    name: 'rooms',
    inContainers: true,
    settings: [rooms],
    variables: ['ROOMS_HOST'],
    open: (request) => {
      asked.push(request);
      return Promise.resolve({ ...simulatedEngine(), name: 'rooms' });
    },
  };

  before(async () => {
    (engines as EngineDescriptor[]).push(added);
    scratch = await mkdtemp(join(tmpdir(), 'swt-bench-rooms-'));
    assets = scratch;
    for (const file of [
      'web-tree-sitter/tree-sitter.wasm',
      'tree-sitter-wasms/out/tree-sitter-python.wasm',
    ]) {
      await copyFile(require.resolve(file), join(assets, file.slice(file.lastIndexOf('/') + 1)));
    }
  });
  after(async () => {
    (engines as EngineDescriptor[]).pop();
    await rm(scratch, { recursive: true, force: true });
  });

  /** What a command prints and how it ends, or why its options are wrong. */
  async function evaluate(...args: readonly string[]) {
    const sample = resolve('media', 'sample');
    let stdout = '';
    let status: number | undefined;
    const context: ProgramContext = {
      stdout: (text) => (stdout += text),
      data: (text) => (stdout += text),
      stderr: () => undefined,
      stdin: () => Promise.resolve(Buffer.alloc(0)),
      interactive: false,
      signal: new AbortController().signal,
      assets,
      bundled: {
        dataset: join(sample, 'instance.jsonl'),
        predictions: join(sample, 'predictions.jsonl'),
        source: join(sample, 'repository'),
      },
      ...beyondCore,
      satellites: {
        testOnMutants: () => Promise.reject(new Error('nothing here asks for mutants')),
        evaluateRepairs: () => Promise.reject(new Error('nothing here is a code patch')),
        predictionFolders: {
          read: () => Promise.reject(new Error('nothing here is a folder')),
          digest: () => Promise.reject(new Error('nothing here is a folder')),
        },
        withTrajectoryFindings: (predictions) => Promise.resolve([...predictions]),
      },
    };
    const program = new Command('swt-bench').exitOverride();
    registerEvaluate(program.command('evaluate'), context, (ended) => (status = ended));
    const from = ['--dataset', 'bundled', '--predictions', 'gold', '--json'];
    const to = ['--storage', join(scratch, 'storage'), '--out', join(scratch, 'out')];
    await program.parseAsync(['evaluate', ...from, ...to, ...args], { from: 'user' });
    return { stdout, status };
  }

  it('runs tests from the command line, with its option', async () => {
    const { stdout, status } = await evaluate('--engine', 'rooms', '--floor-of-room', '3');
    assert.deepEqual(asked.pop()?.values?.['rooms'], { floor: 3 });
    const { results } = JSON.parse(stdout) as { results: { error?: string }[] };
    assert.equal(results.length, 1);
    assert.equal(results[0]?.error, undefined, stdout);
    assert.ok(status === 0 || status === 1);
  });

  it('refuses what is not for it, and its option is refused by others', async () => {
    await assert.rejects(
      evaluate('--engine', 'rooms', '--memory', '4g'),
      /--memory applies to the docker engine, but the engine is rooms/,
    );
    await assert.rejects(
      evaluate('--floor-of-room', '3'),
      /--floor-of-room applies to the rooms engine, but the engine is local/,
    );
    await assert.rejects(
      evaluate('--engine', 'rooms', '--floor-of-room=-1'),
      /--floor-of-room has the invalid value -1\. Write the number of a floor/,
    );
  });

  it('is known to the editor', () => {
    assert.equal(runsInContainers('rooms'), true);
    assert.equal(mayRunTestsOfModels({ engine: 'rooms' }), true);
    assert.deepEqual(variablesOf('rooms', { ROOMS_HOST: 'r', HOME: '/' }), { ROOMS_HOST: 'r' });
    assert.equal(
      inTermsOfSettings('raise --floor-of-room'),
      'raise the setting swt-bench.rooms.floor',
    );
    const request = { id: 'a', dataset: 'd', sources: [], storage: '/s', timeoutSeconds: 1 };
    const engine = { name: 'rooms', values: { rooms: { floor: 2 } }, isPythonNamed: false };
    const args = mcpArguments({ ...request, engine, runTestsLocally: true });
    assert.deepEqual(args.slice(args.indexOf('--engine')), [
      ...['--engine', 'rooms', '--floor-of-room', '2'],
    ]);
  });
});
