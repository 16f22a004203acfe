import assert from 'node:assert/strict';
import { olderSetuptools } from '../../../src/environments/plan/packageDay';

describe('an older setuptools for building old packages', () => {
  it('is known from what the newer one lost', () => {
    const markupSafe =
      "ImportError: cannot import name 'Feature' from 'setuptools' (/x/setuptools/__init__.py)";
    assert.equal(olderSetuptools(markupSafe), 'setuptools<46');
    const pyparsing = 'error in nose setup command: use_2to3 is invalid.';
    assert.equal(olderSetuptools(pyparsing), 'setuptools<58');
    assert.equal(olderSetuptools(`${pyparsing}\n${markupSafe}`), 'setuptools<46');
  });

  it('helps no other failure', () => {
    for (const output of ['', 'error: command gcc failed', 'No solution found', 'Feature']) {
      assert.equal(olderSetuptools(output), undefined, output);
    }
  });
});
