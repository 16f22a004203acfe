import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesOf, textOf } from '../../src/patch/bytes';
import { git, GitError } from '../../src/repository/git';
import { blobId, patchedFiles, readTreeFile, treeEntries } from '../../src/repository/treeFiles';

describe('files of a tree', () => {
  let tree = '';
  const run = (...args: string[]): string =>
    execFileSync('git', ['-C', tree, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      encoding: 'latin1',
    });
  const odd = textOf(Buffer.from('caf\xe9.txt', 'latin1'));
  before(() => {
    tree = mkdtempSync(join(tmpdir(), 'swt-bench-files-'));
    mkdirSync(join(tree, 'pkg'));
    writeFileSync(join(tree, 'pkg', 'a.py'), 'x = 1\ny = 2\n');
    writeFileSync(join(tree, 'pkg', 'tool'), '#!/bin/sh\n');
    chmodSync(join(tree, 'pkg', 'tool'), 0o755);
    writeFileSync(bytesOf(join(tree, odd)), Buffer.from([0xe9, 10]));
    symlinkSync('pkg', join(tree, 'link'));
    run('init', '-q');
    run('add', '-A');
    run('commit', '-qm', 'R');
  });
  after(() => rmSync(tree, { recursive: true, force: true }));

  /** The patch of an edit; restores the tree afterwards. */
  async function patchOf(edit: () => void): Promise<string> {
    edit();
    run('add', '-A');
    const patch = await git(['diff', '--cached', '--binary'], { cwd: tree });
    run('reset', '-q', '--hard');
    return patch;
  }

  it('are listed with mode and object id, links and odd names included', async () => {
    const entries = await treeEntries(tree);
    assert.deepEqual([...entries.keys()].sort(), [odd, 'link', 'pkg/a.py', 'pkg/tool'].sort());
    assert.equal(entries.get('pkg/tool')?.mode, '100755');
    assert.equal(entries.get('link')?.mode, '120000');
    for (const [path, { mode, id }] of entries) {
      const file = await readTreeFile(tree, path);
      assert.deepEqual([file?.mode, blobId(file?.content ?? Buffer.alloc(0))], [mode, id], path);
    }
  });

  it('are what a patch makes of them, and only those that it changes', async () => {
    const patch = await patchOf(() => {
      writeFileSync(join(tree, 'pkg', 'a.py'), 'x = 1\ny = 3\n');
      writeFileSync(join(tree, 'new file.py'), 'z = 1');
      chmodSync(join(tree, 'pkg', 'tool'), 0o644);
      rmSync(join(tree, 'link'));
      writeFileSync(bytesOf(join(tree, odd)), Buffer.from([0xe8, 10]));
    });
    const files = await patchedFiles(tree, patch);
    assert.deepEqual(
      new Map(
        [...files].map(([path, file]) => [
          path,
          file && [file.mode, file.content.toString('latin1')],
        ]),
      ),
      new Map([
        [odd, ['100644', '\xe8\n']],
        ['link', undefined],
        ['new file.py', ['100644', 'z = 1']],
        ['pkg/a.py', ['100644', 'x = 1\ny = 3\n']],
        ['pkg/tool', ['100644', '#!/bin/sh\n']],
      ]),
    );
    assert.equal((await readTreeFile(tree, 'pkg/a.py'))?.content.toString(), 'x = 1\ny = 2\n');
  });

  it('follow a move', async () => {
    const patch = await patchOf(() => run('mv', 'pkg/a.py', 'b.py'));
    const files = await patchedFiles(tree, patch);
    assert.deepEqual([...files.keys()].sort(), ['b.py', 'pkg/a.py']);
    assert.equal(files.get('pkg/a.py'), undefined);
  });

  it('say no to a patch that does not apply, in git’s words', async () => {
    const patch = await patchOf(() => writeFileSync(join(tree, 'pkg', 'a.py'), 'x = 1\ny = 3\n'));
    await assert.rejects(patchedFiles(tree, patch.replace('-y = 2', '-y = 9')), GitError);
  });

  for (const path of ['../out.py', '/etc/out.py', '.git/hooks/post-checkout', 'link/out.py']) {
    it(`say no to a patch that writes ${path}`, async () => {
      const patch = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
      await assert.rejects(patchedFiles(tree, patch), GitError);
    });
  }
});
