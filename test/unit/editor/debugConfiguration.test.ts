import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  copyToShow,
  debugConfiguration,
  idsToDebug,
  isSubstituted,
  type DebuggedSide,
} from '../../../src/editor/testing/debugConfiguration';

const program = {
  interpreter: '/venv/bin/python',
  args: ['-m', 'pytest', '-rA', 'tests/test_a.py::test_x'],
  cwd: '/pairs/1/base',
  env: { PATH: '/usr/bin', HOME: '/pairs/1/home' },
  tree: '/pairs/1/base',
  scratch: '/pairs/1/base-runs/1',
};
const onR: DebuggedSide = {
  side: 'base',
  workspace: '/work/space',
  changed: [],
  shown: undefined,
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

  it('shows copies of what X* changes once that is revealed, and steps over the rest', () => {
    const shown = { root: '/shown', folders: ['pkg'], below: ['pkg/tests'] };
    const made = debugConfiguration(
      { ...program, tree: '/pairs/1/fixed' },
      { ...onFixed, shown, changed: ['pkg/a.py', 'setup.py'] },
    );
    assert.deepEqual(made['pathMappings'], [
      { localRoot: '/work/space/pkg/tests', remoteRoot: '/pairs/1/fixed/pkg/tests' },
      { localRoot: '/shown/pkg', remoteRoot: '/pairs/1/fixed/pkg' },
      { localRoot: '/work/space', remoteRoot: '/pairs/1/fixed' },
    ]);
    assert.deepEqual(made['rules'], [{ path: '/pairs/1/fixed/setup.py', include: false }]);
  });
});

describe('copyToShow', () => {
  let tree = '';
  beforeEach(async () => (tree = await mkdtemp(join(tmpdir(), 'swt-shown-'))));
  afterEach(() => rm(tree, { recursive: true, force: true }));

  it('copies what is there for reading only, and leaves the tree as it is', async () => {
    await mkdir(join(tree, 'pkg/tests'), { recursive: true });
    await mkdir(join(tree, 'own'));
    for (const path of ['pkg/a.py', 'pkg/b.py', 'pkg/tests/test_a.py', 'own/c.py', 'setup.py']) {
      await writeFile(join(tree, path), `# ${path}\n`);
    }
    const before = await stat(join(tree, 'pkg/a.py'));
    const root = join(tree, 'run/shown');
    const changed = ['pkg/a.py', 'own/c.py', 'setup.py', 'gone/d.py'];
    assert.deepEqual(await copyToShow(tree, changed, ['own/test_c.py'], root), {
      root,
      folders: ['pkg', 'gone'],
      below: ['pkg/tests'],
    });
    assert.equal(await readFile(join(root, 'pkg/b.py'), 'utf8'), '# pkg/b.py\n');
    const copy = await stat(join(root, 'pkg/a.py'));
    assert.equal(copy.mode & 0o222, 0);
    assert.notEqual(copy.ino, before.ino);
    assert.equal((await stat(join(tree, 'pkg/a.py'))).mode, before.mode);
    for (const path of ['pkg/tests', 'own', 'setup.py'])
      await assert.rejects(stat(join(root, path)));
  });
});

describe('variables of VS Code', () => {
  const command = 'tests/test_a.py::test_x[${command:workbench.action.closeWindow}]';

  it('are not in the ids that are debugged', () => {
    assert.deepEqual(idsToDebug([command, 'tests/test_a.py::test_x[${env:HOME}]', 'b.py::y[$1]']), [
      'tests/test_a.py::test_x',
      'b.py::y[$1]',
    ]);
  });

  it('are seen wherever they are in a configuration', () => {
    const isSeen = (more: Partial<typeof program>) =>
      isSubstituted(debugConfiguration({ ...program, ...more }, onR));
    assert.equal(isSeen({}), false);
    assert.equal(isSeen({ args: ['-m', 'pytest', command] }), true);
    assert.equal(isSeen({ cwd: '/pairs/${env:HOME}' }), true);
    assert.equal(isSeen({ args: ['-m', 'pytest', 'test_x[$1{}]'] }), false);
  });
});
