import assert from 'node:assert/strict';
import type { Environment } from '../../../src/engine/engine';
import {
  planScriptOfRepository,
  planTests,
  type TestFile,
} from '../../../src/engine/runners/planTests';
import { planScript } from '../../../src/engine/runners/script';
import type { TestPlan } from '../../../src/engine/runners/testPlan';
import type { PlanRequest } from '../../../src/engine/runners/testRunner';
import { recipeOf } from '../../../src/environments/recipes';

const environment = (more: Partial<Environment> = {}): Environment => ({
  description: 'CPython 3.11.7',
  interpreter: '/usr/bin/python3',
  pythonVersion: '3.11.7',
  packages: { pytest: '8.3.5' },
  digest: 'd',
  ...more,
});
const bare = environment({ packages: {} });
const files = (...paths: string[]): TestFile[] =>
  paths.map((path) => ({ path, importsPytest: false, unittestTests: 1, pytestTests: 0 }));

/** @param tree files of R by path */
const plan = (
  repo: string,
  request: Partial<PlanRequest> & { tree?: Readonly<Record<string, string>> } = {},
): Promise<TestPlan> =>
  planTests(
    {
      repo,
      version: '',
      files: files('tests/test_a.py'),
      environment: environment(),
      readFileOfR: (path) => Promise.resolve(request.tree?.[path]),
      ...request,
    },
    recipeOf(repo, request.version ?? ''),
  );
const argsOf = async (...request: Parameters<typeof plan>): Promise<string> =>
  (await plan(...request)).args.join(' ');

describe('the command for a script', () => {
  const envOf = async (repo: string, ...paths: readonly string[]) => {
    const readFileOfR = (path: string) => Promise.resolve(paths.includes(path) ? '' : undefined);
    return (await planScriptOfRepository('a.py', { readFileOfR }, recipeOf(repo, ''))).env;
  };

  it('names the settings of its tests to Django, and nothing elsewhere', async () => {
    const file = 'tests/test_sqlite.py';
    assert.deepEqual(await envOf('django/django', file), {
      DJANGO_SETTINGS_MODULE: 'tests.test_sqlite',
    });
    assert.deepEqual(await envOf('django/django'), {}, 'R has no such settings');
    assert.deepEqual(await envOf('octo/cat', file), {});
  });
});

describe('the command for test files that look like options', () => {
  const odd = files('-k_test.py', '@x_test.py', 'tests/test_a.py');

  it('names them by ./ to pytest, tox and SymPy, and the others as they are', async () => {
    const tox = environment({
      packages: { pytest: '8.3.5', tox: '4.16.0', 'tox-current-env': '0.0.16' },
    });
    for (const [repo, request] of [
      ['octo/cat', { files: odd }],
      ['sphinx-doc/sphinx', { files: odd, environment: tox, tree: { 'tox.ini': '[testenv]' } }],
      ['sympy/sympy', { files: odd, environment: bare }],
    ] as const) {
      const made = await plan(repo, request);
      assert.deepEqual(made.args.slice(-3), ['./-k_test.py', './@x_test.py', 'tests/test_a.py']);
      assert.deepEqual(made.files, ['-k_test.py', '@x_test.py', 'tests/test_a.py']);
    }
    const one = await plan('octo/cat', { files: odd, select: ['-k_test.py::test_a'] });
    assert.equal(one.args.at(-1), './-k_test.py::test_a');
    assert.deepEqual(planScript('-k.py').args, ['./-k.py']);
  });

  it('ends the options before them where names are dotted', async () => {
    const unittest = await plan('octo/cat', { files: odd, environment: bare });
    assert.deepEqual(unittest.args.slice(0, 5), ['-m', 'unittest', '-v', '--', '-k_test']);
    assert.equal(await argsOf('octo/cat', { environment: bare }), '-m unittest -v tests.test_a');
    const django = await plan('django/django', { files: odd });
    assert.deepEqual(django.args.slice(-4), ['--', '-k_test', '@x_test', 'test_a']);
  });
});

describe('the command of unittest', () => {
  it('names what only pytest can run, and runs nothing rather than everything', async () => {
    const [plain, mixed, needing] = files('tests/test_a.py', 'tests/test_b.py', 'tests/test_c.py');
    assert(plain !== undefined && mixed !== undefined && needing !== undefined);
    const request = {
      files: [plain, { ...mixed, pytestTests: 1 }, { ...needing, importsPytest: true }],
      environment: bare,
    };
    const made = await plan('octo/cat', request);
    assert.deepEqual(made.files, ['tests/test_a.py', 'tests/test_b.py']);
    assert.deepEqual(
      made.notRun.map(({ path }) => path),
      ['tests/test_b.py', 'tests/test_c.py'],
    );
    const [functions, imports] = made.notRun.map(({ reason }) => reason);
    assert.match(functions ?? '', /^its test functions need pytest, .* \(methods of unittest/);
    assert.match(imports ?? '', /^it imports pytest, which is not installed in /);
    const none = await plan('octo/cat', { ...request, select: ['tests/test_c.py::test_x'] });
    assert.deepEqual(none.files, []);
  });
});

describe("the command of Django's runner", () => {
  it('has the options that R has', async () => {
    const at = (runTests: string | undefined, version: string): Promise<string> =>
      argsOf('django/django', {
        version,
        files: files('tests/admin_views/tests.py', 'django/contrib/x/tests.py'),
        tree: runTests === undefined ? {} : { 'tests/runtests.py': runTests },
      });
    const labels = 'admin_views.tests django.contrib.x.tests';
    const serial = `tests/runtests.py --verbosity 2 --settings=test_sqlite ${labels}`;
    const parallel = `tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 ${labels}`;
    assert.equal(await at("parser.add_argument(\n  '--settings',", '1.9'), serial);
    assert.equal(await at("parser.add_argument(\n  '--parallel',", '1.9'), parallel);
    assert.equal(await at(undefined, '1.8'), serial);
    assert.equal(await at(undefined, '1.11'), parallel);
    assert.equal(await at(undefined, '4.0'), parallel);
  });

  it('has labels for single tests', async () => {
    const select = ['tests/admin_views/tests.py::AdminTest::test_x'];
    assert.equal(
      (await plan('django/django', { select })).args.at(-1),
      'admin_views.tests.AdminTest.test_x',
    );
  });
});

describe("the command of SymPy's runner", () => {
  const at = (binTest: string): Promise<string> =>
    argsOf('sympy/sympy', {
      files: files('sympy/a/tests/test_a.py'),
      tree: { 'bin/test': binTest },
    });

  it('has the options that R has', async () => {
    const file = 'sympy/a/tests/test_a.py';
    assert.equal(
      await at(`add_option("--seed") add_option('-C', '--no-cache')`),
      `bin/test -C --verbose --seed 0 ${file}`,
    );
    assert.equal(await at('add_option("-v", "--verbose")'), `bin/test --verbose ${file}`);
    assert.equal(
      await at(`'-s', '--use-sympy-runner', '--seed', '-C'`),
      `bin/test -C --verbose --seed 0 --use-sympy-runner ${file}`,
    );
  });

  it('chooses single tests by their whole names', async () => {
    const { args } = await plan('sympy/sympy', {
      files: files('sympy/a/tests/test_a.py'),
      tree: { 'bin/test': '"-k"' },
      select: ['sympy/a/tests/test_a.py::test_x', 'sympy/a/tests/test_a.py::test_y'],
    });
    assert.equal(args[0], '-c');
    assert.deepEqual(args.slice(2), ['--only', 'test_x,test_y', 'sympy/a/tests/test_a.py']);
  });
});

describe('the command of tox', () => {
  const ini = `[tox]
envlist = py39

[testenv]
setenv =
    PYTHONWARNINGS = all,ignore::ImportWarning:importlib._bootstrap_external
    # a remark
    PYTEST_ADDOPTS = {env:PYTEST_ADDOPTS:} --color yes

    LEVEL=3
commands=
    python -X dev -m pytest --durations 25 {posargs}

[testenv:docs]
setenv = OTHER = 1
`;
  const of = (tox: string | undefined, toxIni?: string): Promise<TestPlan> =>
    plan('sphinx-doc/sphinx', {
      version: '3.4',
      environment: environment({
        pythonVersion: '3.9.18',
        packages: {
          pytest: '8.3.5',
          ...(tox !== undefined && { tox, 'tox-current-env': '0.0.16' }),
        },
      }),
      tree: toxIni === undefined ? {} : { 'tox.ini': toxIni },
    });

  it('runs what tox.ini says in the environment as it is, with the seed of the run', async () => {
    const four = await of('4.16.0', ini);
    assert.equal(four.runner, 'tox');
    assert.equal(
      four.args.slice(2).join(' '),
      '--current-env -epy39 -v --hashseed notset --skip-pkg-install -- -rA tests/test_a.py',
    );
    const three = await of('3.28.0', ini);
    assert.match(three.args.join(' '), /--hashseed noset --skip-pkg-install/);
    const old = await of('3.15.0', ini);
    assert.ok(!old.args.includes('--skip-pkg-install'));
    assert.match(three.env['TOX_TESTENV_PASSENV'] ?? '', /PYTHON\* SWT_\*/);
  });

  it('is pytest with the variables of tox.ini where tox cannot be had', async () => {
    const made = await of(undefined, ini);
    assert.equal(made.runner, 'pytest');
    assert.equal(made.args.join(' '), '-m pytest -rA -p no:cacheprovider tests/test_a.py');
    assert.deepEqual(made.env, {
      PYTHONWARNINGS: 'all,ignore::ImportWarning:importlib._bootstrap_external',
      LEVEL: '3',
    });
    assert.equal((await of('4.16.0')).runner, 'pytest');
  });

  it('is pytest where tox.ini would send the tracer away', async () => {
    const made = await of('4.16.0', '[testenv]\nset_env =\n  PYTHONPATH = {toxinidir}/src\n');
    assert.equal(made.runner, 'pytest');
    assert.deepEqual(made.env, {});
  });
});
