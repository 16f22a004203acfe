import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { retryingMemoOf, messageOf } from '../../domain/work';
import { sha256 } from '../../files/digest';
import { TooMuch, WrongDigest, type Downloads } from './downloads';
import { hostOf, IndexTrouble, type IndexClient } from './indexClient';
import { pageTypes, readIndexPage, writeIndexPage, type IndexFile } from './indexPages';
import type { IndexSettings, PackageIndex } from './indexSettings';

interface RelayOptions {
  readonly settings: IndexSettings;
  readonly client: IndexClient;
  readonly downloads: Downloads;
  /** Bytes that a build may fetch. */
  readonly limit: number;
  /** Hosts other than indexes that a build may connect to, at port 443 and without a login. */
  readonly hosts: readonly string[];
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The user's package indexes as a build sees them. This server in our process has the logins,
 * fetches each file and compares it with the digest that the index publishes. A build without a
 * network talks to it. It serves pages of projects and their files, and nothing else.
 */
interface IndexRelay {
  /** Serves a connection that a build made. */
  serve(connection: Duplex): void;
  /**
   * The environment that makes uv and pip use the relay, when it listens at this port of the
   * container.
   */
  environment(port: number): Record<string, string>;
  /** Hosts that a build asked for and did not get. */
  readonly refused: ReadonlySet<string>;
  close(): void;
}

/** Bytes of a page or of metadata; the largest page of PyPI has some 10 MB. */
const pageLimit = 64 << 20;
const metadataLimit = 16 << 20;
/** Requests of one build: more than any set of requirements needs. */
const requestLimit = 20_000;

interface Listed {
  readonly index: PackageIndex;
  readonly file: IndexFile;
}

interface Fetched {
  readonly status: number;
  readonly path?: string;
}

export const openIndexRelay = (options: RelayOptions): IndexRelay => new RelayServer(options);

class RelayServer implements IndexRelay {
  readonly refused = new Set<string>();
  private readonly indexes: readonly PackageIndex[];
  private readonly pages = new Map<string, Promise<readonly IndexFile[] | number>>();
  private readonly listed = new Map<string, Listed>();
  private readonly fetching = new Map<string, Promise<Fetched>>();
  private readonly connections = new Set<Duplex>();
  private readonly temporary = new Set<string>();
  private readonly told = new Set<string>();
  private readonly server: Server;
  private bytesLeft: number;
  private requests = 0;

  constructor(private readonly options: RelayOptions) {
    const { settings, limit } = options;
    this.indexes = [settings.usual, ...settings.others];
    this.bytesLeft = limit;
    this.server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      this.answer(request, response).catch((error: unknown) => this.fail(error, request, response));
    });
    this.server.on('connect', (request: IncomingMessage, client: Duplex) =>
      this.connectThrough(request.url ?? '', client),
    );
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  serve(connection: Duplex): void {
    this.connections.add(connection);
    connection.once('close', () => this.connections.delete(connection));
    connection.on('error', () => connection.destroy());
    this.server.emit('connection', connection);
  }

  environment(port: number): Record<string, string> {
    const root = `http://127.0.0.1:${port}`;
    const others = this.options.settings.others.map((_, at) => `${root}/index/${at + 1}/`);
    const usual = `${root}/index/0/`;
    return {
      UV_DEFAULT_INDEX: usual,
      ...(others.length === 0 ? {} : { UV_INDEX: others.join(' ') }),
      PIP_INDEX_URL: usual,
      ...(others.length === 0 ? {} : { PIP_EXTRA_INDEX_URL: others.join(' ') }),
      // As a proxy, the relay refuses all other addresses at once, so that programs do not wait for
      // them.
      http_proxy: root,
      https_proxy: root,
      no_proxy: '127.0.0.1,localhost',
    };
  }

  close(): void {
    for (const each of this.connections) each.destroy();
    this.server.close();
    for (const path of this.temporary) void rm(path, { force: true });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405);
    const path = request.url ?? '';
    const asked = /^\/index\/(\d{1,3})\/([a-z0-9](?:[a-z0-9._-]{0,200}))\/?$/i.exec(path);
    if (asked !== null) {
      const [, number = '', name = ''] = asked;
      const normalised = name.toLowerCase().replace(/[-_.]+/g, '-');
      return this.sendPage(Number(number), normalised, request, response);
    }
    const file = /^\/file\/([0-9a-f]{24})\/([^/?#]+)$/.exec(path);
    if (file !== null) {
      const [, token = '', name = ''] = file;
      return this.sendListed(token, decodedName(name), request, response);
    }
    const host = /^https?:\/\/([^/?#]*)/i.exec(path)?.[1];
    if (host !== undefined) {
      this.refuse(host.replace(/^.*@/, ''));
      return end(response, 403, 'builds can reach only the package index');
    }
    end(response, 404);
  }

  private fail(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    const isTooMuch = error instanceof TooMuch;
    const isTrouble = error instanceof IndexTrouble;
    const isOurs = isTrouble || isTooMuch || error instanceof WrongDigest;
    const what = isTooMuch ? 'it exceeds the download limit' : messageOf(error);
    if (this.options.signal?.aborted !== true && (isOurs || !response.headersSent)) {
      this.sayOnce(`the package index: ${request.url?.split('/').at(-1) ?? ''}: ${what}`);
    }
    if (response.headersSent) response.destroy();
    // Clients retry only 502; the other answers would not change.
    else end(response, isTrouble ? 502 : isTooMuch ? 403 : 410);
  }

  private async sendPage(
    number: number,
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const index = this.indexes[number];
    if (index === undefined) return end(response, 404);
    const key = `${number}/${name}`;
    if (!this.pages.has(key)) {
      this.requests += 1;
      if (this.requests > requestLimit)
        return end(response, 429, 'too many requests from one build');
    }
    const files = await retryingMemoOf(this.pages, key, () => this.pageOf(index, name));
    if (typeof files === 'number') return end(response, files >= 400 ? files : 502);
    const placeOf = (file: IndexFile): string => {
      const token = sha256(`${key} ${file.url}`).slice(0, 24);
      this.listed.set(token, { index, file });
      return `/file/${token}/${file.filename}`;
    };
    const isJson = /simple\.v1\+json/.test(request.headers.accept ?? '');
    const { type, text } = writeIndexPage(name, files, placeOf, isJson);
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
    response.end(request.method === 'HEAD' ? undefined : text);
  }

  /** The files of a project, or the status of the answer when the index lists none. */
  private async pageOf(index: PackageIndex, name: string): Promise<readonly IndexFile[] | number> {
    const { client, signal } = this.options;
    const answer = await client.get(`${index.url}/${name}/`, index, { accept: pageTypes, signal });
    const { status } = answer;
    if (status === 200) {
      return readIndexPage(await textOf(answer.body, pageLimit), answer.type, answer.url);
    }
    answer.body.resume();
    if (status === 401 || status === 403) {
      this.sayOnce(
        `the package index at ${hostOf(index.url)} responded with status ${status} for ${name}; check its login`,
      );
    }
    return status;
  }

  private async sendListed(
    token: string,
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const found = this.listed.get(token);
    if (found === undefined) return end(response, 404);
    const { filename, metadata } = found.file;
    const part = name === filename ? '' : name === `${filename}.metadata` ? '.metadata' : undefined;
    if (part === undefined || (part !== '' && metadata === false)) return end(response, 404);
    const { status, path } = await retryingMemoOf(this.fetching, token + part, () =>
      this.fetchFile(found, part),
    );
    if (path === undefined) return end(response, status >= 400 ? status : 502);
    await sendFile(path, request, response);
  }

  private async fetchFile({ index, file }: Listed, part: '' | '.metadata'): Promise<Fetched> {
    const { client, downloads, signal } = this.options;
    const { metadata } = file;
    const ofMetadata = typeof metadata === 'object' ? metadata.sha256 : undefined;
    const published = part === '' ? file.sha256 : ofMetadata;
    if (published !== undefined) {
      const kept = await downloads.find(published);
      if (kept !== undefined) return { status: 200, path: kept };
    } else if (part === '') {
      this.sayOnce(
        `${hostOf(file.url)} publishes no SHA-256 for ${file.filename}, so it is not cached`,
      );
    }
    const limit = Math.min(this.bytesLeft, part === '' ? Number.POSITIVE_INFINITY : metadataLimit);
    const { status, body } = await client.get(`${file.url}${part}`, index, { signal });
    if (status !== 200) {
      body.resume();
      return { status };
    }
    const kept = await downloads.keep(body, published, limit);
    this.bytesLeft -= kept.bytes;
    if (published === undefined) this.temporary.add(kept.path);
    return { status: 200, path: kept.path };
  }

  /** @param address host and port */
  private connectThrough(address: string, client: Duplex): void {
    const [, host = '', port = ''] = /^([A-Za-z0-9.-]+):(\d+)$/.exec(address) ?? [];
    if (!this.options.hosts.includes(host.toLowerCase()) || port !== '443') {
      this.refuse(address);
      client.end(
        'HTTP/1.1 403 Builds can reach only the package index\r\ncontent-length: 0\r\n\r\n',
      );
      return;
    }
    this.options.client.connect(host, 443).then(
      (upstream) => {
        client.write('HTTP/1.1 200 Connected\r\n\r\n');
        for (const each of [client, upstream]) this.connections.add(each);
        pipeline(client, upstream, client).catch(() => undefined);
      },
      () => client.end('HTTP/1.1 502 Not reached\r\ncontent-length: 0\r\n\r\n'),
    );
  }

  private refuse(host: string): void {
    const plain = host.replace(/[^\w.:[\]-]/g, '').slice(0, 200);
    if (this.refused.has(plain) || this.refused.size > 100) return;
    this.refused.add(plain);
    this.options.say(`refused: the build requested ${plain}, which is not a package index`);
  }

  private sayOnce(line: string): void {
    if (this.told.has(line) || this.told.size > 200) return;
    this.told.add(line);
    this.options.say(line);
  }
}

/** Answers with a file, or the range of it that is asked for. */
async function sendFile(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { size } = await stat(path);
  const range = rangeOf(request.headers.range, size);
  if (range === 'none') {
    response.writeHead(416, { 'content-range': `bytes */${size}`, 'content-length': 0 });
    response.end();
    return;
  }
  const [from, to] = range ?? [0, size - 1];
  response.writeHead(range === undefined ? 200 : 206, {
    'content-type': 'application/octet-stream',
    'content-length': to - from + 1,
    'accept-ranges': 'bytes',
    ...(range === undefined ? {} : { 'content-range': `bytes ${from}-${to}/${size}` }),
  });
  if (request.method === 'HEAD' || size === 0) return void response.end();
  await pipeline(createReadStream(path, { start: from, end: to }), response);
}

function end(response: ServerResponse, status: number, text = ''): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

async function textOf(body: AsyncIterable<unknown>, limit: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += (piece as Buffer).length;
    if (bytes > limit) throw new IndexTrouble('its page is too large');
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/**
 * First and last byte of a range; undefined for the whole file, `none` for a range outside of it.
 * RFC 9110, 14.
 */
function rangeOf(header: string | undefined, size: number): [number, number] | 'none' | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (found === null) return undefined;
  const [, first = '', last = ''] = found;
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return from > to || from >= size ? 'none' : [from, to];
}
