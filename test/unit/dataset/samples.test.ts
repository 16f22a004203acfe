import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { makingCostOf, loadPredictions } from '../../../src/dataset/predictions';
import type { Instance } from '../../../src/domain/instance';

const instance = (id: string): Instance => ({
  id,
  repo: 'octo/cat',
  baseCommit: 'abcdef0',
  version: '',
  issue: '',
  hints: '',
  createdAt: '',
  goldenPatch: '',
  goldenTests: `tests of ${id}`,
  failToPass: undefined,
  passToPass: undefined,
});
const row = (id: string, patch: string, more: object = {}) => ({
  instance_id: id,
  model_name_or_path: 'm',
  model_patch: patch,
  ...more,
});

describe('predictions of several files', () => {
  const selected = [instance('cat-1'), instance('cat-2')];
  const known = { entries: selected, problems: [] };
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'samples-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));
  const file = async (name: string, content: string | Buffer): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };
  const lines = (...rows: object[]): string => rows.map((each) => JSON.stringify(each)).join('\n');
  const load = async (...files: string[]) => {
    const { predictions, problems } = await loadPredictions(files, selected, known);
    return {
      got: predictions.map((each) => [each.instanceId, each.model, each.sample ?? 1, each.patch]),
      problems,
    };
  };

  it('are samples of a model, by the file and not by the row', async () => {
    const one = await file('one.jsonl', lines(row('cat-1', 'a')));
    const two = await file('two.json', JSON.stringify([row('cat-1', 'b'), row('cat-2', 'c')]));
    const three = await file('three', gzipSync(lines(row('cat-2', 'd'), row('cat-1', 'e'))));
    assert.deepEqual(await load(one, two, 'gold', three), {
      got: [
        ['cat-1', 'm', 1, 'a'],
        ['cat-1', 'm', 2, 'b'],
        ['cat-2', 'm', 2, 'c'],
        ['cat-1', 'gold', 1, 'tests of cat-1'],
        ['cat-2', 'gold', 1, 'tests of cat-2'],
        ['cat-2', 'm', 3, 'd'],
        ['cat-1', 'm', 3, 'e'],
      ],
      problems: [],
    });
  });

  it('have the sample that a row says, also within one file', async () => {
    const one = await file(
      'said.jsonl',
      lines(row('cat-1', 'a', { sample: 1 }), row('cat-1', 'b', { sample: 5 }), row('cat-2', 'c')),
    );
    assert.deepEqual((await load(one)).got, [
      ['cat-1', 'm', 1, 'a'],
      ['cat-1', 'm', 5, 'b'],
      ['cat-2', 'm', 1, 'c'],
    ]);
  });

  it('name what is left out by file and row', async () => {
    const one = await file('first.jsonl', `${lines(row('cat-1', 'a'))}\n{broken\n`);
    const two = await file(
      'second.jsonl',
      lines(
        row('cat-1', 'x', { sample: 1 }),
        row('cat-2', 'y', { sample: 0 }),
        row('cat-2', 'z'),
        row('cat-2', 'z'),
      ),
    );
    const { got, problems } = await load(one, two);
    assert.deepEqual(got, [
      ['cat-1', 'm', 1, 'a'],
      ['cat-2', 'm', 2, 'z'],
    ]);
    assert.match(problems[0] ?? '', /first\.jsonl: line 2 is not JSON/);
    assert.deepEqual(
      problems.slice(1).map((each) => each.slice(two.length + 2)),
      [
        'row 1: ignored a second prediction of m for cat-1, sample 1,',
        'row 2: sample is not a positive whole number',
        'row 4: ignored a second prediction of m for cat-2, sample 2,',
      ],
    );
  });
});

describe('what making a candidate took', () => {
  it('is read under the names that are in use', () => {
    const all = { dollars: 0.5, inputTokens: 10, outputTokens: 20, seconds: 3 };
    for (const given of [
      { cost: 0.5, input_tokens: 10, output_tokens: 20, seconds: 3 },
      { cost: { usd: 0.5 }, usage: { prompt_tokens: 10, completion_tokens: 20 }, time: 3 },
      { total_cost: 0.5, tokens: { input: 10, output: 20 }, duration: 3 },
      { model_stats: { instance_cost: 0.5, tokens_sent: 10, tokens_received: 20, elapsed: 3 } },
    ]) {
      assert.deepEqual(makingCostOf(given), all);
    }
  });

  it('is not made up from anything else', () => {
    for (const given of [
      {},
      { cost: 'much', usage: null, tokens: [1], seconds: -1 },
      { input: 5, output: 7 },
      { cost: NaN, duration: Infinity },
    ]) {
      assert.equal(makingCostOf(given), undefined);
    }
  });
});
