import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git } from '../../src/repository/git';
import type { Instance } from '../../src/domain/instance';
import { HumanError, silent } from '../../src/domain/work';
import {
  readMarker,
  makeWorkspace,
  writeDevContainer,
  writeWindowTitle,
} from '../../src/repository/workspace';
import { prepareTrees, writeTreeOfR, type Trees } from '../../src/repository/trees';
import { writeWholeFile } from '../../src/files/wholeFile';
import { writeWholeFileBelow } from '../../src/repository/trees/wholeFileBelow';
import { editsOf } from './exampleRepository';

const diffOf = (path: string): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;

const instanceOf = (name: string): Instance => ({
  id: `octo__${name}-1`,
  repo: 'octo/cat',
  baseCommit: 'abcdef0',
  version: '',
  issue: '',
  hints: '',
  createdAt: '',
  goldenPatch: diffOf('fixed.py'),
  goldenTests: diffOf('tests/test_fixed.py'),
  failToPass: undefined,
  passToPass: undefined,
});

describe('files of ours in a workspace', () => {
  let scratch = '';
  before(async () => (scratch = await mkdtemp(join(tmpdir(), 'workspace-files-'))));
  after(() => rm(scratch, { recursive: true, force: true }));

  async function workspace(name: string, files: Record<string, string>): Promise<string> {
    const from = join(scratch, `${name}-from`);
    for (const [path, text] of Object.entries({ 'a.py': 'a = 1\n', ...files })) {
      await mkdir(join(from, path, '..'), { recursive: true });
      await writeFile(join(from, path), text);
    }
    const out = join(scratch, name);
    await writeTreeOfR(instanceOf(name), { kind: 'snapshot', from }, out, { reporter: silent });
    return out;
  }

  it('are no part of a candidate', async () => {
    const folder = await workspace('plain', {});
    assert.equal(
      await writeDevContainer(folder, folder, '{}\n'),
      '.devcontainer/devcontainer.json',
    );
    await writeWindowTitle(folder, folder, 'octo__plain-1');
    assert.equal(await readFile(join(folder, '.devcontainer/devcontainer.json'), 'utf8'), '{}\n');
    const settings = JSON.parse(
      await readFile(join(folder, '.vscode/settings.json'), 'utf8'),
    ) as Record<string, string>;
    assert.match(settings['window.title'] ?? '', /octo__plain-1/);
    assert.equal(await editsOf(folder), '');
    assert.equal((await git(['status', '--porcelain'], { cwd: folder })).trim(), '');
  });

  it('leave alone what R brings itself', async () => {
    const folder = await workspace('own', {
      '.devcontainer/devcontainer.json': '{"image": "theirs"}\n',
      '.vscode/settings.json': '{}\n',
    });
    assert.equal(
      await writeDevContainer(folder, folder, '{}\n'),
      '.devcontainer/swt-bench/devcontainer.json',
    );
    await writeWindowTitle(folder, folder, 'octo__own-1');
    assert.equal(await readFile(join(folder, '.vscode/settings.json'), 'utf8'), '{}\n');
    assert.equal(
      await readFile(join(folder, '.devcontainer/devcontainer.json'), 'utf8'),
      '{"image": "theirs"}\n',
    );
    assert.equal(await editsOf(folder), '');
  });

  it('leave settings alone that somebody has made', async () => {
    const folder = await workspace('made', {});
    await mkdir(join(folder, '.vscode'));
    await writeFile(join(folder, '.vscode/settings.json'), '{"editor.rulers": [80]}\n');
    await writeWindowTitle(folder, folder, 'octo__made-1');
    assert.match(await readFile(join(folder, '.vscode/settings.json'), 'utf8'), /rulers/);
  });

  describe('where R has links', () => {
    /** A repository with links, by their targets; files outside of it must not change. */
    async function opened(
      name: string,
      links: Record<string, string>,
    ): Promise<{ folder: string; trees: Trees; elsewhere: string; isUntouched: () => void }> {
      const elsewhere = join(scratch, `${name}-elsewhere`);
      await mkdir(elsewhere);
      for (const file of ['instance.json', 'devcontainer.json', 'settings.json', 'file']) {
        await writeFile(join(elsewhere, file), 'precious\n');
      }
      const from = join(scratch, `${name}-from`);
      await mkdir(from);
      await writeFile(join(from, 'a.py'), 'a = 1\n');
      for (const [path, target] of Object.entries(links)) {
        await mkdir(join(from, path, '..'), { recursive: true });
        await symlink(target === '' ? elsewhere : join(elsewhere, target), join(from, path));
      }
      const storage = join(scratch, `${name}-storage`);
      const source = { kind: 'snapshot', from } as const;
      const trees = await prepareTrees(instanceOf(name), source, storage, { reporter: silent });
      const isUntouched = (): void => {
        assert.deepEqual(readdirSync(elsewhere).sort(), [
          'devcontainer.json',
          'file',
          'instance.json',
          'settings.json',
        ]);
        for (const file of readdirSync(elsewhere)) {
          assert.equal(readFileSync(join(elsewhere, file), 'utf8'), 'precious\n', file);
        }
      };
      return { folder: join(scratch, `${name}-out`), trees, elsewhere, isUntouched };
    }
    const make = (name: string, trees: Trees, folder: string): Promise<void> =>
      makeWorkspace(instanceOf(name), trees, { dataset: 'bundled', sources: [] }, folder);

    it('replaces one in the place of the marker, which is no edit then', async () => {
      const { folder, trees, isUntouched } = await opened('marker', {
        '.swt-bench/instance.json': 'instance.json',
      });
      await make('marker', trees, folder);
      isUntouched();
      assert.equal(lstatSync(join(folder, '.swt-bench/instance.json')).isFile(), true);
      assert.equal((await readMarker(folder))?.id, 'octo__marker-1');
      assert.equal(await editsOf(folder), '');
    });

    it('refuses one above the marker, and leaves nothing behind', async () => {
      const { folder, trees, isUntouched } = await opened('above', { '.swt-bench': '' });
      await assert.rejects(make('above', trees, folder), (error: unknown) => {
        assert.ok(error instanceof HumanError);
        assert.match(
          error.message,
          /octo__above-1 cannot be opened: \.swt-bench in its repository/,
        );
        return true;
      });
      isUntouched();
      assert.equal(existsSync(folder), false);
      assert.deepEqual(
        readdirSync(scratch).filter((name) => name.startsWith('.swt-bench-')),
        [],
      );
    });

    for (const [what, links] of Object.entries({
      'its folder': { '.devcontainer': '' },
      'ours beside others': { '.devcontainer/swt-bench': '', '.devcontainer/x.json': 'file' },
      'the file itself': { '.devcontainer/swt-bench/devcontainer.json': 'devcontainer.json' },
    })) {
      it(`writes no dev container beyond one: ${what}`, async () => {
        const name = what.replaceAll(' ', '-');
        const { folder, trees, isUntouched } = await opened(name, links);
        await make(name, trees, folder);
        await assert.rejects(writeDevContainer(folder, trees.base, '{}\n'), (error: unknown) => {
          assert.ok(error instanceof HumanError);
          assert.match(error.message, /\.devcontainer.* is a link, so nothing was written/);
          return true;
        });
        isUntouched();
        assert.equal(await editsOf(folder), '');
      });
    }

    it('leaves settings alone beyond one, tracked or not', async () => {
      for (const [name, links] of Object.entries({
        folder: { '.vscode': '' },
        file: { '.vscode/settings.json': 'settings.json' },
      })) {
        const { folder, trees, isUntouched } = await opened(`settings-${name}`, links);
        await make(`settings-${name}`, trees, folder);
        await writeWindowTitle(folder, trees.base, 'x');
        isUntouched();
      }
      const { folder, trees, elsewhere, isUntouched } = await opened('later', {});
      await make('later', trees, folder);
      await symlink(elsewhere, join(folder, '.vscode'));
      await writeWindowTitle(folder, trees.base, 'x');
      await symlink(elsewhere, join(folder, '.devcontainer'));
      await assert.rejects(writeDevContainer(folder, trees.base, '{}\n'), HumanError);
      isUntouched();
    });
  });

  it('are written whole or not at all, and not through what lies beside them', async () => {
    const folder = join(scratch, 'whole');
    await mkdir(folder);
    await writeWholeFileBelow(folder, 'a/b/c.txt', 'one\n');
    await writeWholeFileBelow(folder, 'a/b/c.txt', 'two\n');
    assert.equal(await readFile(join(folder, 'a/b/c.txt'), 'utf8'), 'two\n');
    assert.deepEqual(readdirSync(join(folder, 'a/b')), ['c.txt']);
    await assert.rejects(writeWholeFileBelow(folder, 'a/b', 'x'), /a\/b in .* is a folder/);
    await assert.rejects(writeWholeFileBelow(folder, 'a/b/c.txt/d', 'x'), /is a file/);
    await assert.rejects(writeWholeFileBelow(folder, '../out', 'x'), /component "\.\."/);
    await symlink('c.txt', join(folder, 'a/b/link'));
    await assert.rejects(writeWholeFileBelow(folder, 'a/b/link', 'x'), /a link/);
    await writeWholeFileBelow(folder, 'a/b/link', 'three\n', { replacesLink: true });
    assert.equal(await readFile(join(folder, 'a/b/c.txt'), 'utf8'), 'two\n');
    await symlink('c.txt', join(folder, 'a/b/other'));
    await writeWholeFile(join(folder, 'a/b/other'), 'four\n');
    assert.equal(await readFile(join(folder, 'a/b/c.txt'), 'utf8'), 'two\n');
  });
});
