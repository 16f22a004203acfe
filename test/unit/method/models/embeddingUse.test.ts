import assert from 'node:assert/strict';
import { embeddingBeside } from '../../../../src/method/models/embeddingUse';

describe('an embedding model beside the model that answers', () => {
  const baseUrl = 'http://localhost:11434/v1';
  const addressOf = (own: string | undefined, model: { name: string; baseUrl?: string }) =>
    embeddingBeside({ name: 'openai-compatible/embed', baseUrl: own, price: 0.02 }, model).baseUrl;

  it('has its own address, else that of a model of the same provider', () => {
    assert.equal(
      addressOf('http://other/v1', { name: 'openai-compatible/m', baseUrl }),
      'http://other/v1',
    );
    assert.equal(addressOf(undefined, { name: 'openai-compatible/m', baseUrl }), baseUrl);
    assert.equal(addressOf(undefined, { name: 'openai/m', baseUrl }), undefined);
    assert.equal(addressOf(undefined, { name: 'vscode/copilot/gpt-5' }), undefined);
  });

  it('has a provider', () => {
    const model = { name: 'openai/m' };
    const use = { name: 'embed', baseUrl: undefined, price: undefined };
    assert.throws(() => embeddingBeside(use, model), /"embed" is not a valid model/);
  });
});
