import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { openDataset } from '../../../../src/dataset/dataset';
import type { Instance } from '../../../../src/domain/instance';
import { silent } from '../../../../src/domain/work';
import { runStore } from '../../../../src/evaluation/testRun';
import { generate } from '../../../../src/method/generation';
import { givenMethod } from '../../../../src/method/given/givenMethod';
import { givenSetting, type GivenSource } from '../../../../src/method/given/setting';
import type { Method } from '../../../../src/method/method';
import { budgetOf } from '../../../../src/method/models/budget';
import type { ChatRequest } from '../../../../src/method/models/chatModel';
import { openTrace } from '../../../../src/method/trace';
import { zeroShotPlus } from '../../../../src/method/prompted/zeroShot';
import type { PythonParser } from '../../../../src/python/parser';
import { sourceOf } from '../../../../src/repository/source';
import { prepareTrees } from '../../../../src/repository/trees';
import { agentless } from '../../../../src/method/agentless/agentless';
import { agentlessSettings } from '../../../../src/method/agentless/agentlessSettings';
import { vectorsFolder } from '../../../../src/repository/storage';
import {
  agentlessAnswer,
  agentlessVectors,
  isOfStage,
  stageOf,
} from '../../../commandLine/agentlessScript';
import { everydayRuns } from '../../../everyday';
import { loadParser } from '../../python/loadParser';

const sample = resolve('media', 'sample');

/** A patch that adds a line at the beginning of a file of R. */
async function addedLine(path: string, line: string): Promise<string> {
  const [first] = (await readFile(join(sample, 'repository', path), 'utf8')).split('\n');
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1,2 @@\n+# ${line}\n ${first}\n`;
}

/** What a model says that knows the stages of Agentless, and nothing else. */
function answerOf({ messages, temperature }: ChatRequest, all: readonly ChatRequest[]): string {
  const textOf = (request: Pick<ChatRequest, 'messages'>): string =>
    request.messages.map(({ content }) => content).join('\n');
  const text = textOf({ messages });
  const isOfLocations = (each: ChatRequest): boolean =>
    isOfStage(textOf(each)) && stageOf({ text: textOf(each) }) === 'locations';
  const sample = all.filter(isOfLocations).length - 1;
  return isOfStage(text) ? agentlessAnswer({ text, temperature }, sample) : 'no patch';
}

describe('requests in a setting of Table 5, and of Agentless', () => {
  let storage: string;
  let bundled: Instance;
  let python: PythonParser;
  let modules: string[];
  let tests: string[];
  let count = 0;
  before(async () => {
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-given-'));
    const file = join(sample, 'instance.jsonl');
    const dataset = await openDataset(file, { storage, reporter: silent });
    const [instance] = await dataset.read(['tallybook__tallybook-217']);
    assert.ok(instance);
    bundled = instance;
    python = await loadParser();
    const filesIn = async (folder: string, isWanted: (name: string) => boolean) =>
      (await readdir(join(sample, 'repository', folder)))
        .filter(isWanted)
        .map((name) => `${folder}/${name}`);
    modules = await filesIn('tallybook', (name) => name.endsWith('.py'));
    tests = await filesIn('tests', (name) => name.startsWith('test_'));
  });
  after(() => rm(storage, { recursive: true, force: true }));

  const methodOf = (given: string, from: GivenSource): Method => {
    const setting = givenSetting({ given: given.split(','), from });
    assert.ok(setting);
    return givenMethod(setting, { oracle: true });
  };

  /** Everything that a model receives of a run. */
  const requestsOf = async (instance: Instance, method: Method): Promise<string> => {
    const requests: ChatRequest[] = [];
    const embedded: string[] = [];
    // What is kept of an earlier run is not asked for again.
    await rm(vectorsFolder(storage), { recursive: true, force: true });
    const path = join(storage, `out-${count++}.trace.jsonl`);
    const trace = await openTrace(path, { readOnly: false, told: () => undefined });
    const entries = await generate(
      {
        ...{ instances: [instance], method, model: 'fake/m', trace, storage, reporter: silent },
        live: {
          model: {
            name: 'fake/m',
            complete(request) {
              requests.push(request);
              const text = answerOf(request, requests);
              return Promise.resolve({ text, finish: 'stop', inputTokens: 1, outputTokens: 1 });
            },
          },
          embedding: {
            name: 'fake/e',
            embed(texts) {
              embedded.push(...texts);
              const vectors = agentlessVectors(texts).map((each) => Float32Array.from(each));
              return Promise.resolve({ vectors, inputTokens: texts.length });
            },
          },
          requests: 1,
          python,
          trees: async (of, work) => {
            const from = new Map([['*', join(sample, 'repository')]]);
            return prepareTrees(of, await sourceOf(of, from), storage, work);
          },
          store: runStore(storage),
          engine: () => Promise.reject(new Error('nothing is to run')),
          permit: () => undefined,
        },
        budget: budgetOf({}),
        price: undefined,
        embedding: { name: 'fake/e', baseUrl: undefined, price: undefined },
        ...{ contextTokens: 8000, maxOutputTokens: 100, testsOnly: false, engine: 'local' },
        ...{ timeoutSeconds: 10, samples: 1, workers: 1 },
      },
      () => Promise.resolve(),
    );
    await trace.close();
    assert.ok(entries.every((entry) => 'choice' in entry));
    // Samples of one stage are asked for at once, so that they come in any order.
    const inOrder = (texts: readonly string[]): string => `[${[...texts].sort().join(',')}]`;
    return `[${inOrder(requests.map((each) => JSON.stringify(each)))},${inOrder(embedded.map((each) => JSON.stringify(each)))}]`;
  };

  /** Another answer to the same issue. */
  const answers = fc.record({
    module: fc.nat(),
    test: fc.nat(),
    line: fc.stringMatching(/^[a-z]{8,20}$/),
    failToPass: fc.array(fc.string(), { maxLength: 3 }),
  });
  type Answer = typeof answers extends fc.Arbitrary<infer Value> ? Value : never;
  const withAnswer = async ({ module, test, line, failToPass }: Answer): Promise<Instance> => ({
    ...bundled,
    goldenPatch: await addedLine(modules[module % modules.length] ?? '', line),
    goldenTests: await addedLine(tests[test % tests.length] ?? '', line),
    ...{ failToPass, passToPass: failToPass, hints: line },
  });

  const isEqual = async (method: Method, numRuns = everydayRuns(10)): Promise<void> => {
    const usual = await requestsOf(bundled, method);
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        assert.equal(await requestsOf(await withAnswer(answer), method), usual);
      }),
      { numRuns, endOnFailure: true },
    );
  };

  for (const given of ['files', 'test-file']) {
    it(`are the same, byte for byte, for every answer: ${given} retrieved`, () =>
      isEqual(methodOf(given, 'retrieved')));
  }

  it('are the same, byte for byte, for every answer: Agentless up to its patches', async () => {
    // The stages that run tests are in test/commandLine/neverTheAnswer.test.ts.
    const method = agentless(agentlessSettings({ skip: ['regression', 'reproduction'] }));
    await isEqual(method, everydayRuns(3));
    const usual = await requestsOf(bundled, method);
    const [requests, embedded] = JSON.parse(usual) as [ChatRequest[], string[]];
    assert.equal(requests.length, 47);
    assert.ok(embedded.some((text) => text.includes('def allocate')));
    assert.doesNotMatch(usual, /tallybook-217|#217|by_loss|Rounding down first/);
  });

  it('are those of ZeroShotPlus when files are retrieved', async () => {
    assert.equal(
      await requestsOf(bundled, methodOf('files', 'retrieved')),
      await requestsOf(bundled, zeroShotPlus),
    );
  });

  it('hold the answer when that is given, which the property notices', async () => {
    const golden = methodOf('test-file,patch,files', 'golden');
    await assert.rejects(isEqual(golden, 1), /Property failed/);
    const line = bundled.goldenPatch.split('\n').find((each) => each.startsWith('+    '));
    assert.ok(line);
    assert.ok((await requestsOf(bundled, golden)).includes(JSON.stringify(line).slice(1, -1)));
    assert.ok(
      (await requestsOf(bundled, golden)).includes('tests/test_expense.py and tests/test_money.py'),
    );
    assert.ok(!(await requestsOf(bundled, methodOf('test-file', 'golden'))).includes('by_loss'));
  });
});
