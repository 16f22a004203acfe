import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findInterpreters } from '../../src/editor/instance/findInterpreters';
import { environmentsFolder } from '../../src/repository/storage';

describe('the interpreters of this machine', () => {
  let storage: string;
  before(async () => (storage = await mkdtemp(join(tmpdir(), 'swt-interpreters-'))));
  after(() => rm(storage, { recursive: true, force: true }));

  const program = async (name: string): Promise<string> => {
    const folder = join(environmentsFolder(storage), name, 'bin');
    await mkdir(folder, { recursive: true });
    return join(folder, 'python3');
  };

  it('are those of created environments too, with versions, but for those that do not start', async () => {
    const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
      encoding: 'utf8',
    }).trim();
    const works = await program('tallybook-0.7');
    await symlink(python, works);
    const fails = await program('broken');
    await writeFile(fails, '#!/bin/sh\nexit 1\n');
    await chmod(fails, 0o755);
    const old = await program('old');
    await writeFile(old, '#!/bin/sh\necho 2.7.18\n');
    await chmod(old, 0o755);
    const found = await findInterpreters(storage);
    const ours = found.filter(({ path }) => path.startsWith(storage));
    assert.deepEqual(
      ours.map(({ path, name }) => [path, name]),
      [[works, 'tallybook-0.7']],
    );
    assert.match(ours[0]?.version ?? '', /^3\.\d+\.\d+/);
  });
});
