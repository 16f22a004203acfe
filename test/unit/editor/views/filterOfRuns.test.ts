import assert from 'node:assert/strict';
import {
  coversRuns,
  filterOfPage,
  filterOfRuns,
  ownFilterOfRuns,
  type FilteredInstances,
} from '../../../../src/editor/runs/filterOfRuns';
import { run } from '../../study/examples';

/** A view of a dataset with these instances, of which a filter keeps some. */
const view = (known: readonly string[], left = known): FilteredInstances => ({
  isFiltered: true,
  filter: 'repo:octo',
  entries: () => left.map((id) => ({ id })),
  entry: (id) => (known.includes(id) ? { id } : undefined),
});
const runs = [run(['a', 'b'], []), run(['b', 'c', 'd'], [])];

describe('the filter that dashboards share with the Instances view', () => {
  it('is shared where at least half of the instances are of its dataset', () => {
    assert.equal(coversRuns(view(['a', 'b']), runs), true);
    assert.equal(coversRuns(view(['a']), runs), false);
    assert.equal(coversRuns(view([]), runs), false);
    assert.equal(coversRuns(view([]), []), false, 'no instance is of no dataset');
  });

  it('is its text, and the instances that it leaves', () => {
    assert.deepEqual(filterOfRuns(view(['a', 'b', 'c'], ['c', 'a']), runs), {
      text: 'repo:octo',
      ids: ['c', 'a'],
    });
  });

  it('is none where the view is not filtered or shows another dataset', () => {
    const none = { text: '', ids: null };
    assert.deepEqual(filterOfRuns({ ...view(['a', 'b']), isFiltered: false }, runs), none);
    assert.deepEqual(filterOfRuns(view(['x']), runs), none);
  });

  it('is of the runs themselves for instances that the view does not know', () => {
    assert.deepEqual(ownFilterOfRuns('b', runs), { text: 'b', ids: ['b'] });
    assert.deepEqual(ownFilterOfRuns('nowhere', runs), { text: 'nowhere', ids: [] });
    assert.deepEqual(ownFilterOfRuns('  ', runs), { text: '  ', ids: null });
  });

  it('says what is wrong with a text', () => {
    const { text, ids, problem } = ownFilterOfRuns('status:valid', runs);
    assert.deepEqual({ text, ids }, { text: 'status:valid', ids: null });
    assert.match(problem ?? '', /^This page can filter by ID, repository/);
  });

  it('begins an exported page with the list and the text, and only the instances of the runs', () => {
    const filter = { text: ' status:valid ', ids: ['b', 'elsewhere'] };
    assert.deepEqual(filterOfPage(filter, 'Lite', runs), {
      text: 'list:Lite status:valid',
      ids: ['b'],
    });
    assert.equal(filterOfPage({ text: '', ids: null }, undefined, runs), undefined);
  });
});
