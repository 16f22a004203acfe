import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { retryingMemoOf } from '../../../../domain/retryingMemo';
import { sha256 } from '../../../../files/sha256';
import { messageOf } from '../../../../domain/problem';
import { TooMuch, WrongDigest, type Downloads } from './downloads';
import { hostOf, IndexTrouble, type IndexClient } from './indexClient';
import { pageTypes, readIndexPage, writeIndexPage, type IndexFile } from './indexPages';
import type { IndexSettings, PackageIndex } from './indexSettings';

export interface RelayOptions {
  readonly settings: IndexSettings;
  readonly client: IndexClient;
  readonly downloads: Downloads;
  /** Bytes that a build may have fetched. */
  readonly limit: number;
  /** Hosts, none of them an index, that connections may be made to: port 443, never with a login. */
  readonly hosts: readonly string[];
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The user's package indexes as a build sees them: a server in this process, which has the logins,
 * fetches what is asked for and compares it with the digest that the index publishes. A build without a
 * network talks to it; it gives out pages of projects and the files on them, and nothing else.
 */
export interface IndexRelay {
  /** Serves a connection that a build made. */
  serve(connection: Duplex): void;
  /** What sends uv and pip to it, when it answers at this port of the build's own machine. */
  environment(port: number): Record<string, string>;
  /** Hosts that were asked for and refused. */
  readonly refused: ReadonlySet<string>;
  close(): void;
}

/** Bytes of a page or of metadata; the largest page of PyPI has some 10 MB. */
const pageLimit = 64 << 20;
const metadataLimit = 16 << 20;
/** Pages that a build may ask for: more than any set of requirements has. */
const requestLimit = 20_000;

interface Listed {
  readonly index: PackageIndex;
  readonly file: IndexFile;
}

export function openIndexRelay(options: RelayOptions): IndexRelay {
  const { settings, client, downloads, hosts, say, signal } = options;
  const indexes = [settings.usual, ...settings.others];
  const pages = new Map<string, Promise<readonly IndexFile[] | number>>();
  const listed = new Map<string, Listed>();
  const fetching = new Map<string, Promise<Fetched>>();
  const refused = new Set<string>();
  const connections = new Set<Duplex>();
  const temporary = new Set<string>();
  let left = options.limit;
  let requests = 0;
  const told = new Set<string>();
  const once = (line: string): void => {
    if (told.has(line) || told.size > 200) return;
    told.add(line);
    say(line);
  };

  const pageOf = async (
    index: PackageIndex,
    name: string,
  ): Promise<readonly IndexFile[] | number> => {
    const answer = await client.get(`${index.url}/${name}/`, index, { accept: pageTypes, signal });
    if (answer.status !== 200) {
      answer.body.resume();
      if (answer.status === 401 || answer.status === 403) {
        once(
          `the package index at ${hostOf(index.url)} answers with status ${answer.status} for ${name}: see whether its login is right`,
        );
      }
      return answer.status;
    }
    const text = await textOf(answer.body, pageLimit);
    return readIndexPage(text, answer.type, answer.url);
  };

  const page = async (
    number: number,
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const index = indexes[number];
    if (index === undefined) return end(response, 404);
    const key = `${number}/${name}`;
    if (!pages.has(key)) {
      requests += 1;
      if (requests > requestLimit) return end(response, 429, 'too many requests of one build');
    }
    const files = await retryingMemoOf(pages, key, () => pageOf(index, name));
    if (typeof files === 'number') return end(response, files >= 400 ? files : 502);
    const placeOf = (file: IndexFile): string => {
      const token = sha256(`${key} ${file.url}`).slice(0, 24);
      listed.set(token, { index, file });
      return `/file/${token}/${file.filename}`;
    };
    const isJson = /simple\.v1\+json/.test(request.headers.accept ?? '');
    const { type, text } = writeIndexPage(name, files, placeOf, isJson);
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
    response.end(request.method === 'HEAD' ? undefined : text);
  };

  interface Fetched {
    readonly status: number;
    readonly path?: string;
  }

  const fetchFile = async ({ index, file }: Listed, part: '' | '.metadata'): Promise<Fetched> => {
    const published =
      part === ''
        ? file.sha256
        : typeof file.metadata === 'object'
          ? file.metadata.sha256
          : undefined;
    if (published !== undefined) {
      const kept = await downloads.find(published);
      if (kept !== undefined) return { status: 200, path: kept };
    } else if (part === '') {
      once(`${hostOf(file.url)} publishes no SHA-256 for ${file.filename}: it is not kept`);
    }
    const limit = Math.min(left, part === '' ? Number.POSITIVE_INFINITY : metadataLimit);
    const { status, body } = await client.get(`${file.url}${part}`, index, { signal });
    if (status !== 200) {
      body.resume();
      return { status };
    }
    const kept = await downloads.keep(body, published, limit);
    left -= kept.bytes;
    if (published === undefined) temporary.add(kept.path);
    return { status: 200, path: kept.path };
  };

  const send = async (
    token: string,
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const found = listed.get(token);
    if (found === undefined) return end(response, 404);
    const { filename, metadata } = found.file;
    const part = name === filename ? '' : name === `${filename}.metadata` ? '.metadata' : undefined;
    if (part === undefined || (part !== '' && metadata === false)) return end(response, 404);
    const key = token + part;
    const fetched = retryingMemoOf(fetching, key, () => fetchFile(found, part));
    const { status, path } = await fetched;
    if (path === undefined) return end(response, status >= 400 ? status : 502);
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
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405);
    const path = request.url ?? '';
    const asked = /^\/index\/(\d{1,3})\/([a-z0-9](?:[a-z0-9._-]{0,200}))\/?$/i.exec(path);
    if (asked !== null) {
      const [, number = '', name = ''] = asked;
      return page(Number(number), name.toLowerCase().replace(/[-_.]+/g, '-'), request, response);
    }
    const file = /^\/file\/([0-9a-f]{24})\/([^/?#]+)$/.exec(path);
    if (file !== null) {
      const [, token = '', name = ''] = file;
      return send(token, decodedName(name), request, response);
    }
    const host = /^https?:\/\/([^/?#]*)/i.exec(path)?.[1];
    if (host !== undefined) {
      note(host.replace(/^.*@/, ''));
      return end(response, 403, 'builds reach the package index alone');
    }
    end(response, 404);
  };

  const note = (host: string): void => {
    const plain = host.replace(/[^\w.:[\]-]/g, '').slice(0, 200);
    if (refused.has(plain) || refused.size > 100) return;
    refused.add(plain);
    say(`refused: the build asked for ${plain}, which is no package index`);
  };

  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      const isOurs =
        error instanceof IndexTrouble || error instanceof WrongDigest || error instanceof TooMuch;
      const what = error instanceof TooMuch ? 'it fetches more than is allowed' : messageOf(error);
      if (signal?.aborted !== true && (isOurs || !response.headersSent)) {
        once(`the package index: ${request.url?.split('/').at(-1) ?? ''}: ${what}`);
      }
      if (response.headersSent) response.destroy();
      // What does not get better is not asked for again.
      else
        end(response, error instanceof IndexTrouble ? 502 : error instanceof TooMuch ? 403 : 410);
    });
  });
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    const [, host = '', port = ''] = /^([A-Za-z0-9.-]+):(\d+)$/.exec(request.url ?? '') ?? [];
    if (!hosts.includes(host.toLowerCase()) || port !== '443') {
      note(request.url ?? '');
      client.end('HTTP/1.1 403 Builds reach the package index alone\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    options.client.connect(host, 443).then(
      (upstream) => {
        client.write('HTTP/1.1 200 Connected\r\n\r\n');
        for (const each of [client, upstream]) connections.add(each);
        pipeline(client, upstream, client).catch(() => undefined);
      },
      () => client.end('HTTP/1.1 502 Not reached\r\ncontent-length: 0\r\n\r\n'),
    );
  });
  server.on('clientError', (_error, socket) => socket.destroy());

  return {
    refused,
    serve(connection) {
      connections.add(connection);
      connection.once('close', () => connections.delete(connection));
      connection.on('error', () => connection.destroy());
      server.emit('connection', connection);
    },
    environment(port) {
      const root = `http://127.0.0.1:${port}`;
      const others = settings.others.map((_, at) => `${root}/index/${at + 1}/`);
      const usual = `${root}/index/0/`;
      return {
        UV_DEFAULT_INDEX: usual,
        ...(others.length === 0 ? {} : { UV_INDEX: others.join(' ') }),
        PIP_INDEX_URL: usual,
        ...(others.length === 0 ? {} : { PIP_EXTRA_INDEX_URL: others.join(' ') }),
        // What asks for anything else is told that it cannot be had, instead of waiting for it.
        http_proxy: root,
        https_proxy: root,
        no_proxy: '127.0.0.1,localhost',
      };
    },
    close() {
      for (const each of connections) each.destroy();
      server.close();
      for (const path of temporary) void rm(path, { force: true });
    },
  };
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
    if (bytes > limit) throw new IndexTrouble('its page is too long');
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** First and last byte of a range; undefined for the whole, `none` for what is not there. RFC 9110, 14. */
function rangeOf(header: string | undefined, size: number): [number, number] | 'none' | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (found === null) return undefined;
  const [, first = '', last = ''] = found;
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return from > to || from >= size ? 'none' : [from, to];
}
