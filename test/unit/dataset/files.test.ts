import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { chooseSplit, filesBelow, splitOf } from '../../../src/dataset/rows/datasetFiles';
import { importDataset } from '../../../src/dataset/rows/importDataset';
import { readRecords } from '../../../src/dataset/records';
import { HumanError, silent } from '../../../src/domain/work';
import { everydayRuns } from '../../everyday';

const rows = [
  { instance_id: 'a', version: '1' },
  { instance_id: 'b', version: 'ä' },
];
const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const parquet = (): Buffer =>
  Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'instance_id', data: ['a', 'b'], type: 'STRING' },
        { name: 'number', data: [1n, 2n], type: 'INT64' },
        { name: 'created_at', data: [new Date(0), new Date(86_400_000)], type: 'TIMESTAMP' },
        { name: 'text', data: ['x'.repeat(9), 'y'], type: 'STRING' },
        { name: 'FAIL_TO_PASS', data: [['t1', 't2'], []], type: 'JSON' },
      ],
    }),
  );

describe('files of a dataset', () => {
  let folder = '';
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'files-test-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function file(name: string, content: string | Buffer): Promise<string> {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  }
  const values = async (path: string): Promise<unknown[]> =>
    (await readRecords(path, 'dataset')).map((record) =>
      'value' in record ? record.value : record,
    );

  it('are told apart by content, whatever they are called', async () => {
    const byId = Object.fromEntries(rows.map((row) => [row.instance_id, { version: row.version }]));
    for (const content of [
      lines,
      lines.trimEnd(),
      `\n\n${lines}`,
      JSON.stringify(rows),
      JSON.stringify(rows, null, 2),
      JSON.stringify(byId),
      JSON.stringify(byId, null, 2),
    ]) {
      for (const form of [Buffer.from(content), gzipSync(content)]) {
        assert.deepEqual(await values(await file('rows.parquet', form)), rows, content);
      }
    }
  });

  it('are told apart by content: Parquet', async () => {
    for (const form of [parquet(), gzipSync(parquet())]) {
      assert.deepEqual(await values(await file('rows.json', form)), [
        {
          instance_id: 'a',
          number: 1,
          created_at: '1970-01-01T00:00:00.000Z',
          text: 'xxxxxxxxx',
          FAIL_TO_PASS: ['t1', 't2'],
        },
        {
          instance_id: 'b',
          number: 2,
          created_at: '1970-01-02T00:00:00.000Z',
          text: 'y',
          FAIL_TO_PASS: [],
        },
      ]);
    }
    const columns = new Set(['number', 'nothing']);
    const path = await file('rows', parquet());
    assert.deepEqual(
      (await readRecords(path, 'dataset', { columns })).map(
        (record) => 'value' in record && record.value,
      ),
      [{ number: 1 }, { number: 2 }],
    );
  });

  it('lines longer than a chunk are whole, and their places are right', async () => {
    const long = rows.map((row) => ({ ...row, issue: `ä${'x'.repeat(700_000)}` }));
    const content = Buffer.from(
      [long[0], rows[1], long[1]].map((row) => JSON.stringify(row)).join('\r\n'),
    );
    const records = await readRecords(await file('rows', content), 'dataset');
    assert.equal(records.length, 3);
    for (const record of records) {
      assert.ok('value' in record && record.at !== undefined);
      const { offset, length } = record.at;
      assert.deepEqual(JSON.parse(content.toString('utf8', offset, offset + length)), record.value);
    }
  });

  const cut: readonly [string, () => Buffer, RegExp][] = [
    ['Parquet', () => parquet().subarray(0, -9), /truncated.*Download or copy it again/],
    ['Parquet, its beginning', () => parquet().subarray(0, 6), /truncated/],
    ['gzip', () => gzipSync(lines).subarray(0, -9), /truncated: its gzip data.*again/],
    [
      'a list',
      () => Buffer.from(JSON.stringify(rows).slice(0, -5)),
      /neither JSON.*download it again/,
    ],
    ['nothing', () => Buffer.alloc(0), /is empty/],
    ['HTML', () => Buffer.from('<!DOCTYPE html><p>Sign in'), /is a web page.*raw file/],
    ['HTML in gzip', () => gzipSync('<html></html>'), /is a web page/],
    ['UTF-16', () => Buffer.from(`\uFEFF${lines}`, 'utf16le'), /UTF-16.*UTF-8/],
    ['Arrow', () => Buffer.from('ARROW1\0\0 more'), /Arrow file.*to_parquet/],
    ['prose', () => Buffer.from('Hello\nworld'), /neither JSON nor JSONL/],
  ];
  for (const [name, content, message] of cut) {
    it(`say in one message what is wrong: ${name}`, async () => {
      const path = await file('rows.jsonl', content());
      await assert.rejects(values(path), (error) => {
        assert.ok(error instanceof HumanError, String(error));
        assert.match(error.message, message);
        assert.ok(error.message.includes(path));
        assert.doesNotMatch(error.message, /\n/);
        return true;
      });
    });
  }

  it('damaged anywhere, a file is refused in words or read, never a crash', async () => {
    const forms = [parquet(), gzipSync(lines), Buffer.from(lines)];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...forms),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.nat(255),
        async (form, where, byte) => {
          const damaged = Buffer.from(form);
          damaged[Math.floor(where * form.length)] = byte;
          try {
            await values(await file('rows', damaged));
          } catch (error) {
            assert.ok(error instanceof HumanError, String(error));
          }
        },
      ),
      { numRuns: everydayRuns(150) },
    );
  });

  it('of a folder: those with rows, below it too, in the order of their names', async () => {
    await file('b.jsonl', lines);
    await file('a/c.json', JSON.stringify(rows));
    await file('a/d.data', gzipSync(lines));
    await file('e', parquet());
    await file('README.md', '# "instance_id"');
    await file('package.json', '{"name": "x"}');
    await file('predictions.jsonl', '{"instance_id": "a", "model_patch": ""}\n');
    await file('.git/x.jsonl', lines);
    await file('node_modules/x.jsonl', lines);
    assert.deepEqual(
      (await filesBelow(folder)).map(({ name }) => name),
      ['a/c.json', 'a/d.data', 'b.jsonl', 'e'],
    );
  });

  it('of a folder without rows: says so', async () => {
    await file('notes.txt', 'x');
    await assert.rejects(filesBelow(folder), /has no dataset\. Specify a folder with JSON/);
    await file('data.arrow', 'x');
    await assert.rejects(filesBelow(folder), /Arrow files.*to_parquet/);
  });

  it('the split is in the name', () => {
    const splits: readonly [string, string | undefined][] = [
      ['data/test-00000-of-00001.parquet', 'test'],
      ['train-00003-of-00007-0123456789abcdef.parquet', 'train'],
      ['full-00000-of-00001.jsonl', 'full'],
      ['dev.jsonl.gz', 'dev'],
      ['lite/validation.parquet', 'validation'],
      ['swe-bench-lite.dev.jsonl', undefined],
      ['rows.jsonl', undefined],
    ];
    for (const [name, split] of splits) assert.equal(splitOf(name), split, name);
  });

  it('of a split: test, the only one, the one asked for', () => {
    const of = (names: readonly string[], wish?: string): string[] =>
      chooseSplit(
        names.map((name) => ({ name })),
        wish,
        'dataset x/y',
      ).map(({ name }) => name);
    const shards = [
      'data/dev-00000-of-00001.parquet',
      'data/test-00000-of-00002.parquet',
      'data/test-00001-of-00002.parquet',
    ];
    assert.deepEqual(of(shards), shards.slice(1));
    assert.deepEqual(of(shards, 'dev'), shards.slice(0, 1));
    assert.deepEqual(of(['train.jsonl']), ['train.jsonl']);
    assert.deepEqual(of(['a.jsonl', 'b.jsonl']), ['a.jsonl', 'b.jsonl']);
    assert.throws(() => of(shards, 'train'), /no split train\. It has dev, test;/);
    assert.throws(() => of(['a.jsonl'], 'dev'), /has no splits/);
    assert.throws(
      () => of(['lite.jsonl', 'dev.jsonl', 'train.jsonl']),
      /has the splits dev, train/,
    );
    const configurations = ['hard/test.parquet', 'v1/test.parquet'];
    assert.throws(() => of(configurations), /more than once: hard\/test, v1\/test\. .*:hard\/test/);
    assert.deepEqual(of(configurations, 'v1/test'), ['v1/test.parquet']);
    assert.deepEqual(of([...configurations, 'data/test.parquet']), ['data/test.parquet']);
  });

  it('behind a colon or a hash a folder gives another split', async () => {
    await file('data/dev-00000-of-00001.jsonl', lines);
    await file('data/test-00000-of-00001.jsonl', lines);
    const names = async (name: string): Promise<string[]> =>
      (await importDataset(name, { storage: folder, reporter: silent })).files.map(
        (each) => each.name,
      );
    assert.deepEqual(await names(folder), ['data/test-00000-of-00001.jsonl']);
    assert.deepEqual(await names(`${folder}:dev`), ['data/dev-00000-of-00001.jsonl']);
    assert.deepEqual(await names(`${folder}#dev`), ['data/dev-00000-of-00001.jsonl']);
    await assert.rejects(names(`${folder}:train`), /no split train\. It has dev, test/);
    await assert.rejects(
      names(`${join(folder, 'data', 'dev-00000-of-00001.jsonl')}:x`),
      /single file/,
    );
    await mkdir(join(folder, 'odd:dev'));
    await file('odd:dev/rows.jsonl', lines);
    assert.deepEqual(await names(join(folder, 'odd:dev')), ['rows.jsonl']);
  });

  it('that are not there, or not to be had in safety, are refused before any request', async () => {
    const refusals: readonly [string, RegExp][] = [
      ['data/rows.jsonl', /There is no dataset at data\/rows\.jsonl\. .*hf:owner\/name/],
      [join(folder, 'nowhere'), /There is no dataset at/],
      ['http://example.org/rows.jsonl', /is not an https URL/],
      ['https://user:secret@example.org/rows.jsonl', /user name or password/],
      ['hf:../..', /is not a Hugging Face dataset/],
      ['hf:owner', /is not a Hugging Face dataset/],
      ['hf:owner/name@../../x', /is not a Hugging Face dataset/],
    ];
    for (const [name, message] of refusals) {
      await assert.rejects(importDataset(name, { storage: folder, reporter: silent }), (error) => {
        assert.ok(error instanceof HumanError);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      });
    }
  });
});
