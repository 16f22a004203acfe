import assert from 'node:assert/strict';
import { pathBelow, workspacePath } from '../../../src/editor/shell/workspacePath';

const at = (path: string, scheme = 'file', authority = '') => ({ scheme, authority, path });

describe('the path of a file in the workspace', () => {
  const folder = { uri: at('/home/me/cat') };

  it('is relative to the folder', () => {
    assert.equal(workspacePath(folder, at('/home/me/cat/tests/test_cat.py')), 'tests/test_cat.py');
    assert.equal(workspacePath(folder, at('/home/me/cat/')), '');
  });

  it('is none for what lies elsewhere', () => {
    for (const path of ['/home/me/catalogue/a.py', '/home/me/cat', '/a.py']) {
      assert.equal(workspacePath(folder, at(path)), undefined);
    }
    assert.equal(workspacePath(folder, at('/home/me/cat/a.py', 'git')), undefined);
    assert.equal(workspacePath(folder, at('/home/me/cat/a.py', 'file', 'server')), undefined);
  });

  it('is the same for a folder with a slash at its end, and for the root', () => {
    assert.equal(workspacePath({ uri: at('/home/me/cat/') }, at('/home/me/cat/a.py')), 'a.py');
    assert.equal(workspacePath({ uri: at('/') }, at('/a.py')), 'a.py');
  });

  it('does not depend on the case of a drive letter', () => {
    assert.equal(workspacePath({ uri: at('/c:/cat') }, at('/C:/cat/A.py')), 'A.py');
    assert.equal(workspacePath({ uri: at('/C:/cat') }, at('/c:/cat/A.py')), 'A.py');
  });

  it('is that of a document of another scheme which has its path', () => {
    assert.equal(pathBelow(folder, at('/home/me/cat/a.py', 'swt-bench', 'table')), 'a.py');
    assert.equal(pathBelow(folder, at('/else/a.py', 'swt-bench', 'table')), undefined);
  });
});
