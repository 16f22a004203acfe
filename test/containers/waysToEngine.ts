import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { DockerConnection } from '../../src/engine/docker/connection/connect';
import { baseImage } from './dockerForTests';

/** Where the engine of the tests listens. */
export const dockerSocket = '/var/run/docker.sock';

/** Forwards everything between a connection and the engine. */
export const bridge = (one: Duplex): void => {
  const engine = connectSocket({ path: dockerSocket, allowHalfOpen: true });
  one.pipe(engine).pipe(one);
  one.on('error', () => engine.destroy());
  engine.on('error', () => one.destroy());
  one.on('close', () => engine.destroy());
};

/** Runs `wc -c` in a container, with input that is ended: upgraded, half-closed and large streams. */
export const countIn = async ({ docker }: DockerConnection, bytes: number): Promise<string> => {
  const container = await docker.createContainer({
    Image: baseImage.replace('{python}', '3.9'),
    Cmd: ['sleep', '60'],
    HostConfig: { NetworkMode: 'none', Init: true },
  });
  try {
    await container.start();
    const exec = await container.exec({
      Cmd: ['wc', '-c'],
      AttachStdin: true,
      AttachStdout: true,
    });
    const stream = await exec.start({ hijack: true, stdin: true });
    stream.end(Buffer.alloc(bytes, 'x'));
    const parts: Buffer[] = [];
    for await (const part of stream as AsyncIterable<Buffer>) parts.push(part);
    return Buffer.concat(parts).subarray(8).toString().trim();
  } finally {
    await container.remove({ force: true });
  }
};

/** Writes a context as the docker command stores it; returns the id of its folders. */
export async function writeContext(
  config: string,
  name: string,
  docker: { Host: string; SkipTLSVerify?: boolean },
): Promise<string> {
  const id = createHash('sha256').update(name).digest('hex');
  const meta = join(config, 'contexts', 'meta', id);
  await mkdir(meta, { recursive: true });
  const content = { Name: name, Metadata: {}, Endpoints: { docker } };
  await writeFile(join(meta, 'meta.json'), JSON.stringify(content));
  return id;
}

/** What `docker system dial-stdio` does: standard input and output joined with a socket. */
export const bridgeProgram = `
import os, socket, sys, threading
engine = socket.socket(socket.AF_UNIX)
engine.connect(sys.argv[1])
def forth():
    while True:
        data = os.read(0, 65536)
        if not data:
            break
        engine.sendall(data)
    engine.shutdown(socket.SHUT_WR)
threading.Thread(target=forth, daemon=True).start()
while True:
    data = engine.recv(65536)
    if not data:
        break
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]
`;

/** An authority, and certificates of a server at 127.0.0.1 and of a client, in the folder $1. */
export const makeCertificates = `
set -e
mkdir -p "$1" && cd "$1"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca-key.pem -out ca.pem
issue() {
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$2" -out request.pem
  printf '%s\\n' "$4" > extension
  openssl x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile extension -out "$3"
}
issue server server-key.pem server-cert.pem 'subjectAltName=IP:127.0.0.1'
issue client key.pem cert.pem 'extendedKeyUsage=clientAuth'
`;
