import assert from 'node:assert/strict';
import { environmentFault } from '../../../src/evaluation/runs/environmentFault';
import type { TestResult } from '../../../src/domain/outcome';
import { runRecord } from './examples';

const isOfTree = (module: string): boolean => ['flask', 'tests', 'newly_added'].includes(module);
const collect = (message: string, more: Partial<TestResult> = {}): TestResult => ({
  test: 'tests/test_basic.py',
  outcome: 'error',
  phase: 'collect',
  exception: message.split(':')[0] ?? '',
  message: message.slice(message.indexOf(': ') + 2),
  ...more,
});
const passed: TestResult = { test: 'tests/test_a.py::test_a', outcome: 'passed', phase: 'call' };
const of = (outcomes: TestResult[], more: Parameters<typeof runRecord>[0] = {}) =>
  environmentFault(
    runRecord({ exitCode: 1, ...more, trace: { outcomes, sessions: [] } }),
    isOfTree,
  );

describe('a run that fails for what is installed', () => {
  const faults: Record<string, TestResult> = {
    'a package that is missing': collect("ModuleNotFoundError: No module named 'werkzeug'"),
    'a package that lacks a name': collect(
      "ImportError: cannot import name 'url_quote' from 'werkzeug.urls' (/venv/werkzeug/urls.py)",
    ),
    'a package that lacks a name, before Python 3.7': collect(
      "ImportError: cannot import name 'url_quote'",
      { details: 'src/flask/app.py:19: in <module>\n    from werkzeug.urls import url_quote\n' },
    ),
    'what pytest tells of an import in its text': collect('CollectError: ', {
      exception: 'CollectError',
      message: 'ImportError while importing test module',
      details:
        "tests/conftest.py:3: in <module>\n    import werkzeug\nE   ModuleNotFoundError: No module named 'werkzeug'",
    }),
    'versions that do not fit': collect('pkg_resources.VersionConflict: (a 1, b 2)'),
    'a package that is not installed itself': collect(
      'importlib.metadata.PackageNotFoundError: flask',
    ),
    'a package that breaks while it is imported': collect(
      "AttributeError: module 'collections' has no attribute 'Mapping'",
      {
        details:
          'Traceback (most recent call last):\n  File "/t/tests/test_a.py", line 1, in <module>\n    import old\n  File "/venv/lib/python3.11/site-packages/old/__init__.py", line 3, in <module>\n    collections.Mapping\n',
      },
    ),
  };
  for (const [what, outcome] of Object.entries(faults)) {
    it(`is one where no test ran for ${what}`, () => {
      assert.notEqual(of([outcome]), undefined);
      assert.notEqual(of([outcome, { ...outcome, test: 'tests/test_b.py' }]), undefined);
      assert.equal(of([outcome, passed]), undefined, 'one test ran');
    });
  }
  const others: Record<string, TestResult> = {
    'a name that X* adds': collect("ImportError: cannot import name 'x' from 'flask.app' (x)"),
    'a module that X* adds': collect("ModuleNotFoundError: No module named 'newly_added'"),
    'a part of the package': collect("ModuleNotFoundError: No module named 'flask.missing'"),
    'a relative import': collect("ImportError: cannot import name 'x'", {
      details: 'x.py:1: in <module>\n    from .app import x\n',
    }),
    'a syntax error': collect('SyntaxError: invalid syntax'),
    'an import inside of a test': collect("ModuleNotFoundError: No module named 'werkzeug'", {
      phase: 'call',
    }),
    'an error of the tree’s own': collect('AttributeError: x', {
      details: '  File "/t/flask/app.py", line 1, in <module>\n',
    }),
  };
  for (const [what, outcome] of Object.entries(others)) {
    it(`is none where it may be what the tests show: ${what}`, () => {
      assert.equal(of([outcome]), undefined);
    });
  }

  it('names the module, and the file of the tree that imports it', () => {
    const missing = "ModuleNotFoundError: No module named 'werkzeug.local'";
    const frame = (path: string) => ({ path, line: 4, function: '<module>' });
    const frames = ['tests/conftest.py', 'src/flask/globals.py', '<frozen importlib>'].map(frame);
    assert.deepEqual(of([collect(missing, { frames })]), {
      says: missing,
      module: 'werkzeug.local',
      importedBy: 'src/flask/globals.py',
    });
    const details = 'tests/conftest.py:9: in <module>\n/v/site-packages/a.py:1: in <module>\n';
    assert.equal(of([collect(missing, { details })])?.importedBy, 'tests/conftest.py');
  });

  it('is one in which the runner cannot be started or breaks in itself', () => {
    const log = (text: string) => of([], { log: text });
    assert.match(log('/venv/bin/python: No module named pytest')?.says ?? '', /pytest/);
    assert.match(
      log('INTERNALERROR> Traceback\nINTERNALERROR> KeyError: 1')?.says ?? '',
      /KeyError: 1/,
    );
    assert.match(
      log(
        "ImportError while loading conftest '/t/tests/conftest.py'.\ntests/conftest.py:9: in <module>\n    from flask import Flask\nE   ImportError: cannot import name 'url_quote' from 'werkzeug.urls' (/x)\n",
      )?.says ?? '',
      /url_quote/,
    );
  });

  it('is one in which a plug-in of the runner asks for what R does not have', () => {
    const frames = (inner: string) =>
      `Traceback (most recent call last):\n  File "/v/lib/python3.9/site-packages/pytest/__main__.py", line 5, in <module>\n  File "${inner}", line 47, in <module>\n    from flask.tests.plugins import x\nModuleNotFoundError: No module named 'flask.tests.plugins'\n`;
    const plugin = '/v/lib/python3.9/site-packages/pytest_header/display.py';
    assert.equal(
      of([], { log: frames(plugin) })?.says,
      "the test runner loads pytest_header/display.py, which fails with ModuleNotFoundError: No module named 'flask.tests.plugins'",
    );
    const ofTree = of([], { log: frames('/testbed/conftest.py') });
    assert.equal(ofTree, undefined, 'the tree itself asks for it');
    assert.equal(of([passed], { log: frames(plugin) }), undefined, 'tests ran');
  });

  it('is none that ended well without a test, was stopped, or says nothing of imports', () => {
    assert.equal(of([], { exitCode: 0 }), undefined);
    assert.equal(of([], { exitCode: 5, log: 'no tests ran' }), undefined);
    assert.equal(
      of([collect("ModuleNotFoundError: No module named 'werkzeug'")], { ending: 'timed out' }),
      undefined,
    );
    assert.equal(of([], { log: 'SyntaxError: invalid syntax' }), undefined);
  });
});
