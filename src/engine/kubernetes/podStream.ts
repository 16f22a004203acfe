import { PassThrough } from 'node:stream';
import type { AttachedProgram } from '../sandbox/agentProtocol';
import type { Cluster } from './cluster';
import { clusterProblem } from './clusterProblem';
import { containerName } from './podSpec';

/**
 * Numbers of the streams in a connection:
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apimachinery/pkg/util/remotecommand/constants.go
 */
const streams = { input: 0, output: 1, error: 2, status: 3 } as const;

/** Bytes of one message; longer writes are cut. */
const messageBytes = 64 * 1024;

/** Bytes that wait for a reader, after which the connection is not read any more. */
const unreadBytes = 4 << 20;

/** The parts of a WebSocket that are used here. */
interface Socket {
  readonly readyState: number;
  send(data: Buffer, done: (error?: Error) => void): void;
  pause(): void;
  resume(): void;
  terminate(): void;
  on(event: 'close' | 'error', listener: (about: unknown) => void): void;
}

interface StreamOptions {
  /**
   * Milliseconds without a byte after which the program counts as dead; undefined for a program
   * that may be silent. A status is never believed: a node that dies may end the stream with 0.
   */
  readonly silence?: number;
  /** Container of the pod, by default that of the sandbox. */
  readonly container?: string;
}

/**
 * Starts a program in a pod, as the user of its container, with its standard input and output.
 *
 * @throws HumanError when the API does not do it
 */
export async function attachInPod(
  cluster: Cluster,
  pod: string,
  command: readonly string[],
  { silence, container = containerName }: StreamOptions = {},
): Promise<AttachedProgram> {
  const received = new PassThrough({ highWaterMark: unreadBytes });
  let complaint = '';
  // Bytes may come before the connection is handed over.
  const connection: { socket?: Socket } = {};
  let isPaused = false;
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearTimeout(timer);
    if (!received.writableEnded) received.end();
  };
  const complain = (text: string): void => {
    complaint = (complaint + text).slice(-2000);
  };
  const heard = (): void => {
    clearTimeout(timer);
    if (silence === undefined || isPaused || received.writableEnded) return;
    timer = setTimeout(() => {
      complain(`\nno response for ${Math.round(silence / 1000)} s`);
      end();
      connection.socket?.terminate();
    }, silence);
    timer.unref();
  };
  const take = (stream: number, data: Buffer): boolean => {
    heard();
    if (stream === streams.output && !received.writableEnded && !received.write(data)) {
      isPaused = true;
      clearTimeout(timer);
      connection.socket?.pause();
    } else if (stream === streams.error || stream === streams.status) {
      complain(wordsOf(stream, data));
    }
    return true;
  };
  received.on('drain', () => {
    isPaused = false;
    connection.socket?.resume();
    heard();
  });
  const open = await openSocket(cluster, { pod, container, command }, take);
  connection.socket = open;
  open.on('close', end);
  open.on('error', end);
  heard();
  return {
    output: received,
    write: (data, done) => sendInput(open, data, done),
    complaint: () => complaint.trim(),
    close() {
      open.terminate();
      end();
    },
  };
}

/** @throws HumanError when the API does not start the program */
async function openSocket(
  cluster: Cluster,
  {
    pod,
    container,
    command,
  }: { readonly pod: string; readonly container: string; readonly command: readonly string[] },
  take: (stream: number, data: Buffer) => boolean,
): Promise<Socket> {
  const { Exec } = await import('@kubernetes/client-node');
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true' });
  query.set('stderr', 'true');
  for (const word of command) query.append('command', word);
  const path = `/api/v1/namespaces/${cluster.namespace}/pods/${pod}/exec?${query.toString()}`;
  try {
    // The client's own `exec` reads without regard to whether anybody takes what it reads.
    const { handler } = new Exec(cluster.config);
    const opened: unknown = await handler.connect(path, null, take);
    return opened as Socket;
  } catch (error) {
    throw clusterProblem(socketError(error), cluster.where, `starting a program in the pod ${pod}`);
  }
}

/** Sends data to the standard input of a program, and calls `done` once it has left. */
function sendInput(open: Socket, data: Buffer, done: () => void): void {
  for (let at = 0; at < data.length; at += messageBytes) {
    const part = data.subarray(at, at + messageBytes);
    const isLast = at + messageBytes >= data.length;
    if (open.readyState !== 1) return done();
    open.send(Buffer.concat([Buffer.from([streams.input]), part]), () => {
      if (isLast) done();
    });
  }
  if (data.length === 0) done();
}

/** What a program or the API reported; empty for a status of success. */
function wordsOf(stream: number, data: Buffer): string {
  const text = data.toString('utf8');
  if (stream === streams.error) return text;
  try {
    const { status, message } = JSON.parse(text) as { status?: string; message?: string };
    return status === 'Success' ? '' : `\n${message ?? text}`;
  } catch {
    return text;
  }
}

/** The answer of the API when it refuses a connection, as an error with its status. */
function socketError(event: unknown): unknown {
  const { message, error } = event as { readonly message?: unknown; readonly error?: unknown };
  const text = typeof message === 'string' ? message : '';
  const status = /Unexpected server response: (\d+)/.exec(text)?.[1];
  const words = text === '' ? String(error ?? event) : text;
  return Object.assign(new Error(words), status === undefined ? {} : { code: Number(status) });
}
