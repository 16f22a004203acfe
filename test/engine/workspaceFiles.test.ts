import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git } from '../../src/repository/git';
import { editsOf, writeTreeOfR } from '../../src/repository/trees';
import { writeDevContainer, writeWindowTitle } from '../../src/repository/workspaceFiles';
import { silent } from '../../src/domain/reporter';

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
    await writeTreeOfR(
      {
        id: `octo__${name}-1`,
        repo: 'octo/cat',
        baseCommit: 'abcdef0',
        version: '',
        issue: '',
        hints: '',
        createdAt: '',
        goldenPatch: '',
        goldenTests: '',
        failToPass: undefined,
        passToPass: undefined,
      },
      { kind: 'snapshot', from },
      out,
      { reporter: silent },
    );
    return out;
  }

  it('are no part of a candidate', async () => {
    const folder = await workspace('plain', {});
    assert.equal(await writeDevContainer(folder, '{}\n'), '.devcontainer/devcontainer.json');
    await writeWindowTitle(folder, 'octo__plain-1');
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
      await writeDevContainer(folder, '{}\n'),
      '.devcontainer/swt-bench/devcontainer.json',
    );
    await writeWindowTitle(folder, 'octo__own-1');
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
    await writeWindowTitle(folder, 'octo__made-1');
    assert.match(await readFile(join(folder, '.vscode/settings.json'), 'utf8'), /rulers/);
  });
});
