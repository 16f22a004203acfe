import assert from 'node:assert/strict';
import { parseSortOrder, sortEntries, sortKeys } from '../../../src/dataset/sortOrder';
import type { InstanceEntry } from '../../../src/domain/instance';
import { HumanError } from '../../../src/domain/work';

const entry = (id: string, lines: number, issue: string, createdAt: string): InstanceEntry => ({
  id,
  repo: 'o/r',
  version: '',
  baseCommit: '',
  createdAt,
  issue,
  patch: { files: [], lines },
  tests: { files: [], lines: 0 },
});

const entries = [
  entry('a__b-100', 5, 'xx', '2020-01-01'),
  entry('a__b-9', 50, 'x', ''),
  entry('a__a-10', 5, 'xxx', '2021-01-01T00:00:00Z'),
  entry('a__a-9', 7, 'x', 'nobody knows'),
];

const sorted = (text: string): string =>
  sortEntries(entries, parseSortOrder(text))
    .map(({ id }) => id.slice(3))
    .join(' ');

describe('sorting instances', () => {
  it('sorts both ways, keeps the order of equal ones, and unknown dates last', () => {
    assert.equal(sorted('id'), 'a-9 a-10 b-9 b-100');
    assert.equal(sorted('-id'), 'b-100 b-9 a-10 a-9');
    assert.equal(sorted('size'), 'b-100 a-10 a-9 b-9');
    assert.equal(sorted('-size'), 'b-9 a-9 b-100 a-10');
    assert.equal(sorted('issue'), 'b-9 a-9 b-100 a-10');
    assert.equal(sorted('-issue'), 'a-10 b-100 b-9 a-9');
    assert.equal(sorted('date'), 'b-100 a-10 b-9 a-9');
    assert.equal(sorted('-date'), 'a-10 b-100 b-9 a-9');
  });

  it('leaves the given list as it is', () => {
    sorted('size');
    assert.equal(entries[0]?.id, 'a__b-100');
  });

  it('refuses another order and names those there are', () => {
    for (const wrong of ['name', '', '--id', 'toString']) {
      assert.throws(
        () => parseSortOrder(wrong),
        (error) =>
          error instanceof HumanError &&
          Object.keys(sortKeys).every((key) => error.message.includes(key)),
      );
    }
  });
});
