import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silent } from '../../../../src/domain/work';
import { budgetOf, type Budget } from '../../../../src/method/models/budget';
import { embedDocuments } from '../../../../src/method/models/embedDocuments';
import { openTrace, paidSteps, type MethodTrace } from '../../../../src/method/trace';

describe('vectors that are paid for', () => {
  let folder: string;
  let requests: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-embed-'));
    requests = 0;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A trace whose first line says when its run began. */
  const traceOf = async (name: string): Promise<MethodTrace> => {
    const path = join(folder, `${name}.jsonl`);
    const trace = await openTrace(path, { readOnly: false, told: assert.fail });
    if (trace.steps.length === 0) {
      await trace.add({ step: 'tree', key: 'k', at: name, instance: 'i', tree: 't' });
    }
    return trace;
  };
  const embed = (
    trace: MethodTrace,
    texts: readonly string[],
    budget: Budget = budgetOf({}),
  ): Promise<Float32Array[][]> =>
    embedDocuments(
      texts.map((text) => [text]),
      {
        ...{ trace, budget, storage: folder, instance: { id: 'a__b-1' }, reporter: silent },
        ...{ baseUrl: undefined, price: 2, inTurn: (request) => request() },
        model: {
          name: 'p/m',
          embed: async (asked) => {
            requests += 1;
            const vectors = asked.map((text) => Float32Array.from([text.length, 1]));
            return Promise.resolve({ vectors, inputTokens: 1000 * asked.length });
          },
        },
      },
    );
  const bookedIn = (trace: MethodTrace): number[] =>
    paidSteps(trace.steps).map(({ inputTokens }) => inputTokens);

  it('are booked by the run that goes on, where it was killed before its trace had them', async () => {
    const killed = await traceOf('killed');
    const dying = { ...killed, add: () => Promise.reject(new Error('killed')) };
    await assert.rejects(embed(dying, ['a', 'bcd']), /killed/);
    await killed.close();
    const resumed = await traceOf('killed');
    assert.deepEqual(bookedIn(resumed), []);
    const budget = budgetOf({ dollars: 1 });
    const vectors = await embed(resumed, ['a', 'bcd'], budget);
    assert.deepEqual(
      vectors.map(([vector]) => [...(vector ?? [])]),
      [
        [1, 1],
        [3, 1],
      ],
    );
    assert.equal(requests, 1, 'it pays for nothing twice');
    assert.deepEqual(bookedIn(resumed), [2000]);
    assert.deepEqual(budget.spent, { tokens: 2000, dollars: 0.004 });
    await embed(resumed, ['a', 'bcd'], budget);
    assert.deepEqual(bookedIn(resumed), [2000], 'and books nothing twice');
    await resumed.close();
  });

  it('are free for another run, which books nothing', async () => {
    const one = await traceOf('one');
    await embed(one, ['a']);
    const other = await traceOf('other');
    await embed(other, ['a', 'b']);
    assert.equal(requests, 2);
    assert.deepEqual([bookedIn(one), bookedIn(other)], [[1000], [1000]]);
    await Promise.all([one.close(), other.close()]);
  });
});
