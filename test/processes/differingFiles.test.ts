import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ImageCommands } from '../../src/engine/environmentMaker';
import { filesInTar } from '../../src/engine/sandbox/archive';
import { treeArchive } from '../../src/engine/sandbox/treeArchive';
import { treeEntries } from '../../src/repository/treeFiles';
import { differingFiles } from '../../src/environments/image/differingFiles';

describe('the files of R that an image has otherwise', function () {
  if (process.platform === 'win32') return;
  let place = '';
  let tree = '';
  let folder = '';
  before(() => {
    place = mkdtempSync(join(tmpdir(), 'swt-bench-differing-'));
    tree = join(place, 'tree');
    mkdirSync(join(tree, 'pkg', 'below'), { recursive: true });
    for (const path of ['a.py', 'pkg/b.py', 'pkg/below/c.py', 'pkg/naïve.txt']) {
      writeFileSync(join(tree, path), `# ${path}\n`);
    }
    writeFileSync(join(tree, 'run.sh'), 'true\n', { mode: 0o755 });
    symlinkSync('pkg/below', join(tree, 'link'));
    const git = (...args: string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: tree });
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'R');
  });
  after(() => rmSync(place, { recursive: true, force: true }));
  beforeEach(async () => {
    folder = mkdtempSync(join(place, 'image-'));
    await commands.put(await treeArchive(tree, 'testbed'));
    folder = join(folder, 'testbed');
  });

  /** The folder is the root of what an image has. */
  const commands = {
    put: async (archive: Buffer | Readable) => {
      const pieces: Buffer[] = [];
      if (Buffer.isBuffer(archive)) pieces.push(archive);
      else for await (const piece of archive) pieces.push(piece as Buffer);
      const into = folder.endsWith('/testbed') ? join(folder, '..') : folder;
      execFileSync('tar', ['-x', '-C', into], { input: Buffer.concat(pieces) });
    },
    run: ([python = '', ...args]: readonly string[]) => {
      const [list] = args.slice(-2);
      const there = args.map((each) => (each === list ? join(folder, '..', each) : each));
      const { status, stdout, stderr } = spawnSync(python, there, { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      return Promise.resolve(stdout);
    },
  } as unknown as ImageCommands;
  const differing = async (): Promise<string[]> =>
    (
      await differingFiles(commands, {
        ...{ entries: await treeEntries(tree), folder, python: 'python3', doing: 'x' },
      })
    ).sort();

  it('are none where the same archive was unpacked', async () => {
    assert.deepEqual(await differing(), []);
  });

  const changes: Readonly<Record<string, [paths: string[], change: (path: string) => void]>> = {
    'that is not there': [['a.py'], unlinkSync],
    'with other contents': [['a.py'], (path) => writeFileSync(path, '# A.py\n')],
    'with another mode': [['run.sh'], (path) => chmodSync(path, 0o644)],
    'with set-user-ID': [['run.sh'], (path) => chmodSync(path, 0o4755)],
    'with another time': [['pkg/naïve.txt'], (path) => utimesSync(path, 1e9, 1e9)],
    'with a part of a second': [['a.py'], (path) => utimesSync(path, 1e9, 400_000_000.5)],
    'with a second name': [['a.py'], (path) => linkSync(path, `${path}.too`)],
    'that is a link': [
      ['a.py'],
      (path) => (renameSync(path, `${path}.0`), symlinkSync('a.py.0', path)),
    ],
    'that is a file and no link': [['link'], (path) => (unlinkSync(path), writeFileSync(path, ''))],
    'that leads elsewhere': [['link'], (path) => (unlinkSync(path), symlinkSync('pkg', path))],
  };
  for (const [what, [paths, change]] of Object.entries(changes)) {
    it(`are one ${what}`, async () => {
      for (const path of paths) change(join(folder, path));
      assert.deepEqual(await differing(), paths);
    });
  }

  it('are all below a link, whatever it leads to', async () => {
    renameSync(join(folder, 'pkg'), join(folder, '..', 'elsewhere'));
    symlinkSync('../elsewhere', join(folder, 'pkg'));
    assert.deepEqual(await differing(), ['pkg/b.py', 'pkg/below/c.py', 'pkg/naïve.txt']);
  });

  it('are all that is sent of R, with what tells what R ignores', async () => {
    writeFileSync(join(folder, 'a.py'), '# A.py\n');
    const archive = await treeArchive(tree, 'testbed', undefined, {
      paths: await differing(),
      hasIndex: false,
      hasObjects: false,
    });
    const pieces: Buffer[] = [];
    for await (const piece of archive) pieces.push(piece as Buffer);
    const paths = (await filesInTar(Buffer.concat(pieces))).map(({ path }) => path);
    assert.deepEqual(
      paths.filter((path) => !path.startsWith('testbed/.git/')),
      ['testbed/a.py'],
    );
    assert.ok(paths.includes('testbed/.git/HEAD'));
    assert.ok(paths.every((path) => !/\/(objects\/|index$)/.test(path)));
    rmSync(join(folder, '.git'), { recursive: true });
    await commands.put(Buffer.concat(pieces));
    assert.deepEqual(await differing(), []);
    writeFileSync(join(folder, '.gitignore'), 'built\n');
    const input = 'built\na.py\n';
    const asked = ['check-ignore', '--stdin'];
    assert.equal(execFileSync('git', asked, { cwd: folder, input }).toString(), 'built\n');
  });

  it('are all where the folder is empty', async () => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    assert.equal((await differing()).length, 6);
  });
});
