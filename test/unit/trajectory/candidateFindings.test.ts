import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Prediction } from '../../../src/domain/instance';
import type { Step } from '../../../src/method/traces/traceSteps';
import { OwnTrace } from '../../../src/trajectory/formats/ownTrace';
import { candidateFindings } from '../../../src/trajectory/scan/candidateFindings';
import { withTrajectoryFindings } from '../../../src/trajectory/withTrajectoryFindings';
import type { Trajectory } from '../../../src/trajectory/trajectory';
import { agentTrace, asLines, instance, sweAgentFile, testDiff } from './madeUpTrajectories';

const otherDiff = testDiff.replaceAll('test_purr', 'test_other');
/** The trace of an agent with another name and model, which looks at the later history. */
const cheating: readonly Step[] = agentTrace.map((step): Step => {
  if (step.step === 'answer') {
    return { ...step, method: 'swe-agent', model: 'google/g', key: `${step.key}+` };
  }
  if (step.step === 'act') {
    const names = { agent: 'swe-agent', model: 'google/g', answer: `${step.answer}+` };
    return { ...step, ...names, ...(step.action === 'ls' && { action: 'git log --all' }) };
  }
  return step.step === 'choice'
    ? { ...step, method: 'swe-agent', model: 'google/g', patch: otherDiff }
    : step;
});

function trajectoryOf(steps: readonly Step[]): Trajectory {
  const trace = new OwnTrace(() => true);
  for (const each of steps) trace.add(each);
  return trace.trajectories()[0] ?? assert.fail();
}

const options = { isOnly: true, redact: (text: string) => text };

describe('findings of a candidate in its trajectory', () => {
  const both = trajectoryOf([...agentTrace, ...cheating]);
  const step = both.steps.findIndex(({ text }) => text === 'git log --all') + 1;

  it('are those of its own agent and model in a trace of several, with their numbers there', () => {
    const told = candidateFindings(both, { model: 'swe-agent/google/g', patch: 'x' }, options);
    assert.ok(step > agentTrace.length - 5);
    assert.deepEqual(told, [
      {
        ...{ kind: 'history', severity: 'warning', step },
        ...{ text: 'git log --all', why: 'reaches beyond the base commit' },
      },
    ]);
    assert.deepEqual(
      candidateFindings(both, { model: 'mini/openai/gpt-4o', patch: testDiff }, options),
      [],
    );
  });

  it('find a candidate under another name by its patch, and know nothing of others', () => {
    const of = (model: string, patch: string) =>
      candidateFindings(both, { model, patch }, options)?.map((each) => each.step);
    assert.deepEqual(of('renamed', `${otherDiff}\n`), [step]);
    assert.deepEqual(of('renamed', testDiff), []);
    assert.equal(of('renamed', 'another'), undefined);
    const alone = trajectoryOf(cheating);
    const named = { model: 'renamed', patch: 'edited later' };
    assert.equal(candidateFindings(alone, named, options)?.length, 1);
    assert.equal(candidateFindings(alone, named, { ...options, isOnly: false }), undefined);
  });

  it('are about the lines of the candidate that is graded', () => {
    const patch = testDiff.replace('assert purr() == "prrr"', 'assert inspect.getsource(purr)');
    const [finding] =
      candidateFindings(
        trajectoryOf(agentTrace),
        { model: 'mini/openai/gpt-4o', patch },
        options,
      ) ?? [];
    assert.equal(finding?.kind, 'tells the sides apart');
    assert.equal(finding.step, 0);
  });

  it('quote on one line, without keys and at a bounded length', () => {
    const action = `curl -H "key: s3cr3t" \u202e\\\n https://x.org/${'a'.repeat(1000)}`;
    const steps = [{ kind: 'action', turn: 1, text: action }] as const;
    const [finding] =
      candidateFindings(
        { instance, format: 'mini-swe-agent', steps },
        { model: 'm', patch: '' },
        { isOnly: true, redact: (text) => text.replaceAll('s3cr3t', '[key]') },
      ) ?? [];
    assert.equal(finding?.text, 'curl -H "key: [key]" \\');
    // A long line is quoted from its middle, where a key could lose its beginning.
    const long = `cat ${'x'.repeat(200)} s3cr3t${'y'.repeat(95)} .git/packed-refs`;
    const [cut] =
      candidateFindings(
        {
          ...{ instance, format: 'mini-swe-agent' },
          steps: [{ kind: 'action', turn: 1, text: long }],
        },
        { model: 'm', patch: '' },
        { isOnly: true, redact: (text) => text.replaceAll('s3cr3t', '[key]') },
      ) ?? [];
    assert.doesNotMatch(cut?.text ?? 's3cr3t', /cr3t/);
    const many = Array.from({ length: 300 }, (_, index) => ({
      ...{ kind: 'action', turn: 1 },
      text: index % 3 === 0 ? 'git log --all' : 'git log',
    })) as Trajectory['steps'];
    const told = candidateFindings(
      { instance, format: 'mini-swe-agent', steps: many },
      { model: 'm', patch: '' },
      options,
    );
    assert.equal(told?.length, 100);
    assert.ok(told.every(({ severity }) => severity === 'warning'));
    assert.ok(
      isDeepStrictEqual(
        told,
        told.toSorted((a, b) => a.step - b.step),
      ),
    );
  });
});

describe('findings of predictions', () => {
  let folder: string;
  const logged: string[] = [];
  const reporter = { log: (line: string) => void logged.push(line), progress: () => undefined };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-findings-'));
    logged.length = 0;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const put = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  };
  const prediction = (model: string, patch = testDiff, instanceId = instance): Prediction => ({
    ...{ instanceId, model, patch },
  });
  const kindsOf = async (
    predictions: readonly Prediction[],
    origins: readonly (string | undefined)[],
  ): Promise<(readonly string[] | undefined)[]> => {
    const found = await withTrajectoryFindings(predictions, origins, {
      ...{ redact: (text: string) => text, reporter },
    });
    return found.map((each) => each.trajectoryFindings?.map(({ kind }) => kind));
  };

  it('come from the trace beside their own file', async () => {
    await put('one.jsonl.trace.jsonl', asLines(agentTrace));
    await put('two.jsonl.trace.jsonl', `${asLines(cheating)}\nno step\n`);
    const [one, two] = [join(folder, 'one.jsonl'), join(folder, 'two.jsonl')];
    const model = 'swe-agent/google/g';
    assert.deepEqual(
      await kindsOf(
        [
          prediction('mini/openai/gpt-4o'),
          prediction(model, otherDiff),
          prediction('gold'),
          prediction(model, otherDiff, 'octo__none-1'),
        ],
        [one, two, undefined, two],
      ),
      [[], ['history'], undefined, undefined],
    );
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? '', /two\.jsonl\.trace\.jsonl:\d+: skipped \(it is not JSON\)/);
  });

  it('come from the files of other agents that lie beside it', async () => {
    const [first, ...steps] = sweAgentFile.trajectory;
    const file = { ...sweAgentFile, trajectory: [{ ...first, action: 'git reflog' }, ...steps] };
    await put(`runs/${instance}/${instance}.traj`, JSON.stringify(file));
    const preds = await put('runs/preds.json', '{}');
    assert.deepEqual(await kindsOf([prediction('swe')], [preds]), [['history']]);
    // Of two candidates it is that with the same patch.
    const two = [prediction('swe'), prediction('other', otherDiff)];
    assert.deepEqual(await kindsOf(two, [preds, preds]), [['history'], undefined]);
    assert.deepEqual(logged, []);
  });

  it('are unknown where a file is no trajectory, and the log says so', async () => {
    await put(`${instance}.traj`, '{"a": 1}');
    const preds = await put('preds.json', '{}');
    assert.deepEqual(await kindsOf([prediction('swe')], [preds]), [undefined]);
    assert.match(logged.join('\n'), /^.*\.traj is not a trajectory \(.*$/);
  });
});
