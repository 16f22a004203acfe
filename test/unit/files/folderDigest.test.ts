import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderDigest } from '../../../src/files/digest';

describe('the digest of a folder', () => {
  let place = '';
  let folder = '';
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'swt-digest-'));
    folder = join(place, 'a');
    await mkdir(join(folder, 'bin'), { recursive: true });
    await writeFile(join(folder, 'bin', 'agent'), 'one');
    await writeFile(join(folder, 'notes'), 'two');
  });
  afterEach(() => rm(place, { recursive: true, force: true }));

  it('is the same for a copy, whatever its times', async () => {
    const copy = join(place, 'b');
    await cp(folder, copy, { recursive: true });
    await utimes(join(copy, 'notes'), 1, 1);
    assert.equal(await folderDigest(copy), await folderDigest(folder));
  });

  it('changes with a content, a name, a permission to run and a link', async () => {
    const digests = [await folderDigest(folder)];
    const then = async (change: Promise<unknown>): Promise<void> => {
      await change;
      digests.push(await folderDigest(folder));
    };
    await then(writeFile(join(folder, 'bin', 'agent'), 'two'));
    await then(writeFile(join(folder, 'bin', 'other'), ''));
    // Windows knows no such permission, and lets few people make links.
    if (process.platform !== 'win32') {
      await then(chmod(join(folder, 'notes'), 0o755));
      await then(symlink('nowhere', join(folder, 'link')));
      await then(rm(join(folder, 'link')).then(() => symlink('notes', join(folder, 'link'))));
    }
    assert.equal(new Set(digests).size, digests.length);
  });

  it('is refused for a folder that is not there, and when it is cancelled', async () => {
    await assert.rejects(folderDigest(join(place, 'none')), /ENOENT/);
    await assert.rejects(folderDigest(folder, AbortSignal.abort()), { name: 'Cancelled' });
  });
});
