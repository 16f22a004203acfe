import assert from 'node:assert/strict';
import { debugConfiguration, type DebuggedSide } from '../../../src/editor/debugConfiguration';

const program = {
  interpreter: '/venv/bin/python',
  args: ['-m', 'pytest', '-rA', 'tests/test_a.py::test_x'],
  cwd: '/pairs/1/base',
  env: { PATH: '/usr/bin', HOME: '/pairs/1/home' },
  tree: '/pairs/1/base',
};
const onR: DebuggedSide = {
  side: 'base',
  workspace: '/work/space',
  changed: [],
  fixed: undefined,
  inherited: ['HOME', 'API_TOKEN'],
};
const onFixed: DebuggedSide = { ...onR, side: 'fixed', changed: ['pkg/a.py', 'pkg/b.py', 'c.py'] };

describe('debugConfiguration', () => {
  it('starts what a run starts, with its environment and nothing of ours', () => {
    const made = debugConfiguration(program, onR);
    assert.equal(made['python'], '/venv/bin/python');
    assert.equal(made['module'], 'pytest');
    assert.deepEqual(made['args'], ['-rA', 'tests/test_a.py::test_x']);
    assert.deepEqual(made['env'], { ...program.env, API_TOKEN: null });
    assert.equal(made['envFile'], '');
    assert.deepEqual(made['pathMappings'], [
      { localRoot: '/work/space', remoteRoot: '/pairs/1/base' },
    ]);
    assert.ok(!('rules' in made));
  });

  it('starts programs and code as well', () => {
    const of = (...args: string[]) => {
      const {
        program: file,
        module,
        code,
        args: rest,
      } = debugConfiguration({ ...program, args }, onR);
      return { file, module, code, rest };
    };
    assert.deepEqual(of('tests/runtests.py', '--verbosity', '2'), {
      file: 'tests/runtests.py',
      module: undefined,
      code: undefined,
      rest: ['--verbosity', '2'],
    });
    assert.deepEqual(of('-c', 'import sympy', '--only', 'test_x'), {
      file: undefined,
      module: undefined,
      code: 'import sympy',
      rest: ['--only', 'test_x'],
    });
  });

  it('steps over what X* changes while that is hidden, and names no file of R∘X*', () => {
    const made = debugConfiguration({ ...program, tree: '/pairs/1/fixed' }, onFixed);
    assert.deepEqual(
      made['rules'],
      ['pkg/a.py', 'pkg/b.py', 'c.py'].map((path) => ({
        path: `/pairs/1/fixed/${path}`,
        include: false,
      })),
    );
    assert.deepEqual(made['pathMappings'], [
      { localRoot: '/work/space', remoteRoot: '/pairs/1/fixed' },
    ]);
  });

  it('shows folders of what X* changes as they are on R∘X* once that is revealed', () => {
    const made = debugConfiguration(
      { ...program, tree: '/pairs/1/fixed' },
      { ...onFixed, fixed: '/trees/fixed', changed: ['pkg/a.py', 'pkg/b.py'] },
    );
    assert.deepEqual(made['pathMappings'], [
      { localRoot: '/trees/fixed/pkg', remoteRoot: '/pairs/1/fixed/pkg' },
      { localRoot: '/work/space', remoteRoot: '/pairs/1/fixed' },
    ]);
    assert.ok(!('rules' in made));
  });
});
