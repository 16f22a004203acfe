import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as httpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as tlsServer } from 'node:tls';
import type { Duplex } from 'node:stream';
import { Cancelled, HumanError } from '../../src/domain/work';
import {
  connect,
  engineProblem,
  type ConnectOptions,
  type DockerConnection,
} from '../../src/engine/docker/connection/connect';
import { EngineGone } from '../../src/engine/docker/connection/engineProblem';
import type { DefaultPlace } from '../../src/engine/docker/connection/defaultPlaces';
import { needDocker, plainDocker } from './dockerForTests';
import { skipSuite, skipTest } from './skipping';
import {
  bridge,
  bridgeProgram,
  countIn,
  dockerSocket,
  makeCertificates,
  writeContext,
} from './waysToEngine';

describe('finding the engine', function () {
  let folder: string;
  const servers: Server[] = [];
  const connections: DockerConnection[] = [];

  before(async function () {
    await needDocker(this, ['3.9']);
    if (!existsSync(dockerSocket)) skipSuite(this, `the engine is not at ${dockerSocket}`);
    folder = await mkdtemp(join(tmpdir(), 'swt-connect-'));
  });
  afterEach(async () => {
    for (const connection of connections.splice(0)) await connection.close();
  });
  after(async () => {
    for (const server of servers) server.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  /** Connects as a user without any settings but the given ones. */
  const found = async (options: ConnectOptions = {}): Promise<DockerConnection> => {
    const { PATH } = process.env;
    const home = join(folder, 'home');
    const connection = await connect({ home, ...options, env: { PATH, ...options.env } });
    connections.push(connection);
    return connection;
  };

  const problemOf = async (options: ConnectOptions): Promise<HumanError> => {
    const error: unknown = await found(options).then(
      ({ address }) => assert.fail(`found ${address}`),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof HumanError, String(error));
    assert.ok(!error.message.includes('\n'));
    return error;
  };

  const socket = (name: string): DefaultPlace => ({
    address: { kind: 'socket', path: join(folder, name) },
    foundBy: `socket ${name}`,
  });

  /** A listening server, which is closed at the end. */
  const listening = async <S extends Server>(server: S, at: string | number): Promise<S> => {
    servers.push(server);
    server.listen(typeof at === 'number' ? { port: at, host: '127.0.0.1' } : { path: at });
    await once(server, 'listening');
    return server;
  };
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  it('finds the default socket, and what listens there', async () => {
    const connection = await found();
    const { Version } = await plainDocker.version();
    const { NCPU, MemTotal } = (await plainDocker.info()) as { NCPU: number; MemTotal: number };
    assert.equal(connection.foundBy, 'the default socket');
    assert.equal(connection.address, `unix://${dockerSocket}`);
    assert.equal(connection.product, 'docker');
    assert.equal(connection.version, Version);
    assert.equal(connection.processors, NCPU);
    assert.equal(connection.memoryBytes, MemTotal);
    assert.deepEqual(connection.missingLimits, []);
    assert.equal(connection.architecture, execFileSync('uname', ['-m']).toString().trim());
  });

  it('prefers the setting to DOCKER_HOST, that to the context, and that to the default sockets', async () => {
    const config = join(folder, 'order');
    await writeContext(config, 'elsewhere', { Host: 'unix:///nowhere/context.sock' });
    const options = { usual: [] as DefaultPlace[] };
    const context = { DOCKER_CONFIG: config, DOCKER_CONTEXT: 'elsewhere' };
    const all = { ...context, DOCKER_HOST: 'unix:///nowhere/host.sock' };
    const set = await found({ ...options, host: dockerSocket, env: all });
    assert.equal(set.foundBy, 'the setting');
    const host = await problemOf({ env: all });
    assert.match(
      host.what,
      /^The engine at unix:\/\/\/nowhere\/host\.sock \(DOCKER_HOST\) cannot be used: the socket does not exist$/,
    );
    const named = await problemOf({ env: context });
    assert.match(named.what, /context\.sock \(the context elsewhere \(DOCKER_CONTEXT\)\) cannot/);
    const usual = await found({ env: { ...context, DOCKER_CONTEXT: 'default' } });
    assert.equal(usual.foundBy, 'the default socket');
  });

  it('finds the current context, and says when there is none of that name', async () => {
    const config = join(folder, 'contexts');
    await writeContext(config, 'mine', { Host: `unix://${dockerSocket}` });
    await writeFile(join(config, 'config.json'), JSON.stringify({ currentContext: 'mine' }));
    const connection = await found({ env: { DOCKER_CONFIG: config } });
    assert.equal(connection.foundBy, 'the context mine');
    const error = await problemOf({ env: { DOCKER_CONFIG: config, DOCKER_CONTEXT: '../x' } });
    assert.match(error.what, /^There is no docker context "\.\.\/x" in /);
    await writeFile(join(config, 'config.json'), '{ not json');
    const damaged = await problemOf({ env: { DOCKER_CONFIG: config } });
    assert.equal(damaged.what, `${join(config, 'config.json')} is not JSON`);
  });

  it('names every place it tried, what is wrong there, and what to do', async () => {
    const dead = await listening(createServer(), join(folder, 'dead.sock'));
    execFileSync('cp', ['-a', join(folder, 'dead.sock'), join(folder, 'refused.sock')]);
    dead.close();
    await listening(
      httpServer((_, answer) => answer.end('hello')),
      join(folder, 'page.sock'),
    );
    await listening(
      httpServer((_, answer) => answer.end('{"Version":"1.13","ApiVersion":"1.25"}')),
      join(folder, 'old.sock'),
    );
    const usual = ['absent', 'refused', 'page', 'old'].map((name) => socket(`${name}.sock`));
    const { what, next = '' } = await problemOf({ usual });
    const at = (name: string): string =>
      `unix://${join(folder, name)}.sock (socket ${name}.sock): `;
    assert.equal(
      what,
      'No container engine responds. Tried ' +
        [
          `${at('absent')}the socket does not exist`,
          `${at('refused')}connection refused; the engine is not running`,
          `${at('page')}the server there is not a Docker engine`,
          `${at('old')}it is too old: version 1.13 with API 1.25`,
        ].join('; '),
    );
    assert.match(next, /systemctl start docker/);
    assert.match(next, /Update it to one with API 1\.40/);
    assert.match(next, /--engine local/);
    const none = await problemOf({ usual: [socket('absent.sock')] });
    assert.match(none.next ?? '', /^Install and start Docker or Podman/);
  });

  it('says when permission is missing', async function () {
    if (process.getuid?.() !== 0) skipTest(this, 'it takes root to become another user');
    const closed = join(folder, 'closed');
    await mkdir(closed);
    await chmod(folder, 0o755);
    await listening(createServer(), join(closed, 'engine.sock'));
    await chmod(join(closed, 'engine.sock'), 0o600);
    process.seteuid?.(65534);
    try {
      const { what, next } = await problemOf({ host: join(closed, 'engine.sock') });
      assert.match(what, /engine\.sock \(the setting\) cannot be used: permission denied$/);
      assert.match(next ?? '', /usermod -aG docker/);
    } finally {
      process.seteuid?.(0);
    }
  });

  it('waits for a silent engine five seconds, and not when cancelled', async () => {
    const silent = join(folder, 'silent.sock');
    await listening(
      createServer(() => undefined),
      silent,
    );
    const { what } = await problemOf({ host: silent });
    assert.match(what, /no response within 5 seconds$/);
    const stop = new AbortController();
    const waiting = assert.rejects(connect({ host: silent, signal: stop.signal }), Cancelled);
    stop.abort();
    await waiting;
  });

  it('does not let DOCKER_HOST of the process get in the way of a named engine', async () => {
    const kept = process.env['DOCKER_HOST'];
    process.env['DOCKER_HOST'] = 'nonsense:// ://';
    try {
      assert.ok(await (await found({ host: dockerSocket })).docker.ping());
      assert.equal(process.env['DOCKER_HOST'], 'nonsense:// ://');
    } finally {
      if (kept === undefined) delete process.env['DOCKER_HOST'];
      else process.env['DOCKER_HOST'] = kept;
    }
  });

  describe('over tcp', () => {
    let certificates: string;

    before(function () {
      if (spawnSync('openssl', ['version']).status !== 0) skipSuite(this, 'there is no openssl');
      certificates = join(folder, 'certificates');
      execFileSync('sh', ['-c', makeCertificates, 'sh', certificates], { stdio: 'ignore' });
    });

    const secure = async (): Promise<string> => {
      const pem = (name: string): Buffer => readFileSync(join(certificates, name));
      const server = tlsServer(
        {
          key: pem('server-key.pem'),
          cert: pem('server-cert.pem'),
          ca: pem('ca.pem'),
          requestCert: true,
          rejectUnauthorized: true,
          allowHalfOpen: true,
        },
        bridge,
      );
      server.on('tlsClientError', () => undefined);
      await listening(server, 0);
      return `tcp://127.0.0.1:${portOf(server)}`;
    };

    it('speaks plainly with an engine that does', async () => {
      const server = await listening(createServer({ allowHalfOpen: true }, bridge), 0);
      const connection = await found({ env: { DOCKER_HOST: `tcp://127.0.0.1:${portOf(server)}` } });
      assert.equal(await countIn(connection, 2_000_000), '2000000');
    });

    it('proves who it is, and is shown who the engine is', async () => {
      const DOCKER_HOST = await secure();
      const env = { DOCKER_HOST, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certificates };
      const connection = await found({ env });
      assert.equal(connection.address, DOCKER_HOST);
      assert.equal(await countIn(connection, 2_000_000), '2000000');
    });

    it('refuses an engine that cannot be trusted, and says when it is refused', async () => {
      const DOCKER_HOST = await secure();
      const stranger = join(folder, 'stranger');
      execFileSync('sh', ['-c', makeCertificates, 'sh', stranger], { stdio: 'ignore' });
      const other = await problemOf({
        env: { DOCKER_HOST, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: stranger },
      });
      assert.match(other.what, /cannot be used: TLS failed: /);
      const nobody = join(folder, 'nobody');
      await mkdir(nobody);
      await writeFile(join(nobody, 'ca.pem'), await readFile(join(certificates, 'ca.pem')));
      const unproven = await problemOf({
        env: { DOCKER_HOST, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: nobody },
      });
      assert.match(unproven.what, /cannot be used: TLS failed: /);
      assert.match(unproven.next ?? '', /cert\.pem and key\.pem/);
      const empty = await problemOf({
        env: { DOCKER_HOST, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: join(folder, 'none') },
      });
      assert.match(empty.what, /^DOCKER_CERT_PATH is .* which has neither ca\.pem nor cert\.pem$/);
    });

    it('takes certificates of a context', async () => {
      const config = join(folder, 'secure-context');
      const id = await writeContext(config, 'far', { Host: await secure() });
      const material = join(config, 'contexts', 'tls', id, 'docker');
      await mkdir(material, { recursive: true });
      for (const name of ['ca.pem', 'cert.pem', 'key.pem']) {
        await writeFile(join(material, name), await readFile(join(certificates, name)));
      }
      const env = { DOCKER_CONFIG: config, DOCKER_CONTEXT: 'far' };
      assert.ok(await (await found({ env })).docker.ping());
    });

    it('says when an engine wants TLS', async () => {
      const server = httpServer((_, answer) => {
        answer.statusCode = 400;
        answer.end('Client sent an HTTP request to an HTTPS server.\n');
      });
      await listening(server, 0);
      const { what, next } = await problemOf({ host: `tcp://127.0.0.1:${portOf(server)}` });
      assert.match(what, /it requires TLS$/);
      assert.match(next ?? '', /DOCKER_TLS_VERIFY=1/);
    });
  });

  describe('through ssh', () => {
    let path: string;
    let calls: string;

    /** An `ssh` that records its arguments and runs the given lines. */
    const fakeSsh = async (...lines: string[]): Promise<NodeJS.ProcessEnv> => {
      path = await mkdtemp(join(folder, 'ssh-'));
      calls = join(path, 'calls');
      const program = join(path, 'ssh');
      const note = `printf '%s\\n' "$*" >> ${calls}`;
      await writeFile(program, ['#!/bin/sh', note, ...lines, ''].join('\n'));
      await chmod(program, 0o755);
      await writeFile(join(path, 'bridge.py'), bridgeProgram);
      return { PATH: `${path}:${process.env['PATH']}` };
    };
    const bridged = (): string => `exec python3 "$(dirname "$0")/bridge.py" ${dockerSocket}`;

    it('connects by docker on the other machine', async () => {
      const env = await fakeSsh(bridged());
      const connection = await found({
        env: { ...env, DOCKER_HOST: 'ssh://me@build.example:2222' },
      });
      assert.equal(connection.address, 'ssh://me@build.example:2222');
      assert.equal(await countIn(connection, 2_000_000), '2000000');
      const noted = (await readFile(calls, 'utf8')).trim().split('\n');
      assert.equal(
        noted[0],
        '-T -o BatchMode=yes -o ConnectTimeout=15 -l me -p 2222 -- build.example docker system dial-stdio',
      );
      // Connections share a login; an upgraded stream needs one of its own.
      assert.ok(noted.length <= 3, `${noted.length} logins`);
    });

    it('connects by podman where there is no docker', async () => {
      const env = await fakeSsh(
        'case "$*" in *" docker "*) echo "bash: docker: command not found" >&2; exit 127;; esac',
        bridged(),
      );
      const connection = await found({ env, host: 'ssh://far/run/podman.sock' });
      assert.ok(await connection.docker.ping());
      assert.match(
        await readFile(calls, 'utf8'),
        /podman --url unix:\/\/\/run\/podman\.sock system/,
      );
    });

    it('says what ssh says', async () => {
      const cases: [string, RegExp, RegExp][] = [
        [
          'echo "me@far: Permission denied (publickey)." >&2; exit 255',
          /cannot be used: ssh cannot log in to far: me@far: Permission denied \(publickey\)$/,
          /ssh-add/,
        ],
        [
          'echo "Host key verification failed." >&2; exit 255',
          /ssh does not know far's host key/,
          /in a terminal to accept it: ssh far$/,
        ],
        [
          'echo "sh: command not found" >&2; exit 127',
          /docker was not found on far/,
          /Install it there/,
        ],
        [
          'exit 255',
          /lost connection to ssh:\/\/far: ssh ended with 255$/,
          /ssh far docker version/,
        ],
      ];
      for (const [line, what, next] of cases) {
        const error = await problemOf({ env: await fakeSsh(line), host: 'ssh://far' });
        assert.match(error.what, what);
        assert.match(error.next ?? '', next);
      }
    });

    it('says when there is no ssh', async () => {
      const { what } = await problemOf({ env: { PATH: join(folder, 'none') }, host: 'ssh://far' });
      assert.match(what, /ssh is not on PATH$/);
    });
  });

  it('tells when an engine that was there has gone', async () => {
    const path = join(folder, 'passing.sock');
    const joined: Duplex[] = [];
    const server = createServer({ allowHalfOpen: true }, (one) => {
      joined.push(one);
      bridge(one);
    });
    await listening(server, path);
    const connection = await found({ host: path });
    const events = (await connection.docker.getEvents()) as Duplex;
    const ended = once(events, 'data').catch((error: unknown) => error);
    server.close();
    for (const one of joined) one.destroy();
    const problem = engineProblem(await ended, connection, 'listening');
    assert.ok(problem instanceof EngineGone, String(problem));
    assert.match(
      problem.what,
      /^Lost the Docker engine at unix:\/\/.*passing\.sock, while listening/,
    );
    assert.ok(!existsSync(path));
    const error: unknown = await connection.docker.ping().catch((thrown: unknown) => thrown);
    const second = engineProblem(error, connection, 'asking');
    assert.ok(second instanceof EngineGone, String(second));
    assert.match(second.what, /its socket no longer exists$/);
  });
});
