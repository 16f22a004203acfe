import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tar from 'tar';
import { writeSnapshot } from '../../../src/repository/source';

describe('an archive as the source of a tree', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'archive-modes-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('gives files the modes of git, and none that runs as its owner', async function () {
    if (process.platform === 'win32') return this.skip();
    const from = join(folder, 'x-1.0');
    await mkdir(from);
    for (const [name, mode] of [
      ['root', 0o6755],
      ['open', 0o666],
      ['run', 0o700],
    ] as const) {
      await writeFile(join(from, name), name);
      await chmod(join(from, name), mode);
    }
    const archive = join(folder, 'x.tar.gz');
    await tar.create({ file: archive, cwd: folder, gzip: true }, ['x-1.0']);
    const out = join(folder, 'out');
    const reporter = { log: () => undefined, progress: () => undefined };
    await writeSnapshot({ kind: 'snapshot', from: archive } as never, out, { reporter });
    const modes = ['root', 'open', 'run'].map(
      async (name) => (await stat(join(out, name))).mode & 0o7777,
    );
    assert.deepEqual(await Promise.all(modes), [0o755, 0o644, 0o755]);
  });
});
