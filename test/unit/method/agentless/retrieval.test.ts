import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sha256 } from '../../../../src/files/digest';
import { chunksOf } from '../../../../src/method/agentless/localisation/chunks';
import { combineFiles } from '../../../../src/method/agentless/localisation/combinedFiles';
import { withoutFolders } from '../../../../src/method/agentless/localisation/irrelevantFolders';
import { nearestFiles } from '../../../../src/method/agentless/localisation/nearestFiles';
import { batchesOf } from '../../../../src/method/models/batches';
import { cachedVectors } from '../../../../src/method/models/cachedVectors';

/** One token for each character, so that the right chunks can be counted by hand. */
const characters = (text: string): number => text.length;

describe('chunks of code', () => {
  const text = fc
    .array(fc.stringMatching(/^[a-z ]{0,12}$/), { maxLength: 20 })
    .map((lines) => lines.join('\n'));

  it('are whole lines that fill the size, and together the text', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 13, max: 40 }), (source, size) => {
        // The second way: line by line, with a cut before each line that does not fit.
        const expected: string[] = [];
        let own = '';
        for (const line of source.split(/(?<=\n)/)) {
          if (own !== '' && own.length + line.length > size) {
            expected.push(own);
            own = '';
          }
          own += line;
        }
        expected.push(own);
        const chunks = chunksOf(source, { size, overlap: 0 }, characters);
        assert.deepEqual(
          chunks,
          expected.filter((chunk) => chunk.trim() !== ''),
        );
      }),
    );
  });

  it('repeat the last lines of the chunk before, as far as the overlap goes', () => {
    const source = 'aaaa\nbbbb\ncccc\ndddd\neeee\n';
    assert.deepEqual(chunksOf(source, { size: 15, overlap: 5 }, characters), [
      'aaaa\nbbbb\ncccc\n',
      'cccc\ndddd\neeee\n',
    ]);
    assert.deepEqual(chunksOf(source, { size: 15, overlap: 4 }, characters).length, 2);
    assert.deepEqual(chunksOf(source, { size: 15, overlap: 14 }, characters).length, 3);
  });

  it('cut a line that is too long, and never a pair of surrogates', () => {
    const chunks = chunksOf(`x\n${'😀'.repeat(9)}\n`, { size: 5, overlap: 0 }, characters);
    assert.equal(chunks.join(''), `x\n${'😀'.repeat(9)}\n`);
    for (const chunk of chunks) {
      assert.ok(chunk.length <= 5, chunk);
      assert.doesNotThrow(() => encodeURIComponent(chunk), 'half of a pair');
    }
  });
});

describe('files by their nearest chunks', () => {
  const vector = fc
    .array(fc.integer({ min: -3, max: 3 }), { minLength: 3, maxLength: 3 })
    .map((numbers) => Float32Array.from(numbers));

  it('are those of the best chunks, as a plain sort finds them', () => {
    const files = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.array(vector));
    fc.assert(
      fc.property(vector, files, fc.integer({ min: 1, max: 6 }), (query, chunks, most) => {
        const length = (of: Float32Array): number => Math.hypot(...of);
        const near = (of: Float32Array): number => {
          const size = length(of) * length(query);
          return size === 0
            ? 0
            : of.reduce((sum, each, at) => sum + each * (query[at] ?? 0), 0) / size;
        };
        const found = nearestFiles(query, new Map(Object.entries(chunks)), most);
        const scores = Object.entries(chunks).flatMap(([path, all]) =>
          all.map((each) => ({ path, score: near(each) })),
        );
        // Each file that is found has a chunk of this score, and no better one that counts.
        for (const { path, score } of found) {
          const best = Math.max(...scores.filter((each) => each.path === path).map((s) => s.score));
          assert.ok(Math.abs(best - score) < 1e-9);
        }
        const better = (one: number): number =>
          scores.filter(({ score }) => score > one + 1e-9).length;
        for (const { score } of found) assert.ok(better(score) < most);
        for (const { path, score } of scores) {
          const isFound = found.some((each) => each.path === path);
          if (scores.filter((each) => each.score >= score - 1e-9).length <= most)
            assert.ok(isFound);
        }
        const sorted = found.map(({ score }) => score);
        assert.deepEqual(
          [...sorted].sort((a, b) => b - a),
          sorted,
        );
      }),
    );
  });

  it('have a score of 1 for the same direction, and of 0 for a vector without length', () => {
    const chunks = new Map([
      ['a', [Float32Array.from([0, 0, 0])]],
      ['b', [Float32Array.from([2, 4, 6])]],
    ]);
    const found = nearestFiles(Float32Array.from([1, 2, 3]), chunks, 2);
    assert.deepEqual(
      found.map(({ path, score }) => [path, Math.round(score * 1e9) / 1e9]),
      [
        ['b', 1],
        ['a', 0],
      ],
    );
  });
});

describe('two lists of files', () => {
  it('begin with what both have, then go on with the first, then the second', () => {
    const paths = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e'));
    fc.assert(
      fc.property(paths, paths, fc.integer({ min: 1, max: 6 }), (named, retrieved, most) => {
        const place = (path: string): number =>
          named.includes(path)
            ? named.indexOf(path) + (retrieved.includes(path) ? 0 : 10)
            : 20 + retrieved.indexOf(path);
        const all = ['a', 'b', 'c', 'd', 'e'].filter((path) =>
          [...named, ...retrieved].includes(path),
        );
        const expected = all.sort((one, other) => place(one) - place(other)).slice(0, most);
        assert.deepEqual(combineFiles(named, retrieved, most), expected);
      }),
    );
  });

  it('lose the files of folders, unless these hold every file', () => {
    const paths = ['a/b/c.py', 'a/bc.py', 'd.py'];
    assert.deepEqual(withoutFolders(paths, ['a/b']), ['a/bc.py', 'd.py']);
    assert.deepEqual(withoutFolders(['a/b.py'], ['a']), ['a/b.py']);
  });
});

describe('vectors', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-vectors-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('are kept whole, and a damaged file counts as none', async () => {
    const kept = cachedVectors(folder);
    const key = sha256('a text');
    assert.equal(await kept.get(key), undefined);
    const vectors = [Float32Array.from([0.5, -1.25e-7]), Float32Array.from([3, 4])];
    await kept.put(key, { vectors, note: 'paid' });
    assert.deepEqual(await kept.get(key), { vectors, note: 'paid' });
    const [name = ''] = (await readdir(folder, { recursive: true })).filter((each) =>
      each.endsWith('.vectors'),
    );
    const file = await readFile(join(folder, name));
    for (const damaged of [
      file.subarray(0, 20),
      file.subarray(0, -1),
      Buffer.from(file).fill(1, 50),
    ]) {
      await writeFile(join(folder, name), damaged);
      assert.equal(await kept.get(key), undefined);
    }
  });

  it('are asked for in batches that keep the order and the limits', () => {
    const part = fc.record({
      texts: fc.array(fc.constant('x'), { minLength: 1, maxLength: 4 }),
      tokens: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const batches = batchesOf(parts, { mostTexts: 5, mostTokens: 12 });
        assert.deepEqual(batches.flat(), parts);
        for (const [at, batch] of batches.entries()) {
          const sizeOf = (some: typeof batch): [number, number] => [
            some.reduce((sum, { texts }) => sum + texts.length, 0),
            some.reduce((sum, { tokens }) => sum + tokens, 0),
          ];
          const fits = ([texts, tokens]: [number, number]): boolean => texts <= 5 && tokens <= 12;
          assert.ok(batch.length === 1 || fits(sizeOf(batch)));
          const [next] = batches[at + 1] ?? [];
          if (next !== undefined) assert.ok(!fits(sizeOf([...batch, next])), 'it could hold more');
        }
      }),
    );
  });
});
