import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { openDataset, type Dataset } from '../../src/dataset/dataset';
import { HumanError, silent } from '../../src/domain/work';

type Row = Record<string, string>;

const root = resolve(__dirname, '../..');

/** As many rows as SWE-bench has: published ones repeated under other ids, or made-up ones. */
function manyRows(): Row[] {
  const path =
    process.env['SWT_BENCH_DATA'] ?? resolve(root, '../shared/data/swe-bench-lite.dev.jsonl');
  const published = existsSync(path)
    ? readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row)
    : [madeUp];
  return Array.from({ length: 2294 }, (_, number) => {
    const row = published[number % published.length] ?? madeUp;
    return { ...row, instance_id: `${row['instance_id']}-${number}` };
  });
}

const body = Array.from({ length: 60 }, (_, line) => `+line ${line}\n`).join('');
const diff = (path: string): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,0 +1,60 @@\n${body}`;
const madeUp: Row = {
  instance_id: 'octo__cat',
  repo: 'octo/cat',
  base_commit: 'abcdef0123456789abcdef0123456789abcdef01',
  problem_statement: 'It does not purr. '.repeat(100),
  hints_text: 'hints '.repeat(500),
  patch: diff('cat.py'),
  test_patch: diff('tests/test_cat.py'),
  FAIL_TO_PASS: '["tests/test_cat.py::test_purr"]',
  PASS_TO_PASS: JSON.stringify(
    Array.from({ length: 100 }, (_, n) => `tests/test_cat.py::test_${n}`),
  ),
};

const jsonl = (rows: readonly Row[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe('listing a large dataset', function () {
  // Hints that do not compress, so that every form is large enough to be worth an index.
  const rows = Array.from({ length: 100 }, (_, n): Row => ({
    ...madeUp,
    instance_id: `octo__cat-${n}`,
    hints_text: randomBytes(4000).toString('base64'),
  }));
  let folder = '';
  let storage = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'listing-test-'));
    storage = join(folder, 'storage');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const indexes = (): string => join(storage, 'data', 'swt-bench', 'indexes');
  const indexFiles = async (): Promise<string[]> =>
    (await readdir(indexes()).catch(() => [])).sort();
  const open = (path: string): Promise<Dataset> => openDataset(path, { storage, reporter: silent });
  async function file(name: string, content: string | Buffer): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }
  const parquet = (): Buffer =>
    Buffer.from(
      parquetWriteBuffer({
        columnData: Object.keys(madeUp).map((name) => ({
          name,
          data: rows.map((row) => row[name] ?? ''),
          type: 'STRING' as const,
        })),
        rowGroupSize: 30,
      }),
    );

  it('holds less than 60 MB for 2,294 rows, at first and from its index', async () => {
    const path = await file('big.jsonl', jsonl(manyRows()));
    const script = `
      const { openDataset } = require(${JSON.stringify(join(root, 'src/dataset/dataset'))});
      const held = () => { gc(); gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
      const open = (name) => openDataset(name, { storage: process.argv[2], reporter: { log() {}, progress() {} } });
      (async () => {
        const before = held();
        const dataset = await open(process.argv[1]);
        const [last] = await dataset.read([dataset.entries.at(-1).id]);
        console.log(JSON.stringify({ held: held() - before, rows: dataset.entries.length, last: last.id }));
      })();`;
    for (const time of ['at first', 'from its index']) {
      const child = spawnSync(
        process.execPath,
        ['--expose-gc', '--import', 'tsx', '-e', script, path, storage],
        { encoding: 'utf8' },
      );
      const answer = JSON.parse(child.stdout) as { held: number; rows: number; last: string };
      assert.equal(answer.rows, 2294, time);
      assert.match(answer.last, /-2293$/);
      assert.ok(answer.held < 60e6, `${time}: ${answer.held} bytes`);
      assert.equal((await indexFiles()).length, 1);
    }
  });

  for (const [form, content] of [
    ['JSONL', () => jsonl(rows)],
    ['a list', () => JSON.stringify(rows)],
    ['gzip', () => gzipSync(jsonl(rows), { level: 0 })],
    ['Parquet', parquet],
  ] as const) {
    it(`gives the same from its index: ${form}`, async () => {
      const path = await file('rows', content());
      const first = await open(path);
      assert.equal((await indexFiles()).length, form === 'JSONL' ? 1 : 2);
      const second = await open(path);
      assert.deepEqual(second.entries, first.entries);
      assert.deepEqual(second.problems, first.problems);
      const ids = ['octo__cat-99', 'octo__cat-0', 'octo__cat-50'];
      const instances = await first.read(ids);
      assert.deepEqual(
        instances.map(({ id }) => id),
        ids,
      );
      assert.equal(instances[0]?.hints, rows[99]?.['hints_text']);
      assert.deepEqual(await second.read(ids), instances);
      // The copy beside the index may be freed at any time.
      await rm(indexes(), { recursive: true, force: true });
      assert.deepEqual(await second.read(ids), instances);
    });
  }

  it('keeps an index of the last state only, and none of a small file', async () => {
    const path = await file('rows.json', JSON.stringify(rows));
    await open(path);
    const before = await indexFiles();
    assert.equal(before.length, 2, before.join());
    await writeFile(path, JSON.stringify(rows.slice(1)));
    assert.equal((await open(path)).entries.length, 99);
    const after = await indexFiles();
    assert.equal(after.length, 2, after.join());
    assert.notDeepEqual(after, before);
    await open(await file('small.jsonl', jsonl(rows.slice(0, 2))));
    assert.deepEqual(await indexFiles(), after);
  });

  it('takes a broken index for none', async () => {
    const path = await file('rows.jsonl', jsonl(rows));
    const expected = (await open(path)).entries;
    const [name = ''] = await indexFiles();
    const index = join(indexes(), name);
    const sound = await readFile(index);
    const swapped = Buffer.from(sound.toString('utf8').replace('octo__cat-1"', 'octo__cat-x"'));
    for (const broken of [sound.subarray(0, -100), Buffer.alloc(0), Buffer.from('x'), swapped]) {
      await writeFile(index, broken);
      assert.deepEqual((await open(path)).entries, expected);
      assert.deepEqual(await readFile(index), sound);
    }
  });

  it('goes without an index where none can be written', async () => {
    for (const content of [jsonl(rows), JSON.stringify(rows), parquet()]) {
      const path = await file('rows', content);
      storage = await file('no-folder', '');
      const dataset = await open(path);
      assert.equal(dataset.entries.length, 100);
      assert.equal((await dataset.read(['octo__cat-42']))[0]?.id, 'octo__cat-42');
    }
  });

  for (const form of ['large', 'small']) {
    it(`says so when the file has changed or gone since: ${form}`, async () => {
      const some = form === 'large' ? rows : rows.slice(0, 3);
      const path = await file('rows.jsonl', jsonl(some));
      const dataset = await open(path);
      await writeFile(path, jsonl([...some].reverse()));
      const { mtime } = await stat(path);
      await utimes(path, mtime, mtime);
      const changed = (error: unknown): boolean =>
        error instanceof HumanError &&
        /has changed since.*List its instances again/.test(error.message);
      await assert.rejects(dataset.read(['octo__cat-0']), changed);
      assert.equal((await (await open(path)).read(['octo__cat-0']))[0]?.id, 'octo__cat-0');
      await rm(path);
      await assert.rejects(dataset.read(['octo__cat-0']), /can no longer be read/);
    });
  }

  it('names the file of a row that cannot be used when there are several', async () => {
    await file('a.jsonl', jsonl(rows.slice(0, 2)));
    await file(
      'b.jsonl',
      jsonl([
        { ...madeUp, instance_id: 'octo__cat-1' },
        { ...madeUp, patch: '' },
      ]),
    );
    const dataset = await open(folder);
    assert.equal(dataset.entries.length, 2);
    assert.deepEqual(
      dataset.problems.map(({ file: name, row, field }) => [name, row, field]),
      [
        ['b.jsonl', 1, 'instance_id'],
        ['b.jsonl', 2, 'patch'],
      ],
    );
  });
});
