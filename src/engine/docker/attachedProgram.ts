import type Dockerode from 'dockerode';
import type { Duplex } from 'node:stream';
import { attachedOutput, readable } from '../sandbox/agentProtocol';

/** A program that runs beside others, with its standard input and output. */
export interface AttachedProgram {
  /** Its standard output. */
  readonly output: AsyncIterable<Buffer>;
  write(data: Buffer, done: () => void): void;
  /** The last of what it wrote to standard error. */
  complaint(): string;
  close(): void;
}

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
