import assert from 'node:assert/strict';
import { checkedId, isInstanceId } from '../../../src/domain/instance';
import { HumanError } from '../../../src/domain/work';

describe('the id of an instance', () => {
  it('is a name of letters, digits and _ . + -', () => {
    for (const id of ['sympy__sympy-23117', '0a+b.c', 'x'.repeat(200)]) {
      assert.equal(isInstanceId(id), true, id);
      assert.equal(checkedId(id), id);
    }
  });

  it('leads nowhere as a path, and is of a bounded length', () => {
    for (const id of ['', '.', '..', '-x', 'a/b', 'a\\b', 'a b', 'a\n', 'é', 'x'.repeat(201)]) {
      assert.equal(isInstanceId(id), false, id);
      assert.throws(() => checkedId(id), HumanError);
    }
  });
});
