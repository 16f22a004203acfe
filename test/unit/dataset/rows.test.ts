import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readRow, type RowProblem } from '../../../src/dataset/rows';
import type { Instance } from '../../../src/domain/instance';

const diff = (path: string): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;

const older = {
  instance_id: 'octo__cat-1',
  repo: 'octo/cat',
  base_commit: 'ABCDEF0123456789abcdef0123456789abcdef01',
  problem_statement: 'It does not purr',
  patch: diff('cat.py'),
  test_patch: diff('tests/test_cat.py'),
};

function instanceOf(row: unknown): Instance {
  const result = readRow(row, 1);
  if (!('instance' in result)) assert.fail(result.problem.message);
  return result.instance;
}

function problemOf(row: unknown, number = 7): RowProblem {
  const result = readRow(row, number);
  if (!('problem' in result)) assert.fail('the row was taken');
  return result.problem;
}

describe('rows of the published schemas', () => {
  it('SWE-bench: patch and test_patch, lists as JSON text', () => {
    assert.deepEqual(
      instanceOf({
        ...older,
        hints_text: 'look at purr()',
        created_at: '2023-01-02T03:04:05Z',
        version: '2.3',
        FAIL_TO_PASS: '["tests/test_cat.py::test_purr"]',
        PASS_TO_PASS: '[]',
        environment_setup_commit: 'not ours to read',
      }),
      {
        id: 'octo__cat-1',
        repo: 'octo/cat',
        baseCommit: 'abcdef0123456789abcdef0123456789abcdef01',
        version: '2.3',
        issue: 'It does not purr',
        hints: 'look at purr()',
        createdAt: '2023-01-02T03:04:05Z',
        goldenPatch: older.patch,
        goldenTests: older.test_patch,
        failToPass: ['tests/test_cat.py::test_purr'],
        passToPass: [],
      },
    );
  });

  it('SWT-Bench: golden_code_patch and golden_test_patch, before all else', () => {
    const { patch, test_patch, ...rest } = older;
    const row = { ...rest, golden_code_patch: patch, golden_test_patch: test_patch };
    assert.equal(instanceOf(row).goldenPatch, patch);
    assert.equal(instanceOf(row).goldenTests, test_patch);
    const both = { ...row, patch: diff('wrong.py'), test_patch: diff('wrong.py') };
    assert.equal(instanceOf(both).goldenPatch, patch);
    assert.equal(instanceOf(both).goldenTests, test_patch);
  });

  it('newer rows hold lists as lists, dates as milliseconds and versions as numbers', () => {
    const instance = instanceOf({
      ...older,
      created_at: 1_700_000_000_000,
      version: 2.5,
      FAIL_TO_PASS: ['a', 'b'],
      PASS_TO_PASS: null,
    });
    assert.equal(instance.createdAt, '2023-11-14T22:13:20.000Z');
    assert.equal(instance.version, '2.5');
    assert.deepEqual(instance.failToPass, ['a', 'b']);
    assert.equal(instance.passToPass, undefined);
  });

  it('what may be absent is empty', () => {
    const instance = instanceOf(older);
    assert.deepEqual(
      [instance.hints, instance.createdAt, instance.version, instance.failToPass],
      ['', '', '', undefined],
    );
  });
});

describe('rows that cannot be used', () => {
  for (const field of ['instance_id', 'repo', 'base_commit', 'problem_statement'] as const) {
    it(`${field} is missing, empty of meaning or not a text`, () => {
      for (const value of [undefined, null, 5, ['x'], {}]) {
        const problem = problemOf({ ...older, [field]: value });
        assert.equal(problem.row, 7);
        assert.equal(problem.field, field);
        assert.equal(problem.message, `${field} is missing or not a text`);
      }
    });
  }

  for (const field of ['patch', 'test_patch'] as const) {
    it(`${field} is missing or empty`, () => {
      for (const value of [undefined, null, '', ' \n']) {
        const problem = problemOf({ ...older, [field]: value });
        assert.equal(problem.field, field);
        assert.equal(problem.id, 'octo__cat-1');
        assert.match(problem.message, new RegExp(`^${field} is empty`));
      }
    });
  }

  it('a commit that is not one', () => {
    for (const commit of [
      '',
      'main',
      '--upload-pack=x',
      '12345',
      'abcdef0 ',
      `${'a'.repeat(65)}`,
    ]) {
      assert.equal(problemOf({ ...older, base_commit: commit }).field, 'base_commit');
    }
  });

  it('ids and repositories that would be paths', () => {
    for (const id of [
      '..',
      '../x',
      'a/b',
      '/etc',
      'a\\b',
      '.hidden',
      '',
      'a b',
      'a\n',
      '-x',
      'é',
    ]) {
      const problem = problemOf({ ...older, instance_id: id });
      assert.equal(problem.message, 'instance_id is not a plain identifier', JSON.stringify(id));
    }
    for (const repo of [
      'cat',
      '../..',
      'octo/..',
      './cat',
      'a/b/c',
      '/b',
      'a/',
      'a b/c',
      'a/b\n',
    ]) {
      const problem = problemOf({ ...older, repo });
      assert.equal(problem.message, 'repo is not owner/name', JSON.stringify(repo));
    }
    assert.equal(instanceOf({ ...older, repo: 'octo/.github' }).repo, 'octo/.github');
  });

  it('lists that are not lists of texts', () => {
    for (const field of ['FAIL_TO_PASS', 'PASS_TO_PASS']) {
      for (const value of ['[1]', 'tests', '{}', '["a"', [1], 5, {}]) {
        const problem = problemOf({ ...older, [field]: value });
        assert.equal(problem.field, field);
        assert.equal(problem.message, `${field} is not a list of texts`);
      }
    }
  });

  it('dates that are none', () => {
    for (const value of [1e300, -1e300, {}, true]) {
      assert.equal(problemOf({ ...older, created_at: value }).message, 'created_at is not a date');
    }
  });

  it('what is not a row at all', () => {
    for (const row of [null, undefined, 5, 'text', [], [older], true]) {
      assert.deepEqual(problemOf(row), {
        row: 7,
        message: 'the row is not an object with an instance_id',
      });
    }
  });

  it('names the row by its id where it has one', () => {
    assert.equal(problemOf({ instance_id: 'octo__cat-2' }).id, 'octo__cat-2');
    assert.equal(problemOf({ instance_id: 'x'.repeat(900) }).id?.length, 200);
    assert.equal('id' in problemOf({ instance_id: { toString: 1 } }), false);
  });
});

describe('rows of anything', () => {
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.jsonValue() },
    fc.string(),
    fc.constantFrom(null, '', 'a/b', '..', 'abcdef0', '[]', '["a"]', 1e300, { toString: 1 }),
  );

  it('never crash the reader, whatever JSON they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (row) => {
        const result = readRow(row, 1);
        assert.equal('problem' in result, true);
      }),
    );
  });

  it('never crash the reader, whatever a field holds', () => {
    const fields = [
      ...Object.keys(older),
      'golden_code_patch',
      'golden_test_patch',
      'hints_text',
      'created_at',
      'version',
      'FAIL_TO_PASS',
      'PASS_TO_PASS',
      '__proto__',
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...fields), value), (odd) => {
        const result = readRow(JSON.parse(JSON.stringify({ ...older, ...odd })), 3);
        if ('problem' in result) {
          assert.equal(result.problem.row, 3);
          assert.notEqual(result.problem.message, '');
        } else {
          assert.match(result.instance.id, /^[A-Za-z0-9][\w.+-]*$/);
          assert.doesNotMatch(result.instance.repo, /(^|\/)\.+(\/|$)/);
          assert.notEqual(result.instance.goldenPatch.trim(), '');
        }
      }),
      { numRuns: 500 },
    );
  });
});
