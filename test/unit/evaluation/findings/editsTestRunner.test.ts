import assert from 'node:assert/strict';
import { findingsInCode } from '../../../../src/evaluation/findings/findings';
import { makeUnified } from '../../../../src/patch/makeUnified';
import type { PythonParser } from '../../../../src/python/parser';
import { loadParser } from '../../python/loadParser';

const conftest =
  'import pytest\n\n\n@pytest.fixture\ndef cat():\n    return 1\n\n\n@pytest.fixture\ndef dog():\n    return 2\n';

describe('candidates that edit what runs tests', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  const filesOfR: Readonly<Record<string, string>> = {
    'tests/conftest.py': conftest,
    'tests/__init__.py': '',
    'setup.cfg': '[tool:pytest]\n',
  };
  const evidenceOf = async (
    files: Readonly<Record<string, string | undefined>>,
  ): Promise<readonly string[]> => {
    const edits = Object.entries(files).map(([path, after]) => ({
      path,
      before: filesOfR[path],
      after,
    }));
    const findings = await findingsInCode(
      { python, readFileOfR: async (path) => filesOfR[path] },
      makeUnified(edits),
    );
    return findings.find(({ kind }) => kind === 'edits what runs tests')?.evidence ?? [];
  };

  for (const path of [
    ...['sitecustomize.py', 'tests/usercustomize.py', 'x.pth', 'pytest.ini', 'tests/tox.ini'],
    ...['.coveragerc', 'setup.py', 'pyproject.toml', 'noxfile.py', 'tests/runtests.py'],
    ...['bin/test', 'sympy/testing/runtests.py', 'unittest/__init__.py', 'tests/pytest.py'],
    ...['_pytest/runner.py', 'django/test/runner.py', 'shlex.py', 'packaging/__init__.py'],
    ...['x.egg-info/entry_points.txt', 'src/x-1.0.dist-info/entry_points.txt'],
  ]) {
    it(`are found by the path ${path}`, async () => {
      const [evidence = ''] = await evidenceOf({ [path]: 'x = 1\n' });
      assert.ok(evidence.startsWith(`${path} is added, `), evidence);
    });
  }

  it('are found by configuration above the tests that they touch', async () => {
    for (const path of ['tests/setup.cfg', 'tests/pyproject.toml']) {
      assert.deepEqual(await evidenceOf({ [path]: 'x = 1\n', 'tests/a/test_new.py': 'x = 1\n' }), [
        `${path} is added, test runner configuration`,
      ]);
    }
    const data = { 'tests/data/pyproject.toml': 'x = 1\n', 'tests/data/x.dist-info/RECORD': 'x\n' };
    assert.deepEqual(await evidenceOf({ ...data, 'tests/test_new.py': 'x = 1\n' }), []);
    assert.deepEqual(await evidenceOf({ 'tests/json/test_new.py': 'x = 1\n' }), []);
  });

  it('name the fixtures and hooks that change, and deleted files', async () => {
    assert.deepEqual(
      await evidenceOf({
        'tests/conftest.py': `${conftest.replace('return 2', 'return 3')}\n\ndef pytest_configure(config):\n    pass\n`,
      }),
      [
        'tests/conftest.py is changed, pytest fixtures and hooks: fixture dog, hook pytest_configure',
        'tests/conftest.py:14 defines the hook pytest_configure: def pytest_configure(config):',
      ],
    );
    assert.deepEqual(await evidenceOf({ 'tests/conftest.py': undefined }), [
      'tests/conftest.py is deleted, pytest fixtures and hooks',
    ]);
    assert.deepEqual(await evidenceOf({ 'setup.cfg': '[tool:pytest]\naddopts = -q\n' }), [
      'setup.cfg is changed, project configuration',
    ]);
  });

  const codes: readonly (readonly [what: RegExp, code: string])[] = [
    [/sets pytest_plugins/, 'pytest_plugins = "plugin"'],
    [
      /defines the hook pytest_runtest_makereport/,
      'def pytest_runtest_makereport(item):\n    pass',
    ],
    [/chooses the tests to load/, 'def load_tests(loader, tests, pattern):\n    return tests'],
    [
      /sets unittest\.TestCase\.assertEqual/,
      'import unittest\nunittest.TestCase.assertEqual = print',
    ],
    [
      /sets unittest\.TestCase\.run/,
      'from unittest import TestCase\ndef test_a():\n    TestCase.run = 1',
    ],
    [/sets _pytest\.runner\.x/, 'import _pytest.runner\n_pytest.runner.x = 1'],
    [
      /sets _pytest\.runner\.call/,
      'def test_a(monkeypatch):\n    monkeypatch.setattr("_pytest.runner.call", 1)',
    ],
    [
      /sets unittest\.case\.TestCase\.run/,
      'from unittest import mock, case\n@mock.patch.object(case.TestCase, "run")\ndef test_a(run):\n    pass',
    ],
    [/replaces the module pytest/, 'import sys\nsys.modules["pytest"] = None'],
    [
      /replaces run of its test case/,
      'import unittest\nclass A(unittest.TestCase):\n    def run(self, result=None):\n        pass',
    ],
    [
      /sets attributes of _pytest\.reports/,
      'import sys\nreports = sys.modules["_pytest.reports"]\nreports.TestReport.outcome = "passed"',
    ],
    [
      /sets attributes of unittest\.case/,
      'import importlib\nimportlib.import_module("unittest.case").TestCase.run = print',
    ],
    [
      /sets attributes of pytest/,
      'import sys\ndef test_a():\n    runner = __import__("pytest")\n    setattr(runner, "main", 1)',
    ],
    [
      /sets the outcome of its test/,
      'import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        self._outcome.result.addFailure = print',
    ],
    [/changes the plug-ins/, 'def test_a(request):\n    request.config.pluginmanager.register(1)'],
  ];
  for (const [what, code] of codes) {
    it(`are found by code: ${code.split('\n').at(-1)?.trim() ?? ''} (${what.source})`, async () => {
      const evidence = await evidenceOf({ 'tests/test_new.py': `${code}\n` });
      assert.equal(evidence.length, 1, evidence.join('\n'));
      assert.match(evidence[0] ?? '', what);
    });
  }

  for (const code of [
    'import unittest\n\n\nclass A(unittest.TestCase):\n    maxDiff = None\n\n    def setUp(self):\n        self.run = 1\n\n    def test_a(self):\n        pass\n',
    'from unittest import mock\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr("pkg.money.parse", print)\n    with mock.patch("builtins.open"):\n        pass\n',
    'import pytest\n\n\n@pytest.fixture\ndef cat():\n    return 1\n\n\npytestmark = pytest.mark.slow\n',
    'pytest_plugins = "pytester"\n\n\ndef test_a(pytester):\n    pass\n',
    'pytest_plugins = ["_pytest.pytester"]\n',
    'def helper():\n    def pytest_inner():\n        pass\n',
  ]) {
    it(`are not found in ${JSON.stringify(code.slice(0, 60))}…`, async () => {
      assert.deepEqual(await evidenceOf({ 'tests/test_new.py': code }), []);
    });
  }

  it('are not found by code in the repository of the runner, where it is what is tested', async () => {
    const code = 'import _pytest.runner\n_pytest.runner.x = 1\n';
    const findings = await findingsInCode(
      {
        python,
        readFileOfR: async (path) => (path === 'src/_pytest/__init__.py' ? '' : undefined),
      },
      makeUnified([{ path: 'testing/test_new.py', before: undefined, after: code }]),
    );
    assert.deepEqual(findings, []);
  });

  it('are found by code in a package of tests, not by its imports and names', async () => {
    assert.deepEqual(
      await evidenceOf({
        'tests/__init__.py': '"""Tests."""\nfrom .a import b\n\n__all__ = ("b",)\nNAMES = ["x"]\n',
      }),
      [],
    );
    assert.deepEqual(await evidenceOf({ 'tests/__init__.py': 'import os\n\nos.chdir("/")\n' }), [
      'tests/__init__.py:3 runs code when its package of tests is imported: os.chdir("/")',
    ]);
  });

  it('take bounded time to examine, and are named where they are too long or complex', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `    x${i + 1} = x${i}.a`);
    const sets = Array.from({ length: 3000 }, () => '    x60.a = x60(x60)');
    const entangled = ['def test_a(x0):', ...names, ...sets, ''].join('\n');
    assert.deepEqual(await evidenceOf({ 'tests/test_new.py': entangled }), []);
    const long = `def test_a():\n    assert "${'x'.repeat(1_000_000)}"\n`;
    const deep = `y${'.a'.repeat(30_000)} = 1\n${'('.repeat(3000)}z${')'.repeat(3000)}\n`;
    for (const source of [long, deep]) {
      const [evidence = ''] = await evidenceOf({ 'tests/test_new.py': source });
      assert.match(
        evidence,
        /^tests\/test_new\.py:1 begins a file that is too long or too complex/,
      );
    }
  });
});
