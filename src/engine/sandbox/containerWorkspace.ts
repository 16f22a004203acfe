import { Duplex, PassThrough } from 'node:stream';
import { z } from 'zod';
import { BoundedOutput, outputLimit } from '../programs/boundedOutput';
import {
  commandEndings,
  WorkspaceFileError,
  type CommandEnding,
  type CommandRequest,
  type CommandResult,
  type ListeningPort,
  type ProgramRequest,
  type RunningProgram,
  type Workspace,
  type WorkspaceChanges,
} from './workspace';
import { programFolder } from '../engine';
import { quotedForShell } from '../programs/quotedForShell';
import { filesOfTar } from './archive';
import { openTunnel } from './tunnel';
import type { RunningContainer } from '../docker/sandbox/container';
import type { ContainerSandbox } from './containerSandbox';
import { pythonText } from '../pythonProgram';

/** Bytes of a file that are read when the caller names no limit. */
const readLimit = 16 * 2 ** 20;

/** Seconds beyond the limit of a command after which the agent stops it itself, if this process is gone. */
const grace = 30;

const indexSchema = z.object({
  changed: z.array(z.string()),
  removed: z.array(z.string()),
  left_out: z.array(z.tuple([z.string(), z.string()])),
});

/** The home that the agent makes: `make_places` of swt_agent.py. */
const home = '/tmp/swt/home';

/** A workspace in the container of a sandbox on R. The agent does the work: see swt_shell.py. */
export class ContainerWorkspace implements Workspace {
  /** One request at a time: the agent answers in order, and has no numbers for requests. */
  private last: Promise<unknown> = Promise.resolve();

  readonly home = home;

  constructor(
    private readonly sandbox: ContainerSandbox,
    private readonly container: Pick<RunningContainer, 'attach'>,
    private readonly remove: () => Promise<void>,
  ) {}

  get folder(): string {
    return this.sandbox.folder;
  }

  run(request: CommandRequest): Promise<CommandResult> {
    return this.runInShell(request, {});
  }

  async listen(onConnection: (connection: Duplex) => void): Promise<ListeningPort> {
    const { python } = this.sandbox;
    const program = await this.container.attach([
      python,
      '-I',
      '-S',
      '-c',
      pythonText('tunnel.py'),
    ]);
    return openTunnel(program, onConnection);
  }

  async start({ argv, env, end, ...request }: ProgramRequest): Promise<RunningProgram> {
    const ends: Duplex[] = [];
    let take: (stdio: Duplex) => void = () => undefined;
    const connected = new Promise<Duplex>((resolve) => (take = resolve));
    const listening = await this.listen((connection) => {
      connection.on('error', () => connection.destroy());
      ends.push(connection);
      const [input, output] = ends;
      if (input === undefined || ends.length > 2) connection.destroy();
      // The program opens the second connection after this answer to the first one.
      else if (output === undefined) input.resume().write('\n');
      else take(joined(input, output));
    });
    const variables = Object.entries(env).map(
      ([name, value]) => `${name}=${quotedForShell(value)}`,
    );
    const words = [
      this.sandbox.python,
      '-I',
      '-S',
      '-c',
      pythonText('start_program.py'),
      String(listening.port),
    ];
    const command = [
      ...variables,
      `PATH="$PATH:${programFolder}/bin:${programFolder}/node_modules/.bin:${programFolder}"`,
      ...[...words, ...argv].map(quotedForShell),
    ].join(' ');
    const done = this.runInShell({ ...request, command }, { isAlone: true, end }).finally(() =>
      listening.close(),
    );
    // Without a connection the program could not even be started.
    const stdio = await Promise.race([connected, done.then(() => undefined)]);
    return { stdio: stdio ?? endedStream(), done };
  }

  private runInShell(
    { command, timeoutSeconds, keptBytes, signal }: CommandRequest,
    { isAlone = false, end }: { readonly isAlone?: boolean; readonly end?: AbortSignal },
  ): Promise<CommandResult> {
    return this.inTurn(async () => {
      const half = Math.ceil(keptBytes / 2);
      const output = new BoundedOutput(half, half);
      const release = await this.sandbox.admitted(signal);
      try {
        const { header } = await this.sandbox.agent.untilDone(
          {
            kind: 'shell',
            ...this.sandbox.shellEnvironment(),
            alone: isAlone,
            seconds: timeoutSeconds + grace,
            disk: this.sandbox.diskBytes,
          },
          {
            signal,
            seconds: timeoutSeconds,
            end,
            payload: Buffer.from(command),
            onOutput: (data, stop) => {
              output.add(data);
              if (output.bytes > outputLimit) stop('too much output');
            },
          },
        );
        return {
          ending: endingOf(header.ending),
          exitCode: header.exit ?? undefined,
          output: output.text(),
          cwd: header.cwd ?? this.folder,
          remarks: [...(header.why === undefined ? [] : [header.why]), ...(header.remarks ?? [])],
        };
      } finally {
        release();
      }
    });
  }

  read(path: string, limit = readLimit): Promise<Buffer> {
    return this.file('read', path, { limit });
  }

  async write(path: string, content: Buffer): Promise<void> {
    await this.file('written', path, {}, content);
  }

  changes(): Promise<WorkspaceChanges> {
    return this.inTurn(async () => {
      const why = 'its changes cannot be collected';
      const { payload } = await this.answered({ kind: 'changes' }, why);
      const files = await filesOfTar(payload);
      const text = files.get('index')?.toString('utf8') ?? '';
      const { changed, removed, left_out: leftOut } = indexSchema.parse(JSON.parse(text));
      return {
        changed: new Map(
          changed.map((path, number) => [path, files.get(String(number)) ?? Buffer.alloc(0)]),
        ),
        removed,
        leftOut: new Map(leftOut),
      };
    });
  }

  reset(signal?: AbortSignal): Promise<void> {
    return this.inTurn(() => this.sandbox.reset(signal));
  }

  async dispose(): Promise<void> {
    this.sandbox.close('it was removed');
    await this.remove();
  }

  private file(
    done: 'read' | 'written',
    path: string,
    header: object,
    content?: Buffer,
  ): Promise<Buffer> {
    return this.inTurn(async () => {
      const kind = done === 'read' ? 'read' : 'put';
      const answer = await this.sandbox.agent.ask({ kind, path, ...header }, content);
      if (answer.header.why !== undefined) {
        throw new WorkspaceFileError(
          `${path} cannot be ${done}: ${answer.header.why}`,
          'List the files first',
        );
      }
      return answer.payload;
    });
  }

  /** @throws SandboxUnusable when the agent cannot do it, which no file explains */
  private async answered(header: object, why: string): Promise<{ readonly payload: Buffer }> {
    const answer = await this.sandbox.agent.ask(header);
    const reason = answer.header.why;
    if (reason !== undefined) throw this.sandbox.agent.unusable(`${why} (${reason})`);
    return answer;
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work, work);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

const endingOf = (word: string | undefined): CommandEnding =>
  commandEndings.find((ending) => ending === word) ?? 'not started';

/** Two connections as the standard input and output of one program. */
function joined(input: Duplex, output: Duplex): Duplex {
  const stdio = Duplex.from({ writable: input, readable: output });
  stdio.on('error', () => stdio.destroy());
  return stdio;
}

/** A stream that has ended, of a program that never began. */
function endedStream(): Duplex {
  const stream = new PassThrough();
  stream.end();
  return stream;
}
