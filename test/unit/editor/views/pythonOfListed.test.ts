import assert from 'node:assert/strict';
import { pythonOfListed } from '../../../../src/editor/instance/environmentPick';

describe('the Python of instances of a list', () => {
  const ofWorkspace = {
    values: { local: { python: '/venvs/flask/bin/python' } },
    isPythonNamed: true,
  };
  const flask = { open: 'pallets__flask-1', ofUser: '' };

  it('is that of the workspace for its own instance, and where it has no instance', () => {
    assert.equal(pythonOfListed(ofWorkspace, { ...flask, ids: ['pallets__flask-1'] }), ofWorkspace);
    const ids = ['pytest-dev__pytest-1'];
    assert.equal(pythonOfListed(ofWorkspace, { ids, open: undefined, ofUser: '' }), ofWorkspace);
  });

  it('is never the one of another instance, whose packages it has', () => {
    const ids = ['pallets__flask-1', 'pytest-dev__pytest-1'];
    assert.deepEqual(pythonOfListed(ofWorkspace, { ...flask, ids }), {
      values: { local: { python: undefined } },
      isPythonNamed: false,
    });
  });

  it('is the one that the user has set for all', () => {
    const ids = ['pytest-dev__pytest-1'];
    assert.deepEqual(pythonOfListed(ofWorkspace, { ...flask, ids, ofUser: 'auto' }), {
      values: { local: { python: 'auto' } },
      isPythonNamed: true,
    });
  });
});
