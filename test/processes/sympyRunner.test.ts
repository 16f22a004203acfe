import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { recipeOf } from '../../src/environments/recipes';
import { planTests } from '../../src/engine/runners/planTests';
import { environment, sourceRelease } from '../environments';

const run = promisify(execFile);

describe("single tests under SymPy's runner @full", function () {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sympy-runner-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('are those of these names, and not those whose names only hold them', async function () {
    const archive = await sourceRelease(this, 'sympy', '1.11.1');
    const python = await environment(this, 'python3', ['mpmath==1.3.0']);
    await run('tar', ['-xzf', archive, '-C', folder]);
    const tree = join(folder, 'sympy-1.11.1');
    const path = 'sympy/core/tests/test_match.py';
    const { args, env } = await planTests(
      {
        repo: 'sympy/sympy',
        version: '1.11',
        files: [{ path, importsPytest: false, unittestTests: 0, pytestTests: 2 }],
        environment: {
          description: '',
          interpreter: '',
          pythonVersion: '3.11.7',
          packages: {},
          digest: '',
        },
        readFileOfR: (file) => readFile(join(tree, file), 'utf8').catch(() => undefined),
        // Beside it there are test_mul_noncommutative and two more.
        select: [`${path}::test_mul`, `${path}::test_power`],
      },
      recipeOf('sympy/sympy', '1.11'),
    );
    const { stdout } = await run(join(python, 'bin', 'python'), args, {
      cwd: tree,
      env: { ...env, PATH: process.env['PATH'], PYTHONPATH: tree, PYTHONHASHSEED: '0' },
    });
    assert.deepEqual([...stdout.matchAll(/^(test_\w+) ok/gm)].map((match) => match[1]).sort(), [
      'test_mul',
      'test_power',
    ]);
    assert.match(stdout, /tests finished: 2 passed/);
  });
});
