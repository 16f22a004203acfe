import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import type Dockerode from 'dockerode';
import { tarOf } from '../../src/engine/sandbox/archive';

/** A registry of container images on this machine (Debian's docker-registry). */
export class Registry {
  private constructor(
    readonly port: number,
    readonly host: string,
    private readonly child: ChildProcess,
  ) {}

  /**
   * @param folder the registry's folder of images
   * @param htpasswd lines `user:bcrypt` of permitted users; anybody when absent
   * @returns undefined when the program is missing
   */
  static async start(folder: string, htpasswd?: string): Promise<Registry | undefined> {
    const port = await freePort();
    const passwords = join(folder, 'htpasswd');
    if (htpasswd !== undefined) await writeFile(passwords, htpasswd);
    const config = join(folder, 'config.json');
    await writeFile(
      config,
      JSON.stringify({
        version: 0.1,
        log: { level: 'error' },
        storage: { filesystem: { rootdirectory: join(folder, 'images') } },
        http: { addr: `127.0.0.1:${port}` },
        ...(htpasswd === undefined
          ? {}
          : { auth: { htpasswd: { realm: 'tests', path: passwords } } }),
      }),
    );
    const child = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
    const started = await Promise.race([
      once(child, 'spawn').then(() => true),
      once(child, 'error').then(() => false),
    ]).catch(() => false);
    if (!started) return undefined;
    const registry = new Registry(port, `127.0.0.1:${port}`, child);
    while (!(await registry.answers())) {
      if (child.exitCode !== null) throw new Error(`docker-registry ended with ${child.exitCode}`);
      await after(50);
    }
    return registry;
  }

  private answers(): Promise<boolean> {
    return fetch(`http://${this.host}/v2/`).then(
      () => true,
      () => false,
    );
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A slow line to a port of this machine, which can be cut. */
export class SlowLine {
  /** Bytes received over it. */
  bytes = 0;
  readonly #sockets = new Set<Socket>();
  #cut = false;

  private constructor(
    private readonly server: Server,
    readonly host: string,
    /** Bytes each 10 ms, of each connection. */
    public pace: number,
  ) {}

  /** A line to a port of this machine. */
  static async open(port: number, pace: number): Promise<SlowLine> {
    const server = createServer({ pauseOnConnect: false });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const line = new SlowLine(server, `127.0.0.1:${(server.address() as AddressInfo).port}`, pace);
    server.on('connection', (from) => line.#join(from, port));
    return line;
  }

  #join(from: Socket, port: number): void {
    const to = connect({ host: '127.0.0.1', port });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
    from.pipe(to);
    void this.#slowly(to, from).catch(() => undefined);
  }

  async #slowly(to: Socket, from: Socket): Promise<void> {
    for await (const chunk of to as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length && !this.#cut;) {
        const piece = chunk.subarray(at, at + this.pace);
        at += piece.length;
        this.bytes += piece.length;
        if (!from.write(piece)) await once(from, 'drain');
        if (at < chunk.length) await after(10);
      }
    }
    from.end();
  }

  /** Stops all traffic, and refuses new connections. */
  cut(): void {
    this.#cut = true;
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/**
 * Makes an image of random bytes, one layer each, pushes it and removes it here.
 *
 * @param name with its registry and tag
 * @param layers bytes of each layer
 * @returns the image's id
 */
export async function publish(
  docker: Dockerode,
  name: string,
  layers: readonly number[],
  // The engine wants a login for a push even where the registry does not.
  login: Dockerode.AuthConfig = { username: 'nobody', password: 'none', serveraddress: '' },
): Promise<string> {
  const [repo = '', tag = ''] = name.split(/:(?=[^:/]*$)/);
  await done(
    docker,
    await docker.importImage(Readable.from([await archive('first', layers[0] ?? 0)]), {
      repo,
      tag,
    }),
  );
  for (const [index, bytes] of layers.slice(1).entries()) {
    const container = await docker.createContainer({ Image: name, Cmd: ['/none'] });
    await container.putArchive(await archive(`more-${index}`, bytes), { path: '/' });
    await container.commit({ repo, tag });
    await container.remove();
  }
  const image = docker.getImage(name);
  try {
    await done(docker, await image.push({ authconfig: login }));
    return (await image.inspect()).Id;
  } finally {
    await image.remove({ force: true });
  }
}

/** An archive of one file of random bytes. */
function archive(path: string, bytes: number): Promise<Buffer> {
  return tarOf([{ path, content: randomBytes(bytes) }]);
}

function done(docker: Dockerode, stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((settle, fail) => {
    docker.modem.followProgress(stream, (error) => (error ? fail(error) : settle()));
  });
}
