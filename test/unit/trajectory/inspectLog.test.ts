import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPredictions } from '../../../src/dataset/predictions';
import type { Instance } from '../../../src/domain/instance';
import { isInspectLogAt } from '../../../src/files/inspectLog';
import { readTrajectories, type FoundTrajectory } from '../../../src/trajectory/readTrajectories';
import { zipOf } from '../files/madeUpZip';

const id = 'owner__name-1';
const patch = 'diff --git a/tests/test_a.py b/tests/test_a.py\n';
const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

/** A sample as inspect_ai 0.3.285 logs it, of its agent `react`. */
const sample = {
  ...{ id, epoch: 1, total_time: 7.5, model_usage: { 'mockllm/model': usage } },
  messages: [
    { id: 's', role: 'system', content: 'You have tools.' },
    { id: 'u', role: 'user', content: [{ type: 'text', text: 'The issue.' }], source: 'input' },
    {
      ...{ id: 'a1', role: 'assistant', content: 'I look.', source: 'generate' },
      tool_calls: [{ id: 'c', function: 'bash', arguments: { command: 'ls' }, type: 'function' }],
    },
    { id: 't', role: 'tool', content: 'setup.py', function: 'bash', tool_call_id: 'c' },
    { id: 'a2', role: 'assistant', content: 'done', tool_calls: [] },
  ],
  events: [
    { event: 'sandbox', action: 'exec' },
    {
      ...{ event: 'model', timestamp: '2026-11-28T17:42:04.290054+00:00', working_time: 2.5 },
      output: { choices: [{ message: { id: 'a1' } }], usage },
    },
  ],
  scores: { reproduces: { value: 1, metadata: { model_patch: patch } } },
};

const log = (samples: readonly object[], header = 'header.json'): Buffer =>
  zipOf([
    ...[{ path: '_journal/summaries/1.json', content: Buffer.from('[]') }],
    ...samples.map((each, index) => ({
      path: `samples/${id}_epoch_${index + 1}.json`,
      content: Buffer.from(JSON.stringify(each)),
    })),
    { path: header, content: Buffer.from(JSON.stringify({ eval: { model: 'mockllm/model' } })) },
  ]);

describe('a log of inspect_ai', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'swt-eval-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  async function written(bytes: Buffer, name = 'log.eval'): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return path;
  }

  async function read(bytes: Buffer): Promise<{ found: FoundTrajectory[]; told: string[] }> {
    const told: string[] = [];
    const found: FoundTrajectory[] = [];
    const options = { told: (problem: string) => void told.push(problem) };
    for await (const each of readTrajectories(await written(bytes), options)) found.push(each);
    return { found, told };
  }

  it('has a trajectory a sample', async () => {
    const { found } = await read(log([sample]));
    assert.deepEqual(found[0]?.trajectory, {
      ...{ instance: id, format: 'inspect', agent: 'inspect_ai', model: 'mockllm/model' },
      submission: patch,
      steps: [
        { kind: 'asked', turn: 0, label: 'system', text: 'You have tools.' },
        { kind: 'asked', turn: 0, label: 'user', text: 'The issue.' },
        {
          ...{ kind: 'thought', turn: 1, text: 'I look.', inputTokens: 10, outputTokens: 5 },
          ...{ at: '2026-11-28T17:42:04.290054+00:00', seconds: 2.5 },
        },
        { kind: 'action', turn: 1, text: 'ls' },
        { kind: 'observation', turn: 1, label: 'bash', text: 'setup.py' },
        { kind: 'answer', turn: 2, text: 'done' },
      ],
      stated: { inputTokens: 10, outputTokens: 5 },
    });
  });

  it('as JSON has the same trajectories and predictions', async () => {
    const bytes = Buffer.from(
      JSON.stringify(
        { version: 2, status: 'success', eval: { model: 'mockllm/model' }, samples: [sample] },
        undefined,
        2,
      ),
    );
    const path = await written(bytes, '2026-11-28T21-07-20-00-00_t_Tf5BH2RT5G8NUJDzjTeJVz.json');
    const told = (problem: string): never => assert.fail(problem);
    const fromJson: FoundTrajectory[] = [];
    for await (const each of readTrajectories(path, { told })) fromJson.push(each);
    const { found } = await read(log([sample]));
    assert.deepEqual(
      fromJson.map(({ trajectory }) => trajectory),
      found.map(({ trajectory }) => trajectory),
    );
    const below: FoundTrajectory[] = [];
    await rm(join(folder, 'log.eval'));
    for await (const each of readTrajectories(folder, { told })) below.push(each);
    assert.deepEqual(below, fromJson);
    const dataset = { problems: [], entries: [{ id }] };
    const { predictions } = await loadPredictions(path, [{ id } as Instance], dataset);
    assert.deepEqual(
      predictions.map(({ patch: text, model }) => [text, model]),
      [[patch, 'mockllm/model']],
    );
    assert.equal(await isInspectLogAt(path), true);
    assert.equal(await isInspectLogAt(join(folder, 'none')), false);
    assert.equal(await isInspectLogAt(folder), false);
    await rm(path);
  });

  it('of an evaluation that is not over is read as far as it is', async () => {
    const { found } = await read(log([sample], '_journal/start.json'));
    assert.equal(found[0]?.trajectory.model, 'mockllm/model');
  });

  it('says how a sample ended that a limit or an error ended', async () => {
    const { scores: _, ...unscored } = sample;
    const { found } = await read(
      log([
        { ...unscored, limit: { type: 'message', limit: 3 } },
        { ...unscored, error: { message: 'no verdict' } },
      ]),
    );
    assert.deepEqual(
      found.map(({ trajectory }) => [trajectory.ending, trajectory.submission]),
      [
        ['limit: message', undefined],
        ['no verdict', undefined],
      ],
    );
  });

  it('with a sample that is none is read without it', async () => {
    const { found, told } = await read(log([{ id, messages: 'none' }, sample]));
    assert.equal(found.length, 1);
    assert.match(told.join('\n'), /skipped \(a sample: messages: /);
  });

  it('that is cut off is named', async () => {
    const whole = log([sample]);
    await assert.rejects(read(whole.subarray(0, whole.length - 40)), /log\.eval .*truncated/);
  });

  it('has predictions, each epoch a further sample', async () => {
    const { scores: _, ...unscored } = sample;
    const unreadable = { value: 0, metadata: { model_patch: 'Agent patch was too large to read' } };
    const samples = [
      ...[sample, { ...sample, epoch: 2 }, { ...unscored, epoch: 3 }],
      { ...unscored, epoch: 4, error: { message: 'no marker\nof the tests' } },
      { ...unscored, epoch: 5, scores: { swe_bench_scorer: unreadable } },
    ];
    const path = await written(log(samples));
    const instance = { id } as Instance;
    const read = await loadPredictions(path, [instance], { problems: [], entries: [{ id }] });
    const cost = { inputTokens: 10, outputTokens: 5, seconds: 7.5 };
    const common = { instanceId: id, model: 'mockllm/model', patch, cost };
    assert.deepEqual(read.predictions, [common, { ...common, sample: 2 }]);
    const none = `sample ${id}: no score has its model_patch`;
    assert.deepEqual(read.problems, [none, `${none}, since it failed (no marker)`, none]);
  });
});
