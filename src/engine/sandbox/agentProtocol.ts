import { z } from 'zod';
import { limits } from '../../domain/verdict';
import { throwIfAborted } from '../../domain/work';

/** A program that runs in a sandbox, with its standard input and output. */
export interface AttachedProgram {
  /** Its standard output. */
  readonly output: AsyncIterable<Buffer>;
  write(data: Buffer, done: () => void): void;
  /** The last of what it wrote to standard error. */
  complaint(): string;
  close(): void;
}

/** A frame from the agent: its header and the bytes after it. Format: swt_agent.py. */
export interface AgentFrame {
  readonly header: FrameHeader;
  readonly payload: Buffer;
}

const runFields = {
  ending: z.string(),
  /** The limit that the program reached first, whatever its end. */
  limit: z.enum(limits).nullish(),
  exit: z.number().nullish(),
  signal: z.number().nullish(),
  seconds: z.number(),
  remarks: z.array(z.string()),
  /** Programs that tests expect and that are not on their path. */
  missing: z.array(z.string()).optional(),
  /** Folder of the shell of a workspace after a command. */
  cwd: z.string().optional(),
  /** Why a program could not be started. */
  why: z.string().optional(),
  /** Processes that outlived the program and were killed, where they are counted. */
  left: z.number().optional(),
  /** Addresses with ports that answered, of those that a sandbox must not reach. */
  reached: z.array(z.string()).optional(),
};

const frameHeader = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('ready'),
    bytes: z.number(),
    python: z.string(),
    /** What the system lacks for ending and limiting runs. */
    lacks: z.array(z.string()).default([]),
  }),
  // An interpreter has loaded R for the next run, or cannot be that run.
  z.object({
    kind: z.literal('loaded'),
    bytes: z.number(),
    why: z.string().nullable(),
    seconds: z.number().nullable(),
  }),
  // The agent of the local engine has started the program.
  z.object({ kind: z.literal('started'), bytes: z.number(), pid: z.number() }),
  z.object({ kind: z.literal('output'), bytes: z.number() }),
  // A program reaches its first limit, and may continue. Known even if the agent is lost soon after.
  z.object({ kind: z.literal('limit'), bytes: z.number(), what: z.enum(limits) }),
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
  // A sign of life, where both ends send them.
  z.object({ kind: z.literal('beat'), bytes: z.number() }),
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

/** Milliseconds between two signs of life, in each direction. */
const beatInterval = 10_000;

/**
 * Speaks with the agent of an attached program. Unread data stays in the connection, so that a
 * program whose output nobody takes has to wait.
 *
 * @param beats whether both ends send signs of life
 */
export function openAgentProtocol(program: AttachedProgram, beats = false): AgentProtocol {
  const frames = readFrames(program.output);
  const nothing = (): void => undefined;
  const send = (header: object, payload = Buffer.alloc(0)): void => {
    program.write(Buffer.from(`${asciiJson({ ...header, bytes: payload.length })}\n`), nothing);
    if (payload.length > 0) program.write(payload, nothing);
  };
  const timer = beats ? setInterval(() => send({ kind: 'beat' }), beatInterval) : undefined;
  timer?.unref();
  return {
    send,
    async receive() {
      try {
        for (;;) {
          const next = await frames.next();
          if (next.done === true) return undefined;
          if (next.value.header.kind !== 'beat') return next.value;
        }
      } catch {
        // The frame is cut off or invalid; the agent is gone either way.
        return undefined;
      }
    },
    complaint: () => program.complaint(),
    close: () => {
      clearInterval(timer);
      program.close();
    },
  };
}

/** JSON in ASCII, so that lone surrogates (PEP 383) survive. */
export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

async function* readFrames(stream: AsyncIterable<Buffer>): AsyncGenerator<AgentFrame, void> {
  const source = stream[Symbol.asyncIterator]();
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

/** Seconds for an agent to start, which takes a while where another processor is emulated. */
const startTimeout = 60;

/**
 * Waits until the agent is ready. Closes the wire when that takes too long or the caller cancels.
 *
 * @throws Error with the agent's complaint, Cancelled
 */
export async function firstFrame(
  wire: AgentProtocol,
  signal: AbortSignal | undefined,
): Promise<void> {
  const close = (): void => wire.close();
  const timer = setTimeout(close, startTimeout * 1000);
  signal?.addEventListener('abort', close, { once: true });
  try {
    const first = await wire.receive();
    throwIfAborted(signal);
    if (first?.header.kind === 'ready') return;
    const why = wire.complaint();
    throw new Error(`the agent did not start: ${why === '' ? 'no answer' : why.slice(-300)}`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', close);
  }
}
