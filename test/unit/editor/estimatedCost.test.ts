import assert from 'node:assert/strict';
import {
  costInWords,
  estimatedCost,
  type EstimateParts,
} from '../../../src/editor/generate/estimatedCost';
import { agentlessSettings } from '../../../src/method/agentless/agentlessSettings';
import { repairMethods } from '../../../src/method/agentless/repairMethods';
import { methodNamed, methods } from '../../../src/method/methods';
import { english } from './views/english';

const parts = {
  issueTokens: 1000,
  contextTokens: 27_000,
  maxOutputTokens: 4096,
  limits: 'paper',
} as const;
const costOf = (name: string) => estimatedCost(methodNamed(name), parts);

describe('the estimated cost of a method', () => {
  it('is that of its samples, with full prompts and answers', () => {
    assert.deepEqual(costOf('zero-shot'), {
      ...{ requests: 1, inputTokens: 27_000, outputTokens: 4096 },
      ...{ mostRequests: undefined, mostDollars: undefined },
    });
    assert.equal(costOf('pass-at-5').inputTokens, 135_000);
    // LIBRO's judge reads the issue and a failure for each sample.
    assert.deepEqual([costOf('libro').requests, costOf('libro').inputTokens], [10, 150_000]);
  });

  it('of scripts is that of the issue and a short answer each', () => {
    assert.deepEqual(costOf('agentless-tests'), {
      ...{ requests: 40, inputTokens: 60_000, outputTokens: 32_000 },
      ...{ mostRequests: undefined, mostDollars: undefined },
    });
  });

  it('of Agentless is that of its stages, without the vectors', () => {
    const [agentless, rag] = repairMethods().map((method) => estimatedCost(method, parts));
    // Files, folders, elements, regression tests; locations, patches and scripts in samples.
    assert.equal(agentless?.requests, 4 + 4 + 40 + 40);
    assert.equal(agentless.inputTokens, 2 * 9000 + 46 * 27_000 + 40 * 1500);
    assert.deepEqual([rag?.requests, rag?.inputTokens, rag?.outputTokens], [1, 27_000, 4096]);
    const [short] = repairMethods(
      agentlessSettings({ skip: ['locations', 'reproduction'], until: 'repair' }),
    ).map((method) => estimatedCost(method, parts));
    assert.equal(short?.requests, 3 + 10);
  });

  it('of Agentless has its vectors where there is a model for them', () => {
    const embedding = { name: 'openai/e', price: 0.02, tokens: 2_000_000 };
    const inWords = (name: string): string =>
      costInWords(english, estimatedCost(methodNamed(name), { ...parts, embedding }), undefined);
    assert.match(
      inWords('agentless'),
      /k tokens · vectors of up to 2000k tokens, \$0\.04 with openai\/e$/,
    );
    assert.equal(inWords('rag'), '1 request, about 31k tokens', 'it has no vectors');
    const unpriced = estimatedCost(methodNamed('agentless'), {
      ...parts,
      embedding: { ...embedding, price: undefined },
    });
    assert.match(
      costInWords(english, unpriced, { name: 'm', price: { input: 1, output: 1 } }),
      /with m · vectors of up to 2000k tokens with openai\/e$/,
    );
  });

  it('grows with the square of the calls of an agent, and with the length of the issue', () => {
    const tools = costOf('tools');
    assert.deepEqual([tools.requests, tools.inputTokens], [20, 20 * 3000 + 190 * 1500]);
    assert.equal(costOf('mini').requests, 30, 'agents rarely need all of 250 calls');
    const longer = estimatedCost(methodNamed('tools'), { ...parts, issueTokens: 2000 });
    assert.equal(longer.inputTokens - tools.inputTokens, 20_000);
  });

  it('follows the limits of agents that a person chooses, and of no other method', () => {
    const modern = { ...parts, limits: 'modern' } as const;
    const inWords = (name: string, of: EstimateParts): string =>
      costInWords(english, estimatedCost(methodNamed(name), of), undefined);
    assert.equal(inWords('swe-agent', parts), '20 requests, about 351k tokens');
    assert.equal(inWords('swe-agent', modern), '30 of at most 100 requests, about 752k tokens');
    assert.equal(inWords('mini', parts), '30 of at most 250 requests, about 752k tokens');
    assert.equal(inWords('libro', modern), inWords('libro', parts));
  });

  it('is told in tokens, and in dollars where a price is known, up to the limit of an agent', () => {
    assert.equal(
      costInWords(english, costOf('zero-shot'), undefined),
      '1 request, about 31k tokens',
    );
    const price = { input: 2.5, output: 10 };
    assert.equal(
      costInWords(english, costOf('tools'), { name: 'openai/gpt-4o', price }),
      '20 requests, about 351k tokens, $0.92 with openai/gpt-4o',
    );
    const dear = costInWords(english, costOf('tools'), {
      name: 'm',
      price: { input: 50, output: 50 },
    });
    assert.match(dear, /\$3\.00 with m$/);
  });

  it('is there for each method', () => {
    for (const method of methods) {
      assert.match(
        costInWords(english, estimatedCost(method, parts), undefined),
        /^(1 request|\d+ (of at most \d+ )?requests), about \d+k tokens$/,
        method.name,
      );
    }
  });
});
