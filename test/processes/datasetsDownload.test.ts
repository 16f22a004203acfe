import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { openDataset, type Dataset } from '../../src/dataset/dataset';
import { loadFilter } from '../../src/dataset/filterLists';
import { retries } from '../../src/dataset/network';
import { Cancelled, HumanError, type Reporter } from '../../src/domain/work';
import { HubServer, type Fault } from './hubServer';

const diff = (path: string): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;

const row = (number: number): Record<string, string> => ({
  instance_id: `octo__cat-${number}`,
  repo: 'octo/cat',
  base_commit: 'abcdef0123456789abcdef0123456789abcdef01',
  problem_statement: `It does not purr ${'x'.repeat(500)}`,
  patch: diff('cat.py'),
  test_patch: diff('tests/test_cat.py'),
});

const jsonl = (from: number, to: number): Buffer =>
  Buffer.from(
    Array.from({ length: to - from }, (_, i) => `${JSON.stringify(row(from + i))}\n`).join(''),
  );

const parquet = (from: number, to: number): Buffer => {
  const rows = Array.from({ length: to - from }, (_, i) => row(from + i));
  const columnData = Object.keys(row(0)).map((name) => ({
    name,
    data: rows.map((each) => each[name] ?? ''),
    type: 'STRING' as const,
  }));
  return Buffer.from(parquetWriteBuffer({ columnData }));
};

describe('datasets from a server', function () {
  let storage = '';
  let server: HubServer;
  const said: string[] = [];
  const reporter: Reporter = {
    log: (line) => said.push(line),
    progress: (step) => said.push(step),
  };
  const wait = retries.firstWait;
  const environment = { ...process.env };

  beforeEach(async () => {
    storage = await mkdtemp(join(tmpdir(), 'download-test-'));
    server = await new HubServer().start();
    retries.firstWait = 5;
    server.arrived = async (bytes) => {
      while ((await partSize()) < bytes) await new Promise((next) => setTimeout(next, 5));
    };
    process.env['HF_ENDPOINT'] = server.url;
    delete process.env['HF_TOKEN'];
    said.length = 0;
  });
  afterEach(async () => {
    await server.stop();
    retries.firstWait = wait;
    process.env = { ...environment };
    await rm(storage, { recursive: true, force: true });
  });

  const open = (
    name: string,
    more: { refresh?: boolean; signal?: AbortSignal } = {},
  ): Promise<Dataset> => openDataset(name, { storage, reporter, ...more });
  /** The kept files, without indexes. */
  async function kept(): Promise<string[]> {
    const folder = join(storage, 'data', 'swt-bench');
    const all = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    return all
      .filter((entry) => entry.isFile())
      .map((entry) =>
        relative(folder, join(entry.parentPath, entry.name)).replace(/^[^/\\]*[/\\]/, ''),
      )
      .filter((name) => !/^(\w|[.-])*-[0-9a-f]{12}-/.test(name))
      .sort();
  }
  /** Bytes of the file that is being downloaded. */
  async function partSize(): Promise<number> {
    const all = await readdir(storage, { recursive: true });
    const part = all.find((name) => name.endsWith('.part'));
    if (part === undefined) return 0;
    return (await stat(join(storage, part)).catch(() => ({ size: 0 }))).size;
  }
  async function refused(work: Promise<unknown>, message: RegExp): Promise<void> {
    await assert.rejects(work, (error) => {
      assert.ok(error instanceof HumanError, error instanceof Error ? error.stack : String(error));
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });
  }
  const broken = (times: number, fault: Fault): number =>
    server.faults.push(...Array.from({ length: times }, () => fault));

  describe('by address', () => {
    let address = '';
    beforeEach(() => {
      server.files.set('rows.jsonl', jsonl(0, 2000));
      address = `${server.url}/files/rows.jsonl`;
    });

    it('are downloaded once and used without a network afterwards', async () => {
      const dataset = await open(address);
      assert.equal(dataset.entries.length, 2000);
      assert.ok(dataset.path.startsWith(storage));
      assert.deepEqual(server.requests, ['GET /files/rows.jsonl']);
      assert.ok(
        said.some((line) => /^downloading .* MB of 1\.\d MB$/.test(line)),
        said.join('\n'),
      );
      assert.deepEqual(await kept(), ['files/rows.jsonl', 'manifest.json']);
      await server.stop();
      const again = await open(address);
      assert.equal(again.entries.length, 2000);
      assert.equal((await again.read(['octo__cat-1999']))[0]?.id, 'octo__cat-1999');
      await refused(
        open(address, { refresh: true }),
        /cannot be downloaded from .* Without a refresh, SWT-Bench uses the files downloaded on/,
      );
      server = await new HubServer().start();
    });

    it('go on where the connection broke', async () => {
      const total = server.files.get('rows.jsonl')?.length ?? 0;
      server.faults.push({ kind: 'break', after: 700_000 }, { kind: 'break', after: 300_000 });
      assert.equal((await open(address)).entries.length, 2000);
      assert.equal(server.requests.length, 3);
      const [, second = '', third = ''] = server.requests;
      const at = [second, third].map((each) => Number(/bytes=(\d+)-$/.exec(each)?.[1]));
      assert.ok((at[0] ?? 0) > 0 && (at[1] ?? 0) > (at[0] ?? 0) && (at[1] ?? 0) < total, second);
    });

    it('that break off for good leave what came, and the next try goes on', async () => {
      broken(1, { kind: 'break', after: 700_000 });
      broken(5, { kind: 'status', status: 503 });
      await refused(
        open(address),
        /was interrupted after 0\.\d MB of 1\.\d MB .*status 503.* resumes where it stopped/,
      );
      assert.deepEqual(await kept(), ['files/rows.jsonl.part', 'files/rows.jsonl.part.json']);
      server.requests.length = 0;
      assert.equal((await open(address)).entries.length, 2000);
      assert.match(server.requests.join(), /^GET \/files\/rows\.jsonl bytes=\d+-$/);
      assert.deepEqual(await kept(), ['files/rows.jsonl', 'manifest.json']);
    });

    it('start over when the content is another by then', async () => {
      broken(1, { kind: 'break', after: 700_000 });
      broken(5, { kind: 'status', status: 503 });
      await refused(open(address), /was interrupted/);
      server.files.set('rows.jsonl', jsonl(5000, 7000));
      const dataset = await open(address);
      assert.equal(dataset.entries.length, 2000);
      assert.equal(dataset.entries[0]?.id, 'octo__cat-5000');
    });

    it('start over when the server sends the rest of another file', async () => {
      broken(1, { kind: 'break', after: 700_000 });
      broken(5, { kind: 'status', status: 503 });
      await refused(open(address), /was interrupted/);
      server.faults.length = 0;
      server.files.set('rows.jsonl', jsonl(5000, 7000));
      broken(1, { kind: 'anyRange' });
      const dataset = await open(address);
      assert.equal(dataset.entries.length, 2000);
      assert.deepEqual(dataset.problems, []);
    });

    it('go on when the server sends less of the rest than there is', async () => {
      broken(1, { kind: 'break', after: 700_000 });
      broken(1, { kind: 'shortRange', bytes: 1000 });
      assert.equal((await open(address)).entries.length, 2000);
    });

    it('start over when nothing is left to come', async () => {
      await open(address);
      const [folder = ''] = await readdir(join(storage, 'data', 'swt-bench'));
      const path = join(storage, 'data', 'swt-bench', folder, 'files', 'rows.jsonl');
      const content = await readFile(path);
      const [response] = await Promise.all([fetch(address)]);
      await response.arrayBuffer();
      await rm(path);
      await writeFile(`${path}.part`, content);
      const about = { url: address, validator: response.headers.get('etag') };
      await writeFile(`${path}.part.json`, JSON.stringify(about));
      assert.equal((await open(address)).entries.length, 2000);
    });

    it('are told from what is shorter than announced', async () => {
      broken(99, { kind: 'short' });
      await refused(open(address), /resumes where it stopped/);
      assert.ok(!(await kept()).includes('files/rows.jsonl'));
    });

    it('are asked for again when the server has trouble, not when it says no', async () => {
      server.faults.push({ kind: 'status', status: 500 }, { kind: 'status', status: 429 });
      assert.equal((await open(address)).entries.length, 2000);
      assert.equal(server.requests.length, 3);
      server.requests.length = 0;
      await refused(open(`${server.url}/files/none.jsonl`), /status 404.*Check the URL/);
      assert.equal(server.requests.length, 1);
    });

    it('are told from a page', async () => {
      server.faults.push({ kind: 'html' });
      await refused(open(address), /is a web page.*raw file/);
      server.files.set('page', Buffer.from('\n<!DOCTYPE html><p>x'));
      await refused(open(`${server.url}/files/page`), /is a web page/);
      assert.deepEqual(await kept(), []);
    });

    it('are asked for by their ETag when refreshed', async () => {
      await open(address);
      server.requests.length = 0;
      assert.equal((await open(address, { refresh: true })).entries.length, 2000);
      assert.deepEqual(server.requests, ['GET /files/rows.jsonl if-none-match']);
      server.files.set('rows.jsonl', jsonl(0, 10));
      assert.equal((await open(address)).entries.length, 2000);
      assert.equal((await open(address, { refresh: true })).entries.length, 10);
    });

    it('are checked by their digest when they were touched, and had again when they differ', async () => {
      const { path } = await open(address);
      server.requests.length = 0;
      await utimes(path, new Date(), new Date(0));
      assert.equal((await open(address)).entries.length, 2000);
      assert.equal(server.requests.length, 0);
      const content = await readFile(path);
      content[20] = 0x21;
      await writeFile(path, content);
      assert.deepEqual((await open(address)).problems, []);
      assert.equal(server.requests.length, 1);
    });

    it('stop when cancelled, and go on later', async () => {
      const cancelling = new AbortController();
      server.faults.push({ kind: 'break', after: 700_000 });
      const cancel: Reporter = { log: () => cancelling.abort(), progress: () => undefined };
      await assert.rejects(
        openDataset(address, { storage, reporter: cancel, signal: cancelling.signal }),
        Cancelled,
      );
      assert.equal((await open(address)).entries.length, 2000);
      assert.match(server.requests.at(-1) ?? '', /bytes=/);
    });

    it('do no harm to one another in two processes', async () => {
      // Nothing is sent before one of the two waits for the other one.
      let waiting = 0;
      let go = (): void => undefined;
      const held = new Promise<void>((resolve) => (go = resolve));
      server.gate = () => held;
      const script = `
        const { openDataset } = require(${JSON.stringify(join(__dirname, '../../src/dataset/dataset'))});
        const progress = (step) => step.startsWith('waiting') && process.stderr.write('waiting\\n');
        openDataset(process.argv[1], { storage: process.argv[2], reporter: { log() {}, progress } })
          .then((dataset) => console.log(dataset.entries.length));`;
      const answers = await Promise.all(
        [1, 2].map(
          () =>
            new Promise<string>((done) => {
              const child = spawn(process.execPath, [
                '--import',
                'tsx',
                '-e',
                script,
                address,
                storage,
              ]);
              let output = '';
              child.stdout.on('data', (chunk: Buffer) => (output += String(chunk)));
              let told = '';
              child.stderr.on('data', (chunk: Buffer) => {
                const isFirst = !told.includes('waiting');
                told += String(chunk);
                if (isFirst && told.includes('waiting') && ++waiting === 1) go();
              });
              child.on('close', () => done(`${output}${told.replace(/^waiting\n/gm, '')}`.trim()));
            }),
        ),
      );
      assert.deepEqual(answers, ['2000', '2000']);
      assert.deepEqual(server.requests, ['GET /files/rows.jsonl']);
      assert.deepEqual(await kept(), ['files/rows.jsonl', 'manifest.json']);
      const left = await readdir(join(storage, 'data', 'swt-bench'));
      assert.ok(!left.some((name) => name.endsWith('.lock')), left.join());
    });

    it('say that a disk is full, and leave nothing on it', async function () {
      const disk = join(storage, 'data');
      await mkdir(disk);
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
      if (mounted.status !== 0) {
        console.log('      skipped: a small disk cannot be mounted here (needs root)');
        this.skip();
      }
      try {
        await refused(open(address), /No space left on the disk of .*Free some/);
        assert.deepEqual(await kept(), []);
      } finally {
        spawnSync('umount', ['-l', disk]);
      }
    });

    it('give filter lists, too', async () => {
      server.files.set('list.txt', Buffer.from('octo__cat-1\n'));
      const name = `${server.url}/files/list.txt`;
      for (const time of [1, 2]) {
        const { keeps } = await loadFilter(name, { storage, reporter });
        assert.deepEqual([keeps('octo__cat-1'), keeps('octo__cat-2')], [true, false], String(time));
      }
      assert.deepEqual(server.requests, ['GET /files/list.txt']);
      await refused(loadFilter(`${server.url}/files/no.txt`, { storage, reporter }), /filter list/);
    });
  });

  describe('of the Hugging Face hub', () => {
    beforeEach(() => {
      server.files.set('README.md', Buffer.from('# cats'));
      server.files.set('data/dev-00000-of-00001.parquet', parquet(0, 3));
      server.files.set('data/test-00000-of-00002.parquet', parquet(10, 210));
      server.files.set('data/test-00001-of-00002.parquet', parquet(300, 500));
    });

    it('are found by name, one split of them, and used without a network afterwards', async () => {
      const dataset = await open('octo/cats');
      assert.equal(dataset.entries.length, 400);
      assert.deepEqual(
        server.requests.filter((request) => request.includes('resolve')).sort(),
        [0, 1].map(
          (shard) => `GET /datasets/octo/cats/resolve/main/data/test-0000${shard}-of-00002.parquet`,
        ),
      );
      assert.equal((await open(`${server.url}/datasets/octo/cats`)).entries.length, 400);
      await server.stop();
      assert.equal((await open('hf:octo/cats')).entries.length, 400);
      assert.deepEqual(
        (await dataset.read(['octo__cat-499', 'octo__cat-10'])).map(({ id }) => id),
        ['octo__cat-499', 'octo__cat-10'],
      );
      await refused(open('octo/cats:train'), /no split train\. It has dev, test/);
      await refused(open('octo/cats:dev'), /cannot be downloaded from/);
      server = await new HubServer().start();
    });

    it('give another split behind a colon', async () => {
      assert.equal((await open('octo/cats:dev')).entries.length, 3);
      assert.equal((await open('hf:octo/cats@main#dev')).entries.length, 3);
    });

    it('are asked for again only where they changed, when refreshed', async () => {
      await open('octo/cats');
      server.requests.length = 0;
      server.files.set('data/test-00001-of-00002.parquet', parquet(300, 310));
      assert.equal((await open('octo/cats')).entries.length, 400);
      assert.equal(server.requests.length, 0);
      assert.equal((await open('octo/cats', { refresh: true })).entries.length, 210);
      assert.deepEqual(
        server.requests.filter((request) => request.includes('resolve')),
        ['GET /datasets/octo/cats/resolve/main/data/test-00001-of-00002.parquet'],
      );
    });

    it('stay as they were when a refresh fails half-way', async () => {
      await open('octo/cats');
      server.files.set('data/test-00000-of-00002.parquet', parquet(0, 5));
      server.files.set('data/test-00001-of-00002.parquet', parquet(5, 9));
      server.faults.push({ kind: 'none' }, { kind: 'html' });
      await refused(
        open('octo/cats', { refresh: true }),
        /is a web page.* Without a refresh, SWT-Bench uses the files downloaded on/,
      );
      server.requests.length = 0;
      assert.equal((await open('octo/cats')).entries.length, 400);
      assert.equal(server.requests.length, 0);
      assert.ok(!(await kept()).some((name) => /new|part/.test(name)), (await kept()).join());
      assert.equal((await open('octo/cats', { refresh: true })).entries.length, 9);
    });

    it('are not taken when what comes is not what is listed', async () => {
      server.faults.push({ kind: 'damaged' });
      await refused(open('octo/cats'), /has a different SHA-256 .*Try again/);
      assert.ok(!(await kept()).some((name) => name.includes('test-00000')), (await kept()).join());
      assert.equal((await open('octo/cats')).entries.length, 400);
    });

    it('are whole only when they are as long as is listed', async () => {
      server.faults.push({ kind: 'unannounced', after: 100 });
      assert.equal((await open('octo/cats')).entries.length, 400);
      assert.ok(server.requests.some((request) => request.endsWith('bytes=100-')));
    });

    it('ask for a token where they are gated', async () => {
      server.token = 'hf_secret';
      await refused(open('octo/cats'), /has no readable dataset octo\/cats .*HF_TOKEN/);
      process.env['HF_TOKEN'] = 'secret';
      await refused(open('octo/cats'), /HF_TOKEN does not begin with hf_/);
      process.env['HF_TOKEN'] = 'hf_secret';
      assert.equal((await open('octo/cats')).entries.length, 400);
      const manifest = (await kept()).find((name) => name.endsWith('manifest.json'));
      assert.ok(manifest !== undefined);
      const [folder = ''] = await readdir(join(storage, 'data', 'swt-bench'));
      const text = await readFile(
        join(storage, 'data', 'swt-bench', folder, 'manifest.json'),
        'utf8',
      );
      assert.doesNotMatch(text, /secret/);
    });

    it('that do not exist, or hold nothing, are named', async () => {
      await refused(open('octo/dogs'), /has no readable dataset octo\/dogs/);
      server.files.clear();
      server.files.set('README.md', Buffer.from('# cats'));
      await refused(open('octo/cats'), /has no JSON, JSONL or Parquet file/);
    });

    it('never write outside their folder, whatever the hub lists', async () => {
      server.files.clear();
      server.files.set('../../../evil.jsonl', jsonl(0, 2));
      server.files.set('/evil.jsonl', jsonl(0, 2));
      server.files.set('ok.jsonl', jsonl(0, 2));
      assert.equal((await open('octo/cats')).entries.length, 2);
      assert.equal(await stat(join(storage, 'evil.jsonl')).catch(() => undefined), undefined);
      assert.deepEqual(
        (await kept()).filter((name) => name.includes('evil')),
        [],
      );
    });

    it('that never answer are named, with what to do', async () => {
      await server.stop();
      await refused(
        open('octo/cats'),
        /cannot be downloaded from 127\.0\.0\.1:\d+ \(.*ECONNREFUSED.*Check the network/,
      );
      server = await new HubServer().start();
    });
  });
});
