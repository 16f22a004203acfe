import assert from 'node:assert/strict';
import { spokenOf } from '../../../../src/editor/shell/treeRow';

describe('what a screen reader says of a row', () => {
  it('has its label and description, which VS Code leaves out where there is a tooltip', () => {
    assert.equal(
      spokenOf({ label: 'ZeroShot', description: '2 fixes', tooltip: 'Asks once.\nChosen: votes' }),
      'ZeroShot. 2 fixes. Asks once. Chosen: votes',
    );
  });

  it('says nothing twice', () => {
    assert.equal(
      spokenOf({ label: 'a.py', description: 'cannot be read', tooltip: 'a.py\nIt is empty' }),
      'a.py. cannot be read. It is empty',
    );
  });

  it('is left to VS Code without a tooltip, and to the row that has its own words', () => {
    assert.equal(spokenOf({ label: 'a', description: 'b' }), undefined);
    assert.equal(spokenOf({ label: 'F→P', tooltip: 'c', spoken: 'reproduces' }), 'reproduces');
  });
});
