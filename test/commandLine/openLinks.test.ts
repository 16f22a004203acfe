import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { cli, root, scratch } from './cli';

const diffOf = (path: string): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;

describe('swt-bench open on a repository with links where files of ours go', () => {
  const here = scratch();

  async function open(
    name: string,
    link: string,
  ): Promise<{ status: number | null; stderr: string }> {
    const at = (path: string): string => join(here.path, `${name}-${path}`);
    await mkdir(at('elsewhere'));
    for (const file of ['instance.json', 'devcontainer.json']) {
      await writeFile(join(at('elsewhere'), file), 'precious\n');
    }
    await mkdir(join(at('from'), link, '..'), { recursive: true });
    await writeFile(join(at('from'), 'a.py'), 'a = 1\n');
    const target = link.endsWith('.json')
      ? join(at('elsewhere'), 'instance.json')
      : at('elsewhere');
    await symlink(target, join(at('from'), link));
    const row = {
      ...{ instance_id: `octo__${name}-1`, repo: 'octo/cat', base_commit: 'abcdef0' },
      ...{ problem_statement: 'x', patch: diffOf('fixed.py'), test_patch: diffOf('test_x.py') },
    };
    await writeFile(at('rows.jsonl'), JSON.stringify(row));
    const run = await cli([
      ...['open', row.instance_id, '--dataset', at('rows.jsonl'), '--out', at('out')],
      ...['--source', relative(root, at('from')), '--storage', at('storage'), '--devcontainer'],
    ]);
    for (const file of readdirSync(at('elsewhere'))) {
      assert.equal(await readFile(join(at('elsewhere'), file), 'utf8'), 'precious\n', file);
    }
    assert.deepEqual(readdirSync(at('elsewhere')).length, 2);
    return run;
  }

  it('refuses one above the marker, and leaves nothing behind', async () => {
    const { status, stderr } = await open('above', '.swt-bench');
    assert.match(
      stderr,
      /octo__above-1 cannot be opened: \.swt-bench in its repository must be a folder/,
    );
    assert.equal(status, 2);
    assert.equal(existsSync(join(here.path, 'above-out')), false);
  });

  it('replaces one in the place of the marker', async () => {
    const { status, stderr } = await open('marker', '.swt-bench/instance.json');
    assert.equal(status, 0, stderr);
    const marker = await readFile(
      join(here.path, 'marker-out', '.swt-bench/instance.json'),
      'utf8',
    );
    assert.match(marker, /octo__marker-1/);
  });

  it('names the source of its repository by an absolute path', async () => {
    const { status, stderr } = await open('source', '.swt-bench/instance.json');
    assert.equal(status, 0, stderr);
    const path = join(here.path, 'source-out', '.swt-bench/instance.json');
    const { sources } = JSON.parse(await readFile(path, 'utf8')) as { sources: string[] };
    assert.deepEqual(sources, [`octo/cat=${join(here.path, 'source-from')}`]);
  });

  it('writes no dev container beyond one, and says so', async () => {
    const { status, stderr } = await open('container', '.devcontainer');
    assert.match(stderr, /\.devcontainer in .* is a link, so nothing was written/);
    assert.equal(status, 1, 'R is made all the same');
    assert.ok(existsSync(join(here.path, 'container-out', 'a.py')));
  });
});
