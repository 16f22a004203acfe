import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openDataset } from '../../../src/dataset/dataset';
import type { Instance } from '../../../src/domain/instance';
import { Cancelled, HumanError, silent } from '../../../src/domain/work';
import { runStore } from '../../../src/evaluation/testRun';
import { generate, type GenerationEntry } from '../../../src/method/generation';
import { methodNamed } from '../../../src/method/methods';
import { budgetOf } from '../../../src/method/models/budget';
import {
  ModelFailure,
  ModelUnusable,
  type ModelAnswer,
  type ChatRequest,
} from '../../../src/method/models/chatModel';
import { predictionsFile } from '../../../src/method/predictionsFile';
import { openTrace, type MethodTrace } from '../../../src/method/trace';
import type { PythonParser } from '../../../src/python/parser';
import { sourceOf } from '../../../src/repository/source';
import { prepareTrees } from '../../../src/repository/trees';
import { loadParser } from '../python/loadParser';

const sample = resolve('media', 'sample');

describe('a run of a method over instances', () => {
  let storage: string;
  let bundled: Instance;
  let python: PythonParser;
  let trace: MethodTrace | undefined;
  let count = 0;
  before(async function () {
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-generation-'));
    const file = join(sample, 'instance.jsonl');
    const dataset = await openDataset(file, { storage, reporter: silent });
    const [instance] = await dataset.read(['tallybook__tallybook-217']);
    assert.ok(instance);
    bundled = instance;
    python = await loadParser();
  });
  afterEach(async () => {
    await trace?.close();
    trace = undefined;
  });
  after(() => rm(storage, { recursive: true, force: true }));

  const instances = (number: number): Instance[] =>
    Array.from({ length: number }, (_, index) => ({
      ...bundled,
      id: `octo__cat-${index + 1}`,
      issue: `${index + 1}. ${bundled.issue}`,
    }));
  /** Runs ZeroShot with a model that answers or throws, depending on the number of the instance. */
  const run = async (
    number: number,
    answer: (instance: number) => string,
    more: { workers?: number; tokens?: number; signal?: AbortSignal; source?: string } = {},
  ): Promise<{ entries: GenerationEntry[]; requests: ChatRequest[] }> => {
    const requests: ChatRequest[] = [];
    const path = join(storage, `out-${count++}.trace.jsonl`);
    trace = await openTrace(path, { readOnly: false, told: () => undefined });
    const entries = await generate(
      {
        instances: instances(number),
        method: methodNamed('zero-shot'),
        model: 'fake/m',
        live: {
          model: {
            name: 'fake/m',
            async complete(request): Promise<ModelAnswer> {
              requests.push(request);
              const at = Number(/<issue>\n(\d+)\./.exec(request.messages[0]?.content ?? '')?.[1]);
              const text = answer(at);
              return { text, finish: 'stop', inputTokens: 1000, outputTokens: 10 };
            },
          },
          requests: 2,
          python,
          trees: async (instance, work) => {
            const from = new Map([['*', more.source ?? join(sample, 'repository')]]);
            return prepareTrees(instance, await sourceOf(instance, from), storage, work);
          },
          store: runStore(storage),
          engine: () => Promise.reject(new Error('nothing is to run')),
          permit: () => undefined,
        },
        trace,
        budget: budgetOf({ tokens: more.tokens }),
        price: undefined,
        storage,
        contextTokens: 2000,
        maxOutputTokens: 100,
        testsOnly: false,
        engine: 'local',
        timeoutSeconds: 10,
        samples: 1,
        workers: more.workers ?? 1,
        signal: more.signal,
        reporter: silent,
      },
      async () => undefined,
    );
    return { entries, requests };
  };
  const failures = (entries: readonly GenerationEntry[]): (string | undefined)[] =>
    entries.map((entry) => ('failure' in entry ? entry.failure : undefined));

  it('gives entries in the order of the instances, and a failure of one is that of one', async () => {
    const { entries } = await run(
      3,
      (instance) => {
        if (instance === 2) throw new ModelFailure('fake/m: status 400');
        return `answer ${instance}`;
      },
      { workers: 3 },
    );
    assert.deepEqual(
      entries.map(({ instance }) => instance),
      ['octo__cat-1', 'octo__cat-2', 'octo__cat-3'],
    );
    assert.deepEqual(failures(entries), [undefined, 'fake/m: status 400', undefined]);
    const [first] = entries;
    assert.ok(first !== undefined && 'choice' in first);
    assert.equal(first.prediction, 'answer 1');
    assert.deepEqual(first.cost, {
      ...{ requests: 1, inputTokens: 1000, outputTokens: 10 },
      ...{ reasoningTokens: 0, cachedInputTokens: 0, embeddedTokens: 0, emptyAnswers: 0 },
      ...{ dollars: undefined, isEstimate: false },
    });
  });

  it('does not go on for hours without answers', async () => {
    const { entries, requests } = await run(5, () => {
      throw new ModelFailure('no connection');
    });
    assert.equal(requests.length, 3);
    assert.match(failures(entries)[4] ?? '', /not requested: there was no answer for 3 instances/);
  });

  it('ends when no request will have an answer', async () => {
    await assert.rejects(
      run(4, () => {
        throw new ModelUnusable('the server responded with status 401');
      }),
      ModelUnusable,
    );
  });

  it('asks no more than its budget allows, and says of whom it was not asked', async () => {
    const { entries, requests } = await run(4, () => 'answer', { tokens: 4500 });
    assert.ok(requests.length > 0 && requests.length < 4, String(requests.length));
    const without = failures(entries).filter((failure) => failure !== undefined);
    assert.equal(without.length, 4 - requests.length);
    for (const failure of without) assert.match(failure, /budget of 4500 tokens/);
  });

  it('is cancelled as a whole', async () => {
    const abort = new AbortController();
    const running = run(
      2,
      () => {
        abort.abort();
        return 'answer';
      },
      { signal: abort.signal },
    );
    await assert.rejects(running, Cancelled);
  });

  it('says what is wrong where R cannot be had', async () => {
    const { entries, requests } = await run(1, () => '', { source: join(storage, 'gone') });
    assert.match(failures(entries)[0] ?? '', /gone of .* does not exist/);
    assert.equal(requests.length, 0);
  });

  it('shows the model nothing of the answer', async () => {
    const { requests } = await run(1, () => '');
    const shown = JSON.stringify(requests);
    const added = `${bundled.goldenPatch}\n${bundled.goldenTests}`
      .split('\n')
      .filter((line) => line.startsWith('+') && line.trim().length > 21)
      .map((line) => line.slice(1).trim())
      // The reporter's own words do not belong to the answer.
      .filter((line) => !bundled.issue.includes(line));
    assert.ok(added.length > 5);
    for (const line of added) {
      assert.equal(shown.includes(JSON.stringify(line).slice(1, -1)), false, line);
    }
    assert.equal(shown.includes(bundled.hints) && bundled.hints !== '', false);
  });
});

describe('a predictions file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-predictions-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const row = (instance_id: string, model_name_or_path: string, model_patch = 'p') => ({
    ...{ instance_id, model_name_or_path, model_patch },
  });

  it('is made with its folder, and has the last row of an instance and model', async () => {
    const path = join(folder, 'deep', 'out.jsonl');
    const file = await predictionsFile(path);
    await Promise.all([
      file.put(row('a', 'm')),
      file.put(row('b', 'm')),
      file.put(row('a', 'm', 'new')),
      file.put(row('a', 'n')),
    ]);
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      [row('a', 'm', 'new'), row('b', 'm'), row('a', 'n')],
    );
  });

  it('keeps other samples', async () => {
    const path = join(folder, 'samples.jsonl');
    const second = { ...row('a', 'm'), sample: 2 };
    const rows = [second, row('a', 'm')];
    await writeFile(path, rows.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const file = await predictionsFile(path);
    await file.put(row('a', 'm', 'new'));
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      [second, row('a', 'm', 'new')],
    );
  });

  it('is left alone when it is something else', async () => {
    const path = join(folder, 'notes.txt');
    for (const text of [
      'notes\n',
      '{"instance_id": 1}\n',
      `${JSON.stringify(row('a', 'm'))}\n[]\n`,
    ]) {
      await writeFile(path, text);
      await assert.rejects(predictionsFile(path), HumanError);
      assert.equal(await readFile(path, 'utf8'), text);
    }
  });
});
