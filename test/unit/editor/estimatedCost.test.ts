import assert from 'node:assert/strict';
import {
  costInWords,
  estimatedCost,
  type EstimateParts,
} from '../../../src/editor/generate/estimatedCost';
import { agentlessSettings } from '../../../src/method/agentless/agentlessSettings';
import { repairMethods } from '../../../src/method/methods';
import { methodNamed, methods } from '../../../src/method/methods';
import { loadParser } from '../python/loadParser';

/** An issue of so many tokens. */
const issueOf = (tokens: number): string => 'a '.repeat(tokens).trimEnd();
const parts: EstimateParts = {
  ...{ instance: { repo: 'octo/cat', issue: issueOf(1000) }, python: loadParser },
  ...{ contextTokens: 27_000, maxOutputTokens: 4096, limits: 'paper' },
};
const costOf = (name: string) => estimatedCost(methodNamed(name), parts);
const wordsOf = async (name: string, of = parts): Promise<string> =>
  costInWords(await estimatedCost(methodNamed(name), of), undefined);
/** Whether a number is another one, and the frame of so many prompts. */
const isAbout = (actual: number | undefined, expected: number, prompts: number): void =>
  assert.ok(
    actual !== undefined && actual >= expected && actual < expected + 600 * prompts,
    `${actual} instead of ${expected}`,
  );

describe('the estimated cost of a method', () => {
  it('is that of its samples, with full prompts and answers', async () => {
    assert.deepEqual(await costOf('zero-shot'), {
      ...{ requests: 1, inputTokens: 27_000, outputTokens: 4096 },
      ...{ mostRequests: undefined, mostDollars: undefined },
    });
    assert.equal((await costOf('pass-at-5')).inputTokens, 135_000);
    // LIBRO's judge reads the issue and a failure for each sample.
    const { requests, inputTokens, outputTokens } = await costOf('libro');
    assert.deepEqual([requests, inputTokens, outputTokens], [10, 150_000, 5 * 4096 + 5 * 300]);
  });

  it('of scripts is that of the issue and a short answer each', async () => {
    const { inputTokens, ...rest } = await costOf('agentless-tests');
    assert.deepEqual(rest, {
      ...{ requests: 40, outputTokens: 32_000 },
      ...{ mostRequests: undefined, mostDollars: undefined },
    });
    isAbout(inputTokens, 40_000, 40);
  });

  it('of AssertFlip is that of a usual run, of which it says the most requests', async () => {
    const { requests, mostRequests, inputTokens } = await costOf('assertflip');
    assert.deepEqual([requests, mostRequests, inputTokens], [4, 130, 4 * 27_000]);
  });

  it('of Surrogate has its fixes and rounds', async () => {
    const { requests, mostRequests } = await costOf('surrogate');
    assert.deepEqual([requests, mostRequests], [5 + 5 + 1, undefined]);
  });

  it('of Agentless is that of its stages, without the vectors', async () => {
    const [agentless, rag] = await Promise.all(
      repairMethods().map((method) => estimatedCost(method, parts)),
    );
    // Files, folders, elements, regression tests; locations, patches and scripts in samples.
    assert.equal(agentless?.requests, 4 + 4 + 40 + 40);
    isAbout(agentless.inputTokens, 2 * 9000 + 46 * 27_000 + 40 * 1000, 42);
    assert.equal(agentless.outputTokens, 4 * 300 + 44 * 4096 + 40 * 800);
    assert.deepEqual([rag?.requests, rag?.inputTokens, rag?.outputTokens], [1, 27_000, 4096]);
    const [short] = repairMethods(
      agentlessSettings({ skip: ['locations', 'reproduction'], until: 'repair' }),
    );
    assert.ok(short);
    assert.equal((await estimatedCost(short, parts)).requests, 3 + 10);
  });

  it('of Agentless has its vectors where there is a model for them', async () => {
    const embedding = { name: 'openai/e', price: 0.02, tokens: 2_000_000, baseUrl: undefined };
    const of = { ...parts, embedding };
    assert.match(
      await wordsOf('agentless', of),
      /k tokens · embeddings of up to 2000k tokens, \$0\.04 with openai\/e$/,
    );
    assert.equal(await wordsOf('rag', of), '1 request, about 31k tokens', 'it has no vectors');
    const unpriced = await estimatedCost(methodNamed('agentless'), {
      ...parts,
      embedding: { ...embedding, price: undefined },
    });
    assert.match(
      costInWords(unpriced, { name: 'm', price: { input: 1, output: 1 } }),
      /with m · embeddings of up to 2000k tokens with openai\/e$/,
    );
  });

  it('grows with the square of the calls of an agent, and with the length of the issue', async () => {
    const tools = await costOf('tools');
    assert.deepEqual([tools.requests, tools.inputTokens], [20, 20 * 3000 + 190 * 1500]);
    assert.equal((await costOf('mini')).requests, 30, 'agents rarely need all of 250 calls');
    const longer = await estimatedCost(methodNamed('tools'), {
      ...parts,
      instance: { repo: 'octo/cat', issue: issueOf(2000) },
    });
    assert.equal(longer.inputTokens - tools.inputTokens, 20_000);
  });

  it('follows the limits of agents that a person chooses, and of no other method', async () => {
    const modern = { ...parts, limits: 'modern' } as const;
    assert.equal(await wordsOf('swe-agent'), '20 requests, about 351k tokens');
    assert.equal(
      await wordsOf('swe-agent', modern),
      '30 of at most 100 requests, about 752k tokens',
    );
    assert.equal(await wordsOf('mini'), '30 of at most 250 requests, about 752k tokens');
    assert.equal(await wordsOf('libro', modern), await wordsOf('libro'));
  });

  it('is told in tokens, and in dollars where a price is known, up to the limit of an agent', async () => {
    assert.equal(await wordsOf('zero-shot'), '1 request, about 31k tokens');
    const price = { input: 2.5, output: 10 };
    const tools = await costOf('tools');
    assert.equal(
      costInWords(tools, { name: 'openai/gpt-4o', price }),
      '20 requests, about 351k tokens, $0.92 with openai/gpt-4o',
    );
    const dear = costInWords(tools, { name: 'm', price: { input: 50, output: 50 } });
    assert.match(dear, /\$3\.00 with m$/);
  });

  it('is there for each method', async () => {
    for (const method of methods) {
      assert.match(
        await wordsOf(method.name),
        /^(1 request|\d+ (of at most \d+ )?requests), about \d+k tokens$/,
        method.name,
      );
    }
  });
});
