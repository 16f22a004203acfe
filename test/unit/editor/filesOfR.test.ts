import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FilesOfR } from '../../../src/editor/filesOfR';

describe('FilesOfR', () => {
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

  it('reads many files as it reads each', async () => {
    const files = new FilesOfR(folder);
    const paths = ['tests/latin.py', 'a.py', 'none.py', 'tests', 'tests/empty.py', 'tests/b c.py'];
    const many = await files.many([...paths, 'with\nline end.py', ' missing']);
    const one = new Map<string, string>();
    for (const path of ['tests/latin.py', 'a.py', 'tests/empty.py', 'tests/b c.py']) {
      one.set(path, (await files.shown(path)) ?? 'none');
    }
    assert.deepEqual(many, one);
    assert.equal(many.get('a.py'), 'A = "ä"\r\n', 'as it is in R');
    assert.equal((await files.many([])).size, 0);
  });
});
