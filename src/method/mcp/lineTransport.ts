import type { Readable, Writable } from 'node:stream';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import { nestsDeeply } from '../../files/json';
import { HumanError } from '../../domain/work';

/** Maximum number of bytes of one message. */
const lineLimit = 10 * 1024 * 1024;
/** Bytes of each end of a longer line that are kept, since one of them has the id of the request. */
const endLimit = 4096;

/**
 * The stdio transport of the Model Context Protocol: one message a line. A line above the limit is
 * answered with an error, and the connection continues. The transport of the SDK ends there.
 */
export class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  private readonly line = new BoundedLine();
  private readonly read = (chunk: Buffer): void => this.take(chunk);
  private readonly fail = (error: Error): void => this.onerror?.(error);

  constructor(
    private readonly input: Readable,
    private readonly output: Writable,
  ) {}

  start(): Promise<void> {
    this.input.on('data', this.read);
    this.input.on('error', this.fail);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.input.off('data', this.read);
    this.input.off('error', this.fail);
    this.input.pause();
    this.onclose?.();
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve) => {
      if (this.output.write(serializeMessage(message))) resolve();
      else this.output.once('drain', resolve);
    });
  }

  private take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      this.line.add(chunk.subarray(start, end));
      this.end();
      start = end + 1;
    }
    this.line.add(chunk.subarray(start));
  }

  private end(): void {
    const { bytes } = this.line;
    const text = this.line.take();
    if (bytes > lineLimit) {
      this.refuse(text, `The message has ${bytes} bytes, and the limit is ${lineLimit}`);
      return;
    }
    if (text.trim() === '') return;
    if (nestsDeeply(text)) {
      const ends = text.slice(0, endLimit) + text.slice(-endLimit);
      this.refuse(ends, 'The values of the message nest too deeply');
      return;
    }
    try {
      this.onmessage?.(deserializeMessage(text.replace(/\r$/, '')));
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private refuse(ends: string, why: string): void {
    const problem = new HumanError(why, 'Send less');
    this.onerror?.(problem);
    const id = idIn(ends);
    if (id === undefined) return;
    const error = { code: ErrorCode.InvalidRequest, message: `${problem.message}.` };
    void this.send({ jsonrpc: '2.0', id, error });
  }
}

/** The bytes of one line: all of them up to the limit, beyond it only both ends. */
class BoundedLine {
  bytes = 0;
  private parts: Buffer[] = [];

  add(part: Buffer): void {
    this.bytes += part.length;
    this.parts.push(part);
    if (this.bytes <= lineLimit) return;
    const [head, tail] = this.ends();
    this.parts = [head, tail];
  }

  /** The line, or its ends if it was too long. The next line begins empty. */
  take(): string {
    const text = Buffer.concat(this.parts).toString('utf8');
    this.bytes = 0;
    this.parts = [];
    return text;
  }

  /** Copies, so that the rest of the line can be freed. */
  private ends(): readonly [Buffer, Buffer] {
    const all = Buffer.concat(this.parts);
    return [Buffer.from(all.subarray(0, endLimit)), Buffer.from(all.subarray(-endLimit))];
  }
}

const idPattern = '"id"\\s*:\\s*(-?\\d{1,15}|"(?:[^"\\\\]|\\\\.)*")';
/** The id among the first fields. None of those before it has fields of its own. */
const idAtStart = new RegExp(
  `^\\s*\\{(?:\\s*"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*,)*\\s*${idPattern}`,
);
/** The id among the last fields: only one brace, that of the message, follows it. */
const idAtEnd = new RegExp(`${idPattern}\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*)?\\}\\s*$`);

/** The id of a request of which only both ends are known; undefined when they do not have it. */
function idIn(ends: string): RequestId | undefined {
  const [, id] = idAtStart.exec(ends) ?? idAtEnd.exec(ends) ?? [];
  return id === undefined ? undefined : (JSON.parse(id) as RequestId);
}
