import assert from 'node:assert/strict';
import {
  storedListing,
  takeListing,
  withListing,
} from '../../../../src/editor/instances/storedListing';

const given = { dataset: '/data/lite.jsonl', filter: 'status:valid', list: 'Lite' };

describe('the filter of the Instances view', () => {
  it('is handed to the window of the opened folder, and to it alone', () => {
    const waiting = withListing(undefined, '/work/one', given);
    assert.deepEqual(takeListing(waiting, ['/work/two']), { mine: undefined, others: waiting });
    assert.deepEqual(takeListing(waiting, ['/work/two', '/work/one']), {
      ...{ mine: given, others: {} },
    });
  });

  it('waits for few windows, the last ones', () => {
    let waiting: unknown;
    for (let index = 0; index < 30; index++) waiting = withListing(waiting, `/w/${index}`, given);
    assert.equal(Object.keys(waiting as object).length, 20);
    assert.equal(takeListing(waiting, ['/w/0']).mine, undefined);
    assert.deepEqual(takeListing(waiting, ['/w/29']).mine, given);
  });

  it('is taken for the same dataset only, and only where it is one', () => {
    assert.deepEqual(storedListing(given, '/data/lite.jsonl'), given);
    assert.equal(storedListing(given, 'bundled'), undefined);
    for (const broken of [undefined, 'x', { dataset: 'd' }, { dataset: 'd', filter: 3 }]) {
      assert.equal(storedListing(broken, 'd'), undefined);
    }
    assert.deepEqual(takeListing('broken', ['/a']), { mine: undefined, others: {} });
  });
});
