import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonOnPath } from '../../../src/engine/local/python';
import { loginShellPath } from '../../../src/editor/shell/shellPython';

describe('the Python that a terminal finds', function () {
  if (process.platform === 'win32') return;
  let folder: string;
  const program = async (path: string, lines: readonly string[]): Promise<string> => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
    return join(folder, path);
  };
  /** A program that answers as an interpreter does. */
  const python = (path: string, version: readonly number[], pytest: string | null) => {
    const packages = pytest === null ? {} : { pytest };
    const answer = { executable: join(folder, path), version, packages, implementation: 'cpython' };
    return program(path, [`echo '${JSON.stringify(answer)}'`]);
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-shell-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is looked for in the PATH of the login shell, among whatever that prints', async () => {
    const shell = await program('bin/bash', [
      'echo "Welcome, $VSCODE_RESOLVING_ENVIRONMENT, in $(pwd) $1"',
      'PATH=/opt/mine:/usr/bin',
      'eval "$2"',
      'echo bye',
    ]);
    assert.equal(await loginShellPath({ SHELL: shell }), '/opt/mine:/usr/bin');
    const told = await program('bin/zsh', [
      'PATH="$1 $VSCODE_RESOLVING_ENVIRONMENT $(pwd)"',
      'eval "$2"',
    ]);
    assert.equal(await loginShellPath({ SHELL: told }), `-ilc 1 ${homedir()}`);
  });

  it('is not looked for there where the shell hangs, is gone, or has another syntax', async () => {
    const hangs = await program('bin/fish', ['/bin/sleep 1000 &', 'wait']);
    assert.equal(await loginShellPath({ SHELL: hangs }, 100), undefined);
    assert.equal(await loginShellPath({ SHELL: join(folder, 'none/bash') }), undefined);
    assert.equal(await loginShellPath({ SHELL: '/usr/bin/nu' }), undefined);
    assert.equal(await loginShellPath({}), undefined);
  });

  it('has pytest where any has, and is else the first that runs', async () => {
    await python('old/python3', [3, 5, 1], '4.0');
    await program('broken/python3', ['exit 1']);
    await python('plain/python3', [3, 11, 2], null);
    await python('good/python3', [3, 11, 7], '9.2.0');
    const of = async (...names: string[]) => {
      const found = await pythonOnPath(names.map((name) => join(folder, name)));
      return found && [found.interpreter, found.version, found.pytest];
    };
    const plain = join(folder, 'plain/python3');
    const good = join(folder, 'good/python3');
    assert.deepEqual(await of('old', 'broken', 'plain', 'good'), [good, '3.11.7', '9.2.0']);
    assert.deepEqual(await of('none', 'plain'), [plain, '3.11.2', undefined]);
    assert.equal(await of('old', 'broken'), undefined);
  });
});
