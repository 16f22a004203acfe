import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cancelled } from '../../src/domain/work';
import { codebaseSize, preparedBase } from '../../src/validation/statistics';
import { git } from '../../src/repository/git';

describe('the size of a code base', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'codebase-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('is that of the Python files that the commit holds', async function () {
    const tree = join(folder, 'tree');
    await mkdir(join(tree, 'package'), { recursive: true });
    await writeFile(join(folder, 'outside.py'), 'a\n'.repeat(1000));
    await git(['init', '--quiet', '.'], { cwd: tree });
    const files: Record<string, string | Buffer> = {
      'one.py': 'a\n\n# b\n',
      'package/with space ü.py': 'a\r\nb\rc',
      'empty.py': '',
      'latin.py': Buffer.from('x = "\xe9"\n', 'latin1'),
      'notes.txt': 'a\nb\n',
      'script.pyx': 'a\n',
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(tree, name), content);
    const links = process.platform !== 'win32';
    if (links) {
      await symlink('one.py', join(tree, 'link.py'));
      await symlink('../outside.py', join(tree, 'out.py'));
      await symlink('nowhere.py', join(tree, 'broken.py'));
    }
    await git(['add', '-A'], { cwd: tree });
    await git(['commit', '--quiet', '-m', 'R'], { cwd: tree });
    await writeFile(join(tree, 'left_behind.py'), 'a\n');
    assert.deepEqual(await codebaseSize(tree), {
      files: links ? 7 : 4,
      lines: 3 + 3 + (links ? 3 : 0),
    });
    await assert.rejects(codebaseSize(tree, AbortSignal.abort()), Cancelled);
  });

  it('is counted in the tree that was prepared last and whole', async () => {
    const storage = join(folder, 'storage');
    assert.equal(await preparedBase(storage, 'a__b-1'), undefined);
    const trees = join(storage, 'instances', 'a__b-1', 'trees');
    for (const [key, time] of [
      ['aa', 1000],
      ['bb', 3000],
      ['cc', 2000],
      ['dd.half-made', 4000],
    ] as const) {
      await mkdir(join(trees, key), { recursive: true });
      await writeFile(join(trees, key, 'trees.json'), '{}');
      await utimes(join(trees, key, 'trees.json'), time, time);
    }
    await mkdir(join(trees, 'ee'));
    assert.equal(await preparedBase(storage, 'a__b-1'), join(trees, 'bb', 'base'));
  });
});
