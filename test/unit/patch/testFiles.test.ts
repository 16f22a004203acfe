import assert from 'node:assert/strict';
import { isTestPath, splitTestEdits, testFilesOf } from '../../../src/patch/testFiles';
import { parseUnified } from '../../../src/patch/parseUnified';

const edit = (path: string, line = 'x = 1'): string =>
  `--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,3 @@\n a\n+${line}\n b\n`;

describe('testFilesOf', () => {
  const files = (text: string): string[] => testFilesOf(parseUnified(text));

  it('works without diff --git lines', () => {
    assert.deepEqual(files(edit('tests/test_a.py') + edit('pkg/b_test.py') + edit('t/tests.py')), [
      'tests/test_a.py',
      'pkg/b_test.py',
      't/tests.py',
    ]);
  });

  it('leaves out what no runner can run', () => {
    assert.deepEqual(
      files(
        edit('src/a.py') +
          edit('tests/conftest.py', 'def test_x():') +
          edit('tests/__init__.py') +
          edit('tests/models.py') +
          edit('tests/test_data.json') +
          '--- a/tests/test_gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
      ),
      [],
    );
  });

  it('takes a file of another name in a folder of tests when it defines a test', () => {
    assert.deepEqual(files(edit('testing/python/fixtures.py', '    def test_x(self):')), [
      'testing/python/fixtures.py',
    ]);
    assert.deepEqual(
      files(
        '--- a/tests/views.py\n+++ b/tests/views.py\n@@ -9,2 +9,3 @@ class ViewTests(TestCase):\n a\n+c\n b\n',
      ),
      ['tests/views.py'],
    );
    assert.deepEqual(files(edit('src/plugin.py', 'def test_x():')), []);
    const removal =
      '--- a/tests/views.py\n+++ b/tests/views.py\n@@ -1,2 +1 @@\n a\n-def test_x():\n';
    assert.deepEqual(files(removal), [], 'it only removes a test');
  });

  it('names a renamed file by its new path, once', () => {
    const rename =
      'diff --git a/tests/test_a.py b/tests/test_b.py\nrename from tests/test_a.py\nrename to tests/test_b.py\n';
    assert.deepEqual(files(rename + edit('tests/test_b.py')), ['tests/test_b.py']);
  });
});

describe('isTestPath and splitTestEdits', () => {
  it('tell tests with their data from the rest', () => {
    for (const path of [
      'tests/a.txt',
      'test_a.py',
      'a/test/b.py',
      'conftest.py',
      'x/tests.py',
      'a_test.py',
      'testing/x.py',
    ]) {
      assert.ok(isTestPath(path), path);
    }
    for (const path of [
      'src/latest.py',
      'setup.py',
      'attest/a.py',
      'a/contest.py',
      'test.cfg',
      'testy/a.py',
    ]) {
      assert.ok(!isTestPath(path), path);
    }
  });

  it('puts a file that leaves the tests among the others', () => {
    const { tests, others } = splitTestEdits(
      parseUnified(
        edit('tests/a.py') +
          edit('setup.py') +
          'diff --git a/tests/x.py b/src/x.py\nrename from tests/x.py\nrename to src/x.py\n',
      ),
    );
    assert.deepEqual(
      tests.map((f) => f.newPath),
      ['tests/a.py'],
    );
    assert.deepEqual(
      others.map((f) => f.newPath),
      ['setup.py', 'src/x.py'],
    );
  });
});
