import assert from 'node:assert/strict';
import { parseSources, withBundledSource } from '../../../src/repository/source';

describe('the source of the bundled project', () => {
  const found = (given: readonly string[]) =>
    parseSources(withBundledSource(given, '/sample')).get('tallybook/tallybook');

  it('is known beside those of other projects, and of every other one', () => {
    assert.equal(found([]), '/sample');
    assert.equal(found(['octo/cat=https://host.example/cat.git']), '/sample');
    assert.equal(found(['octo/cat=/cat', '/every-other']), '/sample');
  });

  it('is that which a person names for it', () => {
    assert.equal(found(['tallybook/tallybook=/mine', '/every-other']), '/mine');
  });
});
