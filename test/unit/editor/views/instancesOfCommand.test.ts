import assert from 'node:assert/strict';
import { instancesOfCommand } from '../../../../src/editor/instances/instancesOfCommand';
import type { ListNode } from '../../../../src/editor/instances/instanceTreeRow';

const row = (id: string): ListNode => ({ kind: 'instance', id });
const repository: ListNode = { kind: 'repository', repo: 'a/b', ids: ['b', 'c'] };

describe('the instances that a command is about', () => {
  it('are the clicked rows, whatever is open or selected', () => {
    assert.deepEqual(
      instancesOfCommand({ clicked: [row('a'), repository], selected: [row('z')], open: 'o' }),
      { asks: false, ids: [['a', 'b', 'c']] },
    );
  });

  it('are the open instance from the palette, where nothing else is selected', () => {
    const of = (selected: readonly ListNode[]): unknown =>
      instancesOfCommand({ clicked: [], selected, open: 'o' });
    assert.deepEqual(of([]), { asks: false, ids: [['o']] });
    assert.deepEqual(of([row('o')]), { asks: false, ids: [['o']] });
    assert.deepEqual(of([row('a')]), { asks: true, ids: [['o'], ['a']] });
  });

  it('are the selected rows where no instance is open, and else none', () => {
    const closed = { clicked: [], open: undefined };
    assert.deepEqual(instancesOfCommand({ ...closed, selected: [repository] }), {
      ...{ asks: false, ids: [['b', 'c']] },
    });
    assert.deepEqual(instancesOfCommand({ ...closed, selected: [] }), { asks: false, ids: [] });
  });
});
