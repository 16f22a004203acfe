import assert from 'node:assert/strict';
import { withoutStepsOf } from '../../../src/editor/generate/records';

type Written = Parameters<typeof withoutStepsOf>[1];

const steps = [
  { step: 'prompt', key: 'p1', prompt: 'd' },
  { step: 'answer', key: 'located' },
  { step: 'stage', key: 's1', stage: 'files', from: ['located', 'vector'] },
  { step: 'stage', key: 's2', stage: 'combined' },
  { step: 'embedding', key: 'vector' },
  { step: 'answer', key: 'fix' },
  { step: 'answer', key: 'shared' },
  { step: 'act', key: 'a1', answer: 'turn' },
  { step: 'run', key: 'r1' },
  { step: 'answer', key: 'asked' },
  { step: 'act', key: 'a2', answer: 'asked' },
  { step: 'session', key: 'talk', answers: ['asked'] },
];
const trace = `${steps.map((each) => JSON.stringify(each)).join('\n')}\nnot JSON\n`;

const written = (more: object): Written => ({
  candidates: new Map(),
  acts: [],
  stages: [],
  sessions: [],
  ...more,
});
const run = written({
  candidates: new Map([[1, { answer: { key: 'fix' }, from: ['shared'] }]]),
  acts: [{ answer: 'turn' }],
  sessions: [{ key: 'talk', answers: ['asked'] }],
  stages: [{ key: 's1', from: ['located', 'vector'] }, { key: 's2' }],
});

const keysLeft = (of: string): string[] =>
  [...of.matchAll(/"key":"(\w+)"/g)].map(([, key = '']) => key);

describe('forgetting a run', () => {
  it('forgets its answers and what stages found with them, and keeps what comes out the same', () => {
    const left = withoutStepsOf(trace, run, []);
    assert.deepEqual(keysLeft(left), ['p1', 's2', 'vector', 'r1']);
    assert.ok(left.endsWith('not JSON\n'));
  });

  it('keeps what another run has too', () => {
    const other = written({
      candidates: new Map([[1, { answer: { key: 'shared' } }]]),
      stages: [{ key: 's1', from: ['located'] }],
    });
    assert.deepEqual(keysLeft(withoutStepsOf(trace, run, [other])), [
      ...['p1', 'located', 's1', 's2', 'vector', 'shared', 'r1'],
    ]);
  });
});
