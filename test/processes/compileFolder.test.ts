import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ended } from '../../src/engine/environmentMaker';
import { compileFolder } from '../../src/environments/image/compileFolder';

describe('compiling a folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-compile-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const compile = (): Promise<void> =>
    compileFolder(
      {
        attempt: async ([python = '', ...args]): Promise<Ended> => {
          const { status, stdout, stderr } = spawnSync(python, args, { encoding: 'utf8' });
          assert.equal(status, 0, stderr);
          return { code: 0, output: stdout + stderr, standard: stdout };
        },
      },
      'python3',
      folder,
      {},
    );
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  /** Sources that are compiled, by path, with the times of the compiled files. */
  async function compiled(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (const path of await readdir(folder, { recursive: true })) {
      if (!path.endsWith('.pyc')) continue;
      const { mtimeMs } = await stat(join(folder, path));
      found.set(path.replace('__pycache__/', '').replace(/\.[\w-]+\.pyc$/, '.py'), mtimeMs);
    }
    return found;
  }

  it('leaves out what is compiled, and what cannot be', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `deep/m${at}.py`);
    for (const path of ['one.py', 'é.py', ...names]) await write(path, 'x = 1\n');
    await write('python2.py', 'print "x"\n');
    await write('data.txt', 'x');
    await symlink('/nowhere', join(folder, 'gone.py'));
    await compile();
    const first = await compiled();
    assert.deepEqual([...first.keys()].sort(), [...names, 'one.py', 'é.py'].sort());

    await utimes(join(folder, 'one.py'), 1_000_000_000, 1_000_000_000);
    await write('new.py', 'x = 1\n');
    const cache = join(folder, 'deep', '__pycache__');
    const [broken = ''] = (await readdir(cache)).filter((name) => name.startsWith('m3.'));
    await writeFile(join(cache, broken), '');
    await compile();
    const second = await compiled();
    const changed = [...second].filter(([path, time]) => first.get(path) !== time);
    assert.deepEqual(changed.map(([path]) => path).sort(), ['deep/m3.py', 'new.py', 'one.py']);
  });
});
