import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A package index for tests that requires a login. It forwards requests for other packages to PyPI.
 */
export interface PackageIndex {
  /** The address, including the login. */
  readonly url: string;
  readonly host: string;
  /** Names of requested projects, in order. */
  readonly asked: readonly string[];
  /** Requests that arrived without the login. */
  readonly strangers: readonly string[];
  close(): Promise<void>;
}

/** A release of a project that only this index has. */
export interface Release {
  readonly name: string;
  readonly filename: string;
  readonly content: Buffer;
  /** Digest in the index, if it differs from the real one. */
  readonly sha256?: string;
}

/**
 * @param host address that it listens on
 * @param login `user:password`
 */
export async function servePackages(
  host: string,
  login: string,
  releases: readonly Release[],
): Promise<PackageIndex> {
  const asked: string[] = [];
  const strangers: string[] = [];
  const wanted = `Basic ${Buffer.from(login).toString('base64')}`;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    if (request.headers.authorization !== wanted) {
      strangers.push(`${request.method} ${path}`);
      response.writeHead(401, { 'www-authenticate': 'Basic realm="packages"' }).end();
      return;
    }
    const file = releases.find(({ filename }) => path === `/files/${filename}`);
    if (file !== undefined) return void response.end(file.content);
    const name = /^\/simple\/([^/]+)\/$/.exec(path)?.[1] ?? '';
    asked.push(name);
    const own = releases.filter((each) => each.name === name);
    if (own.length > 0) {
      const files = own.map(({ filename, content, sha256 }) => ({
        filename,
        url: `/files/${filename}`,
        hashes: { sha256: sha256 ?? createHash('sha256').update(content).digest('hex') },
        'upload-time': '2018-01-01T00:00:00Z',
      }));
      response.setHeader('content-type', 'application/vnd.pypi.simple.v1+json');
      response.end(JSON.stringify({ meta: { 'api-version': '1.1' }, name, files }));
      return;
    }
    if (name === '' || name.startsWith('leak-')) return void response.writeHead(404).end();
    const accept = request.headers.accept ?? 'text/html';
    const theirs = await fetch(`https://pypi.org/simple/${name}/`, { headers: { accept } });
    response.writeHead(theirs.status, { 'content-type': theirs.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await theirs.arrayBuffer()));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${login}@${host}:${port}/simple/`,
    host: `${host}:${port}`,
    asked,
    strangers,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
