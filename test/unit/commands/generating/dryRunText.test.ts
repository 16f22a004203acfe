import assert from 'node:assert/strict';
import {
  dryRunDocument,
  dryRunOf,
  dryRunText,
} from '../../../../src/commands/generating/dryRunText';
import type { InstanceEstimate } from '../../../../src/method/estimate/estimate';

const estimates: readonly InstanceEstimate[] = [
  {
    instance: 'a',
    requests: [
      { stage: 'files', inputTokens: 1000, outputTokens: 9, isAnswered: true },
      {
        stage: 'retrieval',
        inputTokens: 500_000,
        outputTokens: 9,
        isAnswered: false,
        isEmbedding: true,
      },
      { stage: 'repair', inputTokens: 4000, outputTokens: 9, isAnswered: false, isAtMost: true },
      { stage: 'repair', inputTokens: 4000, outputTokens: 9, isAnswered: false, isAtMost: true },
    ],
  },
  {
    instance: 'b',
    requests: [{ stage: 'files', inputTokens: 3000, outputTokens: 9, isAnswered: false }],
  },
  { instance: 'c', failure: 'no mirror' },
];
const pricing = {
  maxOutputTokens: 100,
  price: { input: 10, output: 1000 },
  embeddingPrice: 0.2,
};

describe('a dry run', () => {
  it('sums up requests, tokens and dollars, by stage and together', () => {
    const { stages, ...all } = dryRunOf(estimates, pricing);
    assert.deepEqual(
      stages.map(({ stage, requests, answered, isAtMost, inputTokens, embeddedTokens }) => [
        ...[stage, requests, answered, isAtMost, inputTokens, embeddedTokens],
      ]),
      [
        ['files', 1, 1, false, 3000, 0],
        ['retrieval', 0, 0, false, 500_000, 500_000],
        ['repair', 2, 0, true, 8000, 0],
      ],
    );
    assert.deepEqual([all.requests, all.answered, all.inputTokens], [3, 1, 511_000]);
    assert.deepEqual(all.dollars, { input: 0.11 + 0.1, mostOutput: 0.3 });
    assert.deepEqual(
      stages.map(({ dollars }) => dollars?.input),
      [0.03, 0.1, 0.08],
    );
    const { embeddingPrice: _, ...unpriced } = pricing;
    const partly = dryRunOf(estimates, unpriced);
    assert.equal(partly.dollars, undefined);
    assert.match(dryRunText(partly), /^cost: unknown without --embedding-price$/m);
  });

  it('is a table for people where there are several stages, and a document', () => {
    const run = dryRunOf(estimates, pricing);
    const text = dryRunText(run);
    assert.match(
      text,
      /^3 instances, at most 3 requests; the trace has 1 further answer\ninput: at most 511000 tokens \(3667 per request\)\noutput: at most 300 tokens\ncost: at most \$0\.21 for input, at most \$0\.51 with output\n\nstage /,
    );
    assert.match(text, /^retrieval +vectors +500000 +≤ 0 +≤ \$0\.10$/m);
    assert.match(text, /^repair +≤ 2 +≤ 8000 +≤ 200 +≤ \$0\.28$/m);
    const [, b] = estimates;
    assert.doesNotMatch(dryRunText(dryRunOf(b === undefined ? [] : [b], pricing)), /stage/);
    const { stages, failed } = dryRunDocument(run) as Record<string, unknown[]>;
    assert.deepEqual(failed, [{ instance_id: 'c', error: 'no mirror' }]);
    assert.deepEqual(stages?.[2], {
      ...{ stage: 'repair', requests: 2, answered: 0, at_most: true, input_tokens: 8000 },
      output_tokens_at_most: 200,
      dollars: { input: 0.08, at_most: 0.28 },
    });
  });

  it('costs no more than the budgets of the run and of its instances', () => {
    for (const [budgets, bound] of [
      [{ budget: 0.4 }, 0.4],
      [{ instanceBudget: 0.1 }, 0.3],
      [{ budget: 0.4, instanceBudget: 0.1 }, 0.3],
    ] as const) {
      const run = dryRunOf(estimates, { ...pricing, ...budgets });
      assert.match(
        dryRunText(run),
        new RegExp(`the budget ends the run at \\$${bound.toFixed(2)}$`, 'm'),
      );
      const { dollars } = dryRunDocument(run) as { dollars: { input: number; at_most: number } };
      assert.ok(Math.abs(dollars.at_most - bound) < 1e-9);
      assert.ok(dollars.input <= dollars.at_most);
    }
    assert.doesNotMatch(dryRunText(dryRunOf(estimates, { ...pricing, budget: 1 })), /budget/);
  });
});
