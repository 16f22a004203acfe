import assert from 'node:assert/strict';
import { withBundledSource } from '../../../src/repository/sources';

describe('the source of the bundled project', () => {
  const own = 'tallybook/tallybook=/sample';
  it('is known beside those that are given for other projects', () => {
    assert.deepEqual(withBundledSource([], '/sample'), [own]);
    const given = ['octo/cat=https://host.example/cat.git'];
    assert.deepEqual(withBundledSource(given, '/sample'), [...given, own]);
  });

  it('is that which a person names for it, or for all projects', () => {
    for (const given of [['tallybook/tallybook=/mine'], ['/all'], ['octo/cat=/cat', '/all']]) {
      assert.deepEqual(withBundledSource(given, '/sample'), given);
    }
  });
});
