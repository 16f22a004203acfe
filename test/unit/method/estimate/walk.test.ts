import assert from 'node:assert/strict';
import { Cancelled, silent } from '../../../../src/domain/work';
import { runStore } from '../../../../src/evaluation/testRun';
import { agentless } from '../../../../src/method/agentless/agentless';
import { agentlessSettings } from '../../../../src/method/agentless/agentlessSettings';
import { repairMethods, methodNamed, methods } from '../../../../src/method/methods';
import { estimateBlind, estimateRun } from '../../../../src/method/estimate/estimate';
import { unknownText } from '../../../../src/method/estimate/unknownText';
import type { CountedRequest } from '../../../../src/method/estimate/walk';
import { generate } from '../../../../src/method/generation';
import { givenMethod } from '../../../../src/method/given/givenMethod';
import type { GenerationRequest } from '../../../../src/method/estimate/instanceSteps';
import type { Method } from '../../../../src/method/method';
import { budgetOf } from '../../../../src/method/models/budget';
import type { ChatModel } from '../../../../src/method/models/chatModel';
import { refiningMethod } from '../../../../src/method/refining/refiningMethod';
import { surrogate } from '../../../../src/method/surrogate/surrogate';
import { memoryTrace, type MethodTrace } from '../../../../src/method/trace';
import { loadParser } from '../../python/loadParser';
import { failing, runStep } from '../refining/examined';
import { viewForTests } from '../sampleView';
import { ScriptedSteps, type Script } from '../scriptedSteps';

const never = (): Promise<never> => Promise.reject(new Error('an estimate runs no tests'));

/** How many requests each stage has. */
function countsOf(requests: readonly CountedRequest[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { stage } of requests) counts[stage] = (counts[stage] ?? 0) + 1;
  return counts;
}

describe('a walk through a method', () => {
  const sample = viewForTests();
  const requestOf = async (
    method: Method,
    complete: ChatModel['complete'],
    more: Partial<GenerationRequest>,
  ): Promise<GenerationRequest> => ({
    ...{ instances: [sample.instance], method, model: 'm', budget: budgetOf({}) },
    trace: memoryTrace(),
    live: {
      ...{ model: { name: 'm', complete }, requests: 1, engine: never },
      python: await loadParser(),
      trees: () => Promise.resolve(sample.trees),
      store: runStore(sample.storage),
      permit: () => assert.fail('nothing may run'),
    },
    ...{ price: undefined, storage: sample.storage, contextTokens: 9000, maxOutputTokens: 500 },
    ...{ testsOnly: false, engine: 'local', timeoutSeconds: 1, workers: 1, reporter: silent },
    samples: method.samples,
    ...more,
  });
  const walk = async (
    method: Method,
    more: Partial<GenerationRequest> = {},
  ): Promise<readonly CountedRequest[]> => {
    const [found] = await estimateRun(await requestOf(method, never, more));
    assert.ok(found);
    if ('failure' in found) assert.fail(found.failure);
    return found.requests;
  };
  /** Runs a method with a model that names a file of R. */
  const answered = async (method: Method, trace: MethodTrace): Promise<void> => {
    const says: ChatModel['complete'] = () =>
      Promise.resolve({
        ...{ text: 'tallybook/money.py', finish: 'stop', inputTokens: 1, outputTokens: 1 },
      });
    const [entry] = await generate(await requestOf(method, says, { trace }), async () => undefined);
    assert.ok(entry !== undefined && !('failure' in entry), JSON.stringify(entry));
  };

  /** A model and an R that lead a method on as far as it goes. */
  const furthest = (): Script => {
    let answers = 0;
    let runs = 0;
    return {
      say: ({ purpose }) => (purpose === 'judge' ? 'NO' : `answer ${(answers += 1)}`),
      read: (text) => ({ applies: true, patch: text }),
      run: () => ({
        ...runStep([failing({ exception: 'NameError', message: `name ${(runs += 1)}` })]),
      }),
      verdict: () => ({ applies: true, success: false, reason: '', failToPass: 0, delta: null }),
    };
  };

  it('counts as many requests as a run of the same method makes that goes on to its limits', async () => {
    const plain = methods.filter(
      ({ limits, name }) => limits === undefined && name !== 'surrogate',
    );
    const refined = plain.filter(({ canRefine }) => canRefine === true);
    const all = [...plain, ...refined.map((method) => refiningMethod(method, 2))];
    assert.ok(all.length >= 9, all.map(({ name }) => name).join());
    for (const method of all) {
      const samples = Math.min(method.samples, 4);
      // Each attempt of AssertFlip needs another end, which its own test plays.
      if (method.name === 'assertflip') continue;
      const steps = new ScriptedSteps(furthest());
      await method.produce(steps, { samples });
      const counted = await walk(method, { samples });
      assert.equal(counted.length, steps.asked.length, method.name);
    }
  });

  it('counts what AssertFlip asks for where nothing comes of its attempts', async () => {
    // Each attempt: the first answer, three sent back, one turned round, and the judge.
    const attempt = ['broken 1', 'broken 2', 'broken 3', 'passes', 'fails'];
    let answers = 0;
    const steps = new ScriptedSteps({
      say: ({ purpose }) =>
        purpose === 'judge' ? 'NO' : `${attempt[answers++ % attempt.length] ?? ''} ${answers}`,
      read: (text) =>
        text.startsWith('broken')
          ? { applies: false, patch: '', problem: 'no hunk' }
          : { applies: true, patch: text },
      run: (patch) =>
        runStep([
          patch.startsWith('fails')
            ? failing()
            : { test: 'tests/test_a.py::test_y', outcome: 'passed' },
        ]),
    });
    const method = methodNamed('assertflip');
    await method.produce(steps, { samples: 2, tries: 3 });
    const counted = await walk(method, { samples: 2, tries: 3 });
    assert.equal(counted.length, steps.asked.length);
    assert.deepEqual(countsOf(counted), { candidates: 10, judge: 2 });
    assert.equal(counted.filter(({ isAtMost }) => isAtMost !== true).length, 1);
    assert.ok((method.typicalRequests ?? 0) < counted.length);
  });

  it('says which numbers are known, and which are bounds', async () => {
    const [only, ...others] = await walk(methodNamed('zero-shot'));
    assert.deepEqual([only?.stage, only?.isAtMost, others], ['candidates', undefined, []]);
    const libro = await walk(methodNamed('libro'));
    assert.deepEqual(countsOf(libro), { candidates: 5, judge: 5 });
    for (const { stage, isAtMost } of libro) assert.equal(isAtMost === true, stage === 'judge');
    // A whole answer, and five failures as long as they are shown.
    const judge = libro.find(({ stage }) => stage === 'judge')?.inputTokens ?? 0;
    assert.ok(judge > 500 + 6667 && judge < 500 + 6667 + 2000, `${judge}`);
    const chosen = await walk(surrogate({ fixes: 3, rounds: 2 }));
    assert.deepEqual(countsOf(chosen), { candidates: 5, fixes: 3, refinement: 2 });
    for (const { stage, isAtMost } of chosen) {
      assert.equal(isAtMost === true, stage === 'refinement');
    }
  });

  it('goes through the stages of Agentless, with the largest files where none is named', async () => {
    const settings = agentlessSettings({ reproductionSamples: 3 });
    const counted = await walk(agentless(settings));
    assert.deepEqual(countsOf(counted), {
      ...{ files: 1, folders: 1, elements: 1, locations: 4, repair: 40 },
      ...{ regression: 1, reproduction: 3 },
    });
    for (const { stage, inputTokens, isAtMost } of counted) {
      // The names of files are known; whatever comes after an answer is not.
      if (['files', 'folders'].includes(stage)) assert.equal(isAtMost === true, stage !== 'files');
      else assert.equal(isAtMost, true, stage);
      assert.ok(inputTokens > 300 && inputTokens <= 9000, `${stage}: ${inputTokens}`);
    }
    const until = agentlessSettings({ skip: ['folders', 'locations'], until: 'repair' });
    assert.deepEqual(countsOf(await walk(agentless(until))), { files: 1, elements: 1, repair: 10 });
    const [, rag] = repairMethods();
    assert.deepEqual(countsOf(await walk(rag ?? assert.fail())), { fixes: 1 });
  });

  it('counts vectors apart', async () => {
    const embedding = { name: 'openai/e', baseUrl: undefined, price: undefined };
    const of = agentlessSettings({ until: 'retrieval', skip: ['files', 'folders'] });
    const counted = await walk(agentless(of), { embedding });
    const [vectors, ...others] = counted;
    assert.deepEqual([vectors?.isEmbedding, vectors?.isAtMost, others], [true, undefined, []]);
    assert.ok((vectors?.inputTokens ?? 0) > 500);
  });

  it('bounds a setting of Table 5 with a wrong patch, of which it does not know which is one', async () => {
    const method = givenMethod({ parts: ['patch'], from: 'wrong' }, { oracle: true });
    const counted = await walk(method);
    assert.deepEqual(countsOf(counted), { 'wrong patches': 5, candidates: 1 });
    assert.deepEqual(
      counted.map(({ isAtMost }) => isAtMost === true),
      [false, true, true, true, true, true],
    );
    assert.equal(new Set(counted.slice(0, 5).map(({ inputTokens }) => inputTokens)).size, 1);
  });

  it('takes the answers that the trace has', async () => {
    const trace = memoryTrace();
    const requests = new Map<string, number>();
    for (const method of [methodNamed('zero-shot'), ...repairMethods()]) {
      const isShort = method.name === 'agentless';
      const asked = isShort ? agentless(agentlessSettings({ until: 'elements' })) : method;
      const before = await walk(asked, { trace });
      assert.equal(
        before.some(({ isAnswered }) => isAnswered),
        false,
      );
      await answered(asked, trace);
      const after = await walk(asked, { trace });
      requests.set(method.name, after.length);
      assert.equal(
        after.every(({ isAnswered }) => isAnswered),
        true,
        method.name,
      );
      assert.deepEqual(countsOf(after), countsOf(before));
    }
    assert.deepEqual([...requests.values()], [1, 3, 1]);
  });

  it('ends when it is cancelled', async () => {
    const cancelled = walk(methodNamed('libro'), { signal: AbortSignal.abort() });
    await assert.rejects(cancelled, Cancelled);
  });

  it('reads nothing where it is blind, and fills every prompt', async () => {
    for (const method of [...methods, ...repairMethods()]) {
      if (method.limits !== undefined) continue;
      let parsers = 0;
      const counted = await estimateBlind(method, {
        instance: { repo: 'octo/cat', issue: 'It breaks.' },
        ...{ contextTokens: 27_000, maxOutputTokens: 4096 },
        python: () => {
          parsers += 1;
          return loadParser();
        },
      });
      assert.ok(counted.length >= method.samples, method.name);
      const [first] = counted;
      const isWhole = !method.name.startsWith('agentless');
      if (isWhole) assert.equal(first?.inputTokens, 27_000, method.name);
      if (['zero-shot', 'libro', 'pass-at-5'].includes(method.name)) assert.equal(parsers, 1);
    }
  });

  it('takes no text of a person for an unknown one in a run', () => {
    const steps = new ScriptedSteps(furthest());
    assert.equal(steps.supposes(`an issue with ${unknownText('a', 1)}`), false);
  });
});
