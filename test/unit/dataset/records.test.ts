import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parseRecords, readRecords } from '../../../src/dataset/records';
import { HumanError } from '../../../src/domain/work';

const parse = (text: string): unknown => parseRecords(text, 'dataset rows.jsonl');

const anyCharacter = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code));

describe('records of a file', () => {
  const rows = [
    { row: 1, value: { instance_id: 'a' } },
    { row: 2, value: { instance_id: 'b' } },
  ];

  it('JSON Lines', () => {
    assert.deepEqual(parse('{"instance_id":"a"}\n{"instance_id":"b"}\n'), rows);
    assert.deepEqual(parse('{"instance_id":"a"}\n{"instance_id":"b"}'), rows);
  });

  it('JSON Lines with CRLF and a byte order mark', () => {
    assert.deepEqual(parse('\uFEFF{"instance_id":"a"}\r\n{"instance_id":"b"}\r\n'), rows);
  });

  it('JSON Lines keep their line numbers across blank lines', () => {
    assert.deepEqual(parse('\n{"instance_id":"a"}\n\n\r\n{"instance_id":"b"}\n\n'), [
      { row: 2, value: { instance_id: 'a' } },
      { row: 5, value: { instance_id: 'b' } },
    ]);
  });

  it('one record on one line', () => {
    assert.deepEqual(parse('{"instance_id":"a"}'), rows.slice(0, 1));
  });

  it('a JSON list', () => {
    assert.deepEqual(parse('\uFEFF [\n  {"instance_id":"a"},\r\n {"instance_id":"b"}]\n'), rows);
    assert.deepEqual(parse('[]'), []);
  });

  it('a JSON object of records by id', () => {
    assert.deepEqual(parse('{"a": {"instance_id":"a"}, "b": {"instance_id":"b"}}'), rows);
    assert.deepEqual(parse('{\n "instance_id": "a"\n}'), rows.slice(0, 1));
  });

  it('JSON as Python writes it: NaN and Infinity are missing values, but not in texts', () => {
    const text = '{"instance_id":"a","x":NaN,"y":[-Infinity,Infinity],"z":"NaN \\\\\\" NaN\\\\"}';
    const value = { instance_id: 'a', x: null, y: [null, null], z: 'NaN \\" NaN\\' };
    assert.deepEqual(parse(`${text}\n${text}`), [
      { row: 1, value },
      { row: 2, value },
    ]);
    assert.deepEqual(parse(`[${text}]`), [{ row: 1, value }]);
  });

  it('JSON as pandas writes a table, by column, split, or with its schema', () => {
    const columns = '{"instance_id":{"0":"a","1":"b"}}';
    const split = '{"columns":["instance_id"],"index":[0,1],"data":[["a"],["b"]]}';
    const table = '{"schema":{"fields":[]},"data":[{"instance_id":"a"},{"instance_id":"b"}]}';
    for (const text of [columns, split, table]) assert.deepEqual(parse(text), rows);
  });

  it('a broken line is named and the others are read', () => {
    const records = parseRecords(
      '{"instance_id":"a"}\n{"instance_id":\n{"instance_id":"b"}\n',
      'x',
    );
    assert.equal(records.length, 3);
    assert.equal('error' in (records[1] ?? {}), true);
    assert.match((records[1] as { error: string }).error, /^line 2 is not JSON/);
    assert.deepEqual(records[2], { row: 3, value: { instance_id: 'b' } });
  });

  it('a line of text between separators of its own stays one record', () => {
    const text = 'one\u2028two\u0085three\rfour';
    assert.deepEqual(parse(`${JSON.stringify({ text })}\n${JSON.stringify({ text })}`), [
      { row: 1, value: { text } },
      { row: 2, value: { text } },
    ]);
  });

  const refused: readonly [string, string, RegExp][] = [
    ['nothing', '', /is empty/],
    ['blanks', '\uFEFF \r\n\n', /is empty/],
    ['a web page', '\n<!DOCTYPE html><html></html>', /is a web page.*raw/],
    ['prose', 'hello\nworld', /neither JSON nor JSONL/],
    ['a truncated list', '[{"instance_id": "a"},', /neither JSON nor JSONL/],
  ];
  for (const [name, text, message] of refused) {
    it(`${name}: a clear error that names the file`, () => {
      assert.throws(
        () => parse(text),
        (error) =>
          error instanceof HumanError &&
          message.test(error.message) &&
          error.message.includes('dataset rows.jsonl') &&
          error.next !== undefined,
      );
    });
  }

  it('any values survive the round trip in each form', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue()).map((each) => ({ ...each, x: 1 }));
    fc.assert(
      fc.property(
        fc.array(object, { minLength: 2, maxLength: 5 }),
        fc.constantFrom('\n', '\r\n'),
        (all, end) => {
          const plain = JSON.parse(JSON.stringify(all)) as unknown[];
          const expected = plain.map((value, index) => ({ row: index + 1, value }));
          assert.deepEqual(parse(plain.map((each) => JSON.stringify(each)).join(end)), expected);
          assert.deepEqual(parse(JSON.stringify(plain, null, 1)), expected);
        },
      ),
    );
  });

  it('any text is read or refused in words', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 30 }), (text) => {
        try {
          parse(text);
        } catch (error) {
          assert.ok(error instanceof HumanError);
        }
      }),
    );
  });
});

describe('reading a file of records', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'records-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('reads what is there', async () => {
    const path = join(folder, 'rows.jsonl');
    await writeFile(path, '{"a":1}\n');
    // One object without an id is the older form, records by id.
    assert.deepEqual(await readRecords(path, 'dataset'), [{ row: 1, value: 1 }]);
    await writeFile(path, '\uFEFF{"a":1}\n\n{"b":"ä"}');
    assert.deepEqual(await readRecords(path, 'dataset'), [
      { row: 1, value: { a: 1 }, at: { offset: 3, length: 7 } },
      { row: 3, value: { b: 'ä' }, at: { offset: 12, length: 10 } },
    ]);
  });

  it('reads an open pipe to its end, compressed or not', function () {
    if (process.platform === 'win32') return this.skip();
    const rows = '{"a":1}\n{"b":2}\n';
    const read = `
      const { readRecords } = require(${JSON.stringify(resolve('src/dataset/records'))});
      readRecords('/dev/stdin', 'dataset', { named: true }).then((read) =>
        process.stdout.write(JSON.stringify(read)));`;
    for (const input of [Buffer.from(rows), gzipSync(rows)]) {
      const command = 'cat | "$0" --import tsx -e "$1"';
      const { stdout } = spawnSync('sh', ['-c', command, process.execPath, read], { input });
      assert.deepEqual(JSON.parse(stdout.toString()), [
        { row: 1, value: { a: 1 } },
        { row: 2, value: { b: 2 } },
      ]);
    }
  });

  it('refuses a pipe that lies in a folder, and does not wait for it', async function () {
    const pipe = join(folder, 'pipe');
    if (spawnSync('mkfifo', [pipe]).status !== 0) return this.skip();
    for (const named of [true, false]) {
      await assert.rejects(readRecords(pipe, 'dataset', { named }), /not a plain file/);
    }
  });

  it('refuses compressed data that grows without measure', async () => {
    const path = join(folder, 'bomb.jsonl.gz');
    // The members of a gzip file follow one another, so one mebibyte is compressed once.
    const member = gzipSync(Buffer.alloc(1 << 20, 'a'));
    await writeFile(path, Buffer.concat(Array.from({ length: 300 }, () => member)));
    await assert.rejects(readRecords(path, 'dataset'), /too large to decompress/);
  });

  it('says that a file does not exist, or is a folder', async () => {
    await assert.rejects(readRecords(join(folder, 'nowhere'), 'dataset'), {
      name: 'HumanError',
      message: `There is no dataset at ${join(folder, 'nowhere')}. Specify a JSON, JSONL or Parquet file`,
    });
    await assert.rejects(readRecords(folder, 'dataset'), /is a folder/);
    await assert.rejects(readRecords('a\0b', 'dataset'), HumanError);
  });
});
