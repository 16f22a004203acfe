import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { Cancelled } from '../../../src/domain/work';
import { packFiles, packKeptFiles, shownFile } from '../../../src/method/prompt/pack';
import { rankFiles, wordsOf } from '../../../src/method/prompt/rankFiles';
import { tokenCounter } from '../../../src/method/prompt/tokens';
import type { TreeOfR } from '../../../src/method/view/treeOfR';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';

/** A tree of texts that counts its reads. */
function treeOf(files: Readonly<Record<string, string>>, digest = 'd'.repeat(40)) {
  const read: string[] = [];
  const tree: TreeOfR = {
    digest,
    paths: async () => Object.keys(files).sort(),
    read: async (path) => {
      read.push(path);
      return files[path];
    },
    whyNotRead: async () => undefined,
    search: async () => [],
  };
  return { tree, read };
}

const files = {
  'shop/cart.py': 'class Cart:\n    def add_item(self, item):\n        self.items.append(item)\n',
  'shop/money.py': 'class Money:\n    def allocate(self, weights):\n        return weights\n',
  'tests/test_money.py': 'from shop.money import Money\n\ndef test_allocate():\n    Money()\n',
  'README.md': 'Money money money allocate',
};

describe('words of a text', () => {
  it('are names, and the parts of names', () => {
    assert.deepEqual(wordsOf('QuerySet.bulk_create'), [
      'queryset',
      'query',
      'set',
      'bulk',
      'create',
    ]);
    assert.deepEqual(wordsOf('HTTPResponse'), ['httpresponse', 'http', 'response']);
    assert.deepEqual(wordsOf('x = 42 + y1'), ['y1']);
    assert.deepEqual(wordsOf('Größe größe'), ['größe', 'größe']);
  });
});

describe('retrieval', () => {
  let storage: string;
  beforeEach(async () => {
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-retrieve-'));
  });
  afterEach(() => rm(storage, { recursive: true, force: true }));

  const ranked = (of: Readonly<Record<string, string>>, text: string) =>
    rankFiles(treeOf(of).tree, text, { storage, instance: 'octo__cat-1' });

  it('ranks Python files, tests included, by what they have in common with the issue', async () => {
    const found = await ranked(files, 'Money.allocate loses a cent when weights are equal');
    assert.equal(found[0], 'shop/money.py');
    assert.deepEqual([...found].sort(), ['shop/money.py', 'tests/test_money.py']);
    assert.deepEqual(await ranked(files, 'nothing of this is there'), []);
    assert.deepEqual(await ranked(files, 'the of and'), []);
  });

  it('finds a file by its path', async () => {
    assert.deepEqual(await ranked({ ...files, 'shop/empty.py': '' }, 'empty'), ['shop/empty.py']);
  });

  it('gives the scores of an index that the library makes itself', async () => {
    const python = Object.entries(files).filter(([path]) => path.endsWith('.py'));
    const theirs = new MiniSearch({
      fields: ['text'],
      tokenize: wordsOf,
      processTerm: (word: string) => word,
    });
    theirs.addAll(python.map(([path, text]) => ({ id: path, text: `${path}\n${text}` })));
    for (const query of ['Money allocate', 'Cart items item add', 'test shop self']) {
      const found = theirs.search(query, { bm25: { k: 1.2, b: 0.75, d: 0 } });
      assert.deepEqual(
        await ranked(files, query),
        found
          .sort((a, b) => b.score - a.score || (String(a.id) < String(b.id) ? -1 : 1))
          .map(({ id }) => String(id)),
      );
    }
  });

  it('reads a tree once for a text, and again for another or where what is kept is damaged', async () => {
    const kept = { storage, instance: 'octo__cat-1' };
    const readFor = async (text: string, digest?: string): Promise<number> => {
      const { tree, read } = treeOf(files, digest);
      assert.deepEqual(await rankFiles(tree, text, kept), ['tests/test_money.py', 'shop/money.py']);
      return read.length;
    };
    assert.equal(await readFor('Money allocate'), 3);
    assert.equal(await readFor('Money allocate'), 0);
    assert.equal(await readFor('allocate Money'), 3);
    assert.equal(await readFor('Money allocate', 'e'.repeat(40)), 3);
    const folder = join(storage, 'instances', 'octo__cat-1', 'runs', 'retrieval');
    for (const name of await readdir(folder)) await writeFile(join(folder, name), 'damaged');
    assert.equal(await readFor('Money allocate'), 3);
  });

  it('can be cancelled', async () => {
    const kept = { storage, instance: 'octo__cat-1' };
    await assert.rejects(
      rankFiles(treeOf(files).tree, 'Money', kept, AbortSignal.abort()),
      Cancelled,
    );
  });

  it('works on a tree without Python', async () => {
    assert.deepEqual(await ranked({ 'README.md': 'x' }, 'anything'), []);
  });
});

describe('packing files into a prompt', () => {
  const words = (text: string): number => text.split(/\s+/).length;
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  const forTests = (tree: TreeOfR, issue = 'nothing') => ({
    ...{ tree, python, issue },
    isForTests: true,
  });

  /** A module of many functions, of which the issue names one. */
  const filler = (count: number): string =>
    Array.from({ length: count }, (_, i) => `def helper_${i}(x):\n    return x + ${i}\n\n`).join(
      '\n',
    );
  const large = `import math\n\n${filler(60)}\nclass Ledger:\n    # Money.\n\n    def settle(self, debts):\n        return sorted(debts)\n\n${filler(60)}`;

  it('shows of a file without room what the issue names, with its class and numbers', async () => {
    const count = await tokenCounter();
    const { tree } = treeOf({ 'ledger.py': large });
    const packed = await packFiles(
      forTests(tree, 'Ledger.settle loses a cent'),
      ['ledger.py'],
      900,
      count,
    );
    assert.deepEqual(packed.paths, ['ledger.py']);
    assert.ok(packed.tokens <= 900);
    const line = large.split('\n').findIndex((each) => each.includes('def settle')) + 1;
    assert.match(packed.text, new RegExp(`\\.\\.\\.\n\\d+ class Ledger:\n`));
    assert.ok(packed.text.includes(`\n${line}     def settle(self, debts):\n`), packed.text);
    assert.ok(!packed.text.includes('helper_3('));
  });

  it('packs once for a tree, an issue, a ranking and a budget', async () => {
    const storage = await mkdtemp(join(tmpdir(), 'swt-bench-pack-'));
    const kept = { count: words, storage, instance: 'octo__cat-2' };
    const files = { 'a.py': 'alpha = 1\n', 'b.py': 'beta = 2\n' };
    const readFor = async (issue: string, budget: number, digest?: string): Promise<number> => {
      const { tree, read } = treeOf(files, digest);
      const of = forTests(tree, issue);
      const packed = await packKeptFiles(of, ['a.py', 'b.py'], budget, kept);
      assert.deepEqual(
        packed,
        await packFiles(forTests(treeOf(files).tree, issue), ['a.py', 'b.py'], budget, words),
      );
      return read.length;
    };
    assert.equal(await readFor('alpha', 60), 2);
    assert.equal(await readFor('alpha', 60), 0);
    assert.equal(await readFor('beta', 60), 2);
    assert.equal(await readFor('alpha', 70), 2);
    assert.equal(await readFor('alpha', 60, 'e'.repeat(40)), 2);
    await rm(storage, { recursive: true });
  });

  it('shows of a file the function that a traceback of the issue leads to', async () => {
    const count = await tokenCounter();
    const line = large.split('\n').findIndex((each) => each.includes('def helper_31')) + 2;
    const issue = `Traceback:\n  File "/lib/site-packages/ledger.py", line ${line}, in x\n`;
    const { tree } = treeOf({ 'ledger.py': large });
    const packed = await packFiles(forTests(tree, issue), ['ledger.py'], 900, count);
    assert.match(packed.text, /def helper_31\(/);
  });

  it('shows the best ranked test file, though others are before it', async () => {
    const count = await tokenCounter();
    const all = Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => [`f${i}.py`, 'value = call(argument)\n'.repeat(40)]),
    );
    const { tree } = treeOf({ ...all, 'tests/test_value.py': 'def test_value():\n    pass\n' });
    const ranked = [...Object.keys(all), 'tests/test_value.py'];
    const packed = await packFiles(forTests(tree), ranked, 1200, count);
    assert.deepEqual(packed.paths.slice(0, 2), ['f0.py', 'tests/test_value.py']);
    const code = await packFiles({ ...forTests(tree), isForTests: false }, ranked, 1200, count);
    assert.equal(code.paths[1], 'f1.py');
  });

  it('numbers the lines, as they are counted in the file', () => {
    assert.equal(
      shownFile('a.py', 'x = 1\r\n\n  y = 2\n'),
      '[start of a.py]\n1 x = 1\n2 \n3   y = 2\n[end of a.py]',
    );
  });

  it('takes whole files in their order, and passes over those that do not fit', async () => {
    const long = 'word '.repeat(500);
    const { tree } = treeOf({ 'a.py': 'one\n', 'b.py': long, 'c.py': 'two\n', 'd.py': '' });
    const packed = await packFiles(forTests(tree), ['a.py', 'b.py', 'd.py', 'c.py'], 60, words);
    assert.deepEqual(packed.paths, ['a.py', 'c.py']);
    assert.match(packed.text, /\[start of a\.py\]\n1 one[\s\S]*\[start of c\.py\]\n1 two/);
  });

  it('never goes beyond the budget, and gives no file more than half of it', async () => {
    const count = await tokenCounter();
    const all = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`f${i}.py`, 'value = call(argument)\n'.repeat(i * 9)]),
    );
    const { tree } = treeOf(all);
    for (const budget of [0, 50, 500, 3000]) {
      const packed = await packFiles(forTests(tree), Object.keys(all), budget, count);
      assert.ok(packed.tokens <= budget);
      for (const path of packed.paths) {
        assert.ok(count(shownFile(path, all[path] ?? '')) <= budget / 2, path);
      }
    }
  });

  it('counts special tokens as the text they are', async () => {
    const count = await tokenCounter();
    assert.ok(count('<|endoftext|>') > 1);
  });
});
