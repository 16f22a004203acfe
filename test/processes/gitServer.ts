import { execFileSync, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';

/** Serves the repositories below a folder over http, with git's own back end. */
export interface GitServer {
  readonly address: string;
  /** Number of requests for objects so far. */
  fetches(): number;
  /** Answers the next requests only with these statuses. */
  refuse(...statuses: readonly number[]): void;
  close(): Promise<void>;
}

/** Undefined where git is installed without its http back end. */
export async function gitServer(folder: string): Promise<GitServer | undefined> {
  const programs = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  let fetches = 0;
  const refusals: number[] = [];
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const refusal = refusals.shift();
    if (refusal !== undefined) {
      response.writeHead(refusal).end();
      return;
    }
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const backEnd = spawn(join(programs, 'git-http-backend'), {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: request.method,
        PATH_INFO: path,
        QUERY_STRING: query,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REMOTE_ADDR: '127.0.0.1',
      },
    });
    // For a missing repository it answers without reading the request.
    backEnd.stdin.on('error', () => undefined);
    const asked: Buffer[] = [];
    request.on('data', (chunk: Buffer) => asked.push(chunk));
    request.on('end', () => {
      if (request.method === 'POST' && !Buffer.concat(asked).includes('ls-refs')) fetches += 1;
      backEnd.stdin.end(Buffer.concat(asked));
    });
    const answer: Buffer[] = [];
    backEnd.stdout.on('data', (chunk: Buffer) => answer.push(chunk));
    backEnd.on('close', () => {
      const whole = Buffer.concat(answer);
      const end = whole.indexOf('\r\n\r\n');
      for (const line of whole.subarray(0, end).toString().split('\r\n')) {
        const [name = '', value = ''] = line.split(/: (.*)/);
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.end(whole.subarray(end + 4));
    });
  };
  try {
    execFileSync(join(programs, 'git-http-backend'), { stdio: 'ignore', env: {} });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  }
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    address: `http://127.0.0.1:${port}`,
    fetches: () => fetches,
    refuse: (...statuses) => void refusals.push(...statuses),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
