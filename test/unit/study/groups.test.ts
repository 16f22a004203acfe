import assert from 'node:assert/strict';
import fc from 'fast-check';
import { costsOf } from '../../../src/study/measures/costs';
import { type EvaluatedMethod, methodsOf } from '../../../src/study/measures/methods';
import {
  beforeAndAfter,
  groupsByIssueLength,
  groupsByRepository,
} from '../../../src/study/measures/groups';
import { overlapOf, overlapWithRepairs } from '../../../src/study/measures/overlap';
import { publishedRows } from '../../../src/study/measures/published';
import { entry, facts, run, solved } from './examples';

const lengths = (values: readonly number[]): readonly EvaluatedMethod[] =>
  methodsOf([
    {
      label: 'run',
      instances: values.map((issueLength, index) => facts(`i${index}`, { issueLength })),
      entries: values.map((_, index) =>
        index % 2 === 0 ? solved(`i${index}`) : entry(`i${index}`),
      ),
    },
  ]);

describe('groups of instances', () => {
  it('by repository hold what each method did there', () => {
    const instances = [
      facts('a', { repo: 'x/x' }),
      facts('b', { repo: 'y/y' }),
      facts('c', { repo: 'x/x' }),
    ];
    const groups = groupsByRepository(
      methodsOf([{ label: 'run', instances, entries: [solved('a'), solved('b')] }]),
    );
    assert.deepEqual(
      groups.map(({ label, instances, summaries }) => [label, instances, summaries[0]?.success]),
      [
        ['x/x', 2, { count: 1, of: 2 }],
        ['y/y', 1, { count: 1, of: 1 }],
      ],
    );
  });

  it('by length of the issue are in order and hold every instance of known length once', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { minLength: 1, maxLength: 40 }), (values) => {
        const groups = groupsByIssueLength(lengths(values));
        const known = values.filter((value) => value > 0).length;
        assert.equal(
          groups.reduce((sum, group) => sum + group.instances, 0),
          known,
        );
        for (const [index, group] of groups.entries()) {
          assert.ok(group.shortest <= group.longest);
          const next = groups[index + 1];
          assert.ok(next === undefined || group.longest < next.shortest);
        }
      }),
    );
  });

  it('by length of the issue are about equally many', () => {
    const groups = groupsByIssueLength(
      lengths(Array.from({ length: 100 }, (_, index) => index + 1)),
    );
    assert.deepEqual(
      groups.map((group) => group.instances),
      [20, 20, 20, 20, 20],
    );
  });

  it('before and after a day leave undated instances out and say so', () => {
    const instances = [
      facts('a', { created: '2023-04-29T23:59:59Z' }),
      facts('b', { created: '2023-04-30T00:00:00Z' }),
      facts('c', { created: '' }),
    ];
    const split = beforeAndAfter(
      methodsOf([{ label: 'run', instances, entries: [solved('a'), entry('b')] }]),
      '2023-04-30',
    );
    assert.deepEqual(split.before.summaries[0]?.success, { count: 1, of: 1 });
    assert.deepEqual(split.after.summaries[0]?.success, { count: 0, of: 1 });
    assert.equal(split.undated, 1);
    assert.ok((split.tests[0]?.exact ?? 0) > 0.999);
  });
});

describe('the overlap of solved instances', () => {
  it('puts every solved instance into exactly one region', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const models = ['x', 'y', 'z'];
    const subset = fc.subarray(ids.flatMap((id) => models.map((model) => [id, model] as const)));
    fc.assert(
      fc.property(subset, (pairs) => {
        const entries = pairs.map(([id, model]) => solved(id, { model }));
        const overlap = overlapOf(methodsOf([run(ids, entries, { models })]));
        const inRegions = overlap.regions.flatMap((region) => region.instances);
        assert.equal(new Set(inRegions).size, inRegions.length);
        assert.equal(inRegions.length, overlap.union);
        assert.equal(overlap.union, new Set(pairs.map(([id]) => id)).size);
        for (const [index, count] of overlap.solved.entries()) {
          const mine = overlap.regions.filter((region) => region.methods.includes(index));
          assert.equal(
            mine.reduce((sum, region) => sum + region.instances.length, 0),
            count,
          );
          assert.equal(overlap.pairs?.[index]?.[index], count);
        }
      }),
    );
  });

  it('with repairs is over the instances that both were tried on', () => {
    const [method] = methodsOf([run(['a', 'b', 'c', 'd'], [solved('a'), solved('b'), entry('c')])]);
    assert.ok(method);
    const row = overlapWithRepairs(method, {
      name: 'fixes',
      resolved: ['b', 'c', 'x'],
      attempted: ['a', 'b', 'c', 'x'],
    });
    assert.deepEqual(
      [row.instances, row.tests, row.fixes, row.overlap, row.expected.toFixed(6)],
      [3, 2, 2, ['b'], (4 / 3).toFixed(6)],
    );
    assert.equal(row.p, 1);
  });
});

describe('costs', () => {
  it('are sums over the candidates that say them, and of all samples for an oracle', () => {
    const cost = { dollars: 2, inputTokens: 10, seconds: 4 };
    const [first, oracle] = methodsOf(
      [
        run(
          ['a', 'b'],
          [
            entry('a', { cost }),
            solved('a', { sample: 2, cost: { dollars: 3 } }),
            entry('b', { seconds: 3 }),
          ],
        ),
      ],
      { oracle: true },
    );
    assert.ok(first && oracle);
    assert.deepEqual(costsOf(first).dollars, { sum: 2, known: 1, mean: 2 });
    assert.equal(costsOf(first).dollarsPerSuccess, undefined);
    assert.deepEqual(costsOf(first).evaluationSeconds, { sum: 4, known: 2, mean: 2 });
    assert.deepEqual(costsOf(oracle).dollars, { sum: 5, known: 2, mean: 2.5 });
    assert.equal(costsOf(oracle).dollarsPerSuccess, 5);
  });

  it('of a success leave out successes whose price nobody told', () => {
    const [method] = methodsOf([
      run(
        ['a', 'b', 'c'],
        [solved('a', { cost: { dollars: 2 } }), solved('b'), entry('c', { cost: { dollars: 1 } })],
      ),
    ]);
    assert.ok(method);
    assert.equal(costsOf(method).dollars?.sum, 3);
    assert.equal(costsOf(method).dollarsPerSuccess, 3);
  });
});

describe('published rows', () => {
  it('are shares of whole instances, as far as one decimal tells', () => {
    for (const row of publishedRows.filter((each) => each.wellFormed !== undefined)) {
      const { selected, wellFormed, success, failToAny, failToPass, passToPass } = row;
      for (const share of [wellFormed, success, failToAny, failToPass, passToPass]) {
        const instances = (share ?? 0) * selected;
        const printed = (100 * Math.round(instances)) / selected;
        assert.ok(Math.abs(printed - 100 * (share ?? 0)) <= 0.051, `${row.method}: ${share}`);
      }
    }
  });
});
