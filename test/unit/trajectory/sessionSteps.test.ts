import assert from 'node:assert/strict';
import type { Step } from '../../../src/method/traces/traceSteps';
import { OwnTrace } from '../../../src/trajectory/formats/ownTrace';
import { totalsOf } from '../../../src/trajectory/trajectory';

const common = { at: '2026-01-01T00:00:00Z', instance: 'a__b-1' };
const asked = (key: string, text: string, offeredTools: number): object => ({
  ...{ step: 'prompt', key, purpose: 'act', prompt: key, system: '', files: [], tokens: 1 },
  ...{ messages: [{ role: 'user', content: text }], offeredTools },
});
const answered = (prompt: string, text: string, offered: object = {}): object => ({
  ...{ step: 'answer', key: `answer to ${prompt}`, purpose: 'act', method: 'acp:x', model: 'm' },
  ...{ sample: 1, parameters: { temperature: null, maxOutputTokens: 1 }, prompt, text },
  ...{ finish: 'stop', inputTokens: 10, outputTokens: 2, dollars: 0.5, seconds: 1, ...offered },
});
const acted = (prompt: string, observation: string, isError: boolean): object => ({
  ...{ step: 'act', key: `act of ${prompt}`, agent: 'acp:x', model: 'm', thought: 'Hm.' },
  ...{ answer: `answer to ${prompt}`, action: 'cat a', observation, seconds: 1 },
  ...{ call: { name: 'read', input: {}, isError }, isSubmission: false, patch: '', leftOut: [] },
});
const ended: object = {
  ...{ step: 'session', key: 's', agent: 'acp:x', model: 'm', ending: 'finished', why: '' },
  ...{ answers: [], output: '', seconds: 3, patch: '', leftOut: [] },
};

const trajectoryOf = (steps: readonly object[]) => {
  const trace = new OwnTrace(() => true);
  for (const step of steps) trace.add({ ...common, ...step } as Step);
  const [trajectory] = trace.trajectories();
  assert.ok(trajectory);
  return trajectory;
};

describe('the trajectory of a session', () => {
  it('has no step for the title that the agent asks for, but what it cost', () => {
    const trajectory = trajectoryOf([
      asked('title', 'Name this session: the issue', 0),
      answered('title', 'Lost cent'),
      asked('1', 'the issue', 9),
      answered('1', ''),
      acted('1', 'no such file', true),
      asked('2', 'no such file', 9),
      answered('2', 'Done.'),
      ended,
    ]);
    assert.deepEqual(
      trajectory.steps.map(({ kind, turn, label, text }) => [kind, turn, label, text]),
      [
        ['asked', 0, 'user', 'the issue'],
        ['thought', 1, undefined, 'Hm.'],
        ['action', 1, undefined, 'cat a'],
        ['observation', 1, 'failed', 'no such file'],
        ['answer', 2, 'no action', 'Done.'],
        ['stage', 2, 'acp:x', 'finished'],
      ],
    );
    const { turns, inputTokens, outputTokens, dollars } = totalsOf(trajectory);
    assert.deepEqual(
      { turns, inputTokens, outputTokens, dollars },
      { turns: 2, inputTokens: 30, outputTokens: 6, dollars: 1.5 },
    );
  });

  it('has all steps of an agent that never offers tools, and long answers of any', () => {
    const without = trajectoryOf([asked('1', 'the issue', 0), answered('1', 'ls'), ended]);
    assert.deepEqual(
      without.steps.map(({ kind }) => kind),
      ['asked', 'answer', 'stage'],
    );
    const summary = 'What was done. '.repeat(100);
    const long = trajectoryOf([
      asked('1', 'the issue', 9),
      answered('1', 'ls'),
      asked('2', 'Summarize.', 0),
      answered('2', summary),
      ended,
    ]);
    assert.ok(long.steps.some(({ text }) => text === summary));
  });
});
