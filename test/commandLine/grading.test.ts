import assert from 'node:assert/strict';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pytestEnvironment, pythonWithoutPytest } from '../environments';
import { cli, scratch, type Evaluation } from './cli';
import { madeUp } from './madeUp';

type Files = Parameters<Awaited<ReturnType<typeof madeUp>>['patch']>[0];

const filesOfR = {
  'pkg/__init__.py': '',
  'pkg/m.py': 'def f(x):\n    return x + 1\n',
  'tests/test_m.py': 'from pkg.m import f\n\n\ndef test_old():\n    assert f(1) == 2\n',
};
const fix = {
  'pkg/m.py': 'def f(x):\n    y = x + 2\n    return y\n\n\ndef g(x):\n    return x\n',
};
const goldenTests = {
  'tests/test_m.py':
    'from pkg.m import f\n\n\ndef test_old():\n    assert f(1) in (2, 3)\n\n\ndef test_new():\n    assert f(1) == 3\n',
};
/** Fails on R, passes on R∘X*, and runs three of the four changed lines. */
const good = {
  'tests/test_new.py': 'from pkg.m import f\n\n\ndef test_z():\n    assert f(1) == 3\n',
};

/** Tests of a class whose set-up runs the changed lines, and another test of it. */
const oldClass = (added?: string, body = 'self.assertTrue(self.v)'): string =>
  'import unittest\nfrom pkg.m import f\n\n\nclass Old(unittest.TestCase):\n    @classmethod\n' +
  '    def setUpClass(cls):\n        cls.v = [f(i) for i in range(5)]\n\n' +
  '    def test_old(self):\n        self.assertEqual(len(self.v), 5)\n' +
  (added === undefined ? '' : `\n    def ${added}(self):\n        ${body}\n`);
/** A class of tests that runs the changed lines and passes with them as without, and another test of it. */
const classOf = (...added: string[]): string =>
  'import unittest\nfrom pkg.m import f\n\n\nclass M(unittest.TestCase):\n' +
  '    def test_old(self):\n        self.assertIn(f(1), (2, 3))\n' +
  added.map((body) => `\n    def test_z(self):\n        ${body}\n`).join('');
const ofNewClass = {
  'tests/test_new.py':
    'import unittest\nfrom pkg.m import f\n\n\nclass New(unittest.TestCase):\n    @classmethod\n' +
    '    def setUpClass(cls):\n        cls.v = f(1)\n\n' +
    '    def test_new(self):\n        self.assertEqual(self.v, 3)\n',
};

type Result = Evaluation['results'][number];

/** `covered/executable`, or undefined when ΔC is not known. */
const share = ({ strict }: Result): string | undefined =>
  strict?.change_coverage
    ? `${strict.change_coverage.covered}/${strict.change_coverage.executable}`
    : undefined;

const transitions = ({ strict }: Result): Record<string, string> =>
  Object.fromEntries((strict?.tests ?? []).map((each) => [each.test, each.transition]));

describe('grading of made-up candidates', () => {
  const folder = scratch();
  let pytest = '';
  before(async function () {
    pytest = await pytestEnvironment(this);
  });

  interface Case {
    readonly candidates: Readonly<Record<string, Files>>;
    readonly base?: Files;
    readonly code?: Files;
    readonly tests?: Files;
    readonly args?: readonly string[];
    readonly python?: string;
  }

  /** Evaluates the candidates; `again` repeats it with more arguments and the same storage. */
  async function graded(given: Case): Promise<{
    results: Readonly<Record<string, Result>>;
    again: (...more: string[]) => Promise<Readonly<Record<string, Result>>>;
  }> {
    const place = await mkdtemp(join(folder.path, 'case-'));
    const made = await madeUp(place, { ...filesOfR, ...given.base });
    const id = 'octo__cat-1';
    const row = await made.row(id, { code: given.code ?? fix, tests: given.tests ?? goldenTests });
    const predictions: string[] = [];
    for (const [name, files] of Object.entries(given.candidates)) {
      const patch = await made.patch(files);
      predictions.push(
        JSON.stringify({ instance_id: id, model_name_or_path: name, model_patch: patch }),
      );
    }
    const name = place.slice(folder.path.length + 1);
    const dataset = await folder.file(`${name}-data.jsonl`, `${JSON.stringify(row)}\n`);
    const file = await folder.file(`${name}-predictions.jsonl`, `${predictions.join('\n')}\n`);
    const run = async (...more: string[]) => {
      const answer = await cli([
        ...['evaluate', '--dataset', dataset, '--predictions', file, '--source', made.repository],
        ...['--storage', join(place, 'storage'), '--python', given.python ?? pytest],
        ...['--json', '--workers', '1', ...(given.args ?? []), ...more],
      ]);
      assert.notEqual(answer.status, 2, answer.stderr);
      const { results } = JSON.parse(answer.stdout) as Evaluation;
      return Object.fromEntries(results.map((each) => [each.model_name_or_path, each]));
    };
    return { results: await run(), again: run };
  }

  const only = (results: Readonly<Record<string, Result>>, name: string): Result => {
    const result = results[name];
    assert.ok(result?.strict, name);
    return result;
  };

  describe('with pytest', () => {
    const conftest =
      'import pytest\nfrom pkg.m import g\n\n\n@pytest.fixture\ndef gg():\n    return g\n';
    const usesIt = 'from pkg.m import f\n\n\ndef test_c(gg):\n    assert gg(f(1)) == 3\n';
    /** A test of R, each case of which fails, and others, with an address, a clock and a process id. */
    const withIds = (...added: readonly string[]): string =>
      'import os, time\nimport pytest\nfrom pkg.m import f\n\n\nclass A:\n    pass\n\n\n' +
      '@pytest.mark.parametrize("o", [A(), A()], ids=repr)\ndef test_old(o):\n    assert not o\n' +
      added
        .map(
          (asserted, at) =>
            '\n\n@pytest.mark.parametrize("x", [A(), time.time_ns(), os.getpid()], ids=repr)\n' +
            `def test_${at}(x):\n    assert ${asserted}\n`,
        )
        .join('');
    const candidates: Readonly<Record<string, Files>> = {
      changingIds: { 'tests/test_ids.py': withIds('f(1) == 3', 'f(1) > 0', 'f(1) < 0') },
      cases: {
        'tests/test_new.py':
          'import pytest\nfrom pkg.m import f, g\n\n\n@pytest.mark.parametrize("x", [1, 2])\ndef test_p(x):\n    assert g(f(x)) == x + 2\n',
      },
      inherited: {
        'tests/test_new.py':
          'from pkg.m import g\nfrom tests.base import Base\n\n\nclass TestX(Base):\n    pass\n',
      },
      conftest: { 'tests/conftest.py': conftest, 'tests/test_new.py': usesIt },
      nested: {
        'tests/sub/__init__.py': '',
        'tests/sub/conftest.py': conftest,
        'tests/sub/test_new.py': usesIt,
      },
      options: { '-k_test.py': good['tests/test_new.py'], '@x_test.py': good['tests/test_new.py'] },
      setUpClass: ofNewClass,
      unchanged: { 'tests/test_old.py': oldClass('test_more') },
    };
    let results: Readonly<Record<string, Result>> = {};
    before(async () => {
      const base = {
        'tests/__init__.py': '',
        'tests/test_old.py': oldClass(),
        'tests/test_ids.py': withIds(),
        'tests/base.py':
          'from pkg.m import f\n\n\nclass Base:\n    def test_inherited(self):\n        assert f(1) == 3\n',
      };
      const tests = {
        ...goldenTests,
        'tests/test_old.py': oldClass('test_g', 'self.assertEqual(f(1), 3)'),
      };
      ({ results } = await graded({ base, tests, candidates }));
    });

    for (const [name, tests] of Object.entries({
      cases: ['tests/test_new.py::test_p[1]', 'tests/test_new.py::test_p[2]'],
      inherited: ['tests/test_new.py::TestX::test_inherited'],
      conftest: ['tests/test_new.py::test_c'],
      nested: ['tests/sub/test_new.py::test_c'],
    })) {
      it(`a test that cannot be collected on R is taken as failing there: ${name}`, () => {
        const result = only(results, name);
        const expected = Object.fromEntries(tests.map((test) => [test, 'F→P']));
        assert.deepEqual(transitions(result), expected);
        assert.equal(result.strict?.success, true);
      });
    }

    it('a test whose id changes between runs is one test, in R as in the candidate', () => {
      const { strict } = only(results, 'changingIds');
      const of = (name: string): string[] =>
        (strict?.tests ?? []).flatMap(({ test, transition }) =>
          test.includes(`::${name}[`) ? [transition] : [],
        );
      assert.deepEqual(of('test_0'), ['F→P', 'F→P', 'F→P']);
      assert.deepEqual(of('test_1'), ['P→P', 'P→P', 'P→P']);
      assert.deepEqual(of('test_2'), ['F→F', 'F→F', 'F→F']);
      assert.deepEqual(of('test_old'), ['F→F', 'F→F']);
      // Not 5 of its own tests: those of R fail without it too.
      assert.match(strict?.explanation ?? '', /^3 new or changed tests still fail with the fix/);
      assert.deepEqual(strict?.findings, []);
    });

    it('the set-up of a new class is counted, whatever other classes do', () => {
      assert.equal(share(only(results, 'setUpClass')), '3/4');
      assert.equal(share(only(results, 'unchanged')), '0/4');
    });

    it('test files whose names begin like an option are run', () => {
      const result = only(results, 'options');
      const expected = { '-k_test.py::test_z': 'F→P', '@x_test.py::test_z': 'F→P' };
      assert.deepEqual(transitions(result), expected);
      assert.equal(result.resolved, true);
    });
  });

  it('does not know ΔC when the golden or base tests break off, and says so @full', async () => {
    const slow = (name: string) => `\n\ndef ${name}():\n    import time\n    time.sleep(60)\n`;
    const golden = await graded({
      tests: { 'tests/test_m.py': goldenTests['tests/test_m.py'] + slow('test_slow') },
      args: ['--timeout', '4'],
      candidates: { good },
    });
    const one = only(golden.results, 'good');
    assert.equal(one.strict?.success, true);
    assert.equal(one.resolved, true);
    assert.equal(share(one), undefined);
    assert.equal(one.coverage_delta_pred, null);
    assert.match(
      one.notes?.join() ?? '',
      /golden tests did not finish on R and R∘X\* \(.*time limit/,
    );
    assert.doesNotMatch(one.notes?.join() ?? '', /test_slow|test_m/, 'T* stays hidden');

    const base = await graded({
      base: { 'tests/test_slow.py': `def test_1():\n    pass\n${slow('test_slow')}` },
      args: ['--timeout', '4'],
      candidates: { good: { 'tests/test_slow.py': good['tests/test_new.py'] } },
    });
    const other = only(base.results, 'good');
    assert.equal(other.strict?.success, true);
    assert.equal(share(other), undefined);
    assert.match(
      other.notes?.join() ?? '',
      /base tests did not finish on R and R∘X\* \(.*time limit/,
    );
  });

  it('makes a golden run again that was killed @full', async () => {
    const flag = join(folder.path, 'killed');
    const dies =
      '\n\ndef test_dies():\n    import os\n' +
      `    if not os.path.exists(${JSON.stringify(flag)}):\n` +
      `        open(${JSON.stringify(flag)}, "w").close()\n        os.kill(os.getpid(), 9)\n`;
    const { results, again } = await graded({
      tests: { 'tests/test_m.py': goldenTests['tests/test_m.py'] + dies },
      candidates: { good },
    });
    assert.equal(share(only(results, 'good')), undefined);
    assert.match(
      only(results, 'good').notes?.join() ?? '',
      /golden tests did not finish .*SIGKILL/,
    );
    const later = only(await again(), 'good');
    assert.equal(share(later), '3/4');
    assert.deepEqual(later.notes, []);
  });

  it('--fresh makes golden and base runs once more, and once only @full', async () => {
    const log = join(folder.path, 'times');
    const counts = `\n\ndef test_counts():\n    open(${JSON.stringify(log)}, "a").write("x")\n`;
    const times = async () => (await readFile(log, 'utf8')).length;
    const { again } = await graded({
      tests: { 'tests/test_m.py': goldenTests['tests/test_m.py'] + counts },
      candidates: {
        one: good,
        two: { 'tests/test_two.py': good['tests/test_new.py'] },
      },
    });
    assert.equal(await times(), 2, 'once on each side');
    await again();
    assert.equal(await times(), 2);
    await again('--fresh');
    assert.equal(await times(), 4);
  });

  it('finds the changed lines where a candidate that edits code has moved them @full', async () => {
    const code = `HEAD = 0\n${'\n'.repeat(10)}def f(x):\n    return x + 1\n\n\ndef h(x):\n    return x\n`;
    const test = (text: string) => ({
      'tests/test_new.py': `from pkg.m import ${text.slice(0, 1)}\n\n\ndef test_z():\n    assert ${text}\n`,
    });
    const { results } = await graded({
      base: { 'pkg/m.py': code },
      code: { 'pkg/m.py': code.replace('    return x + 1', '    y = x + 2\n    return y') },
      candidates: {
        plain: test('f(1) == 3'),
        moved: { 'pkg/m.py': `A = 1\nB = 2\nC = 3\n${code}`, ...test('f(1) == 3') },
        // The candidate's own function has the line numbers of the changed lines, and f is never
        // called.
        masking: {
          'pkg/m.py': `def k(x):\n${'    x = x\n'.repeat(15)}    return x\n\n\n${code}`,
          ...test('k(1) == 1'),
        },
      },
    });
    assert.equal(share(only(results, 'plain')), '3/3');
    assert.equal(share(only(results, 'moved')), '3/3');
    assert.equal(share(only(results, 'masking')), '0/3');
  });

  describe('without pytest', () => {
    const newTest = classOf('self.assertEqual(f(1), 3)');
    let results: Readonly<Record<string, Result>> = {};
    let testsOnly: Readonly<Record<string, Result>> = {};
    before(async () => {
      const base = { 'tests/__init__.py': '', 'tests/test_m.py': classOf() };
      const one = await graded({
        python: pythonWithoutPytest(folder.path),
        base: { ...base, 'tests/test_old.py': oldClass() },
        tests: { 'tests/test_old.py': oldClass('test_g', 'self.assertEqual(f(1), 3)') },
        candidates: {
          setUpClass: ofNewClass,
          unchanged: { 'tests/test_old.py': oldClass('test_more') },
          renamed: { 'tests/test_m.py': null, 'tests/test_renamed.py': classOf() },
          more: { 'tests/test_m.py': null, 'tests/test_renamed.py': newTest },
          stray: { 'tests/test_new.py': newTest, 'pkg/__init__.py': 'raise SystemError\n' },
        },
      });
      results = one.results;
      testsOnly = await one.again('--tests-only');
    });

    it('--tests-only leaves out edits of code, which would spoil R, and names them', () => {
      assert.equal(only(results, 'stray').strict?.success, false);
      const result = only(testsOnly, 'stray');
      assert.equal(result.strict?.success, true, result.strict?.explanation);
      assert.match(
        result.notes?.join() ?? '',
        /ignored changes to files that are not tests: pkg\/__init__\.py/,
      );
    });

    it('a test in a renamed file is taken for the test that it was', () => {
      const renamed = only(results, 'renamed');
      assert.equal(share(renamed), '0/4');
      assert.deepEqual(renamed.strict?.candidate_tests, []);
      assert.equal(renamed.strict?.reason, 'no test ran');
      const more = only(results, 'more');
      assert.equal(more.strict?.success, true);
      assert.equal(share(more), '3/4');
      assert.deepEqual(more.strict.candidate_tests, ['tests/test_renamed.py::M::test_z']);
    });

    it('the set-up of a new class is counted, whatever other classes do', () => {
      assert.equal(share(only(results, 'setUpClass')), '3/4');
      assert.equal(share(only(results, 'unchanged')), '0/4');
    });
  });

  it('grades what it can when the golden tests cannot be run here @full', async () => {
    const { results } = await graded({
      python: pythonWithoutPytest(folder.path),
      base: { 'tests/__init__.py': '' },
      candidates: {
        good: {
          'tests/test_new.py':
            'import unittest\nfrom pkg.m import f\n\n\nclass A(unittest.TestCase):\n    def test_z(self):\n        self.assertEqual(f(1), 3)\n',
        },
        'in a file of pytest': {
          'tests/test_m.py':
            'import unittest\n' +
            filesOfR['tests/test_m.py'] +
            '\n\nclass A(unittest.TestCase):\n    def test_z(self):\n        self.assertEqual(f(1), 3)\n',
        },
      },
    });
    const result = only(results, 'good');
    assert.equal(result.strict?.success, true);
    assert.equal(result.patch_successfully_applied, true);
    assert.equal(result.resolved, true);
    assert.equal(result.coverage_delta_pred, null);
    assert.equal(share(result), undefined);
    assert.equal((result as { gradings_differ?: unknown }).gradings_differ, null);
    assert.match(
      result.notes?.join() ?? '',
      /ΔC.* unknown: the golden tests .*need pytest, which is not/,
    );

    const half = only(results, 'in a file of pytest');
    assert.equal(half.patch_successfully_applied, true);
    assert.equal((half as { gradings_differ?: unknown }).gradings_differ, null);
    assert.match(half.notes?.join('\n') ?? '', /no harness grade: the base tests/);
  });

  it('keeps what the tests of one candidate commit or lock out of the next @full', async () => {
    const poison = [
      'import subprocess',
      '',
      '',
      'def test_poison():',
      '    with open("pkg/m.py", "w") as file:',
      '        file.write("def f(x):\\n    return x + 5\\n")',
      '    run = lambda *args: subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x", *args])',
      '    run("commit", "-qam", "x")',
      '    open(".git/index.lock", "w").close()',
      '',
    ].join('\n');
    const { results } = await graded({
      candidates: {
        poison: { 'tests/test_poison.py': poison },
        after: {
          'tests/test_new.py':
            'from pkg.m import f\n\n\ndef test_z():\n    assert f(1) in (2, 3)\n',
        },
      },
    });
    assert.deepEqual(transitions(only(results, 'after')), { 'tests/test_new.py::test_z': 'P→P' });
  });
});
