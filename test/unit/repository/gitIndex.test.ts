import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, lutimes, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GitIndex } from '../../../src/repository/git/gitIndex';

// Names of every length modulo eight, because zeros fill up each entry.
const paths = [...Array(9).keys()].map((n) => `d/${'x'.repeat(n + 1)}`).concat('é/ü.py', 'run.sh');

for (const format of ['sha1', 'sha256']) {
  describe(`an index with ${format}`, () => {
    let folder = '';
    const env = { PATH: process.env['PATH'], HOME: '/nowhere', GIT_CONFIG_NOSYSTEM: '1' };
    const git = (...args: string[]): string =>
      execFileSync('git', args, {
        ...{ cwd: folder, env, encoding: 'latin1' as const },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    /** Paths that git takes for changed by their times alone. */
    const stale = (): string[] =>
      spawnSync('git', ['diff-files', '-z', '--name-only'], { cwd: folder, env, encoding: 'utf8' })
        .stdout.split('\0')
        .filter((path) => path !== '');
    const place = (): string => join(folder, '.git', 'index');
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'index-test-'));
      git('init', '-q', `--object-format=${format}`);
      for (const path of paths) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), path);
      }
      await chmod(join(folder, 'run.sh'), 0o755);
      symlinkSync('run.sh', join(folder, 'link'));
      git('add', '-A');
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    it('has the files that git lists', () => {
      const listed = git('ls-files', '-z', '--stage').split('\0').slice(0, -1);
      const { entries } = new GitIndex(readFileSync(place()));
      assert.equal(entries.length, paths.length + 1);
      assert.deepEqual(
        entries.map(({ path, mode, id }) => `${mode} ${id} 0\t${path}`),
        listed,
      );
    });

    it('makes git find unchanged what it has recorded, and nothing else', async () => {
      const all = [...paths, 'link'];
      for (const path of all) await lutimes(join(folder, path), 946684800, 946684800);
      assert.deepEqual(stale().sort(), [...all].sort());
      const index = new GitIndex(readFileSync(place()));
      for (const path of all) {
        if (path === 'd/xx') continue;
        const inBytes = Buffer.from(path).toString('latin1');
        index.stamp(inBytes, lstatSync(join(folder, path), { bigint: true }));
      }
      index.stamp('no such file', lstatSync(folder, { bigint: true }));
      writeFileSync(place(), index.bytes());
      assert.deepEqual(stale(), ['d/xx']);
      assert.equal(git('fsck'), '');
      assert.equal(git('status', '--porcelain').includes(' M '), false);
    });

    it('is refused when it is damaged or of another version', () => {
      const content = readFileSync(place());
      const damaged = Buffer.from(content);
      damaged.writeUInt8(damaged.readUInt8(40) ^ 1, 40);
      assert.throws(() => new GitIndex(damaged), /damaged/);
      assert.throws(() => new GitIndex(content.subarray(0, 10)), /damaged/);
      git('update-index', '--index-version', '4');
      assert.throws(() => new GitIndex(readFileSync(place())), /not in format version 2/);
    });
  });
}
