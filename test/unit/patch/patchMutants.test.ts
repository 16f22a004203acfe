import assert from 'node:assert/strict';
import { toUnified } from './formats';
import { hasErrors } from '../../../src/patch/diagnostic';
import { bytesOf } from '../../../src/patch/bytes';
import { filesOfTree, MutantTree, mutate } from './patchMutants';

describe('patches with damages, beside git', () => {
  let tree: MutantTree;
  before(() => (tree = new MutantTree()));
  after(() => tree.remove());

  const convert = (text: string) =>
    toUnified(text, {
      format: 'unified',
      tree: { read: (path) => Promise.resolve(filesOfTree[path]) },
      python: undefined as never,
    });

  /** Git applies what is converted, to the files that are graded. */
  async function check(text: string): Promise<void> {
    const converted = await convert(text);
    if (hasErrors(converted.diagnostics) || converted.format === 'empty') return;
    const graded: Record<string, string> = { ...filesOfTree };
    for (const [path, after] of converted.files) {
      if (after === undefined) delete graded[path];
      else graded[path] = bytesOf(after).toString('latin1');
    }
    const { refused, files } = tree.effectOf(converted.patch);
    assert.equal(refused, undefined, text);
    assert.deepEqual(files, graded, text);
    const asWritten = tree.effectOf(text);
    const isWarned = converted.diagnostics.some(({ severity }) => severity === 'warning');
    if (!isWarned && asWritten.refused === undefined) {
      assert.deepEqual(asWritten.files, files, text);
    }
  }

  const checkMany = async (count: number, seed: number): Promise<void> => {
    let state = seed;
    const draw = (below: number): number => {
      state = (state * 1103515245 + 12345) % 2 ** 31;
      return Math.floor((state / 2 ** 31) * below);
    };
    const patches = tree.patches();
    for (const patch of patches) await check(patch);
    for (let nth = 0; nth < count; nth += 1) {
      await check(mutate(patches[draw(patches.length)] ?? '', draw));
    }
  };

  it('are applied by git to the tree that is graded, or refused', () => checkMany(40, 7));

  it('are applied by git to the tree that is graded, or refused: many (@full)', () =>
    checkMany(600, 5));

  it('a binary part is applied, whole or as a delta', async () => {
    const [binary = ''] = tree.patches().filter((patch) => patch.includes('GIT binary patch'));
    const { files, patch, diagnostics } = await convert(binary);
    assert.deepEqual(diagnostics, []);
    assert.equal(files.get('tests/data.bin'), '\u0000\u0001binary');
    assert.deepEqual(tree.effectOf(patch), tree.effectOf(binary));
  });

  const hunk = '@@ -1,2 +1,3 @@\n line 1\n+new\n line 2\n';
  const git = 'diff --git a/src/a.py b/src/a.py\n';
  for (const [name, header] of [
    ['no names', ''],
    ['names without a folder', '--- a.py\n+++ a.py\n'],
    ['words', '--- original\n+++ modified\n'],
    ['blanks', '--- \n+++ \n'],
    ['prefixes alone', '--- a/\n+++ b/\n'],
    ['one prefix', '--- src/a.py\n+++ b/src/a.py\n'],
    ['no prefix', '--- src/a.py\n+++ src/a.py\n'],
  ] as const) {
    it(`a header with ${name} means the file of diff --git, with a warning`, async () => {
      const { files, diagnostics } = await convert(git + header + hunk);
      assert.deepEqual([...files.keys()], ['src/a.py']);
      assert.deepEqual(
        diagnostics.map(({ severity }) => severity),
        ['warning'],
      );
      await check(git + header + hunk);
    });
  }
});
