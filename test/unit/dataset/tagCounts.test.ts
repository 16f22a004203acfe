import assert from 'node:assert/strict';
import { tagCounts, tagCountsText } from '../../../src/dataset/triage';
import type { TriageEntry } from '../../../src/domain/soundness';

const tagged = (...tags: string[]): TriageEntry => ({ tags, note: '', classification: {} });

describe('the number of instances with each tag', () => {
  const counts = tagCounts([
    tagged('slow'),
    tagged('mine', 'slow'),
    tagged('mine', 'slow', 'broken'),
    tagged(),
    undefined,
  ]);

  it('has the most frequent first, and says how many have none', () => {
    assert.deepEqual(counts, {
      tags: [
        { tag: 'slow', instances: 3 },
        { tag: 'mine', instances: 2 },
        { tag: 'broken', instances: 1 },
      ],
      untagged: 2,
    });
  });

  it('is a table, or nothing where there is no tag', () => {
    assert.equal(
      tagCountsText(counts),
      [
        'Tag      Instances',
        '──────────────────',
        '#slow    3',
        '#mine    2',
        '#broken  1',
        'none     2',
        '',
      ].join('\n'),
    );
    assert.equal(tagCountsText(tagCounts([tagged(), undefined])), '');
  });
});
