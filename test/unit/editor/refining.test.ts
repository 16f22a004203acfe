import assert from 'node:assert/strict';
import {
  methodOfRecord,
  recordId,
  refinedWhereItCan,
  type GenerationRecord,
} from '../../../src/editor/generate/records';
import { estimatedCost, type EstimateParts } from '../../../src/editor/generate/estimatedCost';
import { loadParser } from '../python/loadParser';
import { methodNamed, methods } from '../../../src/method/methods';

const record: GenerationRecord = {
  ...{ method: 'zero-shot-plus', model: 'openai/gpt-4o', samples: 1, contextTokens: 27_000 },
  ...{ maxOutputTokens: 4096, engine: 'docker', timeoutSeconds: 300, startedAt: '' },
};
const parts: EstimateParts = {
  ...{ instance: { repo: 'octo/cat', issue: 'It breaks.' }, python: loadParser },
  ...{ contextTokens: 27_000, maxOutputTokens: 4096, limits: 'paper' },
};

describe('refinement in the editor', () => {
  it('makes another run of the methods that can, which costs more and runs tests', async () => {
    const plain = methodOfRecord(record);
    const refined = methodOfRecord({ ...record, refine: 3 });
    assert.equal(plain.title, methodNamed('zero-shot-plus').title);
    assert.match(refined.title, /refined up to 3 times$/);
    assert.deepEqual([plain.runs, refined.runs], ['nothing', 'R']);
    assert.notEqual(recordId({ ...record, refine: 3 }), recordId(record));
    const requests = async (method: typeof plain): Promise<number> =>
      (await estimatedCost(method, parts)).requests;
    assert.equal(await requests(refined), (await requests(plain)) + 3 * plain.samples);
  });

  it('leaves other methods, and a number of 0, as they are', () => {
    for (const method of methods) {
      assert.equal(refinedWhereItCan(method, 0), method);
      assert.equal(refinedWhereItCan(method, 2) === method, method.canRefine !== true);
    }
  });
});
