import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance, Prediction } from '../../src/domain/instance';
import { Cancelled, HumanError, silent } from '../../src/domain/work';
import { filterRepairs } from '../../src/study/resolution/filterRepairs';
import { EngineGone } from '../../src/engine/docker/connection/engineProblem';
import { journalPath } from '../../src/results/journal';
import { runStore } from '../../src/evaluation/testRun';
import { filterRepairBatch } from '../../src/repair/filterRepairs';
import type { FilterRequest } from '../../src/repair/filterRequest';
import { repairFolder } from '../../src/repair/repairFolder';
import { loadParser } from '../unit/python/loadParser';
import { goldenPatch, useExample, type Example } from './exampleRepository';
import { passesWhereFixed, purrIsTwo, type At } from './purrIsTwo';
import { simulatedEngine } from './simulatedEngine';

const wrong = goldenPatch.replace('+    return 2', '+    return 3');
const none = goldenPatch.replaceAll('cat.py', 'no.py');
const idOf = (index: number): string => `octo__cat-${index}`;

describe('filtering code patches, several at once', function () {
  let example: Example;
  useExample((made) => (example = made));

  const request = async (
    count: number,
    at: At,
    more: Partial<FilterRequest> = {},
  ): Promise<FilterRequest & { readonly engine: ReturnType<typeof simulatedEngine> }> => {
    const instances: Instance[] = [];
    const repairs: Prediction[] = [];
    for (let index = 0; index < count; index += 1) {
      const instanceId = idOf(index);
      instances.push(example.instance({ id: instanceId }));
      repairs.push({ instanceId, model: 'm', patch: goldenPatch });
      repairs.push({ instanceId, model: 'm', sample: 2, patch: wrong });
      repairs.push({ instanceId, model: 'none', patch: none });
    }
    const storage = await example.storage();
    return {
      instances,
      tests: instances.map(({ id }) => ({ instanceId: id, model: 't', patch: purrIsTwo })),
      repairs,
      resolved: new Set(instances.map(({ id }) => id)),
      python: await loadParser(),
      store: runStore(storage),
      sources: new Map([['*', example.origin]]),
      storage,
      workers: 3,
      timeoutSeconds: 30,
      format: 'unified',
      formats: [],
      fresh: false,
      retry: { times: 3, firstDelay: 5 },
      reporter: silent,
      ...more,
      engine: simulatedEngine({ at }),
    };
  };
  const reasons = (found: Awaited<ReturnType<typeof filterRepairBatch>>): string[][] =>
    filterRepairs(found.tested).repairs.map(({ instance, name, reason }) => [
      instance,
      name,
      reason,
    ]);
  const expected = (count: number): string[][] =>
    Array.from({ length: count }, (_, index) => [
      [idOf(index), 'm', 'kept'],
      [idOf(index), 'm@2', 'a test still fails'],
      [idOf(index), 'none', 'tests could not run on the patch'],
    ]).flat();

  it('tells them in the order of the files, with progress', async () => {
    const told: number[] = [];
    const found = await filterRepairBatch(await request(4, passesWhereFixed), {
      onProgress: ({ done, total }) => told.push(done, total),
    });
    assert.deepEqual(reasons(found), expected(4));
    assert.deepEqual(told.slice(0, 2), [0, 12]);
    assert.deepEqual(told.slice(-2), [12, 12]);
  });

  it('tries again what an infrastructure fault has ended, and nothing else', async () => {
    const tries = new Map<string, number>();
    const batch = await request(3, (step, of) => {
      const tried = (tries.get(of.instance) ?? 0) + 1;
      if (step === 'run') tries.set(of.instance, tried);
      if (step === 'run' && of.instance === idOf(0) && tried <= 2) throw new EngineGone('gone', '');
      if (step === 'run' && of.instance === idOf(1)) throw new TypeError('x is not a function');
      return passesWhereFixed(step, of);
    });
    const [first, second, third] = [0, 1, 2].map((index) => expected(3).slice(3 * index));
    const found = await filterRepairBatch(batch);
    assert.deepEqual(reasons(found).slice(0, 3), first?.slice(0, 3));
    assert.deepEqual(
      reasons(found)
        .slice(3, 6)
        .map(([, , reason]) => reason),
      ['not evaluated', 'not evaluated', 'not evaluated'],
    );
    assert.equal(second?.length, 6);
    assert.deepEqual(reasons(found).slice(6), third);
    assert.equal(tries.get(idOf(1)), 3, 'a defect is not tried again');
  });

  it('goes on where it was interrupted, and evaluates anew only what failed', async () => {
    const out = join(await example.storage(), 'out');
    const folder = repairFolder(out, 'run');
    const results = {
      out,
      runId: 'run',
      text: ({ tested }: { tested: object }) => `${JSON.stringify(tested)}\n`,
    };
    const interrupt = new AbortController();
    let runs = 0;
    const first = await request(
      5,
      (step, of) => {
        if (step === 'run' && ++runs === 6) interrupt.abort();
        if (of.instance === idOf(0)) throw new HumanError('no disk');
        return passesWhereFixed(step, of);
      },
      { results, signal: interrupt.signal, workers: 1 },
    );
    await assert.rejects(filterRepairBatch(first), Cancelled);
    const journal = await readFile(journalPath(folder), 'utf8');
    const kept = journal.split('\n').filter((line) => line !== '');
    assert.ok(kept.length >= 3 && kept.length < 15, `${kept.length} lines`);
    // What a killed process leaves.
    await writeFile(journalPath(folder), `${journal}{"instance": "octo__c`);

    const { signal: _signal, ...rest } = first;
    const again = { ...rest, engine: simulatedEngine({ at: passesWhereFixed }), workers: 3 };
    const found = await filterRepairBatch(again);
    assert.deepEqual(reasons(found), expected(5));
    assert.equal(found.reused, kept.length - 3, 'all but those of the first instance');
    assert.deepEqual(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')), found.tested);

    const third = await filterRepairBatch({
      ...again,
      engine: simulatedEngine({ at: assert.fail }),
    });
    assert.equal(third.reused, 15);
    assert.deepEqual(third.tested, found.tested);
    await assert.rejects(
      filterRepairBatch({ ...again, repairs: again.repairs.slice(1) }),
      /has a different run run: the code patches differ/,
    );
    const anew = await filterRepairBatch({
      ...again,
      repairs: again.repairs.slice(1),
      fresh: true,
    });
    assert.deepEqual([anew.reused, anew.tested.length], [0, 14]);
  });
});
