import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, get, request, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { HumanError } from '../../../src/domain/work';
import type { AttachedProgram } from '../../../src/engine/sandbox/agentProtocol';
import { Downloads, TooMuch, WrongDigest } from '../../../src/environments/packages/downloads';
import { indexClient, proxyFor } from '../../../src/environments/packages/indexClient';
import { readIndexPage } from '../../../src/environments/packages/indexPages';
import { openIndexRelay } from '../../../src/environments/packages/indexRelay';
import { indexSettings } from '../../../src/environments/packages/indexSettings';
import { pythonText } from '../../../src/engine/pythonProgram';
import { openTunnel } from '../../../src/engine/sandbox/tunnel';
import { newestUv, uvProgram } from '../../../src/environments/packages/uvProgram';
import { Readable } from 'node:stream';

const sha256 = (content: Buffer | string): string =>
  createHash('sha256').update(content).digest('hex');

/** A zip file with one entry, in the form of a wheel. */
function wheelWith(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 8);
  local.writeUInt16LE(name.length, 26);
  const central = Buffer.alloc(46);
  central.writeUInt32LE(0x02014b50, 0);
  central.writeUInt16LE(8, 10);
  central.writeUInt32LE(packed.length, 20);
  central.writeUInt32LE(content.length, 24);
  central.writeUInt16LE(name.length, 28);
  const start = local.length + name.length + packed.length;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(start, 16);
  const path = Buffer.from(name);
  return Buffer.concat([local, path, packed, central, path, end]);
}

describe('packages for builds', () => {
  let folder: string;
  const closing: (() => void)[] = [];
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-packages-'));
    said.length = 0;
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) close();
    await rm(folder, { recursive: true, force: true });
  });

  const listen = async (server: Server): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => (server.closeAllConnections(), server.close()));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  /** An index with one project and the given pages; it records the requests. */
  async function index(files: object[], contents: Readonly<Record<string, Buffer>> = {}) {
    const seen: { path: string; login: string | undefined }[] = [];
    const server = createServer(({ url = '', headers }, response) => {
      seen.push({ path: url, login: headers.authorization });
      if (url.startsWith('/away/')) {
        return void response.writeHead(302, { location: `http://${other}${url.slice(5)}` }).end();
      }
      const content = contents[url];
      if (content !== undefined) return void response.end(content);
      if (!/^\/simple\/[^/]+\/$/.test(url)) return void response.writeHead(404).end();
      response.setHeader('content-type', 'application/vnd.pypi.simple.v1+json');
      response.end(JSON.stringify({ name: 'x', files }));
    });
    let other = '';
    const host = await listen(server);
    return { host, seen, leadAwayTo: (to: string) => (other = to) };
  }

  function relayTo(
    url: string,
    more: { hosts?: readonly string[]; limit?: number; env?: NodeJS.ProcessEnv } = {},
  ) {
    const settings = indexSettings({ PIP_INDEX_URL: url, ...more.env }, undefined);
    const client = indexClient(settings);
    const downloads = new Downloads(folder, say);
    const { hosts = [], limit = 1e6 } = more;
    const relay = openIndexRelay({ settings, client, downloads, limit, hosts, say });
    closing.push(() => (relay.close(), client.close()));
    return { relay, settings, client, downloads };
  }

  /** Connects to a relay without a container. */
  async function through(relay: ReturnType<typeof relayTo>['relay']): Promise<string> {
    const front = createServer();
    front.removeAllListeners('connection');
    front.on('connection', (socket: Socket) => relay.serve(socket));
    return listen(front);
  }

  const fetched = (
    url: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; text: string; headers: Record<string, unknown> }> =>
    new Promise((resolve, reject) => {
      get(url, { headers: { ...headers }, agent: false }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(pieces).toString(),
            headers: response.headers,
          }),
        );
        response.on('error', reject);
      }).on('error', reject);
    });

  const listedIn = (text: string): string =>
    (JSON.parse(text) as { files: { url: string }[] }).files[0]?.url ?? '';
  const json = { accept: 'application/vnd.pypi.simple.v1+json' };

  it('come through a relay that alone has the login', async () => {
    const content = Buffer.from('a wheel');
    const { host, seen } = await index(
      [{ filename: 'x-1.whl', url: '/files/x-1.whl', hashes: { sha256: sha256(content) } }],
      { '/files/x-1.whl': content },
    );
    const { relay } = relayTo(`http://me:sesame@${host}/simple/`);
    const front = await through(relay);
    const page = await fetched(`http://${front}/index/0/X_y/`, json);
    assert.equal(page.status, 200);
    assert.ok(!page.text.includes('sesame') && !page.text.includes(host), page.text);
    const file = await fetched(`http://${front}${listedIn(page.text)}`);
    assert.equal(file.text, 'a wheel');
    const part = await fetched(`http://${front}${listedIn(page.text)}`, { range: 'bytes=2-' });
    assert.deepEqual([part.status, part.text], [206, 'wheel']);
    const login = `Basic ${Buffer.from('me:sesame').toString('base64')}`;
    assert.deepEqual(seen, [
      { path: '/simple/x-y/', login },
      { path: '/files/x-1.whl', login },
    ]);
    const old = await fetched(`http://${front}/index/0/x-y/`, { accept: 'text/html' });
    assert.match(old.text, /<a href="\/file\/[^"]*#sha256=[0-9a-f]{64}">x-1\.whl<\/a>/);
  });

  it('show a login to no other host, though the index leads there', async () => {
    const other = await index([], { '/f.whl': Buffer.from('x') });
    const { host, seen, leadAwayTo } = await index([
      { filename: 'f.whl', url: '/away/f.whl', hashes: {} },
      { filename: 'g.whl', url: `http://${other.host}/f.whl`, hashes: {} },
    ]);
    leadAwayTo(other.host);
    const front = await through(relayTo(`http://me:sesame@${host}/simple`).relay);
    const { text } = await fetched(`http://${front}/index/0/x/`, json);
    const files = (JSON.parse(text) as { files: { url: string }[] }).files;
    for (const { url } of files) assert.equal((await fetched(`http://${front}${url}`)).text, 'x');
    assert.ok(seen.every(({ login }) => login !== undefined));
    assert.deepEqual(
      other.seen.map(({ login }) => login),
      [undefined, undefined],
    );
    assert.match(said.join('\n'), /publishes no SHA-256 for f\.whl/);
  });

  it('are refused when they do not have the digest that the index publishes', async () => {
    const { host } = await index(
      [{ filename: 'x.whl', url: '/x.whl', hashes: { sha256: sha256('good') } }],
      { '/x.whl': Buffer.from('evil') },
    );
    const front = await through(relayTo(`http://${host}/simple`).relay);
    const page = await fetched(`http://${front}/index/0/x/`, json);
    const file = await fetched(`http://${front}${listedIn(page.text)}`);
    assert.deepEqual([file.status, file.text], [410, '']);
    assert.match(said.join('\n'), /x\.whl: it has the digest .* but the index lists/);
    assert.deepEqual(await readdir(join(folder, 'images', 'downloads')), []);
  });

  it('are fetched again when what is kept was changed, which is said', async () => {
    const { downloads } = relayTo('http://127.0.0.1:9/simple');
    const { path, sha256: digest } = await downloads.keep(
      Readable.from([Buffer.from('good')]),
      sha256('good'),
      10,
    );
    assert.equal(await downloads.find(digest), path);
    await writeFile(path, 'evil');
    assert.equal(await downloads.find(digest), undefined);
    assert.match(said.join('\n'), /does not match its digest/);
    assert.deepEqual(await readdir(join(folder, 'images', 'downloads')), []);
    await assert.rejects(
      downloads.keep(Readable.from([Buffer.from('evil')]), digest, 10),
      WrongDigest,
    );
    await assert.rejects(downloads.keep(Readable.from([Buffer.alloc(11)]), undefined, 10), TooMuch);
    assert.deepEqual(await readdir(join(folder, 'images', 'downloads')), []);
  });

  it('are no more than a build may fetch', async () => {
    const { host } = await index([{ filename: 'x.whl', url: '/x.whl', hashes: {} }], {
      '/x.whl': Buffer.alloc(2000),
    });
    const front = await through(relayTo(`http://${host}/simple`, { limit: 1000 }).relay);
    const page = await fetched(`http://${front}/index/0/x/`, json);
    assert.equal((await fetched(`http://${front}${listedIn(page.text)}`)).status, 403);
    assert.match(said.join('\n'), /exceeds the download limit/);
  });

  it('are all that a relay gives: no other address, method or host', async () => {
    const { host, seen } = await index([]);
    const { relay } = relayTo(`http://${host}/simple`, { hosts: ['allowed.example'] });
    const front = await through(relay);
    for (const path of [
      '/',
      '/index/1/x/',
      '/index/0/../x/',
      '/index/0/x%2f..%2fy/',
      '/file/0/x',
    ]) {
      assert.equal((await fetched(`http://${front}${path}`)).status, 404, path);
    }
    const [name, port] = front.split(':');
    const ask = (method: string, path: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = request({ host: name, port, method, path, agent: false });
        sent
          .on('response', (response) => (response.resume(), resolve(response.statusCode ?? 0)))
          .on(
            'connect',
            (response, socket) => (socket.destroy(), resolve(response.statusCode ?? 0)),
          )
          .on('error', reject)
          .end();
      });
    assert.equal(await ask('POST', '/index/0/x/'), 405);
    assert.equal(await ask('GET', 'http://169.254.169.254/latest/meta-data/'), 403);
    assert.equal(await ask('CONNECT', 'evil.example:443'), 403);
    assert.equal(await ask('CONNECT', 'allowed.example:22'), 403);
    assert.deepEqual(
      [...relay.refused],
      ['169.254.169.254', 'evil.example:443', 'allowed.example:22'],
    );
    assert.deepEqual(seen, []);
  });

  it('are read from pages of HTML as from those of JSON', () => {
    const digest = sha256('x');
    const html = `<!DOCTYPE html><html><head><base href="https://files.example/a/"></head><body>
      <a href="../x-1.tar.gz#sha256=${digest}" data-requires-python="&gt;=3.6" data-yanked="">x-1.tar.gz</a>
      <a href='y.whl' data-core-metadata='sha256=${digest}'>y.whl</a>
      <a href="javascript:alert(1)">z.whl</a><a href="w.whl">../../w.whl</a></body></html>`;
    const files = readIndexPage(html, 'text/html', 'https://index.example/simple/x/');
    assert.deepEqual(
      files.map(({ filename, url }) => [filename, url]),
      [
        ['x-1.tar.gz', 'https://files.example/x-1.tar.gz'],
        ['y.whl', 'https://files.example/a/y.whl'],
      ],
    );
    assert.deepEqual(
      [files[0]?.sha256, files[0]?.requiresPython, files[0]?.yanked, files[1]?.metadata],
      [digest, '>=3.6', true, { sha256: digest }],
    );
  });

  it('are fetched through the proxies of the user’s environment', async () => {
    const { proxies } = indexSettings(
      { HTTPS_PROXY: 'http://proxy.example:3128', no_proxy: 'localhost,.corp.example:8443' },
      undefined,
    );
    const proxy = (url: string): string | undefined => proxyFor(new URL(url), { proxies })?.host;
    assert.equal(proxy('https://pypi.org/simple'), 'proxy.example:3128');
    assert.equal(proxy('http://pypi.org/simple'), undefined);
    assert.equal(proxy('https://localhost/'), undefined);
    assert.equal(proxy('https://a.corp.example:8443/'), undefined);
    assert.equal(proxy('https://a.corp.example/'), 'proxy.example:3128');
    const seen: string[] = [];
    const server = createServer(({ url, headers }, response) => {
      seen.push(`${url} ${headers['proxy-authorization']}`);
      response.setHeader('content-type', 'text/html');
      response.end('<a href="x.whl">x.whl</a>');
    });
    const host = await listen(server);
    const env = { http_proxy: `http://p:w@${host}` };
    const front = await through(relayTo('http://index.example/simple', { env }).relay);
    assert.equal((await fetched(`http://${front}/index/0/x/`, json)).status, 200);
    assert.deepEqual(seen, [
      `http://index.example/simple/x/ Basic ${Buffer.from('p:w').toString('base64')}`,
    ]);
  });

  it('reach a container over the standard input and output of a program there', async () => {
    const child = spawn('python3', ['-I', '-S', '-c', pythonText('tunnel.py')]);
    closing.push(() => child.kill('SIGKILL'));
    // Data written after the program has closed are lost.
    child.stdin.on('error', () => undefined);
    const program: AttachedProgram = {
      output: child.stdout,
      write: (data, done) => void child.stdin.write(data, () => done()),
      complaint: () => '',
      close: () => child.kill('SIGKILL'),
    };
    const big = Buffer.alloc(3 << 20, 'abcdefghij');
    const { host } = await index(
      [{ filename: 'big.whl', url: '/big.whl', hashes: { sha256: sha256(big) } }],
      { '/big.whl': big },
    );
    const { relay } = relayTo(`http://${host}/simple`, { limit: 1e8 });
    const tunnel = await openTunnel(program, (connection) => relay.serve(connection));
    const root = `http://127.0.0.1:${tunnel.port}`;
    const page = await fetched(`${root}/index/0/x/`, json);
    const url = root + listedIn(page.text);
    // A client that does not read its answer must not block the others.
    const lazy = get(url, { agent: false }, (response) => response.pause());
    lazy.on('error', () => undefined);
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetched(url)));
    for (const { text } of answers) assert.equal(sha256(text), sha256(big));
    lazy.destroy();
    tunnel.close();
  });

  describe('and uv', () => {
    const filename = 'uv-0.9.30-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl';
    const program = Buffer.from('#!/bin/sh\necho uv\n');
    const wheel = wheelWith('uv-0.9.30.data/scripts/uv', program);

    const files = (sha: string) => [{ filename, url: `/${filename}`, hashes: { sha256: sha } }];

    it('is the newest wheel for the machine that was not taken back', () => {
      const file = (version: string, platform: string, yanked = false) => ({
        filename: `uv-${version}-py3-none-${platform}.whl`,
        ...{ url: 'https://x/', sha256: undefined, requiresPython: undefined, metadata: false },
        ...{ uploadTime: undefined, size: undefined, yanked },
      });
      const found = newestUv(
        [
          file('0.9.9', 'manylinux_2_17_x86_64.manylinux2014_x86_64'),
          file('0.10.2', 'manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64'),
          file('0.10.1', 'manylinux_2_17_x86_64.manylinux2014_x86_64'),
          file('0.11.0', 'manylinux_2_17_x86_64.manylinux2014_x86_64', true),
          file('0.12.0', 'win_amd64'),
          file('0.12.0rc1', 'manylinux_2_17_x86_64.manylinux2014_x86_64'),
        ],
        'x86_64',
      );
      assert.match(found?.filename ?? '', /^uv-0\.10\.1-/);
    });

    it('comes with the digest that the index publishes, and is compared each time', async () => {
      const { host, seen } = await index(files(sha256(wheel)), { [`/${filename}`]: wheel });
      const { settings, client, downloads } = relayTo(`http://${host}/simple`);
      const asked = { storage: folder, machine: 'x86_64', settings, client, downloads, say };
      const first = await uvProgram(asked);
      assert.deepEqual(first.content, program);
      assert.equal(first.version, '0.9.30');
      const before = seen.length;
      assert.deepEqual(await uvProgram(asked), first);
      assert.equal(seen.length, before, 'what is kept needs no index');
      await writeFile(join(folder, 'images', 'programs', first.digest), 'evil');
      assert.deepEqual(await uvProgram(asked), first);
      assert.match(said.join('\n'), /the cached uv in .* downloading it again/);
      const kept = await readFile(join(folder, 'images', 'programs', first.digest));
      assert.deepEqual(kept, program);
    });

    it('is not taken from a record that names another file', async () => {
      const { host } = await index(files(sha256(wheel)), { [`/${filename}`]: wheel });
      const { settings, client, downloads } = relayTo(`http://${host}/simple`);
      const programs = join(folder, 'images', 'programs');
      await mkdir(programs, { recursive: true });
      await writeFile(join(programs, 'evil'), 'evil');
      const record = { version: '9', wheel: 'x', wheelDigest: 'x', digest: '../programs/evil' };
      await writeFile(join(programs, 'uv-x86_64.json'), JSON.stringify(record));
      const asked = { storage: folder, machine: 'x86_64', settings, client, downloads, say };
      assert.deepEqual((await uvProgram(asked)).content, program);
    });

    it('is refused with another digest, and says what to do', async () => {
      const { host } = await index(files(sha256('other')), { [`/${filename}`]: wheel });
      const { settings, client, downloads } = relayTo(`http://a:sesame@${host}/simple`);
      const asked = { storage: folder, machine: 'x86_64', settings, client, downloads, say };
      await assert.rejects(uvProgram(asked), (error) => {
        assert.ok(error instanceof HumanError);
        assert.match(error.message, /Could not get uv.*the index lists.*PIP_INDEX_URL/);
        assert.ok(!error.message.includes('sesame'));
        return true;
      });
    });
  });
});
