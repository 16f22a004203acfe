import assert from 'node:assert/strict';
import { harnessDirectives } from '../../../src/domain/harness';

describe('the files that the harness passes to the runner', () => {
  it('are all of a patch but those with ten endings and what ends like csv', () => {
    const files = ['tests/test_a.py', 'setup.cfg', 'tox.ini', '.gitignore', 'x.html', 'a b.py'];
    const others = ['a.json', 'a.png', 'a.csv', 'xcsv', 'a.txt', 'a.md', 'a.jpeg', 'a.toml'];
    const patch = [...files, ...others].map((path) => `diff --git a/${path} b/${path}\n--- a/x\n`);
    assert.deepEqual(harnessDirectives(patch.join('')), files);
  });

  it('are what its expression finds, in a name between quotation marks nothing', () => {
    const quoted = 'diff --git "a/\\303\\251.py" "b/\\303\\251.py"\n';
    const renamed = 'diff --git a/old.py b/new.py\nrename from old.py\nrename to new.py\n';
    assert.deepEqual(harnessDirectives(quoted + renamed + renamed), ['new.py']);
    assert.deepEqual(harnessDirectives('--- a/x.py\n+++ b/x.py\n'), []);
  });
});
