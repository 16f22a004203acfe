import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { watchEnvironment, type EnvironmentWatch } from '../../src/engine/local/environmentWatch';
import { bareEnvironment, sitePackagesOf } from '../environments';

/** The environment is searched once after tests have begun; from then on, the system tells. */
describe('a watched environment, where the system tells of changes', function () {
  if (process.platform !== 'linux') return;
  const { PATH } = process.env;
  let folder = '';
  let site = '';
  let searches = '';
  let watch: EnvironmentWatch;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'watch-test-'));
    const python = join(bareEnvironment(folder), 'bin', 'python');
    site = sitePackagesOf(python);
    await mkdir(join(site, 'wool', 'deep'), { recursive: true });
    await writeFile(join(site, 'wool', 'deep', 'yarn.py'), 'thick = 1\n');
    searches = join(folder, 'searches');
    const find = join(folder, 'bin', 'find');
    await mkdir(join(folder, 'bin'));
    await writeFile(find, `#!/bin/sh\necho >> '${searches}'\nPATH='${PATH}' exec find "$@"\n`, {
      mode: 0o755,
    });
    process.env['PATH'] = [join(folder, 'bin'), PATH].join(delimiter);
    watch = await watchEnvironment(python, resolve('src/engine/tracer'), folder);
    // Notices begin beside a run, and the check after that is a search.
    for (let tries = 0; tries < 100; tries += 1) {
      await rm(searches, { force: true });
      await watch.during(folder, () => Promise.resolve());
      if (!existsSync(searches)) return;
    }
    assert.fail('every check is a search');
  });
  after(async () => {
    process.env['PATH'] = PATH;
    watch.dispose();
    await rm(folder, { recursive: true });
  });

  const at = (...names: string[]): string => join(site, ...names);
  /** What is done to the packages, in order: each builds on the ones before. */
  const changes: readonly (readonly [string, () => Promise<void>])[] = [
    ['an edit in place', () => appendFile(at('wool', 'deep', 'yarn.py'), 'thin = 2\n')],
    ['a new module', () => writeFile(at('felt.py'), '')],
    ['a removed module', () => rm(at('felt.py'))],
    [
      'a package in place of another',
      async () => {
        await rename(at('wool'), join(folder, 'wool'));
        await mkdir(at('wool', 'deep'), { recursive: true });
        await writeFile(at('wool', 'deep', 'yarn.py'), 'thick = 3\n');
      },
    ],
    ['an edit in that', () => appendFile(at('wool', 'deep', 'yarn.py'), 'thin = 4\n')],
    ['a module in a folder that had none', () => writeFile(at('empty', 'first.py'), '')],
    ['a removed package', () => rm(at('wool'), { recursive: true })],
  ];
  for (const [what, change] of changes) {
    it(`has another digest after ${what}, without a search`, async () => {
      if (what.includes('had none')) {
        await mkdir(at('empty'));
        await watch.current();
      }
      const { digest } = await watch.current();
      await change();
      const now = await watch.current();
      assert.notEqual(now.digest, digest);
      assert.equal((await watch.current()).digest, now.digest);
      assert.equal(existsSync(searches), false, 'a search');
    });
  }

  it('is not graded after tests that edited it', async () => {
    const path = at('empty', 'first.py');
    await assert.rejects(
      watch.during(folder, () => appendFile(path, 'x = 1\n')),
      /changed while tests ran.*first\.py/,
    );
    await rm(path);
    await watch.current();
    assert.equal(existsSync(searches), false, 'a search');
  });

  it('is searched where the system may have told too much to keep', async () => {
    const before = (await watch.current()).digest;
    await watch.during(folder, async () => {
      // Each is two notices, and the queue holds some thousands.
      const files = Array.from({ length: 10_000 }, (_, index) => at('empty', `${index}.pyc`));
      for (const path of files) await writeFile(path, '');
      for (const path of files) await rm(path);
      // Among what was dropped: another folder takes the place of this one.
      await rename(at('empty'), join(folder, 'empty'));
      await mkdir(at('empty'));
    });
    assert.equal(existsSync(searches), true, 'no search');
    for (let times = 0; times < 3; times += 1) {
      await watch.during(folder, () => Promise.resolve());
      assert.equal((await watch.current()).digest, before);
    }
    await writeFile(at('empty', 'late.py'), '');
    assert.notEqual((await watch.current()).digest, before);
  });
});
