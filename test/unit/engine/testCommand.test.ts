import assert from 'node:assert/strict';
import type { Environment } from '../../../src/engine/engine';
import { planScript, planTests, type TestFile } from '../../../src/engine/testCommand';

const environment = (pytest: string | undefined): Environment => ({
  description: 'CPython 3.11.7',
  interpreter: '/usr/bin/python3',
  pythonVersion: '3.11.7',
  pytest,
  digest: 'd',
});
const files = (...paths: string[]): TestFile[] =>
  paths.map((path) => ({ path, importsPytest: false, unittestTests: 1, pytestTests: 0 }));
const tree = { hasBinTest: true };

describe('the command for test files that look like options', () => {
  const odd = files('-k_test.py', '@x_test.py', 'tests/test_a.py');

  it('names them by ./ to pytest and SymPy, and the others as they are', () => {
    for (const [repo, pytest] of [
      ['octo/cat', '8.3.5'],
      ['sympy/sympy', undefined],
    ] as const) {
      const plan = planTests(repo, odd, environment(pytest), tree);
      assert.deepEqual(plan.args.slice(-3), ['./-k_test.py', './@x_test.py', 'tests/test_a.py']);
      assert.deepEqual(plan.files, ['-k_test.py', '@x_test.py', 'tests/test_a.py']);
    }
    const one = planTests('octo/cat', odd, environment('8.3.5'), tree, ['-k_test.py::test_a']);
    assert.equal(one.args.at(-1), './-k_test.py::test_a');
    assert.deepEqual(planScript('-k.py').args, ['./-k.py']);
  });

  it('ends the options before them where names are dotted', () => {
    const bare = planTests('octo/cat', odd, environment(undefined), tree);
    assert.deepEqual(bare.args.slice(0, 5), ['-m', 'unittest', '-v', '--', '-k_test']);
    const plain = planTests('octo/cat', files('tests/test_a.py'), environment(undefined), tree);
    assert.deepEqual(plain.args, ['-m', 'unittest', '-v', 'tests.test_a']);
    const django = planTests('django/django', odd, environment(undefined), tree);
    assert.deepEqual(django.args.slice(-4), ['--', '-k_test', '@x_test', 'test_a']);
  });
});
