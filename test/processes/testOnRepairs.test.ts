import assert from 'node:assert/strict';
import { Cancelled, silent } from '../../src/domain/work';
import { EngineGone } from '../../src/engine/docker/connection/engineProblem';
import { runStore } from '../../src/evaluation/testRun';
import { testOnRepairs, type StandingsOnRepair } from '../../src/repair/testOnRepairs';
import { loadParser } from '../unit/python/loadParser';
import { goldenPatch, useExample, type Example } from './exampleRepository';
import { idOfPurrIsTwo, passesWhereFixed, purrIsTwo, type At } from './purrIsTwo';
import { simulatedEngine } from './simulatedEngine';

const fixes = [2, 3, 4, 5].map((value) => goldenPatch.replace('return 2', `return ${value}`));
const [right = '', wrong = ''] = fixes;

describe('the tests of an author on many code patches', function () {
  let example: Example;
  useExample((made) => (example = made));

  const ran = async (
    at: At,
    {
      signal = new AbortController().signal,
      onTested,
    }: { readonly signal?: AbortSignal; readonly onTested?: () => void } = {},
  ): Promise<Map<string, StandingsOnRepair>> => {
    const storage = await example.storage();
    const trees = await example.prepare({ kind: 'commit', from: example.origin }, storage);
    const found = new Map<string, StandingsOnRepair>();
    await testOnRepairs(
      {
        ...{
          instance: example.instance(),
          trees,
          candidate: purrIsTwo,
          repairs: fixes,
          workers: 3,
        },
        ...{ python: await loadParser(), store: runStore(storage), timeoutSeconds: 30 },
        ...{ engine: simulatedEngine({ at }), retry: { times: 1, firstDelay: 5 } },
        reporter: silent,
      },
      (fix, standings) => {
        found.set(fix, standings);
        onTested?.();
      },
      {},
      signal,
    );
    return found;
  };

  it('stand beside what they do on R, for each patch, and run on no other side', async () => {
    const loaded: (readonly [string | undefined, string])[] = [];
    const found = await ran((step, of) => {
      if (step === 'load') loaded.push([of.side, of.patch ?? '']);
      return passesWhereFixed(step, of);
    });
    assert.deepEqual(found.get(right), {
      base: { [idOfPurrIsTwo]: 'fails' },
      standings: { [idOfPurrIsTwo]: 'passes' },
    });
    assert.deepEqual(found.get(wrong), {
      base: { [idOfPurrIsTwo]: 'fails' },
      standings: { [idOfPurrIsTwo]: 'fails' },
    });
    assert.equal(found.size, fixes.length);
    assert.deepEqual([...new Set(loaded.map(([side]) => side))], ['base']);
    assert.equal(new Set(loaded.map(([, patch]) => patch)).size, fixes.length + 1, 'and R itself');
  });

  it('are told of a patch that the engine failed with, and go on with the others', async () => {
    const found = await ran((step, of) => {
      if (step === 'run' && of.patch?.includes('return 3') === true)
        throw new EngineGone('gone', '');
      return passesWhereFixed(step, of);
    });
    assert.match(found.get(wrong)?.failure ?? '', /gone/);
    assert.deepEqual(found.get(right)?.standings, { [idOfPurrIsTwo]: 'passes' });
    assert.equal(found.size, fixes.length);
  });

  it('end when they are cancelled, and what is known stays', async () => {
    const abort = new AbortController();
    let tested = 0;
    await assert.rejects(
      ran(passesWhereFixed, {
        signal: abort.signal,
        onTested: () => {
          tested += 1;
          abort.abort();
        },
      }),
      Cancelled,
    );
    assert.ok(tested > 0 && tested < fixes.length, `${tested} tested`);
  });
});
