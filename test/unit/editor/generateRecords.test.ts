import assert from 'node:assert/strict';
import { Cancelled, HumanError, silent } from '../../../src/domain/work';
import {
  outcomeOnR,
  readGenerationRecords,
  recordId,
  spentSince,
  withOutcomesOnR,
  type GenerationRecord,
} from '../../../src/editor/generate/records';
import { onlyOne, type Method, type MethodCandidate } from '../../../src/method/method';
import type { Steps } from '../../../src/method/steps/steps';
import type { RunStep } from '../../../src/method/trace';
import type { Step } from '../../../src/method/traces/traceSteps';

const record: GenerationRecord = {
  method: 'libro',
  model: 'vscode/copilot/gpt-5',
  samples: 5,
  contextTokens: 27_000,
  maxOutputTokens: 4096,
  engine: 'local',
  timeoutSeconds: 300,
  startedAt: '2026-01-02T00:00:00.000Z',
};

const step = { key: 'k', at: '2026-01-02T10:00:00.000Z', instance: 'octo__cat-1' };
const answer = (more: object = {}): Extract<Step, { step: 'answer' }> => ({
  ...step,
  step: 'answer',
  purpose: 'tests',
  method: 'zero-shot-plus',
  model: record.model,
  sample: 1,
  parameters: { temperature: 0, maxOutputTokens: 10 },
  prompt: 'p',
  text: 'an answer',
  finish: 'stop',
  inputTokens: 1000,
  outputTokens: 100,
  seconds: 1,
  ...more,
});
const run = (more: Partial<RunStep>): RunStep => ({
  ...step,
  step: 'run',
  tests: [],
  failingBefore: [],
  seconds: 1,
  ...more,
});
const candidate = (more: {
  readonly text?: string;
  readonly applies?: boolean;
  readonly run?: RunStep;
}): MethodCandidate => ({
  sample: 1,
  answer: answer({ text: more.text ?? 'an answer' }),
  patch: {
    ...step,
    step: 'patch',
    applies: more.applies ?? true,
    ...(more.applies === false && { problem: 'no hunk fits' }),
    patch: 'diff',
    ownTests: [],
    diagnostics: [],
  },
  ...(more.run !== undefined && { run: more.run }),
});

describe('what is remembered of a run of a method', () => {
  it('is read back, and what is damaged is left out', () => {
    const back: unknown = JSON.parse(JSON.stringify([record, { ...record, method: 'x' }, 3]));
    assert.deepEqual(readGenerationRecords(back), [record]);
    assert.deepEqual(readGenerationRecords(undefined), []);
    assert.deepEqual(readGenerationRecords('x'), []);
  });

  it('tells the same run, begun again, from another', () => {
    const again = { ...record, startedAt: '2026-02-02', price: { input: 1, output: 2 } };
    assert.equal(recordId(again), recordId(record));
    for (const other of [
      { ...record, model: 'openai/gpt-5' },
      { ...record, method: 'zero-shot' as const },
      { ...record, contextTokens: 1000 },
    ]) {
      assert.notEqual(recordId(other), recordId(record));
    }
  });

  it('tells runs apart by the numbers and the embedding model, whose price does not matter', () => {
    const embedding = { name: 'openai/e', price: 0.02 };
    const fix: GenerationRecord = { ...record, method: 'agentless', embedding };
    assert.deepEqual(readGenerationRecords([fix]), [fix]);
    assert.equal(recordId({ ...fix, embedding: { name: 'openai/e' } }), recordId(fix));
    for (const other of [
      { ...record, method: 'agentless' },
      { ...fix, embedding: { ...embedding, baseUrl: 'http://host/v1' } },
      { ...fix, agentless: { repairSamples: 2 } },
    ]) {
      assert.deepEqual(readGenerationRecords([other]), [other]);
      assert.notEqual(recordId(other), recordId(fix));
    }
    assert.deepEqual(readGenerationRecords([{ ...fix, agentless: { samples: 2 } }]), []);
  });

  it('counts the vectors of its embedding model, at their own price', () => {
    const vectors: Step = {
      step: 'embedding',
      ...{ model: 'openai/e', documents: [], texts: 1, seconds: 1 },
      ...{ key: 'v', at: '2026-01-02T10:00:00.000Z', instance: 'octo__cat-1', inputTokens: 500 },
    };
    const steps: Step[] = [answer(), vectors, { ...vectors, dollars: 0.5 }];
    const priced = { ...record, price: { input: 1e6, output: 0 } };
    assert.deepEqual(spentSince(steps, priced), { tokens: 1100, dollars: 1000 });
    const embedding = { name: 'openai/e', price: 0.02 };
    assert.deepEqual(spentSince(steps, { ...priced, embedding }), {
      tokens: 2100,
      dollars: 1000.5,
    });
  });

  it('counts what its model was paid for since it was begun', () => {
    const steps = [
      answer({ at: '2026-01-01T23:59:59.000Z' }),
      answer(),
      answer({ purpose: 'judge', inputTokens: 10, outputTokens: 1 }),
      answer({ model: 'openai/gpt-5' }),
      run({}),
    ];
    assert.deepEqual(spentSince(steps, record), { tokens: 1111, dollars: 0 });
    const priced = spentSince(steps, { ...record, price: { input: 1, output: 10 } });
    assert.ok(Math.abs(priced.dollars - (1010 + 1010) / 1e6) < 1e-12);
    assert.equal(spentSince([answer({ dollars: 0.25 })], record).dollars, 0.25);
  });
});

describe('what R says of a candidate', () => {
  const failed = { test: 't.py::a', outcome: 'failed', message: 'E' } as const;

  it('is that it is empty, does not apply, or did not run', () => {
    assert.deepEqual(outcomeOnR(candidate({ text: ' \n' })), { kind: 'empty' });
    assert.deepEqual(outcomeOnR(candidate({ applies: false })), {
      kind: 'does not apply',
      why: 'no hunk fits',
    });
    assert.deepEqual(outcomeOnR(candidate({})), { kind: 'not run' });
    assert.deepEqual(outcomeOnR(candidate({ run: run({ problem: 'no pytest' }) })), {
      kind: 'could not run',
      why: 'no pytest',
    });
  });

  it('is what fails that did not fail before', () => {
    const before = { test: 't.py::b', outcome: 'failed' } as const;
    const passed = { test: 't.py::c', outcome: 'passed' } as const;
    const tests = [before, failed, passed];
    const of = (more: Partial<RunStep>) => outcomeOnR(candidate({ run: run(more) }));
    assert.deepEqual(of({ tests, failingBefore: ['t.py::b'] }), {
      kind: 'fails',
      failing: 1,
      tests: 3,
      first: failed,
    });
    assert.deepEqual(of({ tests: [before, passed], failingBefore: ['t.py::b'] }), {
      kind: 'failed before',
      tests: 2,
    });
    assert.deepEqual(of({ tests: [passed] }), { kind: 'passes', tests: 1 });
    assert.equal(of({ tests: [failed], problem: 'stopped after 300 s' }).kind, 'fails');
  });
});

describe('a method for the list of candidates', () => {
  const method = (candidates: readonly MethodCandidate[]): Method => ({
    name: 'zero-shot',
    title: 'ZeroShot',
    description: '',
    runs: 'nothing',
    samples: 1,
    temperature: 0,
    produce: () => Promise.resolve(onlyOne(candidates)),
  });
  type Run = () => Promise<RunStep>;
  const steps = (recall: Run): Steps =>
    ({ parts: {}, tree: () => Promise.resolve(''), recall }) as unknown as Steps;
  const told = async (
    candidates: readonly MethodCandidate[],
    runOnR: Run,
  ): Promise<MethodCandidate[]> => {
    const seen: MethodCandidate[] = [];
    const wrapped = withOutcomesOnR(method(candidates), silent);
    await wrapped.produce(steps(runOnR), { samples: 1, onCandidate: (each) => seen.push(each) });
    return seen;
  };
  const passes = run({ tests: [{ test: 't.py::a', outcome: 'passed' }] });

  it('looks what each does on R, once, where it applies', async () => {
    const seen = await told([candidate({})], () => Promise.resolve(passes));
    assert.deepEqual(
      seen.map((each) => each.run),
      [passes],
    );
    const never = (): never => assert.fail('there is nothing to run');
    assert.deepEqual(await told([candidate({ applies: false })], never), []);
    assert.deepEqual(await told([candidate({ run: passes })], never), []);
  });

  it('has its candidates also where nothing can run, unless it is cancelled', async () => {
    assert.deepEqual(
      await told([candidate({})], () => Promise.reject(new HumanError('no Python'))),
      [],
    );
    await assert.rejects(
      told([candidate({})], () => Promise.reject(new Cancelled())),
      Cancelled,
    );
  });
});
