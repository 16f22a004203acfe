import assert from 'node:assert/strict';
import { isLeftover } from '../../../src/repository/git/repositoryOfR';

describe('what runs and editors leave in a tree', () => {
  for (const path of [
    '.vscode/settings.json',
    'lib/.vscode/launch.json',
    '.swt-bench/instance.json',
    '.devcontainer/devcontainer.json',
    '__pycache__/a.txt',
    'tests/__pycache__/test_cat.cpython-39.pyc',
    'tests/test_cat.pyc',
    'a.pyo',
    'tests/.test_cat.py.swp',
  ]) {
    it(`is ${path}`, () => assert.ok(isLeftover(path)));
  }

  for (const path of [
    'tests/test_cat.py',
    'tests/test_cat.pyi',
    'vscode/settings.json',
    'x.vscode/settings.json',
    '.vscode',
    'notes.swp.txt',
    'settings.json',
  ]) {
    it(`is not ${path}`, () => assert.ok(!isLeftover(path)));
  }
});
