import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A fault of the server, applied once to the next request for a file. */
export type Fault =
  | { readonly kind: 'none' }
  | { readonly kind: 'break'; readonly after: number }
  /** Sends this many bytes and then nothing more, on an open connection. */
  | { readonly kind: 'stall'; readonly after: number }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'html' }
  /** Sends this many bytes as if that were all, without announcing a length. */
  | { readonly kind: 'unannounced'; readonly after: number }
  /** Announces more bytes than it sends. */
  | { readonly kind: 'short' }
  /** Ignores If-Range: sends the rest of the current file, whatever was requested. */
  | { readonly kind: 'anyRange' }
  /** Answers a range with a shorter one, as a server may. */
  | { readonly kind: 'shortRange'; readonly bytes: number }
  /** Sends other bytes of the same number. */
  | { readonly kind: 'damaged' };

/**
 * Files over HTTP with ETags and ranges, as plain addresses below `/files/` and as a dataset of the
 * Hugging Face hub: `/api/datasets/<owner>/<name>/tree/<revision>` and `/datasets/…/resolve/…`.
 */
export class HubServer {
  /** Method, path and range of every request. */
  readonly requests: string[] = [];
  readonly faults: Fault[] = [];
  readonly files = new Map<string, Buffer>();
  /** The token without which the dataset is not visible. */
  token: string | undefined;
  dataset = 'octo/cats';
  /** Delays each file until it resolves. */
  gate: () => Promise<void> = () => Promise.resolve();
  /**
   * Resolves when the client has stored this many bytes of a file. Only then is a connection cut:
   * bytes still on their way inside the client could be lost with it, or not.
   */
  arrived: (bytes: number) => Promise<void> = () => Promise.resolve();
  private readonly server = createServer((request, response) => {
    void this.answer(request, response);
  });

  async start(): Promise<this> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.url);
    const range = request.headers.range;
    this.requests.push(
      `${request.method} ${pathname}${range === undefined ? '' : ` ${range}`}` +
        (request.headers['if-none-match'] === undefined ? '' : ' if-none-match'),
    );
    if (this.token !== undefined && request.headers.authorization !== `Bearer ${this.token}`) {
      response.writeHead(401).end();
      return;
    }
    const api = `/api/datasets/${this.dataset}/tree/main`;
    if (pathname === api) {
      // Two pages, as the hub lists large datasets.
      const page = new URL(request.url ?? '/', this.url).searchParams.get('cursor');
      const all = [...this.files].map(([path, content]) => ({
        type: 'file',
        path,
        size: content.length,
        oid: createHash('sha1').update(content).digest('hex'),
        ...(path.endsWith('.parquet')
          ? {
              lfs: {
                oid: createHash('sha256').update(content).digest('hex'),
                size: content.length,
                pointerSize: 130,
              },
            }
          : {}),
      }));
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (page === null && all.length > 1) {
        headers['link'] = `<${this.url}${api}?recursive=true&cursor=2>; rel="next"`;
      }
      const part = page !== null ? all.slice(1) : all.length > 1 ? all.slice(0, 1) : all;
      response.writeHead(200, headers).end(JSON.stringify(part));
      return;
    }
    const name = decodeURIComponent(
      pathname.replace(`/datasets/${this.dataset}/resolve/main/`, '').replace('/files/', ''),
    );
    const content = this.files.get(name);
    if (content === undefined) {
      response.writeHead(404).end();
      return;
    }
    await this.gate();
    this.send(request, response, content);
  }

  private send(request: IncomingMessage, response: ServerResponse, content: Buffer): void {
    const etag = `"${createHash('sha256').update(content).digest('hex').slice(0, 20)}"`;
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    const fault = this.faults.shift();
    if (fault?.kind === 'status') {
      response.writeHead(fault.status).end();
      return;
    }
    if (fault?.kind === 'html') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
      return;
    }
    const match = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const holds = request.headers['if-range'] === etag || fault?.kind === 'anyRange';
    const start = match !== null && holds ? Number(match[1]) : 0;
    if (start > 0 && start >= content.length) {
      response.writeHead(416).end();
      return;
    }
    const end = fault?.kind === 'shortRange' ? start + fault.bytes : content.length;
    const part = content.subarray(start, end);
    if (fault?.kind === 'unannounced') {
      response.writeHead(200, { etag });
      response.write(part.subarray(0, fault.after));
      response.end();
      return;
    }
    response.writeHead(start > 0 ? 206 : 200, {
      etag,
      'content-length': String(part.length + (fault?.kind === 'short' ? 10 : 0)),
      ...(start > 0
        ? { 'content-range': `bytes ${start}-${start + part.length - 1}/${content.length}` }
        : {}),
    });
    const cutAfter = (bytes: number): void => {
      response.write(part.subarray(0, bytes), () => {
        void this.arrived(start + Math.min(bytes, part.length)).finally(() => response.destroy());
      });
    };
    if (fault?.kind === 'break') cutAfter(fault.after);
    else if (fault?.kind === 'short') cutAfter(part.length);
    else if (fault?.kind === 'stall') {
      response.write(part.subarray(0, fault.after));
    } else {
      response.end(fault?.kind === 'damaged' ? Buffer.alloc(part.length, 0x20) : part);
    }
  }
}
