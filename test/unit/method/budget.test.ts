import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BudgetSpent, budgetOf, dollarsOf } from '../../../src/method/models/budget';

const none = { tokens: 0, dollars: 0 };

describe('the budget of a run', () => {
  it('without limits lets everything through, and counts', async () => {
    const budget = budgetOf({});
    const settle = await budget.reserve({ tokens: 1e9, dollars: 1e6 });
    settle({ tokens: 5, dollars: 0.5 });
    assert.deepEqual(budget.spent, { tokens: 5, dollars: 0.5 });
  });

  it('refuses what could go beyond the limit, in tokens or in dollars', async () => {
    const budget = budgetOf({ tokens: 100, dollars: 1 });
    budget.add({ tokens: 60, dollars: 0.5 });
    await assert.rejects(budget.reserve({ tokens: 41, dollars: 0 }), BudgetSpent);
    await assert.rejects(budget.reserve({ tokens: 1, dollars: 0.51 }), BudgetSpent);
    (await budget.reserve({ tokens: 40, dollars: 0.5 }))(none);
    assert.deepEqual(budget.spent, { tokens: 60, dollars: 0.5 });
  });

  it('lets a request wait for what others hold and may give back', async () => {
    const budget = budgetOf({ tokens: 100 });
    const settle = await budget.reserve({ tokens: 80, dollars: 0 });
    const second = budget.reserve({ tokens: 50, dollars: 0 });
    const third = budget.reserve({ tokens: 90, dollars: 0 });
    settle({ tokens: 20, dollars: 0 });
    (await second)({ tokens: 50, dollars: 0 });
    await assert.rejects(third, BudgetSpent);
    assert.equal(budget.spent.tokens, 70);
  });

  it('is never exceeded, however requests overlap', async () => {
    const request = fc.record({ most: fc.nat(60), cost: fc.nat(60), turns: fc.nat(5) });
    await fc.assert(
      fc.asyncProperty(fc.nat(200), fc.array(request, { maxLength: 12 }), async (tokens, all) => {
        const budget = budgetOf({ tokens });
        let most = 0;
        await Promise.allSettled(
          all.map(async (each) => {
            const settle = await budget.reserve({ tokens: each.most, dollars: 0 });
            for (let turn = 0; turn < each.turns; turn += 1) await Promise.resolve();
            settle({ tokens: Math.min(each.cost, each.most), dollars: 0 });
            most = Math.max(most, budget.spent.tokens);
          }),
        );
        assert.ok(most <= tokens);
      }),
    );
  });

  it('prices a million tokens', () => {
    assert.equal(dollarsOf({ input: 2.5, output: 10 }, 1e6, 1e5), 3.5);
  });
});
