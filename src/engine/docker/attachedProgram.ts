import type Dockerode from 'dockerode';
import { PassThrough, type Duplex } from 'node:stream';
import type { AttachedProgram } from '../sandbox/agentProtocol';

/** Starts a program in a running container, as root and beside what runs there. */
export async function attachProgram(
  container: Pick<Dockerode.Container, 'exec'>,
  argv: readonly string[],
): Promise<AttachedProgram> {
  const exec = await container.exec({
    Cmd: [...argv],
    User: '0',
    WorkingDir: '/',
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream: Duplex = await exec.start({ hijack: true, stdin: true });
  const { received, end } = readable(stream);
  let complaint = '';
  async function* standardOutput(): AsyncGenerator<Buffer, void> {
    for await (const { isError, data } of attachedOutput(received)) {
      if (isError) complaint = (complaint + data.toString('utf8')).slice(-2000);
      else yield data;
    }
  }
  return {
    output: standardOutput(),
    write(data, done) {
      if (stream.destroyed || stream.writableEnded) return done();
      stream.write(data, () => done());
    },
    complaint: () => complaint.trim(),
    close() {
      stream.destroy();
      end();
    },
  };
}

/**
 * Reads an attached connection until it ends, for whatever reason. The modem's own stream does not
 * end when the connection breaks or is closed here.
 */
function readable(stream: Duplex): {
  readonly received: PassThrough;
  readonly end: () => void;
} {
  const received = new PassThrough({ highWaterMark: 1 << 20 });
  const end = (): void => {
    if (!received.writableEnded) received.end();
  };
  stream.on('data', (data: Buffer) => {
    if (!received.writableEnded && !received.write(data)) stream.pause();
  });
  received.on('drain', () => stream.resume());
  const { _output: connection } = stream as { _output?: Duplex & { socket?: Duplex } };
  for (const each of [stream, connection, connection?.socket]) {
    each?.on('end', end).on('close', end).on('error', end).on('aborted', end);
  }
  return { received, end };
}

/**
 * Output of an attached program, as the engine sends it. Each packet has eight bytes (kind, three
 * times 0, length) and its content; kind 2 is standard error. A packet may arrive in several
 * pieces. Format:
 * https://docs.docker.com/reference/api/engine/version/v1.43/#tag/Container/operation/ContainerAttach
 */
async function* attachedOutput(
  stream: AsyncIterable<Buffer>,
): AsyncGenerator<{ readonly isError: boolean; readonly data: Buffer }, void> {
  let head: Buffer = Buffer.alloc(0);
  let left = 0;
  for await (let data of stream) {
    while (data.length > 0) {
      if (left === 0) {
        const part = data.subarray(0, 8 - head.length);
        head = Buffer.concat([head, part]);
        data = data.subarray(part.length);
        if (head.length < 8) break;
        left = head.readUInt32BE(4);
        if (left > 0) continue;
      }
      const part = data.subarray(0, left);
      left -= part.length;
      data = data.subarray(part.length);
      if (part.length > 0) yield { isError: head[0] === 2, data: part };
      if (left === 0) head = Buffer.alloc(0);
    }
  }
}
