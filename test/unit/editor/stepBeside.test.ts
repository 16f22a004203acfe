import assert from 'node:assert/strict';
import { stepBeside } from '../../../src/editor/shell/plainText';

describe('a step beside the title of a notification', () => {
  it('does not repeat the name in the title', () => {
    assert.equal(
      stepBeside(
        'Validating psf__requests-1921',
        'psf__requests-1921: base tests, repetition 1 of 5',
      ),
      'base tests, repetition 1 of 5',
    );
  });

  it('does not repeat the name of the open instance, which no title needs to say', () => {
    const open = 'tallybook__tallybook-217';
    assert.equal(
      stepBeside(`ZeroShotPlus with a/model ${open}`, `${open}: asking a/model (sample 1)`),
      'asking a/model (sample 1)',
    );
    assert.equal(stepBeside(open, `${open}: starting the sandboxes`), 'starting the sandboxes');
  });

  it('does not name the one candidate of the workspace', () => {
    assert.equal(
      stepBeside('Running the tests to compare them', 'workspace: base tests'),
      'base tests',
    );
  });

  it('keeps a name that the title lacks, and colons of its own', () => {
    const step = 'psf__requests-1921: base tests';
    assert.equal(stepBeside('Validating 3 instances', step), step);
    assert.equal(stepBeside('Validating psf__requests-19211', step), step);
    assert.equal(stepBeside('Opening a', 'copying b: 3 files'), 'copying b: 3 files');
  });
});
