import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { HumanError } from '../../src/domain/work';
import { remarkOn, type Trees } from '../../src/repository/trees';
import { applyToTree } from '../../src/repository/trees/golden';
import { copyTree } from '../../src/repository/trees/copyTree';
import { filesOfR, fixed, goldenPatch, useExample, write, type Example } from './exampleRepository';

const numbered = (from: number, to: number, change: (n: number) => string = String): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `${change(from + at)}\n`).join('');

describe('the golden patch', function () {
  let example: Example;
  let storage = '';
  useExample((made) => (example = made));
  beforeEach(async () => (storage = await example.storage()));

  /** R∘X* of a snapshot with these files. */
  async function apply(patch: string, files = filesOfR): Promise<Trees> {
    const from = join(storage, 'snapshot');
    await mkdir(from);
    await write(from, files);
    return example.prepare({ kind: 'snapshot', from }, storage, { goldenPatch: patch });
  }
  const content = (trees: Trees, path: string): Promise<string> =>
    readFile(join(trees.fixed, path), 'utf8');

  /** A hunk of twelve lines in the middle of `n.txt`, with some wrong context lines. */
  const hunk = (wrong: readonly number[]): string => {
    const line = (n: number): string => (wrong.includes(n) ? `other ${n}` : String(n));
    return (
      'diff --git a/n.txt b/n.txt\n--- a/n.txt\n+++ b/n.txt\n@@ -17,7 +17,7 @@\n' +
      numbered(17, 19, (n) => ` ${line(n)}`) +
      '-20\n+twenty\n' +
      numbered(21, 23, (n) => ` ${line(n)}`)
    );
  };
  const lines = { 'n.txt': numbered(1, 40) };
  const after = numbered(1, 40, (n) => (n === 20 ? 'twenty' : String(n)));

  it('as it is, also with an offset', async () => {
    const trees = await apply(hunk([]), { 'n.txt': `0\n0\n${numbered(1, 40)}` });
    assert.equal(trees.appliedWith, 'git apply');
    assert.equal(trees.golden, undefined);
    assert.equal(remarkOn(trees), undefined);
    assert.equal(await content(trees, 'n.txt'), `0\n0\n${after}`);
  });

  it('with other blanks in the context', async () => {
    const trees = await apply(goldenPatch, { 'cat.py': 'def  purr():\n    return 1\n' });
    assert.equal(trees.appliedWith, 'git apply --ignore-whitespace');
    assert.match(remarkOn(trees) ?? '', /`git apply` rejects.*--ignore-whitespace/);
  });

  it('with less context', async () => {
    const trees = await apply(hunk([17, 23]), lines);
    assert.equal(trees.appliedWith, 'git apply -C1');
    assert.equal(await content(trees, 'n.txt'), after);
    assert.match(trees.golden ?? '', /^diff --git a\/n\.txt b\/n\.txt\n[^]*\n-20\n\+twenty\n 21\n/);
  });

  it('with the fuzz of the harness, last; and says so when its trees are used again', async function () {
    if (!hasGnuPatch()) this.skip();
    const trees = await apply(hunk([17, 18, 19, 22]), lines);
    assert.equal(trees.appliedWith, 'patch --fuzz=5 -p1');
    assert.equal(await content(trees, 'n.txt'), after);
    assert.equal(await readFile(join(trees.base, 'n.txt'), 'utf8'), lines['n.txt']);
    const again = await example.prepare(
      { kind: 'snapshot', from: join(storage, 'snapshot') },
      storage,
      { goldenPatch: hunk([17, 18, 19, 22]) },
    );
    assert.deepEqual(again, trees);
  });

  it('the difference kept is the one from R to R∘X*', async () => {
    const trees = await apply(hunk([17, 23]), lines);
    const copy = join(storage, 'copy');
    await copyTree(trees.base, copy);
    await applyToTree(copy, trees.golden ?? '');
    assert.equal(await readFile(join(copy, 'n.txt'), 'utf8'), after);
  });

  const refused: readonly [string, string][] = [
    ['one hunk of several', hunk([17, 18]) + goldenPatch.replace('return 1', 'return 7')],
    ['changed lines that are others', hunk([]).replace('-20', '-other')],
    ['cut off', hunk([]).split('\n').slice(0, -3).join('\n')],
    ['the reverse of it', hunk([]).replace('-20\n+twenty', '-twenty\n+20')],
  ];
  for (const [name, patch] of refused) {
    it(`is refused as a whole, and nothing is left: ${name}`, async () => {
      await assert.rejects(apply(patch, { ...filesOfR, ...lines }), (error) => {
        assert.ok(error instanceof HumanError);
        return /golden patch of octo__cat-1 does not apply/.test(error.message);
      });
      assert.deepEqual(await readdir(join(storage, 'instances')), []);
    });
  }

  it('never writes outside the tree, whichever way is tried', async () => {
    const evil = '--- a/x\n+++ b/../../evil.py\n@@ -0,0 +1 @@\n+evil\n';
    const script = `--- a/n.txt\n+++ b/n.txt\n1c\n!touch ${storage}/evil.py\n.\n`;
    for (const patch of [`diff --git a/../../evil.py b/../../evil.py\n${evil}`, evil, script]) {
      // If a patch has two names, git may take the one inside the tree.
      await apply(patch, lines).catch((error: unknown) => assert.ok(error instanceof HumanError));
      const written = await readdir(storage, { recursive: true });
      assert.deepEqual(
        written.filter((name) => name.endsWith('evil.py')),
        [],
      );
      storage = await example.storage();
    }
    const from = join(storage, 'linked');
    await mkdir(from);
    await symlink(storage, join(from, 'away'));
    const through = hunk([17, 18, 19]).replaceAll('n.txt', 'away/n.txt');
    await write(storage, lines);
    await assert.rejects(
      example.prepare({ kind: 'snapshot', from }, storage, { goldenPatch: through }),
      HumanError,
    );
    assert.equal(await readFile(join(storage, 'n.txt'), 'utf8'), lines['n.txt']);
  });

  it('is fixed as the row says with the repository itself', async () => {
    const trees = await example.prepare({ kind: 'commit', from: example.origin }, storage);
    assert.equal(trees.appliedWith, 'git apply');
    assert.equal(await content(trees, 'cat.py'), fixed);
    assert.equal(await readFile(join(trees.base, 'cat.py'), 'utf8'), filesOfR['cat.py']);
  });
});

function hasGnuPatch(): boolean {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => existsSync(join(folder, 'patch')));
}
