import { Duplex } from 'node:stream';
import type { AttachedProgram } from './agentProtocol';

/**
 * Forwards connections to a port of the container's own machine (127.0.0.1) to this process. They
 * travel over the standard input and output of a program in the container. So the container needs
 * neither a network nor a folder that it shares with anything.
 */
interface Tunnel {
  /** The port in the container. */
  readonly port: number;
  close(): void;
}

/**
 * Kinds of frames. A frame starts with one byte for its kind, then the number of the connection and
 * the length of the data (4 bytes each).
 */
const kinds = { data: 0, end: 1, credit: 2, ready: 3 } as const;
const headLength = 9;
/** Bytes of one connection that may be under way into the container. */
const window = 1 << 18;
/** Bytes that the other end sends at once. */
const frameLimit = 1 << 16;

/**
 * @param program `tunnel.py`, started in the container
 * @param onConnection receives each connection; an error that it throws ends the tunnel
 * @throws Error when the program ends before it is ready
 */
export async function openTunnel(
  program: AttachedProgram,
  onConnection: (connection: Duplex) => void,
): Promise<Tunnel> {
  const channels = new Map<number, Channel>();
  let tellPort: ((port: number) => void) | undefined;
  let fail: ((error: Error) => void) | undefined;
  const port = new Promise<number>((resolve, reject) => {
    tellPort = resolve;
    fail = reject;
  });
  const close = (): void => {
    program.close();
    for (const channel of channels.values()) channel.destroy();
    channels.clear();
  };
  const take = async (kind: number, number: number, data: Buffer): Promise<void> => {
    if (kind === kinds.ready) return tellPort?.(number);
    let channel = channels.get(number);
    if (kind === kinds.credit) return channel?.credit(data.readUInt32BE(0));
    if (channel === undefined) {
      if (kind === kinds.end) return;
      channel = new Channel(number, program, () => channels.delete(number));
      channels.set(number, channel);
      onConnection(channel);
    }
    await channel.arrived(kind === kinds.end ? null : data);
  };
  const read = async (): Promise<void> => {
    let rest: Buffer = Buffer.alloc(0);
    for await (const piece of program.output) {
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      while (rest.length >= headLength) {
        const length = rest.readUInt32BE(5);
        if (length > frameLimit) throw new Error('the program sent no frame of the tunnel');
        if (rest.length < headLength + length) break;
        const data = rest.subarray(headLength, headLength + length);
        await take(rest.readUInt8(0), rest.readUInt32BE(1), data);
        rest = rest.subarray(headLength + length);
      }
    }
  };
  read()
    .catch(() => undefined)
    .finally(() => {
      fail?.(new Error(`the connection into the container did not open: ${program.complaint()}`));
      close();
    });
  return { port: await port, close };
}

/** One connection. */
class Channel extends Duplex {
  private room = window;
  private waiting: (() => void) | undefined;
  private takeMore: (() => void) | undefined;

  constructor(
    private readonly number: number,
    private readonly program: AttachedProgram,
    private readonly forget: () => void,
  ) {
    super({ allowHalfOpen: true });
  }

  /** Passes on received data; resolves when there is room for more. */
  async arrived(data: Buffer | null): Promise<void> {
    if (this.destroyed || this.readableEnded) return;
    if (this.push(data === null ? null : Buffer.from(data)) || data === null) return;
    await new Promise<void>((resolve) => (this.takeMore = resolve));
  }

  credit(bytes: number): void {
    this.room += bytes;
    this.waiting?.();
  }

  override _read(): void {
    this.takeMore?.();
    this.takeMore = undefined;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const next = (at: number): void => {
      if (this.destroyed) return done();
      if (at >= chunk.length) return done();
      if (this.room <= 0) {
        this.waiting = () => {
          this.waiting = undefined;
          next(at);
        };
        return;
      }
      const part = chunk.subarray(at, at + Math.min(this.room, frameLimit));
      this.room -= part.length;
      this.program.write(frame(kinds.data, this.number, part), () => next(at + part.length));
    };
    next(0);
  }

  override _final(done: (error?: Error) => void): void {
    this.program.write(frame(kinds.end, this.number), () => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.forget();
    this._read();
    this.waiting?.();
    this.program.write(frame(kinds.end, this.number), () => undefined);
    done(error);
  }
}

function frame(kind: number, number: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(headLength);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(number, 1);
  head.writeUInt32BE(data.length, 5);
  return Buffer.concat([head, data]);
}
