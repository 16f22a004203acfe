import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { asShown } from '../../src/patch/bytes';
import { WorkspaceRepository } from '../../src/repository/workspaceRepository';

describe('what a workspace holds of R', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-files-of-r-'));
    const git = (...args: string[]): void => {
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder });
    };
    git('init', '--quiet');
    for (const [path, content] of [
      ['a.py', 'A = "ä"\r\n'],
      ['tests/empty.py', ''],
      ['tests/b c.py', 'no end of line'],
      ['tests/latin.py', Buffer.from([0x23, 0xe4, 0x0a])],
    ] as const) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    git('add', '--all');
    git('commit', '--quiet', '-m', 'R');
    await writeFile(join(folder, 'a.py'), 'edited');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const own = (): Promise<string> => mkdtemp(join(tmpdir(), 'swt-own-'));

  it('reads many files of R as it reads each', async () => {
    const files = new WorkspaceRepository(folder, join(await own(), 'repository'));
    const paths = ['tests/latin.py', 'a.py', 'none.py', 'tests', 'tests/empty.py', 'tests/b c.py'];
    const many = await files.readMany([...paths, 'with\nline end.py', ' missing']);
    const one = new Map<string, string>();
    for (const path of ['tests/latin.py', 'a.py', 'tests/empty.py', 'tests/b c.py']) {
      one.set(path, (await files.read(path)) ?? 'none');
    }
    assert.deepEqual(many, one);
    assert.equal(many.get('a.py'), 'A = "ä"\r\n', 'as it is in R');
    assert.equal(asShown(many.get('tests/latin.py') ?? ''), '#\ufffd\n');
    assert.equal((await files.readMany([])).size, 0);
    assert.deepEqual(await files.paths(), [
      'a.py',
      'tests/b c.py',
      'tests/empty.py',
      'tests/latin.py',
    ]);
  });

  it('is the same for all who look at the edits at once', async () => {
    const place = join(await own(), 'repository');
    await mkdir(join(folder, '__pycache__'), { recursive: true });
    await writeFile(join(folder, '__pycache__', 'a.pyc'), 'x');
    await mkdir(join(folder, '.git', 'info'), { recursive: true });
    await writeFile(join(folder, '.git', 'info', 'exclude'), '/mine\n');
    await writeFile(join(folder, 'mine'), 'x');
    // Like two windows, each with several components that read.
    const windows = [1, 2].map(() => new WorkspaceRepository(folder, place));
    const looks = Array.from({ length: 40 }, async (_, at) => windows[at % 2]?.edits());
    const patches = new Set(await Promise.all(looks));
    assert.equal(patches.size, 1);
    const [patch = ''] = patches;
    assert.match(patch, /^\+edited$/m);
    assert.doesNotMatch(patch, /pycache|mine/);
  });

  it('counts a custom diff of the author as no edit, unless R has the file', async () => {
    const place = join(await own(), 'repository');
    await writeFile(join(folder, 'mine.swtdiff'), 'diff\n');
    await writeFile(join(folder, 'tests', 'test_mine.py'), 'def test(): assert 0\n');
    const patch = await new WorkspaceRepository(folder, place).edits();
    assert.doesNotMatch(patch, /swtdiff/);
    assert.match(patch, /^\+def test\(\): assert 0$/m);
  });
});
