import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, type Option } from 'commander';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { beyondCore } from '../../../src/commands/beyondCore';
import {
  applyConfiguration,
  partsOf,
} from '../../../src/commands/configuration/applyConfiguration';
import { pathOf, withConfigurationOptions } from '../../../src/commands/options/configuredOptions';
import { registerGenerate } from '../../../src/commands/generate';
import { registerRepair } from '../../../src/commands/repair';
import type { ProgramContext } from '../../../src/commands/registerCommand';
import { readConfiguration } from '../../../src/configuration/configuration';
import { findConfigurationFile } from '../../../src/configuration/configurationFile';
import { configurationKeys } from '../../../src/configuration/keys';
import { keysOf } from '../../../src/configuration/schema';
import { settingGroups } from '../../../src/engine/engines';
import { everydayRuns } from '../../everyday';

const context = beyondCore as ProgramContext;

/** A command with its options, and without what it does. */
function commandOf(name: 'generate' | 'repair'): Command {
  const command = new Command(name).exitOverride();
  const register = name === 'generate' ? registerGenerate : registerRepair;
  register(command, context, () => undefined);
  withConfigurationOptions(command);
  return command;
}

/** Two values of an option, as the command line and as the file write them. */
const values: Readonly<Record<string, readonly (readonly [text: string, inFile: unknown])[]>> = {
  '<n>': [30, 40].map((n) => [String(n), n] as const),
  '<seconds>': [30, 40].map((n) => [String(n), n] as const),
  '<d>': [3, 4].map((n) => [String(n), n] as const),
  '<p>': [0.3, 0.4].map((n) => [String(n), n] as const),
  '<t>': [0.3, 0.4].map((n) => [String(n), n] as const),
  '<GiB>': [30, 40].map((n) => [String(n), n] as const),
  '<size>': [
    ['3g', '3g'],
    ['4g', 4096],
  ],
  '<address>': [
    ['http://a/v1', 'http://a/v1'],
    ['http://b/v1', 'http://b/v1'],
  ],
  '<name=value>': [
    ['A=1', { A: '1' }],
    ['B=2', { B: '2' }],
  ],
  '<key=json>': [
    ['a=1', { a: 1 }],
    ['b=2', { b: 2 }],
  ],
  '<input,output[,cached[,written]]>': [
    ['1,2', { input: 1, output: 2 }],
    ['3,4', { input: 3, output: 4 }],
  ],
  '<stages>': [
    ['files', ['files']],
    ['folders', ['folders']],
  ],
  '<a,b>': [
    ['a', ['a']],
    ['b', ['b']],
  ],
  '<from=to,…>': [
    ['a=b', ['a=b']],
    ['c=d', ['c=d']],
  ],
  '<key=value,…>': [
    ['a=b', ['a=b']],
    ['c=d', ['c=d']],
  ],
  '<key=value:Effect,…>': [
    ['a=b:NoSchedule', ['a=b:NoSchedule']],
    ['c', ['c']],
  ],
  '<provider/name>': [
    ['openai/e', 'openai/e'],
    ['google/e', 'google/e'],
  ],
  '<dir>': [
    ['/a', '/a'],
    ['/b', '/b'],
  ],
};

function valuesOf(option: Option): (typeof values)[string] {
  if (option.argChoices !== undefined) {
    return option.argChoices.slice(0, 2).map((word) => [word, word] as const);
  }
  const argument = option.flags.split(' ').slice(1).join(' ');
  return (
    values[argument] ?? [
      ['one', 'one'],
      ['two', 'two'],
    ]
  );
}

const environment = ['SWT_BENCH_STORAGE', 'OPENAI_BASE_URL', 'DOCKER_HOST'];

describe('what counts of option, variable, file and default', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'swt-configuration-'))));
  after(() => rm(folder, { recursive: true }));

  for (const [name, method] of [
    ['generate', 'libro'],
    ['generate', 'acp:codex'],
    ['repair', 'agentless'],
  ] as const) {
    it(`${name} --method ${method}: the option, then the variable, then the file`, async () => {
      const bound = commandOf(name).options.filter((option) => pathOf(option) !== undefined);
      assert.ok(bound.length > 40);
      const one = fc.record({
        option: fc.constantFrom(...bound.filter((each) => each.long !== '--engine')),
        inOption: fc.boolean(),
        inFile: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(one, async ({ option, inOption, inFile }) => {
          const path = pathOf(option) ?? '';
          const engine = /^(local|docker|kubernetes)\./.exec(path)?.[1] ?? 'docker';
          const chosen: Record<string, string> = {
            '--method': method,
            ...{ '--model': 'openai/m', '--dataset': 'd', '--out': 'o', '--engine': engine },
            ...(path.includes('embedding') &&
              path !== 'repair.embeddingModel' && { '--embedding-model': 'google/e' }),
          };
          const isSwitch = !/[<[]/.test(option.flags);
          const [[text = '', first] = [], [, second] = []] = valuesOf(option);
          const fileValue = isSwitch ? option.negate !== true : second;
          const command = commandOf(name);
          const args = Object.entries(chosen).flat();
          if (inOption) args.push(...(isSwitch ? [option.long ?? ''] : [option.long ?? '', text]));
          const names = { method, model: 'openai/m', embeddingModel: 'google/e' };
          const parts = partsOf(path, names);
          const file = join(folder, 'swt.yaml');
          const content = [...(parts ?? ['retries', 'count'])]
            .reverse()
            .reduce<unknown>(
              (value, part) => ({ [part]: value }),
              parts === undefined ? 1 : fileValue,
            );
          await writeFile(file, inFile ? stringify(content) : '');
          const attribute = option.attributeName();
          let read: unknown;
          let source: string | undefined;
          command.action(() => undefined);
          command.hook('preAction', async () => {
            await applyConfiguration(command);
            read = command.getOptionValue(attribute);
            source = command.getOptionValueSource(attribute);
          });
          await command.parseAsync([...args, '--config', file], { from: 'user' });
          const applies =
            parts !== undefined &&
            (method !== 'acp:codex' || !/topP|reasoningEffort|body|refine/.test(path));
          if (inOption) assert.equal(source, 'cli', option.flags);
          else if (inFile && applies) {
            assert.equal(source, 'config', `${option.flags} ${path}`);
            const expected =
              option.long === '--memory' || option.long === '--disk' ? 4096 : fileValue;
            assert.deepEqual(read, expected);
          } else assert.notEqual(source, 'config', option.flags);
          if (inOption && !isSwitch && inFile) {
            assert.notDeepEqual(read, fileValue, option.flags);
            if (typeof first === 'object') assert.deepEqual(read, first);
          }
        }),
        { numRuns: everydayRuns(150) },
      );
    });
  }

  it('a variable before the file, and an option before both', async () => {
    const paths = [['storage'], ['models', 'openai/m', 'baseUrl'], ['docker', 'host']] as const;
    await writeFile(
      join(folder, 'swt.yaml'),
      'storage: /file\nmodels: {openai/m: {baseUrl: "http://file"}}\ndocker: {host: "tcp://file:1"}\n',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths.map((path, at) => [path, environment[at] ?? ''] as const)),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        async ([path, variable], inOption, inVariable, hasFile) => {
          const configuration = await readConfiguration({
            folder,
            file: hasFile ? 'swt.yaml' : false,
            given: inOption ? { [path.join('.')]: 'option' } : {},
            environment: inVariable ? { [variable]: 'variable' } : {},
          });
          const expected = inOption
            ? 'option'
            : inVariable
              ? 'variable'
              : hasFile
                ? 'file'
                : undefined;
          assert.equal(configuration.at(...path)?.source, expected);
        },
      ),
    );
  });

  it('every key of the file has an option, but for those of the editor', () => {
    const bound = new Set(
      (['generate', 'repair'] as const).flatMap((name) =>
        commandOf(name).options.map((option) => pathOf(option)),
      ),
    );
    const ofEditor = settingGroups().flatMap(({ engine, all }) =>
      all.filter(({ option }) => option === undefined).map(({ key }) => `${engine}.${key}`),
    );
    assert.deepEqual(ofEditor, ['docker.idleMinutes']);
    for (const path of Object.keys(configurationKeys)) assert.ok(bound.has(path), path);
    for (const group of ['agentless', 'docker', 'kubernetes', 'local']) {
      for (const key of keysOf([group])) {
        const path = `${group}.${key}`;
        assert.ok(bound.has(path) || ofEditor.includes(path), path);
      }
    }
    // And each has a place in the schema.
    for (const path of bound) {
      const parts = path?.replace(/\{[a-zA-Z]+\}/, 'a/b').split('.') ?? [];
      const last = parts.pop();
      assert.ok(
        path === undefined || path === 'prices.{model}' || keysOf(parts).includes(last ?? ''),
        path,
      );
    }
  });

  it('the nearest file above counts, up to the home, and not that of another user', async () => {
    await writeFile(join(folder, 'swt.yaml'), '');
    const found = (at: string, of: { home?: string; user?: number }): Promise<string | undefined> =>
      findConfigurationFile(join(folder, at), of);
    assert.equal(await found('a/b', { home: '/nowhere' }), join(folder, 'swt.yaml'));
    assert.equal(await found('a/b', { home: join(folder, 'a') }), undefined);
    const user = (process.getuid?.() ?? 0) + 1;
    if (process.getuid?.() !== 0) {
      await assert.rejects(found('a', { home: '/nowhere', user }), /another user/);
    }
  });
});
