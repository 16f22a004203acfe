import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../../../src/files/wholeFile';

describe('making a folder', () => {
  let root = '';
  beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'make-folder-'))));
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('makes those above it, once or many times at once', async () => {
    const path = join(root, 'a', 'b', 'c', 'd');
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        makeFolder(index % 2 === 0 ? path : join(path, String(index))),
      ),
    );
    assert.ok((await stat(join(path, '29'))).isDirectory());
    await makeFolder(path);
    await makeFolder('/');
  });

  it('follows a link to a folder, and takes no file for one', async () => {
    await symlink(root, join(root, 'link'));
    await makeFolder(join(root, 'link'));
    await makeFolder(join(root, 'link', 'a'));
    assert.ok(existsSync(join(root, 'a')));
    await writeFile(join(root, 'file'), '');
    await assert.rejects(makeFolder(join(root, 'file')), { code: 'EEXIST' });
    await assert.rejects(makeFolder(join(root, 'file', 'a')), { code: 'ENOTDIR' });
    await symlink(join(root, 'nowhere'), join(root, 'dangling'));
    await assert.rejects(makeFolder(join(root, 'dangling')));
  });

  it('comes to an end where a folder takes no entries', async function () {
    if (process.platform !== 'linux') return this.skip();
    await assert.rejects(makeFolder('/proc/none/such/place'));
  });
});
