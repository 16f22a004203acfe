import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  hasDrawn,
  keptCode,
  readStages,
  tracedStages,
} from '../../../src/commands/evaluating/tracedStages';

const outputs = (of: Readonly<Record<string, unknown>>) => new Map(Object.entries(of));
const near = ['c.py', 'a.py', 'd.py', 'e.py'].map((path) => ({ path, score: 1 }));
const code = [{ path: 'a.py', intervals: [[1, 9]] }];
const whole = (...paths: string[]) => paths.map((path) => ({ path }));

describe('the stages of a trace', () => {
  it('keep as many files of each list as go on, elements, and sets with what stands for an empty one', () => {
    const sets = [
      [{ path: 'a.py', intervals: [[2, 3]] }],
      [],
      [
        { path: 'a.py', intervals: [[3, 4]] },
        { path: 'b.py', intervals: [[7, 7]] },
      ],
    ];
    const all = outputs({
      ...{ files: ['a.py', 'b.py', 'x.py'], retrieval: near, combined: ['a.py', 'b.py'] },
      ...{ elements: [], lines: code, locations: sets },
    });
    assert.deepEqual(keptCode(all), [
      { step: 'files', files: whole('a.py', 'b.py') },
      { step: 'retrieval', files: whole('c.py', 'a.py') },
      { step: 'combined', files: whole('a.py', 'b.py') },
      { step: 'elements', files: code },
      {
        step: 'locations',
        files: [
          { path: 'a.py', intervals: [[1, 9]] },
          { path: 'b.py', intervals: [[7, 7]] },
        ],
      },
      { step: 'locations', set: 1, files: sets[0] },
      { step: 'locations', set: 2, files: code },
      { step: 'locations', set: 3, files: sets[2] },
    ]);
  });

  it('leave out what was skipped, and a retrieval without an embedding model', () => {
    const some = outputs({ files: ['a.py'], retrieval: [], lines: code, locations: 'damaged' });
    assert.deepEqual(keptCode(some), [{ step: 'files', files: whole('a.py') }]);
    const alone = keptCode(outputs({ retrieval: near }));
    assert.deepEqual(alone, [{ step: 'retrieval', files: whole('c.py', 'a.py', 'd.py') }]);
  });

  it('know whether the trace ends with the run of a patch', () => {
    const drawn = (patch: string) => [{ sample: 2, set: 1, applies: true, patch }];
    const asked = { sample: 2, patch: 'p' };
    assert.equal(hasDrawn(outputs({ repair: drawn('p') }), asked), true);
    assert.equal(hasDrawn(outputs({ repair: drawn('other') }), asked), false);
    assert.equal(hasDrawn(outputs({}), asked), true);
  });

  it('are read with the dollars of each stage, of one model', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'traced-'));
    const of = { key: 'k', at: '', instance: 'i' };
    const answer = (stage: string, model: string, dollars?: number) => ({
      ...{ step: 'answer', ...of, purpose: 'stage', method: `agentless-${stage}`, model },
      ...{ sample: 1, parameters: { temperature: 0, maxOutputTokens: 1 }, prompt: 'p', text: 't' },
      ...{ finish: 'stop', inputTokens: 1, outputTokens: 1, seconds: 1, dollars },
    });
    const lines = [
      { step: 'stage', ...of, stage: 'files', output: ['old.py'] },
      { step: 'stage', ...of, stage: 'files', output: ['a.py'] },
      answer('files', 'm', 0.5),
      answer('repair', 'm', 0.25),
      answer('repair', 'm', 0.25),
      answer('repair', 'unpriced'),
      { ...answer('repair', 'm', 9), method: 'zero-shot' },
      {
        ...{ step: 'embedding', ...of, model: 'e', documents: [], texts: 1, inputTokens: 1 },
        ...{ dollars: 0.125, seconds: 1 },
      },
    ];
    const path = join(folder, 'trace.jsonl');
    await writeFile(path, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"step":"st`);
    const found = (await readStages(path)).get('i');
    await rm(folder, { recursive: true });
    assert.ok(found !== undefined);
    const kept = [{ step: 'files', files: whole('a.py') }];
    assert.deepEqual(tracedStages(found, 'm'), {
      kept,
      dollars: { files: 0.5, repair: 0.5, retrieval: 0.125 },
    });
    // A sum without a part of it is none.
    assert.deepEqual(tracedStages(found, undefined), { kept });
  });
});
