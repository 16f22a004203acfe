import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentPrograms } from '../../src/method/acp/install/agentPrograms';
import { acpPresets, type AcpPreset } from '../../src/method/acp/acpPresets';
import { keyVariables } from '../../src/engine/keysInUse';
import { root, sample, start, type Answer, type Evaluation } from '../commandLine/cli';
import { assertAtif, harborPython } from '../commandLine/harborValidator';
import { lostCent, lostCentPath } from '../commandLine/lostCent';
import { containersOf, baseImage, needDocker, removeImagesOf } from './dockerForTests';
import { scriptedModel, type Move } from './scriptedModel';

const key = 'sk-the-real-key-of-this-run';
const price = { input: 10, output: 20 };

/** What a model has each agent do: a call that fails, and all that a test takes. */
const moves: readonly Move[] = [
  { do: 'read', path: '/testbed/tallybook/missing.py' },
  { do: 'read', path: '/testbed/tallybook/money.py' },
  { do: 'write', path: `/testbed/${lostCentPath}`, content: lostCent },
  { do: 'run', command: `python -m unittest ${lostCentPath}` },
  { do: 'say', text: 'It is done.' },
];

interface Step {
  readonly step: string;
  readonly observation?: string;
  readonly call?: { readonly isError: boolean };
  readonly ending?: string;
  readonly program?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly isEstimate?: boolean;
}

/**
 * The programs themselves, from their registries, kept in .cache by version. OpenHands needs a C library
 * that the image of Python 3.9 lacks here, so it works on a row whose recipe has Python 3.11.
 */
describe('the agents that are known by name, in containers @full', () => {
  let folder = '';
  const ids = ['tallybook__tallybook-9001', 'pallets__flask-9001'] as const;
  before(async function () {
    await needDocker(this);
    folder = await mkdtemp(join(tmpdir(), 'swt-real-agents-'));
  });
  after(async () => {
    for (const id of ids) await removeImagesOf(id);
    await rm(folder, { recursive: true, force: true });
  });

  for (const preset of acpPresets) {
    it(`${preset.title} reads, writes a test, runs it and ends, with exact costs @full`, async function () {
      const program = await installed(preset);
      if (program === undefined) return this.skip();
      const isPython = agentPrograms[preset.name]?.registry === 'PyPI';
      const id = ids[isPython ? 1 : 0];
      const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as object;
      const other = isPython ? { repo: 'pallets/flask', version: '2.3' } : {};
      const dataset = join(folder, `${preset.name}.jsonl`);
      await writeFile(dataset, JSON.stringify({ ...row, ...other, instance_id: id }));
      const places = [
        ...['--dataset', dataset, '--source', join(sample, 'repository')],
        ...['--storage', join(folder, 'storage'), '--engine', 'docker', '--prebuilt', 'none'],
        ...['--base-image', baseImage, '--memory', '4g'],
      ];
      const out = join(folder, preset.name, 'predictions.jsonl');
      const models = await scriptedModel(moves);
      const began = Date.now();
      try {
        const answer = await generate(preset, {
          ...{ program, out, url: models.url, places },
        });
        assert.equal(answer.status, 0, answer.stderr);
        const steps = await stepsOf(out);
        const session = steps.find(({ step }) => step === 'session');
        assert.equal(session?.ending, 'finished');
        const told = steps.filter((each) => each.step === 'act' && each.observation !== '');
        assert.match(told[0]?.observation ?? '', /missing\.py|not exist|no file|not found/);
        assert.match(told[1]?.observation ?? '', /class Money/);
        assert.match(told.at(-1)?.observation ?? '', /2001 != 2000/);
        assert.deepEqual(
          told.map(({ call }) => call?.isError),
          [true, false, ...told.slice(3).map(() => false), true],
        );
        const answers = steps.filter(({ step }) => step === 'answer');
        // What an agent still asks when its session ends is broken off, so nobody counts it.
        const counted = answers.filter(({ isEstimate }) => isEstimate !== true).map(tokensOf);
        assert.deepEqual(
          counted,
          models.asked.slice(0, counted.length).map(({ tokens }) => tokens),
        );
        assert.ok(counted.length >= Math.max(moves.length, models.asked.length - 1));
        const spent = sumOf(answers.map(tokensOf));
        const prediction = JSON.parse(await readFile(out, 'utf8')) as {
          readonly input_tokens: number;
          readonly output_tokens: number;
          readonly dollars: number;
        };
        const shown = await run(['trajectory', out]);
        assert.doesNotMatch(shown.stdout, /A title/);
        assert.deepEqual(
          [prediction.input_tokens, prediction.output_tokens],
          [spent.input, spent.output],
          JSON.stringify(prediction),
        );
        const cost = (spent.input * price.input + spent.output * price.output) / 1e6;
        assert.ok(Math.abs(prediction.dollars - cost) < 1e-9, String(prediction.dollars));
        const graded = await run(['evaluate', '--predictions', out, '--json', ...places]);
        const [result] = (JSON.parse(graded.stdout) as Evaluation).results;
        assert.equal(result?.resolved, true, graded.stdout.slice(0, 2000));
        assert.deepEqual(await containersOf(id), []);
        const trace = await readFile(`${out}.trace.jsonl`, 'utf8');
        assert.ok(!trace.includes(key));
        console.log(`        ${session?.program}: ${((Date.now() - began) / 1000).toFixed(0)} s`);
      } finally {
        await models.close();
      }
    });
  }

  it("have left trajectories that are ATIF for Harbor's validator @full", async function () {
    const python = await harborPython(this);
    const files = acpPresets.map(({ name }) => join(folder, name, 'predictions.jsonl'));
    const written = files.filter(existsSync);
    assert.ok(written.length > 0);
    for (const file of written) await assertAtif(python, file);
  });
});

const run = (args: readonly string[]): Promise<Answer> => start(args).answer;

/** The folder with a preset's program; undefined where this machine has no Python for it. */
async function installed(preset: AcpPreset): Promise<string | undefined> {
  const program = agentPrograms[preset.name];
  assert.ok(program);
  const agents = join(root, '.cache', 'agents');
  const out = join(agents, `${preset.name}-${program.version}`);
  if (existsSync(out)) return out;
  const python = program.registry === 'PyPI' ? pythonHere(program.python) : undefined;
  if (program.registry === 'PyPI' && python === undefined) return undefined;
  await mkdir(agents, { recursive: true });
  const answer = await run([
    ...['agents', 'install', preset.name, '--out', out],
    ...['--image', baseImage.replace('{python}', '3.11')],
    ...(python === undefined ? [] : ['--python', python]),
  ]);
  assert.equal(answer.status, 0, answer.stderr);
  assert.ok(answer.stdout.includes(out), answer.stdout);
  return out;
}

/** An interpreter of pyenv. */
function pythonHere(version: string): string | undefined {
  const versions = join(homedir(), '.pyenv', 'versions');
  const names = existsSync(versions) ? readdirSync(versions) : [];
  const name = names.find((each) => each.startsWith(`${version}.`));
  return name === undefined ? undefined : join(versions, name, 'bin', `python${version}`);
}

function generate(
  preset: AcpPreset,
  at: {
    readonly program: string;
    readonly out: string;
    readonly url: string;
    readonly places: readonly string[];
  },
): Promise<Answer> {
  const provider = preset.providers.includes('openai-compatible')
    ? 'openai-compatible'
    : (preset.providers[0] ?? 'openai');
  const keys = Object.values(keyVariables)
    .flat()
    .map((name) => [name, key] as const);
  return start(
    [
      ...['generate', '--method', `acp:${preset.name}`, '--agent-program', at.program],
      ...['--model', `${provider}/${modelOf[preset.name] ?? 'gpt-5'}`, '--out', at.out],
      ...['--base-url', `${at.url}/${provider === 'google' ? 'v1beta' : 'v1'}`],
      ...['--price', `${price.input},${price.output}`, '--agent-timeout', '600', ...at.places],
    ],
    Object.fromEntries(keys),
  ).answer;
}

/** Models whose tools an agent chooses by their name. */
const modelOf: Readonly<Record<string, string>> = {
  'claude-code': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-pro',
  qwen: 'qwen3-coder',
};

const stepsOf = async (out: string): Promise<Step[]> =>
  (await readFile(`${out}.trace.jsonl`, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Step);

const tokensOf = ({ inputTokens = 0, outputTokens = 0 }: Step): readonly [number, number] => [
  inputTokens,
  outputTokens,
];

const sumOf = (tokens: readonly (readonly [number, number])[]) => ({
  input: tokens.reduce((sum, [input]) => sum + input, 0),
  output: tokens.reduce((sum, [, output]) => sum + output, 0),
});
