import assert from 'node:assert/strict';
import { missingPrograms, missingService } from '../../../src/engine/sandbox/services';
import { servicesInSandbox } from '../../../src/engine/sandbox/sandboxServices';
import type { Environment } from '../../../src/engine/engine';
import { planTests } from '../../../src/engine/runners/planTests';
import { recipeOf, recipeSchema } from '../../../src/environments/recipes';

describe('programs and services that tests expect', () => {
  it('names a missing program only where the log speaks of it', () => {
    const log = 'SKIPPED [1] test_ps.py:12: This test needs a TeX installation\n';
    assert.deepEqual(missingPrograms(['latex', 'gs'], log), [
      'a test needs latex, which the environment does not have',
    ]);
    assert.deepEqual(missingPrograms([], log), []);
    assert.deepEqual(missingPrograms(['latex', 'dot'], 'text, context, dots'), []);
    assert.deepEqual(missingPrograms(['rm -rf /'], 'rm -rf /'), [], 'a name of no recipe');
  });

  it('gives each service a port of the loopback, and tests its address', () => {
    const { started, env } = servicesInSandbox(['httpbin']);
    const [httpbin] = started;
    assert.ok(httpbin);
    assert.equal(env['HTTPBIN_URL'], `http://127.0.0.1:${httpbin.port}/`);
    assert.ok(httpbin.argv.includes(`127.0.0.1:${httpbin.port}`));
    assert.deepEqual(servicesInSandbox([]), { started: [], env: {} });
    assert.match(missingService('httpbin'), /httpbin, which the environment does not have/);
  });

  it('puts what a recipe names into the plan of tests', async () => {
    const environment: Environment = {
      ...{ description: 'CPython', interpreter: 'python3', digest: '', pythonVersion: '3.9.2' },
      packages: { pytest: '7.0' },
    };
    const plan = (repo: string, version: string) =>
      planTests(
        {
          ...{ repo, version, environment, files: [] },
          readFileOfR: () => Promise.resolve(undefined),
        },
        recipeOf(repo, version),
      );
    assert.deepEqual((await plan('psf/requests', '2.4')).services, ['httpbin']);
    const { services, programs } = await plan('matplotlib/matplotlib', '3.6');
    assert.equal(services, undefined);
    assert.deepEqual(programs, ['latex', 'dvipng', 'gs']);
  });
});

describe('names of Debian packages in recipes', () => {
  const withSystem = (name: string) =>
    recipeSchema.safeParse({ ...recipeOf('octo/cat', '1.0'), system: [name] }).success;

  it('are letters, digits, and + . - within', () => {
    for (const name of ['g++', 'libqhull-dev', 'libstdc++6', 'python3.11-dev', 'gs']) {
      assert.ok(withSystem(name), name);
    }
  });

  it('are no options, paths, versions or shell words', () => {
    const bad = [
      '-y',
      '--allow-downgrades',
      './a.deb',
      '/tmp/a.deb',
      'gcc=1',
      'a b',
      'a;b',
      'A',
      'x',
      '',
    ];
    for (const name of bad) assert.ok(!withSystem(name), name);
  });

  it('hold for programs, too, whose names are known', () => {
    const with_ = (programs: unknown) =>
      recipeSchema.safeParse({ ...recipeOf('octo/cat', '1.0'), programs }).success;
    assert.ok(with_({ dot: ['graphviz'] }));
    assert.ok(!with_({ dot: ['-o'] }));
    assert.ok(!with_({ 'curl evil': ['curl'] }));
  });
});
