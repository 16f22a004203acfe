import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPredictions, type Predictions } from '../../../src/dataset/predictions';
import type { Instance } from '../../../src/domain/instance';

const instance = (id: string): Instance => ({
  id,
  repo: 'octo/cat',
  baseCommit: 'abcdef0',
  version: '',
  issue: '',
  hints: '',
  createdAt: '',
  goldenPatch: `fix of ${id}`,
  goldenTests: `tests of ${id}`,
  failToPass: undefined,
  passToPass: undefined,
});

describe('predictions', () => {
  const selected = [instance('cat-1'), instance('cat-2')];
  const broken = { row: 4, id: 'cat-4', field: 'patch', message: 'patch is empty' };
  const known = { entries: [...selected, instance('cat-3')], problems: [broken] };
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'predictions-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  async function load(content: string): Promise<Predictions> {
    const path = join(folder, 'predictions.jsonl');
    await writeFile(path, content);
    return loadPredictions(path, selected, known);
  }
  const lines = (...rows: unknown[]): string => rows.map((row) => JSON.stringify(row)).join('\r\n');

  it('gold is T* and never X*; none is an empty candidate', async () => {
    assert.deepEqual(await loadPredictions('gold', selected, known), {
      predictions: [
        { instanceId: 'cat-1', model: 'gold', patch: 'tests of cat-1' },
        { instanceId: 'cat-2', model: 'gold', patch: 'tests of cat-2' },
      ],
      origins: [undefined, undefined],
      problems: [],
    });
    const none = await loadPredictions('none', selected, known);
    assert.deepEqual(
      none.predictions.map((each) => [each.instanceId, each.model, each.patch]),
      [
        ['cat-1', 'none', ''],
        ['cat-2', 'none', ''],
      ],
    );
  });

  it('of OpenHands, with the name of its model and what they cost', async () => {
    const metrics = {
      accumulated_cost: 0.5,
      accumulated_token_usage: { prompt_tokens: 1000, completion_tokens: 20, model: 'm' },
    };
    const history = [{ id: 0, source: 'user' }];
    const { predictions, problems } = await load(
      lines(
        {
          ...{ instance_id: 'cat-1', test_result: { git_patch: 'one' }, history, metrics },
          metadata: { llm: { model: 'litellm_proxy/openai/gpt-5' } },
        },
        { instance_id: 'cat-2', git_patch: 'two', history, metadata: null, metrics: null },
        { instance_id: 'cat-3', test_result: { git_patch: null }, history },
      ),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(predictions, [
      {
        ...{ instanceId: 'cat-1', model: 'OpenHands/openai/gpt-5', patch: 'one' },
        cost: { dollars: 0.5, inputTokens: 1000, outputTokens: 20 },
      },
      { instanceId: 'cat-2', model: 'OpenHands', patch: 'two' },
    ]);
  });

  it('of a method that is known to look at the answer are marked', async () => {
    const { predictions } = await load(
      lines(
        { instance_id: 'cat-1', model_name_or_path: 'AssertFlip', model_patch: 'one' },
        { instance_id: 'cat-1', model_name_or_path: 'assertflip/m', model_patch: 'one' },
      ),
    );
    assert.deepEqual(
      predictions.map(({ model, oracle }) => [model, oracle]),
      [
        ['AssertFlip', true],
        ['assertflip/m', undefined],
      ],
    );
  });

  it('of rows without model_patch are read under names that mean it alone, or are problems', async () => {
    const { predictions, problems } = await load(
      lines(
        { instance_id: 'cat-1', model: 'a', prediction: 'one' },
        { instance_id: 'cat-1', model_name_or_path: 'b', model_test_patch: 'two' },
        { instance_id: 'cat-1', model_name_or_path: 'c', model_patch: null },
        { instance_id: 'cat-1', model_name_or_path: 'd', test_patch: 'four' },
        { instance_id: 'cat-1', model_name_or_path: 'e' },
      ),
    );
    assert.deepEqual(
      predictions.map(({ model, patch }) => [model, patch]),
      [
        ['a', 'one'],
        ['b', 'two'],
        ['c', ''],
      ],
    );
    assert.deepEqual(problems, [
      'row 4: model_patch is missing; if test_patch is the prediction, rename it',
      'row 5: model_patch is missing',
    ]);
  });

  it('of a file, in its order, several models for one instance', async () => {
    const { predictions, problems } = await load(
      lines(
        { instance_id: 'cat-2', model_name_or_path: 'a/b', model_patch: 'two' },
        { instance_id: 'cat-1', model_name_or_path: 'a/b', model_patch: 'one', extra: 1 },
        { instance_id: 'cat-1', model_name_or_path: 'other', model_patch: 'uno' },
      ),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(predictions, [
      { instanceId: 'cat-2', model: 'a/b', patch: 'two' },
      { instanceId: 'cat-1', model: 'a/b', patch: 'one' },
      { instanceId: 'cat-1', model: 'other', patch: 'uno' },
    ]);
  });

  it('keep the mark of candidates that are made with the answer', async () => {
    const row = { model_name_or_path: 'm', model_patch: 'p' };
    const { predictions, problems } = await load(
      lines(
        { ...row, instance_id: 'cat-1', oracle: true },
        { ...row, instance_id: 'cat-2', oracle: 'of Delphi' },
      ),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(
      predictions.map(({ oracle }) => oracle),
      [true, undefined],
    );
  });

  it('of a JSON list and of an object by id', async () => {
    const row = { instance_id: 'cat-1', model_name_or_path: 'm', model_patch: 'p' };
    for (const content of [JSON.stringify([row]), JSON.stringify({ 'cat-1': row })]) {
      assert.deepEqual((await load(content)).predictions, [
        { instanceId: 'cat-1', model: 'm', patch: 'p' },
      ]);
    }
  });

  it('a null patch is an empty candidate, a missing name "unnamed"', async () => {
    const { predictions, problems } = await load(
      lines({ instance_id: 'cat-1', model_patch: null }),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(predictions, [{ instanceId: 'cat-1', model: 'unnamed', patch: '' }]);
  });

  it('names unknown ids, duplicates, broken lines and wrong fields by row; the rest is read', async () => {
    const { predictions, problems } = await load(
      [
        lines({ instance_id: 'cat-1', model_name_or_path: 'm', model_patch: 'first' }),
        lines({ instance_id: 'dog-1', model_name_or_path: 'm', model_patch: 'p' }),
        '{"instance_id": "cat',
        lines({ instance_id: 'cat-1', model_name_or_path: 'm', model_patch: 'second' }),
        lines({ instance_id: 'cat-2', model_patch: ['p'] }),
        lines({ model_patch: 'p' }),
        'null',
      ].join('\n'),
    );
    assert.deepEqual(predictions, [{ instanceId: 'cat-1', model: 'm', patch: 'first' }]);
    assert.equal(problems.length, 6);
    assert.equal(problems[0], 'row 2: dog-1 is not in the dataset');
    assert.match(problems[1] ?? '', /^line 3 is not JSON/);
    assert.equal(problems[2], 'row 4: ignored a second prediction of m for cat-1');
    assert.equal(problems[3], 'row 5: model_patch is missing or not a string');
    assert.equal(problems[4], 'row 6: instance_id is missing or not a string');
    assert.equal(problems[5], 'row 7: the row is not an object with an instance_id');
  });

  it('passes over instances that are known but not selected', async () => {
    const { predictions, problems } = await load(
      lines({ instance_id: 'cat-3', model_patch: 'p' }, { instance_id: 'cat-1', model_patch: 'p' }),
    );
    assert.equal(predictions.length, 1);
    assert.deepEqual(problems, []);
  });

  it('says when the dataset’s own row is what is wrong', async () => {
    const { problems } = await load(
      lines({ instance_id: 'cat-4', model_patch: 'p' }, { instance_id: 'cat-1', model_patch: 'p' }),
    );
    assert.match(problems[0] ?? '', /row 1: cat-4 cannot be used, .*patch is empty/);
  });

  it('says so when nothing is left', async () => {
    await assert.rejects(load(lines({ instance_id: 'dog-1', model_patch: 'p' })), {
      name: 'HumanError',
      message:
        /No prediction in .* is for a selected instance \(row 1: dog-1 is not in the dataset\)/,
    });
    await assert.rejects(
      loadPredictions(join(folder, 'x'), selected, known),
      /no predictions file/,
    );
    await assert.rejects(load(''), /is empty/);
  });
});
