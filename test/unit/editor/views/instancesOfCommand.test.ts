import assert from 'node:assert/strict';
import {
  instancesOfCommand,
  instancesOfView,
} from '../../../../src/editor/instances/instancesOfCommand';
import type { ListNode } from '../../../../src/editor/instances/instanceTreeRow';

const row = (id: string): ListNode => ({ kind: 'instance', id });
const repository: ListNode = { kind: 'repository', repo: 'a/b', ids: ['b', 'c'] };

describe('the instances that a command is about', () => {
  it('are the clicked rows, whatever is open or selected', () => {
    assert.deepEqual(
      instancesOfCommand({ clicked: [row('a'), repository], selected: [row('z')], open: 'o' }),
      { asks: false, possible: [{ are: 'clicked', ids: ['a', 'b', 'c'] }] },
    );
  });

  it('are the open instance from the palette, where nothing else is selected', () => {
    const of = (selected: readonly ListNode[]): unknown =>
      instancesOfCommand({ clicked: [], selected, open: 'o' });
    const open = { are: 'open', ids: ['o'] };
    assert.deepEqual(of([]), { asks: false, possible: [open] });
    assert.deepEqual(of([row('o')]), { asks: false, possible: [open] });
    const selected = { are: 'selected', ids: ['a'] };
    assert.deepEqual(of([row('a')]), { asks: true, possible: [open, selected] });
  });

  it('are the selected rows where no instance is open, and else none', () => {
    const of = (selected: readonly ListNode[]): unknown =>
      instancesOfCommand({ clicked: [], selected, open: undefined });
    const selected = { are: 'selected', ids: ['b', 'c'] };
    assert.deepEqual(of([repository]), { asks: false, possible: [selected] });
    assert.deepEqual(of([]), { asks: false, possible: [] });
  });
});

describe('the instances that a command about the list may be about', () => {
  const of = (
    selected: readonly ListNode[],
    listed: readonly string[],
    more: { readonly clicked?: readonly ListNode[]; readonly open?: string } = {},
  ): unknown => instancesOfView({ clicked: [], open: undefined, selected, listed, ...more });
  const all = { are: 'listed', ids: ['a', 'b', 'c'] };

  it('are all that are listed', () => {
    assert.deepEqual(of([], all.ids), [all]);
    assert.deepEqual(of([row('a'), repository], all.ids), [all]);
    assert.deepEqual(of([], []), []);
  });

  it('are before them the selected ones that are listed', () => {
    assert.deepEqual(of([row('a'), row('z')], all.ids), [{ are: 'selected', ids: ['a'] }, all]);
  });

  it('are before them the clicked ones, else the open one', () => {
    const clicked = [row('b')];
    assert.deepEqual(of([row('a')], all.ids, { clicked, open: 'o' }), [
      { are: 'clicked', ids: ['b'] },
      all,
    ]);
    assert.deepEqual(of([], all.ids, { open: 'o' }), [{ are: 'open', ids: ['o'] }, all]);
  });
});
