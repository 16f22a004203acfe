import type Dockerode from 'dockerode';
import { PassThrough, type Duplex, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { Cancelled, HumanError, throwIfAborted } from '../../domain/problem';
import type { EngineWork } from '../engine';
import { removeNow } from './abandoned';
import type { BuildLog } from './buildLog';
import { engineProblem, type DockerConnection } from './connection';
import { containerLabels, type ContainerKind, type Purpose } from './labels';
import { EngineDiskFull, oneLine } from './problems';

/** Where images are made: an engine, a log, and how to cancel it. */
export interface BuildPlace {
  readonly connection: DockerConnection;
  readonly log: BuildLog;
  readonly work: EngineWork;
}

export interface BuildRequest {
  /** Id or name of the image that it starts from. */
  readonly image: string;
  readonly kind?: ContainerKind;
  readonly purpose: Purpose;
  readonly hasNetwork: boolean;
  /** Named volume with what may be used again by other builds, and its folder in the container. */
  readonly cache?: { readonly volume: string; readonly folder: string };
}

export interface Command {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Number of the user that runs it; 0 by default. */
  readonly user?: number;
}

/** How a command ended. */
export interface Ended {
  readonly code: number;
  /** The last of what it wrote, standard error included. */
  readonly output: string;
  /** Standard output alone, the last of it. */
  readonly standard: string;
}

/** What is kept of the output of a command, in characters; the log has all of it. */
const kept = 1 << 20;

/**
 * Does `work` in a container that ends with it, however it ends. A signal that fires removes the
 * container at once.
 *
 * @throws HumanError (engine gone, disk full), Cancelled, and what `work` throws
 */
export async function inContainer<T>(
  place: BuildPlace,
  request: BuildRequest,
  work: (container: BuildContainer) => Promise<T>,
): Promise<T> {
  const { connection, log } = place;
  const { signal } = place.work;
  throwIfAborted(signal);
  let made: Dockerode.Container | undefined;
  // One removal: a second one is refused while the first goes on.
  let removing: Promise<void> | undefined;
  const remove = (): Promise<void> | undefined => {
    // With an engine that is gone the next start removes it, by its label.
    if (made !== undefined) removing ??= removeNow(made).catch(() => undefined);
    return removing;
  };
  const onAbort = (): void => void remove();
  try {
    made = await connection.docker.createContainer(await containerOptions(request));
    signal?.addEventListener('abort', onAbort, { once: true });
    throwIfAborted(signal);
    await made.start();
    return await work(new BuildContainer(made, place));
  } catch (error) {
    if (signal?.aborted === true) throw new Cancelled();
    const problem = engineProblem(error, connection, `building an image from ${request.image}`);
    log.line(problem.message);
    throw problem;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await remove();
  }
}

async function containerOptions(request: BuildRequest): Promise<Dockerode.ContainerCreateOptions> {
  const { image, purpose, hasNetwork, cache, kind = 'build' } = request;
  return {
    Image: image,
    // A day: longer than any build, shorter than for ever.
    Entrypoint: ['sleep', '86400'],
    Cmd: [],
    User: '0',
    WorkingDir: '/',
    Labels: await containerLabels(kind, purpose),
    NetworkDisabled: !hasNetwork,
    HostConfig: {
      Init: true,
      ...(hasNetwork ? {} : { NetworkMode: 'none' }),
      SecurityOpt: ['no-new-privileges'],
      LogConfig: { Type: 'none', Config: {} },
      ...(cache === undefined
        ? {}
        : { Mounts: [{ Type: 'volume', Source: cache.volume, Target: cache.folder }] }),
    },
  };
}

/** A running container that is to become an image. */
export class BuildContainer {
  constructor(
    private readonly container: Dockerode.Container,
    private readonly place: BuildPlace,
  ) {}

  /** Unpacks an archive below a folder that exists. */
  async put(archive: Buffer | Readable, folder = '/'): Promise<void> {
    throwIfAborted(this.place.work.signal);
    await this.container.putArchive(archive, { path: folder });
  }

  /** Runs a command to its end, whatever its status. */
  async attempt(argv: readonly string[], command: Command = {}): Promise<Ended> {
    const { work, log, connection } = this.place;
    throwIfAborted(work.signal);
    log.line(
      `$ ${argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')}`,
    );
    const exec = await this.container.exec({
      Cmd: [...argv],
      User: String(command.user ?? 0),
      WorkingDir: command.cwd ?? '/',
      Env: Object.entries(command.env ?? {}).map(([name, value]) => `${name}=${value}`),
      AttachStdout: true,
      AttachStderr: true,
    });
    const stream: Duplex = await exec.start({ hijack: true, stdin: false });
    let output = '';
    let standard = '';
    const reader = (take: (text: string) => void): PassThrough => {
      const decoder = new StringDecoder('utf8');
      const end = new PassThrough();
      end.on('data', (data: Buffer) => {
        const text = decoder.write(data);
        log.output(text);
        output = (output + text).slice(-kept);
        take(text);
      });
      return end;
    };
    connection.docker.modem.demuxStream(
      stream,
      reader((text) => (standard = (standard + text).slice(-kept))),
      reader(() => undefined),
    );
    await new Promise<void>((resolve, reject) => {
      stream.once('end', resolve).once('close', resolve).once('error', reject);
    });
    throwIfAborted(work.signal);
    const { ExitCode } = await exec.inspect();
    throwIfAborted(work.signal);
    if (ExitCode === null) throw new Error('socket hang up');
    log.line(`ended with ${ExitCode}`);
    return { code: ExitCode, output, standard };
  }

  /**
   * Runs a command that has to succeed, and gives its standard output.
   *
   * @param doing what it is for, as in "could not …": `install the dependencies of sympy 1.7`
   * @throws HumanError with the last of its output and the path of the log
   */
  async run(argv: readonly string[], doing: string, command: Command = {}): Promise<string> {
    const ended = await this.attempt(argv, command);
    if (ended.code !== 0) throw this.failed(ended, doing);
    return ended.standard;
  }

  /** The error for a command that failed. */
  failed({ output, code }: Ended, doing: string): HumanError {
    const { connection, log } = this.place;
    const last = output
      .trimEnd()
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-4)
      .join(' ');
    if (/no space left on device|disk quota exceeded/i.test(output)) {
      return new EngineDiskFull(
        `The disk of the Docker engine at ${connection.address} is full: could not ${doing}`,
        'Free some: swt-bench storage --free-images all removes what was made here, docker system df shows the rest',
      );
    }
    return new HumanError(
      `Could not ${doing}: ${last === '' ? `status ${code}` : oneLine(last)}`,
      `The log has all of it: ${log.path}`,
    );
  }

  /**
   * Makes an image of it, whole or not at all.
   *
   * @param changes instructions of a Dockerfile: LABEL, ENV, CMD …
   * @returns the image's id
   */
  async commit(repository: string, tag: string, changes: readonly string[]): Promise<string> {
    const { connection, work, log } = this.place;
    throwIfAborted(work.signal);
    log.line(`committing ${repository}:${tag}`);
    await this.container.commit({
      repo: repository,
      tag,
      changes: changes.join('\n'),
    } as unknown as object);
    const { Id, Size } = await connection.docker.getImage(`${repository}:${tag}`).inspect();
    log.line(`made ${repository}:${tag}, ${Id}, ${(Size / 1e6).toFixed(0)} MB with what it is on`);
    return Id;
  }
}

/** A LABEL instruction. https://docs.docker.com/reference/dockerfile/#label */
export const labelLines = (labels: Readonly<Record<string, string>>): string[] =>
  Object.entries(labels).map(([key, value]) => `LABEL ${key}=${quotedWord(value)}`);

const quotedWord = (text: string): string => `"${text.replace(/[\\"$]/g, '\\$&')}"`;
