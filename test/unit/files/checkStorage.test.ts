import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { checkStorage, storageFault } from '../../../src/files/checkStorage';

describe('a storage folder that cannot be used', () => {
  const storage = '/data/store';
  const system = (code: string, path?: string): Error =>
    Object.assign(new Error(code), { code, path });

  it('is named with its setting, whatever the system refuses below it or on the way to it', () => {
    for (const path of [storage, '/data/store/locks/a', '/data']) {
      assert.equal(
        storageFault(system('EACCES', path), storage)?.message,
        "Can't write to the storage folder /data/store: you have no permission. " +
          'Choose another folder with --storage or the setting `swt-bench.storageFolder`',
      );
    }
    assert.match(storageFault(system('ENOSPC', storage), storage)?.message ?? '', /disk is full/);
  });

  it('is not blamed for anything else', () => {
    assert.equal(storageFault(system('EACCES', '/data/store-2/a'), storage), undefined);
    assert.equal(storageFault(system('ECONNREFUSED', storage), storage), undefined);
    assert.equal(storageFault(new Error('odd'), storage), undefined);
  });

  it('is found by writing to it, and nothing is left there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'swt-bench-storage-'));
    try {
      await checkStorage(join(folder, 'new', 'inner'));
      assert.deepEqual(await readdir(join(folder, 'new', 'inner')), []);
      const file = join(folder, 'file');
      await writeFile(file, '');
      await mkdir(join(folder, 'empty'));
      for (const [path, cause] of [
        [file, /: it is a file\. /],
        [join(file, 'inner'), /: part of the path is a file\. /],
        ['/proc/nowhere/inner', /: it does not exist, and cannot be created\. /],
      ] as const) {
        await assert.rejects(checkStorage(path), cause, path);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is refused at once for a folder in it that this user may not change', async function () {
    if (process.platform === 'win32') this.skip();
    const folder = await mkdtemp(join(tmpdir(), 'swt-bench-storage-'));
    try {
      await mkdir(join(folder, 'instances'));
      await chmod(join(folder, 'instances'), 0o555);
      await chmod(folder, 0o777);
      assert.match(await asNobody(folder), /no permission for instances, which is in it\. /);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is not blamed for the folder of temporary files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'swt-bench-storage-'));
    const { TMPDIR } = process.env;
    try {
      process.env['TMPDIR'] = join(folder, 'nowhere');
      await assert.rejects(checkStorage(folder), /temporary folder .*nowhere: .*Set TMPDIR/);
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
      await rm(folder, { recursive: true });
    }
  });
});

/** What a process without the rights of root says of the folder, since root may write everywhere. */
async function asNobody(folder: string): Promise<string> {
  const bundle = join(folder, 'checkStorage.cjs');
  const entry = join(__dirname, '../../../src/files/checkStorage.ts');
  await build({ entryPoints: [entry], bundle: true, platform: 'node', outfile: bundle });
  const program = `require(${JSON.stringify(bundle)}).checkStorage(${JSON.stringify(folder)})
    .catch((error) => console.log(error.message))`;
  const isRoot = process.getuid?.() === 0;
  return execFileSync(process.execPath, ['-e', program], {
    ...{ encoding: 'utf8', cwd: folder },
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
  });
}
