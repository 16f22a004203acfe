import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainLines, readPlainText } from '../../../src/files/plainFile';

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('a plain file of a stranger', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'plain-file-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('is read, and nothing but a plain file is', async function () {
    const path = join(folder, 'plain');
    await writeFile(path, 'text');
    assert.equal(await readPlainText(path), 'text');
    await assert.rejects(readPlainText(join(folder, 'none')), { code: 'ENOENT' });
    await assert.rejects(readPlainText(folder), /EISDIR/);
    if (process.platform === 'win32') return this.skip();
    await symlink(path, join(folder, 'link'));
    await assert.rejects(readPlainText(join(folder, 'link')), { code: 'ELOOP' });
    const pipe = join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    await assert.rejects(readPlainText(pipe), /not a plain file/);
  });

  it('may be a link where the user names it, and an open pipe, but no pipe of a folder', async function () {
    if (process.platform === 'win32') return this.skip();
    const path = join(folder, 'target');
    await writeFile(path, 'a\n\nb');
    await symlink(path, join(folder, 'named'));
    assert.equal(await readPlainText(join(folder, 'named'), { named: true }), 'a\n\nb');
    const lines = await all(plainLines(join(folder, 'named'), { named: true }));
    assert.deepEqual(lines, [
      { number: 1, line: 'a' },
      { number: 3, line: 'b' },
    ]);
    await assert.rejects(all(plainLines(join(folder, 'named'))), { code: 'ELOOP' });
    const pipe = join(folder, 'named-pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    await assert.rejects(readPlainText(pipe, { named: true }), /not a plain file/);
    await assert.rejects(readPlainText('/dev/zero', { named: true }), /not a plain file/);
    const read = `
      const { readPlainText } = require(${JSON.stringify(join(__dirname, '../../../src/files/plainFile'))});
      readPlainText('/dev/stdin', { named: true }).then((text) => process.stdout.write(text));`;
    const { stdout } = spawnSync(
      'sh',
      ['-c', 'printf "from a pipe" | "$0" --import tsx -e "$1"', process.execPath, read],
      { encoding: 'utf8' },
    );
    assert.equal(stdout, 'from a pipe');
  });

  it('is of bounded size', async () => {
    const path = join(folder, 'large');
    const file = await open(path, 'w');
    await file.truncate(2 ** 30);
    await file.close();
    await assert.rejects(readPlainText(path), /larger than 512 MB/);
  });
});
