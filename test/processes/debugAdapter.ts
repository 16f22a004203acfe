import { spawn } from 'node:child_process';

/** A place in a file, as the client of a debugger knows it. */
interface Place {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
}

interface Message {
  readonly type: string;
  readonly command?: string;
  readonly event?: string;
  readonly success?: boolean;
  readonly message?: string;
  readonly body?: {
    readonly threadId?: number;
    readonly reason?: string;
    readonly stackFrames?: readonly { readonly line: number; readonly source: { path: string } }[];
  };
}

/**
 * A client of debugpy's adapter that behaves like VS Code.
 * https://microsoft.github.io/debug-adapter-protocol/specification
 *
 * @param interpreter an interpreter with debugpy
 */
export function startAdapter(interpreter: string): {
  /**
   * Launches a configuration with one breakpoint, continues at each stop, and resolves at the end.
   */
  debug(
    configuration: Readonly<Record<string, unknown>>,
    breakpoint: Place,
    onStop: (at: Place) => void,
  ): Promise<void>;
} {
  const child = spawn(interpreter, ['-m', 'debugpy.adapter'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map<string, (message: Message) => void>();
  let onEvent: (message: Message) => void = () => undefined;
  let seq = 0;
  const send = (command: string, args: unknown): Promise<Message> => {
    const text = JSON.stringify({ seq: ++seq, type: 'request', command, arguments: args });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    return new Promise((resolve, reject) =>
      waiting.set(command, (message) =>
        message.success === true
          ? resolve(message)
          : reject(new Error(`${command}: ${message.message ?? 'failed'}`)),
      ),
    );
  };
  let input = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    input = Buffer.concat([input, chunk]);
    for (;;) {
      const head = /^Content-Length: (\d+)\r\n\r\n/.exec(input.subarray(0, 64).toString('latin1'));
      const start = head?.[0].length ?? 0;
      const size = Number(head?.[1]);
      if (head === null || input.length < start + size) return;
      const message = JSON.parse(input.subarray(start, start + size).toString('utf8')) as Message;
      input = input.subarray(start + size);
      if (message.type === 'response') waiting.get(message.command ?? '')?.(message);
      else onEvent(message);
    }
  });
  return {
    async debug(configuration, breakpoint, onStop) {
      const ended = new Promise<void>((resolve, reject) => {
        const stopped = async (threadId: number | undefined): Promise<void> => {
          const { body } = await send('stackTrace', { threadId });
          const [frame] = body?.stackFrames ?? [];
          if (frame !== undefined) onStop({ path: frame.source.path, line: frame.line });
          await send('continue', { threadId });
        };
        onEvent = ({ event, body }) => {
          if (event === 'initialized') {
            const { path, line } = breakpoint;
            send('setBreakpoints', { source: { path }, breakpoints: [{ line }] })
              .then(() => send('configurationDone', {}))
              .catch(reject);
          }
          if (event === 'stopped') stopped(body?.threadId).catch(reject);
          if (event === 'terminated') resolve();
        };
      });
      await send('initialize', { adapterID: 'debugpy', linesStartAt1: true, pathFormat: 'path' });
      const launched = send('launch', configuration);
      await Promise.all([launched, ended]);
      child.stdin.end();
      child.kill();
    },
  };
}
