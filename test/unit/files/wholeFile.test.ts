import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  besideOf,
  isNameBeside,
  writeBesideAndRename,
  writeWholeFile,
} from '../../../src/files/wholeFile';

describe('a file that is written whole', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whole-file-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('takes the place of another, and leaves nothing beside it', async () => {
    const path = join(folder, 'below', 'file.json');
    await writeWholeFile(path, 'first');
    await writeWholeFile(path, Buffer.from('second'));
    assert.equal(await readFile(path, 'utf8'), 'second');
    assert.deepEqual(await readdir(join(folder, 'below')), ['file.json']);
  });

  it('takes the place of a link, and leaves alone what the link leads to', async () => {
    await writeFile(join(folder, 'other'), 'untouched');
    await symlink('other', join(folder, 'link'));
    await writeWholeFile(join(folder, 'link'), 'new');
    assert.equal(await readFile(join(folder, 'link'), 'utf8'), 'new');
    assert.equal(await readFile(join(folder, 'other'), 'utf8'), 'untouched');
  });

  it('leaves the former file, and nothing beside it, when it cannot be written', async () => {
    const path = join(folder, 'file');
    await writeFile(path, 'former');
    const refused = writeBesideAndRename(path, 'new', () => Promise.reject(new Error('refused')));
    await assert.rejects(refused, /refused/);
    assert.equal(await readFile(path, 'utf8'), 'former');
    assert.deepEqual(await readdir(folder), ['file']);
    await mkdir(join(folder, 'taken', 'full'), { recursive: true });
    await assert.rejects(writeWholeFile(join(folder, 'taken'), 'new'));
    assert.deepEqual((await readdir(folder)).sort(), ['file', 'taken']);
  });

  it('is told by its name while it is being written', () => {
    const path = join(folder, 'file.json');
    assert.notEqual(besideOf(path), besideOf(path));
    assert.equal(isNameBeside(basename(besideOf(path))), true);
    assert.equal(isNameBeside('file.json'), false);
    assert.equal(isNameBeside('5f3c-file.jsonl.part'), false);
  });
});
