import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { registerGenerate } from '../../../../src/commands/generate';
import type { ProgramContext } from '../../../../src/commands/registerCommand';
import type { FilesAgent } from '../../../../src/method/agents/agent';
import type { FilesState } from '../../../../src/method/traces/traceSteps';
import { agentMethod } from '../../../../src/method/agents/agentMethod';
import { onlyOne, sampleAll, type Method } from '../../../../src/method/method';
import { methods } from '../../../../src/method/methods';
import { fakeModels, type FakeModels } from '../../../commandLine/fakeModels';
import { sharedStorage } from '../../../sharedStorage';
import { beyondCore } from '../../../../src/commands/beyondCore';

const require_ = createRequire(join(process.cwd(), 'package.json'));
const sample = resolve('media', 'sample');

/** A method, as a file of its own has it. */
const twoAnswers: Method = {
  ...{ name: 'two-answers', title: 'TwoAnswers', description: 'two answers, the first counts' },
  ...{ runs: 'nothing', samples: 2, temperature: 0.4, canRefine: true },
  async produce(steps, options) {
    return onlyOne(await sampleAll(steps, { format: 'custom', temperature: 0.4 }, options));
  },
};

const never = (): Promise<never> => Promise.reject(new Error('only `evaluate` asks for it'));

const first: FilesState = { stage: 'write', round: 1, tries: 0 };
const limits = { calls: 2, dollars: 1, contextTokens: 9000, rounds: 1 };

/** An agent, as a file of its own has it: it writes the answer of the model into a test file. */
const scribe: FilesAgent = {
  ...{ name: 'scribe', title: 'Scribe', description: 'an agent that writes one file', version: 1 },
  ...{ needs: 'files', temperature: 0, topP: undefined, formatErrors: 1, submitsAtEnd: false },
  limits: { paper: limits, modern: limits },
  begin: () => Promise.resolve(first),
  system: () => 'You write a test.',
  messages: ({ issue }) => [{ role: 'user', content: issue }],
  parse: (answer) => ({ thought: '', action: answer }),
  act(action, { workspace }) {
    workspace.write('tests/test_scribe.py', `${action}\n`);
    return Promise.resolve({ text: 'written', state: first, isSubmission: true });
  },
};

describe('a method and an agent that are added by their descriptors', () => {
  let folder: string;
  let server: FakeModels;
  const added = [twoAnswers, agentMethod(scribe)];
  before(async () => {
    (methods as Method[]).push(...added);
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-added-'));
    const grammars = join(dirname(require_.resolve('tree-sitter-wasms/package.json')), 'out');
    await copyFile(
      require_.resolve('web-tree-sitter/tree-sitter.wasm'),
      join(folder, 'tree-sitter.wasm'),
    );
    const python = 'tree-sitter-python.wasm';
    await copyFile(join(grammars, python), join(folder, python));
    server = await fakeModels(() => ({ text: 'def test_it():\n    assert False' }));
  });
  after(async () => {
    (methods as Method[]).splice(methods.length - added.length);
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const generate = async (...args: string[]): Promise<{ status: number; printed: string }> => {
    let status = 0;
    let printed = '';
    const print = (text: string): void => void (printed += text);
    const context: ProgramContext = {
      ...{ stdout: print, data: print, stderr: print, interactive: false, assets: folder },
      stdin: () => Promise.resolve(Buffer.alloc(0)),
      signal: new AbortController().signal,
      bundled: { dataset: '', predictions: '', source: '' },
      ...beyondCore,
      satellites: {
        testOnMutants: never,
        evaluateRepairs: never,
        predictionFolders: { read: never, digest: never },
        withTrajectoryFindings: never,
      },
    };
    const program = new Command('swt-bench').exitOverride();
    program.configureOutput({ writeOut: print, writeErr: print });
    registerGenerate(program.command('generate'), context, (ended) => (status = ended));
    await program.parseAsync(['generate', ...args], { from: 'user' }).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error)) throw error;
    });
    return { status, printed };
  };
  const run = (method: string, ...more: string[]): ReturnType<typeof generate> =>
    generate(
      ...['--method', method, '--model', 'openai-compatible/m', '--base-url', server.url],
      ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', sharedStorage(), '--out', join(folder, `${method}.jsonl`), ...more],
    );
  const rowOf = async (method: string): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(join(folder, `${method}.jsonl`), 'utf8')) as Record<string, unknown>;

  it('are in the help, with what their descriptors say', async () => {
    const { printed } = await generate('--help');
    const help = printed.replace(/\s+/g, ' ');
    assert.match(help, /--method <name> .*two-answers, scribe, acp:/);
    assert.match(help, /--samples <n> [^<]* 2 for two-answers/);
  });

  it('tell what they would ask, run, and are called by their names', async () => {
    const dry = await run('TwoAnswers', '--dry-run', '--refine', '1');
    assert.match(dry.printed, /^1 instance, at most 4 requests\n/);
    const bound = await run('scribe', '--dry-run');
    assert.match(bound.printed, /^at most 2 requests for each of 1 instance\n/);
    assert.equal(server.asked.length, 0);

    const made = await run('two-answers');
    assert.equal(made.status, 0, made.printed);
    assert.match(made.printed, /TwoAnswers, openai-compatible\/m: 1 of 1 instances/);
    const { model_name_or_path: name, requests } = await rowOf('two-answers');
    assert.deepEqual([name, requests], ['two-answers/openai-compatible/m', 2]);

    const worked = await run('scribe');
    assert.equal(worked.status, 0, worked.printed);
    const { model_patch: patch, why } = await rowOf('scribe');
    assert.match(String(patch), /\+def test_it\(\):/);
    assert.equal(why, 'submitted after 1 calls');
  });
});
