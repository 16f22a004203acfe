import assert from 'node:assert/strict';
import { localFilter } from '../../../src/dashboard/localFilter';

const facts = [
  { id: 'sympy__sympy-1', repo: 'sympy/sympy', created: '2020-05-01T00:00:00Z', issueLength: 100 },
  { id: 'django__django-2', repo: 'django/django', created: '2023-01-01', issueLength: 900 },
  { id: 'psf__requests-3', repo: 'psf/requests', created: '', issueLength: 0 },
];

const kept = (text: string): string[] => {
  const filter = localFilter(text);
  assert.ok('keeps' in filter, `${text} is refused`);
  return facts.filter(filter.keeps).map(({ id }) => id.split('__')[0] ?? '');
};

describe('the filter of a page by itself', () => {
  it('speaks the language of the Instances view, as far as runs know an instance', () => {
    assert.deepEqual(kept(''), ['sympy', 'django', 'psf']);
    assert.deepEqual(kept('repo:sympy'), ['sympy']);
    assert.deepEqual(kept('-repo:sympy'), ['django', 'psf']);
    assert.deepEqual(kept('requests'), ['psf']);
    assert.deepEqual(kept('created:2020..2021'), ['sympy']);
    assert.deepEqual(kept('after:2021'), ['django']);
    assert.deepEqual(kept('issue:>500'), ['django']);
  });

  it('refuses what it knows nothing of, and what is no filter', () => {
    for (const text of ['status:valid', 'changed:<20', 'tag:mine', 'nonsense:1', '"open']) {
      const filter = localFilter(text);
      assert.ok('problem' in filter && filter.problem !== '', text);
    }
  });
});
