import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readRow, type RowProblem } from '../../../src/dataset/rows/rows';
import type { Instance } from '../../../src/domain/instance';
import { checkPatchPaths, unsafePath } from '../../../src/patch/unsafePath';
import { parseUnified } from '../../../src/patch/parseUnified';
import { everydayRuns } from '../../everyday';

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
        environment_setup_commit: 'not a commit, so it says nothing',
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

  it('a date as a number of seconds, milli-, micro- or nanoseconds', () => {
    for (const created_at of [17e8, 17e11, 17e14, 17e17, '1700000000']) {
      const read = readRow({ ...older, created_at }, 1);
      assert.equal('instance' in read && read.instance.createdAt, '2023-11-14T22:13:20.000Z');
    }
  });

  it('what may be absent is empty', () => {
    const instance = instanceOf(older);
    assert.deepEqual(
      [instance.hints, instance.createdAt, instance.version, instance.failToPass],
      ['', '', '', undefined],
    );
  });
});

const unwrapped = (instance: Instance): Omit<Instance, 'remarks'> => {
  const rest: { -readonly [Field in keyof Instance]: Instance[Field] } = { ...instance };
  delete rest.remarks;
  return rest;
};

describe('the same instance in every published schema', () => {
  const full = {
    ...older,
    base_commit: older.base_commit.toLowerCase(),
    hints_text: 'look at purr()',
    created_at: '2023-01-02T03:04:05Z',
    version: '2.3',
  };
  const lists = { FAIL_TO_PASS: ['a', "b's"], PASS_TO_PASS: [] as string[] };
  const expected = instanceOf({ ...full, ...lists });
  const { patch, test_patch, ...rest } = full;

  const forms: Readonly<Record<string, object>> = {
    'lists as JSON text': {
      ...full,
      FAIL_TO_PASS: JSON.stringify(lists.FAIL_TO_PASS),
      PASS_TO_PASS: '[]',
    },
    'lists in lower case, as Python prints them': {
      ...full,
      fail_to_pass: `['a', "b's"]`,
      pass_to_pass: '[]',
    },
    'golden_*': { ...rest, ...lists, golden_code_patch: patch, golden_test_patch: test_patch },
    'prompt variant, code between tags': {
      ...full,
      ...lists,
      patch: `<patch>\n${patch}\n</patch>`,
      text: 'a prompt',
    },
    'prompt variant as swt_bench.py writes it': {
      ...full,
      ...lists,
      patch: `<patch>\n${test_patch}\n</patch>`,
      test_patch: patch.trimEnd(),
    },
    'prompt variant, exchanged without tags': {
      ...full,
      ...lists,
      patch: test_patch,
      test_patch: patch,
    },
    'a date with a space': { ...full, ...lists, created_at: '2023-01-02 03:04:05' },
  };
  for (const [name, row] of Object.entries(forms)) {
    it(name, () => assert.deepEqual(unwrapped(instanceOf(row)), expected));
  }

  it('says what was put right, and nothing otherwise', () => {
    assert.equal(instanceOf({ ...full, ...lists }).remarks, undefined);
    assert.deepEqual(instanceOf(forms['prompt variant as swt_bench.py writes it']).remarks, [
      'patch was enclosed in <patch> and </patch>',
      'test_patch had no final newline',
      'patch contained the tests and test_patch the fix, judging by the changed files; they were swapped',
    ]);
  });
});

describe('what a row says about its container', () => {
  const environment = (more: object): Instance['environment'] =>
    instanceOf({ ...older, ...more }).environment;

  it('SWE-bench 5', () => {
    const image = 'swebench/sweb.eval.x86_64.octo_1776_cat-1:latest';
    assert.deepEqual(
      environment({ image, eval_script: '#!/bin/bash', log_parser: 'pytest', eval_type: 'x' }),
      { image, evalScript: '#!/bin/bash', logParser: 'pytest', evalType: 'x' },
    );
  });

  it('Live: the image goes by the id', () => {
    assert.deepEqual(
      environment({ instance_id: 'Octo__Cat-1', test_cmds: ['pytest -rA'], log_parser: 'pytest' }),
      {
        image: 'starryzhang/sweb.eval.x86_64.octo_1776_cat-1:latest',
        logParser: 'pytest',
        testCommands: ['pytest -rA'],
      },
    );
  });

  it('Pro: the image goes by a tag, the repository lies in /app', () => {
    assert.deepEqual(
      environment({
        dockerhub_tag: 'octo.cat-octo__cat-1',
        selected_test_files_to_run: "['tests/test_cat.py', 'TestCat']",
      }),
      {
        image: 'jefzda/sweap-images:octo.cat-octo__cat-1',
        folder: '/app',
        testFiles: ['tests/test_cat.py', 'TestCat'],
      },
    );
  });

  it('older rows: the commit that the environment is made for', () => {
    const setupCommit = 'd16bfe05a744909de4b27f5875fe0d4ed41ce607';
    assert.deepEqual(environment({ environment_setup_commit: setupCommit }), { setupCommit });
  });

  it('what would be an option or a script is no image', () => {
    for (const image of ['--privileged', 'a b', 'x;rm -rf /', '$(id)', 'a/../b', '-x', 'x:']) {
      const instance = instanceOf({ ...older, image });
      assert.equal(instance.environment, undefined, image);
      assert.match(instance.remarks?.[0] ?? '', /not a valid image name/);
    }
  });
});

describe('which patch is the fix', () => {
  const paths = (patch: readonly string[], tests: readonly string[]): object => ({
    ...older,
    patch: patch.map(diff).join(''),
    test_patch: tests.map(diff).join(''),
  });
  const taken: readonly [string, string[], string[]][] = [
    ['code of pytest', ['src/_pytest/python.py'], ['testing/test_mark.py']],
    ['a library for testing', ['django/test/client.py'], ['tests/test_client/tests.py']],
    ['another', ['sympy/testing/runtests.py'], ['sympy/testing/tests/test_runtests.py']],
    ['another by name', ['sklearn/utils/testing.py'], ['sklearn/utils/tests/test_testing.py']],
    ['code and its library', ['a.py', 'pkg/testing/b.py'], ['pkg/tests/test_a.py']],
    ['tests that are data alone', ['astropy/io/fits.py'], ['astropy/io/tests/data/a.fits']],
    ['tests that are fixtures', ['pkg/a.py'], ['fixtures/expected.json']],
    ['models that tests use', ['django/db/models.py'], ['tests/queries/models.py']],
    ['JavaScript', ['src/a.js'], ['src/a.spec.ts', 'src/__snapshots__/a.snap']],
    ['Go', ['core/a.go'], ['core/a_test.go']],
    ['Java', ['core/src/main/A.java'], ['core/src/main/ATest.java']],
    ['code beside its tests', ['pkg/a.py', 'pkg/tests/test_a.py'], ['pkg/tests/test_b.py']],
    ['documentation too', ['doc/a.rst', 'pkg/a.py'], ['pkg/tests/test_a.py']],
  ];
  for (const [name, patch, tests] of taken) {
    it(`takes ${name}`, () => {
      const instance = instanceOf(paths(patch, tests));
      assert.equal(instance.goldenPatch, patch.map(diff).join(''));
      assert.equal(instance.remarks, undefined);
    });
    if (!patch.some((path) => /test/.test(path))) {
      it(`takes ${name} the other way round, exchanged`, () => {
        const instance = instanceOf(paths(tests, patch));
        assert.equal(instance.goldenPatch, patch.map(diff).join(''));
        assert.equal(instance.goldenTests, tests.map(diff).join(''));
        assert.match(instance.remarks?.[0] ?? '', /swapped/);
      });
    }
  }

  const refused: readonly [string, string[], string[], string][] = [
    ['a fix that is tests', ['tests/test_a.py'], ['tests/test_b.py'], 'patch'],
    ['a fix that is the data of tests', ['tests/a.txt'], ['tests/test_b.py'], 'patch'],
    ['tests that are code', ['pkg/a.py'], ['pkg/b.py'], 'test_patch'],
  ];
  for (const [name, patch, tests, field] of refused) {
    it(`refuses ${name}`, () => {
      const problem = problemOf(paths(patch, tests));
      assert.equal(problem.field, field);
      assert.equal(problem.id, 'octo__cat-1');
      assert.match(problem.message, /changes (no test file|only tests) \(/);
    });
  }

  it('names the column that the row has', () => {
    const { patch, test_patch, ...rest } = older;
    const row = {
      ...rest,
      golden_code_patch: `Sorry, ${patch.length}`,
      golden_test_patch: test_patch,
    };
    assert.equal(problemOf(row).message, 'golden_code_patch is not a unified diff');
  });

  it('refuses a patch that is cut off', () => {
    const message = problemOf({ ...older, patch: older.patch.slice(0, -4) }).message;
    assert.match(message, /^patch cannot be parsed: line 4: The hunk header counts/);
  });
});

describe('rows that cannot be used', () => {
  for (const field of ['instance_id', 'repo', 'base_commit', 'problem_statement'] as const) {
    it(`${field} is missing, empty of meaning or not a text`, () => {
      for (const value of [undefined, null, 5, ['x'], {}]) {
        const problem = problemOf({ ...older, [field]: value });
        assert.equal(problem.row, 7);
        assert.equal(problem.field, field);
        assert.equal(problem.message, `${field} is missing or not a string`);
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
      { numRuns: everydayRuns(500) },
    );
  });

  it('are never taken with a path outside the tree', () => {
    const part = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('..', '.', '', '.git', '~', 'C:', 'a\\b', 'NUL') },
      fc.stringMatching(/^[a-z_.]{1,8}$/),
      fc.string({ maxLength: 6 }),
    );
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const patch = fc.tuple(path, fc.nat(4)).map(([name, form]) => {
      const hunk = '@@ -1 +1 @@\n-a\n+b\n';
      return [
        `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n${hunk}`,
        `--- a/${name}\n+++ b/${name}\n${hunk}`,
        `diff --git a/x b/${name}\nrename from x\nrename to ${name}\n`,
        `diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+${name}\n\\ No newline at end of file\n`,
        `diff --git a/x b/x\n--- a/x\n+++ b/${name}\n${hunk}`,
      ][form];
    });
    let takenAtAll = 0;
    fc.assert(
      fc.property(patch, patch, fc.boolean(), (code, tests, wrapped) => {
        const row = {
          ...older,
          patch: wrapped ? `<patch>\n${code}\n</patch>` : `${diff('cat.py')}${code}`,
          test_patch: `${diff('tests/test_cat.py')}${tests}`,
        };
        const result = readRow(row, 1);
        if (!('instance' in result)) return;
        takenAtAll += 1;
        for (const text of [result.instance.goldenPatch, result.instance.goldenTests]) {
          const parsed = parseUnified(text);
          assert.deepEqual(checkPatchPaths(parsed), []);
          for (const { oldPath, newPath } of parsed.files) {
            for (const each of [oldPath, newPath]) {
              if (each !== null) assert.equal(unsafePath(each), undefined);
            }
          }
        }
      }),
      { numRuns: everydayRuns(1000) },
    );
    assert.ok(takenAtAll > everydayRuns(50), `only ${takenAtAll} rows were taken`);
  });
});
