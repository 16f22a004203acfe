import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { HubServer } from '../processes/hubServer';
import { cli, sample, scratch, start, type Answer } from './cli';

const row = async (): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as Record<string, unknown>;

describe('bad datasets on the command line', function () {
  const folder = scratch();
  let count = 0;

  const storage = (): string => join(folder.path, `storage-${(count += 1)}`);
  const list = (dataset: string, kept: string, ...more: string[]): Promise<Answer> =>
    cli(['instances', '--dataset', dataset, '--storage', kept, '--json', ...more]);
  const ids = ({ stdout }: Answer): string[] =>
    (JSON.parse(stdout) as { instance_id?: string; id: string }[]).map((each) => each.id);
  async function file(name: string, content: string | Buffer): Promise<string> {
    const path = join(folder.path, name);
    await writeFile(path, content);
    return path;
  }
  /**
   * Asserts one line that says what, where and what to do next; status 2, nothing on stdout, no
   * file left.
   */
  async function refused(answer: Answer, kept: string, message: RegExp): Promise<void> {
    assert.equal(answer.status, 2, answer.stderr);
    assert.equal(answer.stdout, '');
    assert.equal(answer.stderr.trim().split('\n').length, 1, answer.stderr);
    assert.match(answer.stderr, message);
    const left = await readdir(kept, { recursive: true, withFileTypes: true }).catch(() => []);
    assert.deepEqual(
      left.filter((entry) => entry.isFile()).map((entry) => entry.name),
      [],
    );
  }

  const columns = [{ name: 'instance_id', data: ['a', 'b'], type: 'STRING' as const }];
  const parquet = (): Buffer => Buffer.from(parquetWriteBuffer({ columnData: columns }));
  for (const [what, content, message] of [
    ['a Parquet file that is cut off', () => parquet().subarray(0, -20), /rows .*truncated.*again/],
    ['a gzip file that is cut off', () => gzipSync('{}\n{}\n').subarray(0, -4), /truncated.*again/],
    ['a web page', () => Buffer.from('<!DOCTYPE html>\n<html>'), /is a web page.*raw file/],
    ['text that is no data', () => Buffer.from('a\nb\n'), /neither JSON nor JSONL/],
    ['a table of something else', parquet, /has no valid rows.*A row needs/],
  ] as const) {
    it(`refuses ${what} in one line`, async () => {
      const kept = storage();
      await refused(await list(await file('rows', content()), kept), kept, message);
    });
  }

  it('names a broken line and a row whose patch leaves the tree, and lists the rest', async () => {
    const good = await row();
    const patch = String(good['patch']);
    const escaping = {
      ...good,
      instance_id: 'tallybook__tallybook-1',
      patch: patch.replaceAll('tallybook/expense.py', '../expense.py'),
    };
    const lines = [JSON.stringify(escaping), '{"instance_id": "tally', JSON.stringify(good)];
    const answer = await list(await file('rows.jsonl', lines.join('\n')), storage());
    assert.equal(answer.status, 1);
    assert.deepEqual(ids(answer), [good['instance_id']]);
    assert.match(
      answer.stderr,
      /row 1 \(tallybook__tallybook-1\): patch names a path outside the tree/,
    );
    assert.match(answer.stderr, /row 2: line 2 is not JSON/);
  });

  it('refuses filter lists that are none, and applies the others', async () => {
    const good = await row();
    const rows = [1, 2, 3].map((number) => ({
      ...good,
      instance_id: `tallybook__tallybook-${number}`,
    }));
    const dataset = await file('three.jsonl', rows.map((each) => JSON.stringify(each)).join('\n'));
    const one = await file('list.txt', '# mine\ntallybook__tallybook-2\n');
    assert.deepEqual(ids(await list(dataset, storage(), '--filter', one)), [
      'tallybook__tallybook-2',
    ]);
    assert.deepEqual(ids(await list(dataset, storage(), '--exclude', one)), [
      'tallybook__tallybook-1',
      'tallybook__tallybook-3',
    ]);
    for (const [name, message] of [
      [join(folder.path, 'nowhere'), /There is no filter list .*Lite, Verified, Full/],
      [await file('page', '<html>'), /Line 1 of the filter list .*one ID per line/],
      [await file('others', 'octo__cat-1'), /No instance of .* is in/],
    ] as const) {
      const kept = storage();
      await refused(await list(dataset, kept, '--filter', name), kept, message);
    }
  });

  describe('from a server', () => {
    let server: HubServer;
    let address = '';
    beforeEach(async () => {
      server = await new HubServer().start();
      const good = await row();
      const rows = Array.from({ length: 400 }, (_, number) => ({
        ...good,
        instance_id: `tallybook__tallybook-${number}`,
      }));
      server.files.set(
        'rows.jsonl',
        Buffer.from(rows.map((each) => JSON.stringify(each)).join('\n')),
      );
      address = `${server.url}/files/rows.jsonl`;
    });
    afterEach(() => server.stop());

    it('goes on with a download that was interrupted', async () => {
      const kept = storage();
      server.faults.push({ kind: 'stall', after: 600_000 });
      const data = join(kept, 'data', 'swt-bench');
      const { child, answer } = start(['instances', '--dataset', address, '--storage', kept]);
      const part = async (): Promise<string | undefined> =>
        (await readdir(data, { recursive: true }).catch(() => [])).find((name) =>
          name.endsWith('.part'),
        );
      while ((await part()) === undefined) await new Promise((done) => setTimeout(done, 20));
      while ((await readFile(join(data, (await part()) ?? ''))).length < 600_000) {
        await new Promise((done) => setTimeout(done, 20));
      }
      child.kill('SIGINT');
      const interrupted = await answer;
      assert.equal(interrupted.status, 130, interrupted.stderr);
      assert.equal(interrupted.stdout, '');
      assert.notEqual(await part(), undefined);
      assert.equal(ids(await list(address, kept)).length, 400);
      assert.match(server.requests.at(-1) ?? '', /bytes=600000-$/);
      assert.equal(await part(), undefined);
    });

    it('refuses what is not there, and a page instead of data', async () => {
      const kept = storage();
      await refused(await list(`${server.url}/files/x`, kept), kept, /status 404.*Check the URL/);
      server.faults.push({ kind: 'html' });
      await refused(await list(address, kept), kept, /is a web page/);
    });

    it('says that there is no disk space, and leaves nothing behind', async function () {
      const kept = storage();
      await mkdir(kept);
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', kept]);
      if (mounted.status !== 0) {
        console.log('      skipped: a small disk cannot be mounted here (needs root)');
        this.skip();
      }
      try {
        await refused(await list(address, kept), kept, /No space left on the disk of .*Free some/);
        // A dataset on another disk is still listed, although the storage is full.
        const local = await file('rows.jsonl', server.files.get('rows.jsonl') ?? '');
        const listed = await list(local, kept);
        assert.equal(listed.status, 0, listed.stderr);
        assert.equal(ids(listed).length, 400);
      } finally {
        spawnSync('umount', ['-l', kept]);
      }
    });
  });
});
