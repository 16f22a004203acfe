import assert from 'node:assert/strict';
import {
  keyIdOf,
  readEmbeddingSettings,
  readModelSettings,
  withModelsOfFile,
} from '../../../src/editor/generate/modelSettings';

const why = (entry: unknown): string => readModelSettings([entry]).problems[0] ?? '';

describe('models of the settings', () => {
  it('are read with their address, price and window', () => {
    const { models, problems } = readModelSettings([
      { model: 'openai/gpt-5' },
      {
        model: 'openai-compatible/qwen/qwen3-coder',
        baseUrl: 'http://localhost:11434/v1/',
        price: { input: 0, output: 0.5 },
        window: 32_768,
      },
    ]);
    assert.deepEqual(problems, []);
    assert.deepEqual(models, [
      {
        name: 'openai/gpt-5',
        provider: 'openai',
        baseUrl: undefined,
        price: undefined,
        window: undefined,
      },
      {
        name: 'openai-compatible/qwen/qwen3-coder',
        provider: 'openai-compatible',
        baseUrl: 'http://localhost:11434/v1',
        price: { input: 0, output: 0.5 },
        window: 32_768,
      },
    ]);
  });

  it('that are none leave the others alone, and are told by their place', () => {
    const { models, problems } = readModelSettings([
      'openai/gpt-5',
      { model: 'anthropic/claude' },
      { model: 'anthropic/claude' },
    ]);
    assert.deepEqual(
      models.map(({ name }) => name),
      ['anthropic/claude'],
    );
    assert.equal(problems.length, 2);
    assert.match(problems[0] ?? '', /^entry 1: /);
    assert.equal(problems[1], 'entry 3: anthropic/claude is named twice');
    assert.deepEqual(readModelSettings('openai/gpt-5').problems, ['it is not a list']);
    assert.deepEqual(readModelSettings(undefined), { models: [], problems: [] });
  });

  it('have from the configuration file what their entries lack, and its further models', () => {
    const local = { baseUrl: 'http://localhost:8000/v1', window: 1000 };
    const price = { input: 1, output: 2, cached: 0.5 };
    const set = [{ model: 'openai-compatible/a', window: 2000 }, { model: 'openai/b' }];
    const { models, problems } = readModelSettings(
      withModelsOfFile(set, {
        models: { 'openai-compatible/a': local, 'openai-compatible/c': local, '*': { topP: 1 } },
        prices: { 'openai-compatible/c': price, 'openai/vectors': { input: 1 } },
        repair: { embeddingModel: 'openai/vectors' },
      }),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(
      models.map(({ name, baseUrl, window, price: costs }) => [name, baseUrl, window, costs]),
      [
        ['openai-compatible/a', local.baseUrl, 2000, undefined],
        ['openai/b', undefined, undefined, undefined],
        ['openai-compatible/c', local.baseUrl, 1000, price],
      ],
    );
    assert.equal(withModelsOfFile('no list', {}), 'no list');
    assert.deepEqual(withModelsOfFile(undefined, {}), []);
  });

  it('hold no key, wherever somebody writes one', () => {
    for (const more of [{ key: 'sk-1' }, { apiKey: 'sk-1' }, { token: 'sk-1' }]) {
      assert.match(why({ model: 'openai/gpt-5', ...more }), /a key has no place in settings/);
    }
    for (const baseUrl of [
      'https://sk-1@host/v1',
      'https://user:sk-1@host/v1',
      'https://host/v1?key=sk-1',
      'https://host/v1#sk-1',
    ]) {
      const said = why({ model: 'openai/gpt-5', baseUrl });
      assert.match(said, /a key has no place in settings/);
      assert.doesNotMatch(said, /sk-1/);
    }
  });

  it('have a provider that is known, and an address that is one', () => {
    assert.match(why({ model: 'gpt-5' }), /is not a valid model/);
    assert.match(why({ model: 'other/gpt-5' }), /is not a valid model/);
    assert.match(why({ model: 'openai-compatible/llama' }), /needs a baseUrl/);
    assert.match(why({ model: 'openai/gpt-5', baseUrl: 'host' }), /not an address/);
    assert.match(why({ model: 'openai/gpt-5', baseUrl: 'file:///etc/passwd' }), /https:\/\//);
    assert.match(why({ model: 'openai/gpt-5', price: { input: -1, output: 1 } }), /price\.input/);
    assert.match(why({ model: 'openai/gpt-5', colour: 'red' }), /colour is not known/);
  });

  it('share a key only at the same address of the same provider', () => {
    const at = (baseUrl: string | undefined) => keyIdOf({ provider: 'openai', baseUrl });
    assert.equal(at(undefined), 'openai');
    assert.notEqual(at('https://one/v1'), at('https://other/v1'));
    assert.notEqual(
      keyIdOf({ provider: 'anthropic', baseUrl: 'https://one/v1' }),
      at('https://one/v1'),
    );
  });
});

describe('the embedding model of the settings', () => {
  const read = (model: unknown, baseUrl: unknown = '', price: unknown = 0) =>
    readEmbeddingSettings({ model, baseUrl, price });

  it('is none by default, and has an address and a price where they are set', () => {
    assert.equal(read(''), undefined);
    assert.equal(read(undefined, undefined, undefined), undefined);
    assert.deepEqual(read(' openai/text-embedding-3-small '), {
      ...{ name: 'openai/text-embedding-3-small', baseUrl: undefined, price: undefined },
    });
    assert.deepEqual(read('openai-compatible/e', 'http://localhost:11434/v1/', 0.02), {
      ...{ name: 'openai-compatible/e', baseUrl: 'http://localhost:11434/v1', price: 0.02 },
    });
  });

  it('is faulty without a provider that has embeddings, or with a key in its address', () => {
    const why = (...given: readonly [unknown, unknown?]): string => {
      const found = read(...given);
      assert.ok(found !== undefined && 'why' in found);
      return found.why;
    };
    assert.match(why('embed'), /"embed" is not a valid model/);
    assert.equal(why('anthropic/e'), 'anthropic has no embedding models');
    assert.match(why('openai/e', 'https://host/v1?key=sk-1'), /a key has no place in settings/);
  });
});
