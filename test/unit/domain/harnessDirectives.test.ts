import assert from 'node:assert/strict';
import { harnessDirectives } from '../../../src/domain/harness';

describe('the files that the harness passes to the runner', () => {
  it('are all of a patch but those with ten endings and what ends like csv', () => {
    const files = ['tests/test_a.py', 'setup.cfg', 'tox.ini', '.gitignore', 'x.html', 'a b.py'];
    const others = ['a.json', 'a.png', 'a.csv', 'xcsv', 'a.txt', 'a.md', 'a.jpeg', 'a.toml'];
    assert.deepEqual(harnessDirectives([...files, ...others]), files);
  });
});
