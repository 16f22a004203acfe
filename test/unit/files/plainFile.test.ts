import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPlainText } from '../../../src/files/plainFile';

describe('a plain file of a stranger', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'plain-file-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('is read, and nothing but a plain file is', async function () {
    const path = join(folder, 'plain');
    await writeFile(path, 'text');
    assert.equal(await readPlainText(path), 'text');
    await assert.rejects(readPlainText(join(folder, 'none')), { code: 'ENOENT' });
    await assert.rejects(readPlainText(folder), /EISDIR|is not a plain file/);
    if (process.platform === 'win32') return this.skip();
    await symlink(path, join(folder, 'link'));
    await assert.rejects(readPlainText(join(folder, 'link')), { code: 'ELOOP' });
    const pipe = join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    await assert.rejects(readPlainText(pipe), /is not a plain file/);
  });
});
