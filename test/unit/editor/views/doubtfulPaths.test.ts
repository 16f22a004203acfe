import assert from 'node:assert/strict';
import { doubtfulPaths } from '../../../../src/editor/customFormat/doubtfulPaths';

const existing = [
  'src/cat/purr.py',
  'tests/test_tokens.py',
  'tests/unit/test_purr.py',
  'tests/unit/__init__.py',
];
const doubted = (path: string): unknown => doubtfulPaths([path], existing)[0];

describe('paths of new files that may be slips', () => {
  it('are those one or two letters from a file beside them', () => {
    for (const path of ['tests/test_token.py', 'tests/test_toknes.py', 'tests/tests_tokens.py']) {
      const expected = { path, near: ['tests/test_tokens.py'], inNewFolder: false };
      assert.deepEqual(doubted(path), expected);
    }
  });

  it('are those of an existing name in nearly its folder, or in a folder that is not there', () => {
    assert.deepEqual(doubted('test/unit/test_purr.py'), {
      ...{ path: 'test/unit/test_purr.py', near: ['tests/unit/test_purr.py'], inNewFolder: true },
    });
    assert.deepEqual(doubted('elsewhere/test_new.py'), {
      ...{ path: 'elsewhere/test_new.py', near: [], inNewFolder: true },
    });
  });

  it('are not those of new tests, nor usual names', () => {
    assert.equal(doubted('tests/test_whiskers.py'), undefined);
    assert.equal(doubted('tests/__init__.py'), undefined);
    assert.equal(doubted('conftest.py'), undefined);
  });
});
