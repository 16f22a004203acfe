import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tar from 'tar';
import { releaseFor } from '../../bench/fidelity/releaseFor';

const patch = (file: string, from: string, to: string): string =>
  `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;

describe('the release that stands for the base commit of a row', () => {
  let folder: string;
  let archives: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-release-'));
    archives = join(folder, 'archives');
    await mkdir(archives);
    await release('cat-1.0', '2020-01-01', { 'cat.py': 'old', 'tests.py': 'old' });
    await release('cat-1.1', '2020-03-01', { 'cat.py': 'new', 'tests.py': 'new' });
    await release('cat-1.2', '2020-05-01', { 'cat.py': 'new', 'tests.py': 'other' });
    const twice = 'start\nsame\nadded\nend\nother\nsame\nend\nrest';
    await release('cat-1.3', '2020-07-01', { 'twice.py': twice, 'tests.py': 'last' });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** An archive as a registry has it: one folder, whose PKG-INFO has the day of the release. */
  async function release(name: string, day: string, files: Record<string, string>): Promise<void> {
    const made = join(folder, name);
    await mkdir(made);
    for (const [path, text] of Object.entries({ ...files, 'PKG-INFO': '' })) {
      await writeFile(join(made, path), text === '' ? '' : `${text}\n`);
    }
    await utimes(join(made, 'PKG-INFO'), new Date(day), new Date(day));
    await tar.create({ gzip: true, cwd: folder, file: join(archives, `${name}.tar.gz`) }, [name]);
  }

  const find = (
    createdAt: string,
    more: { code?: string; tests?: string; passedOver?: string[] } = {},
  ) =>
    releaseFor(
      {
        id: 'octo__cat-1',
        createdAt,
        goldenPatch: more.code ?? patch('cat.py', 'old', 'new'),
        goldenTests: more.tests ?? patch('tests.py', 'old', 'new'),
      },
      archives,
      folder,
      more.passedOver,
    );

  it('is the nearest in time that both patches apply to, as it is', async () => {
    const path = join(archives, 'cat-1.0.tar.gz');
    const expected = { release: 'cat-1.0', day: '2020-01-01', path, takenOut: [] };
    assert.deepEqual(await find('2020-01-20T00:00:00Z'), expected);
  });

  it('has the patches taken out where it already has them', async () => {
    const found = await find('2020-02-20T00:00:00Z');
    assert.ok('path' in found);
    assert.deepEqual([found.release, found.takenOut], ['cat-1.1', ['X*', 'T*']]);
    for (const file of ['cat.py', 'tests.py']) {
      assert.equal(await readFile(join(found.path, file), 'utf8'), 'old\n');
    }
    const unpacked = join(folder, 'releases', 'cat-1.1', 'cat.py');
    assert.equal(await readFile(unpacked, 'utf8'), 'new\n', 'the release itself stays');
  });

  it('has a patch taken out that would apply once more', async () => {
    // The context is there twice, once with the added line.
    const code = '@@ -2,2 +2,3 @@\n same\n+added\n end\n';
    const goldenPatch = `diff --git a/twice.py b/twice.py\n--- a/twice.py\n+++ b/twice.py\n${code}`;
    const found = await find('2020-07-01T00:00:00Z', {
      code: goldenPatch,
      tests: patch('tests.py', 'last', 'later'),
    });
    assert.ok('path' in found);
    assert.deepEqual([found.release, found.takenOut], ['cat-1.3', ['X*']]);
    assert.equal(
      await readFile(join(found.path, 'twice.py'), 'utf8'),
      'start\nsame\nend\nother\nsame\nend\nrest\n',
    );
  });

  it('is not one that only X* fits, nor one that is passed over', async () => {
    const found = await find('2020-05-20T00:00:00Z');
    assert.equal('release' in found && found.release, 'cat-1.1');
    const next = await find('2020-05-20T00:00:00Z', { passedOver: ['cat-1.1'] });
    assert.equal('release' in next && next.release, 'cat-1.0');
  });

  it('is none where neither patch fits, and says how far each does', async () => {
    const code = await find('2020-01-01T00:00:00Z', { code: patch('cat.py', 'x', 'y') });
    assert.ok('none' in code);
    assert.match(code.none, /^no source at hand fits X\* and T\*: of 4 releases X\* fits 0/);
    const tests = await find('2020-01-01T00:00:00Z', { tests: patch('tests.py', 'x', 'y') });
    assert.ok('none' in tests);
    assert.match(tests.none, /of 4 releases X\* fits 3, and T\* none of these$/);
  });
});
