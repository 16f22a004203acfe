import assert from 'node:assert/strict';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import { Cancelled, HumanError } from '../../../../src/domain/work';
import { pushImage } from '../../../../src/engine/docker/images/pushImage';

const name = 'reg.example:5000/tests/sweb.eval.x86_64.octo_1776_cat-1:latest';

/** Answers of a made-up engine: `METHOD /path` to what it does. */
type Answers = Readonly<
  Record<string, (response: ServerResponse, request: IncomingMessage) => void>
>;

const lines = (...values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\r\n`).join('');

describe('pushing an image', () => {
  let folder = '';
  let server: Server;
  let docker: Dockerode;
  let answers: Answers;
  let asked: { readonly what: string; readonly query: URLSearchParams; readonly login: unknown }[];
  const said: string[] = [];
  const reporter = {
    log: (line: string) => void said.push(line),
    progress: (line: string) => void said.push(line),
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-push-'));
    server = createServer((request, response) => {
      const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://engine');
      const { 'x-registry-auth': auth } = request.headers;
      const login: unknown =
        typeof auth === 'string' ? JSON.parse(Buffer.from(auth, 'base64').toString()) : undefined;
      const what = `${request.method} ${decodeURIComponent(pathname)}`;
      asked.push({ what, query, login });
      const answer = Object.entries(answers).find(([key]) => what.startsWith(key))?.[1];
      request.resume().on('end', () => {
        if (answer === undefined) response.writeHead(201).end();
        else answer(response, request);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    docker = new Dockerode({ protocol: 'http', host: '127.0.0.1', port });
  });
  beforeEach(() => {
    answers = {};
    asked = [];
    said.length = 0;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });

  const push = (more: { readonly signal?: AbortSignal } = {}): Promise<void> => {
    const place = { env: { DOCKER_CONFIG: folder }, home: folder };
    const connection = { docker, address: 'http://engine' };
    return pushImage(connection, { image: 'sha256:1', name }, { reporter, ...more }, place);
  };
  const pushing = (...events: readonly object[]): Answers => ({
    'POST /images/reg': (response) => response.end(lines(...events)),
  });
  const whats = (): string[] => asked.map(({ what }) => what);

  it('names it, sends its layers, and forgets the name', async () => {
    answers = pushing(
      { status: 'The push refers to repository [reg.example:5000/tests/x]' },
      { status: 'Preparing', id: 'one' },
      { status: 'Waiting', id: 'two' },
      { status: 'Layer already exists', id: 'one' },
      { status: 'Pushing', id: 'two', progressDetail: { current: 1, total: 2 } },
      { status: 'Pushed', id: 'two' },
      { status: 'latest: digest: sha256:ab size: 528' },
    );
    await push();
    assert.equal(whats()[0], 'POST /images/sha256:1/tag');
    assert.equal(
      asked[0]?.query.get('repo'),
      'reg.example:5000/tests/sweb.eval.x86_64.octo_1776_cat-1',
    );
    assert.equal(asked[0]?.query.get('tag'), 'latest');
    assert.equal(whats()[1], `POST /images/${name}/push`);
    assert.equal(whats()[2], `DELETE /images/${name}`);
    assert.deepEqual(
      said.map((line) => line.replace(`Pushing ${name}: `, '')),
      ['0 of 1 layer', '0 of 2 layers', '1 of 2 layers', '1 of 2 layers', '2 of 2 layers'],
    );
  });

  it('shows the registry the login of `docker login`, and an empty one where there is none', async () => {
    answers = pushing();
    await push();
    assert.deepEqual(asked[1]?.login, {});
    await mkdir(folder, { recursive: true });
    const auth = Buffer.from('tester:secret').toString('base64');
    const config = join(folder, 'config.json');
    await writeFile(config, JSON.stringify({ auths: { 'reg.example:5000': { auth } } }));
    asked = [];
    try {
      await push();
    } finally {
      await rm(config);
    }
    assert.deepEqual(asked[1]?.login, {
      ...{ username: 'tester', password: 'secret', serveraddress: 'reg.example:5000' },
    });
  });

  for (const [what, text, message, advice] of [
    [
      'a registry that wants a login',
      'unauthorized: authentication required',
      /The registry reg\.example:5000 rejected .*cat-1/,
      /docker login reg\.example:5000/,
    ],
    [
      'a place that the login may not write to',
      'denied: requested access to the resource is denied',
      /rejected/,
      /--registry/,
    ],
    [
      'a registry without certificates',
      'Get "https://reg.example:5000/v2/": http: server gave HTTP response to HTTPS client',
      /does not trust the registry reg\.example:5000/,
      /insecure-registries/,
    ],
    [
      'a registry that is away',
      'Get "https://reg.example:5000/v2/": dial tcp 10.0.0.1:5000: connect: connection refused',
      /cannot be reached to push/,
      /uploaded layers are not sent again/,
    ],
    ['anything else', 'a blob is broken', /a blob is broken/, /./],
  ] as const) {
    it(`says what to do about ${what}, and forgets the name`, async () => {
      // Docker says it in the stream, after the status of success.
      answers = pushing(
        { status: 'Preparing', id: 'one' },
        { errorDetail: { message: text }, error: text },
      );
      const error = await push().then(
        () => assert.fail('it was pushed'),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof HumanError, String(error));
      assert.match(error.message, message);
      assert.match(error.next ?? '', advice);
      assert.equal(whats().at(-1), `DELETE /images/${name}`);
    });
  }

  it('names an image that the engine has not, and forgets no name', async () => {
    answers = {
      'POST /images/sha256:1/tag': (response) =>
        response
          .writeHead(404, { 'content-type': 'application/json' })
          .end('{"message":"No such image: sha256:1"}'),
    };
    await assert.rejects(push(), /No such image: sha256:1/);
    assert.deepEqual(whats(), ['POST /images/sha256:1/tag']);
  });

  it('is a failure when the connection breaks in the middle of a layer', async () => {
    answers = {
      'POST /images/reg': (response) => {
        response.write(lines({ status: 'Preparing', id: 'one' }));
        response.write('{"status":"Push', () => response.destroy());
      },
    };
    await assert.rejects(push(), HumanError);
    assert.equal(whats().at(-1), `DELETE /images/${name}`);
  });

  it('can be cancelled, which is no failure', async () => {
    const controller = new AbortController();
    answers = {
      'POST /images/reg': (response) => {
        response.write(lines({ status: 'Preparing', id: 'one' }), () => controller.abort());
      },
    };
    await assert.rejects(push({ signal: controller.signal }), Cancelled);
    assert.equal(whats().at(-1), `DELETE /images/${name}`);
  });
});
