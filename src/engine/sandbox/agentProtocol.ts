import { PassThrough, type Duplex } from 'node:stream';
import { z } from 'zod';

/** A frame from the agent: its header and the bytes after it. Format: swt_agent.py. */
export interface AgentFrame {
  readonly header: FrameHeader;
  readonly payload: Buffer;
}

const runFields = {
  ending: z.string(),
  exit: z.number().nullish(),
  signal: z.number().nullish(),
  seconds: z.number(),
  remarks: z.array(z.string()),
  /** Folder of the shell of a workspace after a command. */
  cwd: z.string().optional(),
  /** Why a program could not be started. */
  why: z.string().optional(),
};

const frameHeader = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), bytes: z.number(), python: z.string() }),
  z.object({ kind: z.literal('output'), bytes: z.number() }),
  z.object({ kind: z.literal('failed'), bytes: z.number(), why: z.string() }),
  z.object({
    kind: z.literal('done'),
    bytes: z.number(),
    ...z.object(runFields).partial().shape,
  }),
  // Sent after a run, once the agent has looked through the tree.
  z.object({
    kind: z.literal('settled'),
    bytes: z.number(),
    /** Paths of the tree that tests changed or removed. */
    altered: z.array(z.string()),
    /** Why the tree cannot be restored after the tests. */
    spoiled: z.string().optional(),
  }),
]);
export type FrameHeader = z.infer<typeof frameHeader>;

/** Bytes; more than any answer has, so a header that claims more is not an answer. */
const frameLimit = 512 * 1024 * 1024;

/** The other end of the agent's standard input and output. */
export interface AgentProtocol {
  send(header: object, payload?: Buffer): void;
  /** The next frame; undefined when the agent is gone. Frames wait until they are requested. */
  receive(): Promise<AgentFrame | undefined>;
  /** The last of what the agent wrote to its standard error. */
  complaint(): string;
  close(): void;
}

/**
 * Speaks with the agent over an attached exec. Unread data stays in the connection, so that a
 * program whose output nobody takes has to wait.
 */
export function openAgentProtocol(stream: Duplex): AgentProtocol {
  let complaint = '';
  const { received, end } = readable(stream);
  const frames = readFrames(
    standardOutput(received, (text) => (complaint = (complaint + text).slice(-2000))),
  );
  return {
    send(header, payload = Buffer.alloc(0)) {
      if (stream.destroyed || stream.writableEnded) return;
      stream.write(`${asciiJson({ ...header, bytes: payload.length })}\n`);
      if (payload.length > 0) stream.write(payload);
    },
    async receive() {
      try {
        const next = await frames.next();
        return next.done === true ? undefined : next.value;
      } catch {
        // The frame is cut off or invalid; the agent is gone either way.
        return undefined;
      }
    },
    complaint: () => complaint.trim(),
    close: () => {
      stream.destroy();
      end();
    },
  };
}

/**
 * Reads an attached connection until it ends, for whatever reason. The modem's own stream does not
 * end when the connection breaks or is closed here.
 */
export function readable(stream: Duplex): {
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

/** JSON in ASCII, so that lone surrogates (PEP 383) survive. */
export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Output of an attached program, as the engine sends it. Each packet has eight bytes (kind, three
 * times 0, length) and its content; kind 2 is standard error. A packet may arrive in several
 * pieces. Format:
 * https://docs.docker.com/reference/api/engine/version/v1.43/#tag/Container/operation/ContainerAttach
 */
export async function* attachedOutput(
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

async function* standardOutput(
  stream: AsyncIterable<Buffer>,
  complain: (text: string) => void,
): AsyncGenerator<Buffer, void> {
  for await (const { isError, data } of attachedOutput(stream)) {
    if (isError) complain(data.toString('utf8'));
    else yield data;
  }
}

async function* readFrames(source: AsyncGenerator<Buffer, void>): AsyncGenerator<AgentFrame, void> {
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<Buffer | undefined> => {
    const next = await source.next();
    return next.done === true ? undefined : next.value;
  };
  for (;;) {
    let end: number;
    while ((end = rest.indexOf(10)) < 0) {
      const piece = await more();
      if (piece === undefined || rest.length > 1 << 24) return;
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    }
    const header = frameHeader.parse(JSON.parse(rest.toString('utf8', 0, end)));
    rest = rest.subarray(end + 1);
    if (header.bytes > frameLimit) return;
    const body = [rest.subarray(0, header.bytes)];
    let have = body[0]?.length ?? 0;
    rest = rest.subarray(have);
    while (have < header.bytes) {
      const piece = await more();
      if (piece === undefined) return;
      const part = piece.subarray(0, header.bytes - have);
      body.push(part);
      have += part.length;
      rest = piece.subarray(part.length);
    }
    yield {
      header,
      payload: body.length === 1 && body[0] !== undefined ? body[0] : Buffer.concat(body),
    };
  }
}
