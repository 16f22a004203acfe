import type Dockerode from 'dockerode';
import { posix } from 'node:path';
import { PassThrough, type Duplex, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cancelled, HumanError, messageOf, throwIfAborted } from '../../../domain/work';
import type { EngineWork } from '../../engine';
import type { Command, Ended, ImageCommands } from '../../environmentMaker';
import { removeNow } from '../sandbox/abandonedContainers';
import { filesOfTar } from '../../sandbox/archive';
import type { BuildLog } from './buildLog';
import { engineProblem, type DockerConnection } from '../connection/connect';
import { containerLabels, type ContainerKind, type Purpose } from '../labels';
import { outputLimit } from '../../programs/boundedOutput';
import {
  confinement,
  limitHit,
  limitWords,
  supervised,
  type BuildLimits,
  type LimitHit,
  type ConfinedRuns,
} from './confinement';
import { EngineDiskFull, EngineTrouble, lineOfProblem } from '../connection/engineProblem';
import { attachProgram } from '../attachedProgram';
import type { AttachedProgram } from '../../sandbox/agentProtocol';

/** Everything that making an image needs: an engine, a log, and a way to cancel. */
export interface BuildPlace {
  readonly connection: DockerConnection;
  readonly log: BuildLog;
  readonly work: EngineWork;
  /** Limits for each container of the build. */
  readonly limits: BuildLimits;
}

interface BuildRequest {
  /** Id or name of the image that the container starts from. */
  readonly image: string;
  readonly kind?: ContainerKind;
  readonly purpose: Purpose;
  /** Whose code the container runs; this decides about its network and rights. */
  readonly runs: ConfinedRuns;
}

/** A build reached one of its limits and was stopped. */
class LimitReached extends HumanError {
  constructor(
    readonly limit: LimitHit,
    what: string,
    todo: string,
  ) {
    super(what, todo);
  }
}

/** A command of a build failed. */
export class CommandFailed extends HumanError {
  constructor(
    what: string,
    todo: string | undefined,
    /** The last of its output, which is too long for people. */
    readonly output: string,
  ) {
    super(what, todo);
  }
}

/**
 * Processors by the names in images.
 * https://github.com/opencontainers/image-spec/blob/main/config.md#properties
 */
const machines: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

/** Characters of a command's output that are kept; the log has all of them. */
const kept = 1 << 20;

/**
 * Does `work` in a container that is removed at the end, whether `work` succeeds or fails. When the
 * signal fires, the container is removed at once. After a success, nobody waits for the removal,
 * which takes up to a second, and for what `work` has left for {@link BuildContainer.afterwards}; the
 * connection does, before it is closed.
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
  let building: BuildContainer | undefined;
  // Remove it only once, since the engine refuses a second removal during the first.
  let removing: Promise<void> | undefined;
  const remove = (): Promise<void> | undefined => {
    // If the engine is gone, the next start removes the container by its label.
    if (made !== undefined) removing ??= removeNow(made).catch(() => undefined);
    return removing;
  };
  const onAbort = (): void => void remove();
  const unheard = (): void => signal?.removeEventListener('abort', onAbort);
  try {
    const container = await connection.docker.createContainer(
      await containerOptions(request, place.limits),
    );
    made = container;
    signal?.addEventListener('abort', onAbort, { once: true });
    throwIfAborted(signal);
    await made.start();
    building = new BuildContainer(made, place, async () => remove());
    const result = await work(building);
    connection.meanwhile(building.afterAll().then(remove).finally(unheard));
    return result;
  } catch (error) {
    unheard();
    await remove();
    if (signal?.aborted === true) throw new Cancelled();
    const step = building?.step;
    const doing = `building an image from ${request.image}${step === undefined ? '' : ` (${step})`}`;
    const problem = engineProblem(error, connection, doing);
    // The engine's own words help those who investigate the failure.
    if (problem !== error) log.line(messageOf(error));
    log.line(problem.message);
    throw problem;
  }
}

async function containerOptions(
  { image, purpose, runs, kind = 'build' }: BuildRequest,
  limits: BuildLimits,
): Promise<Dockerode.ContainerCreateOptions> {
  return {
    Image: image,
    // A day, in seconds: longer than any build, and still finite.
    Entrypoint: ['sleep', '86400'],
    Cmd: [],
    User: '0',
    WorkingDir: '/',
    Labels: await containerLabels(kind, purpose),
    NetworkDisabled: runs === 'foreign',
    HostConfig: confinement(runs, limits),
  };
}

/** A running container that becomes an image. */
export class BuildContainer implements ImageCommands {
  private supervisor: string | undefined;
  private readonly later: (() => Promise<void>)[] = [];
  private lastStep: string | undefined;

  /** The latest step, for errors. */
  get step(): string | undefined {
    return this.lastStep;
  }

  /** @param end ends everything that runs in the container */
  constructor(
    private readonly container: Dockerode.Container,
    private readonly place: BuildPlace,
    private readonly end: () => Promise<void>,
  ) {}

  /** Does work once nobody waits for this container any more. An error of it is only logged. */
  afterwards(work: () => Promise<void>): void {
    this.later.push(work);
  }

  /** Does what was left for afterwards. Never fails. */
  async afterAll(): Promise<void> {
    try {
      for (const work of this.later) await work();
    } catch (error) {
      const { reporter, signal } = this.place.work;
      if (signal?.aborted !== true) reporter.log(messageOf(error));
    }
  }

  /** @param python an interpreter that foreign code cannot write to: that of the base image */
  superviseWith(python: string): void {
    this.supervisor = python;
  }

  /** Processor of its image, as `uname -m` names it. */
  async machine(): Promise<string> {
    const { Image } = await this.container.inspect();
    const { Architecture } = await this.place.connection.docker.getImage(Image).inspect();
    const known = machines[Architecture];
    return known ?? (await this.run(['uname', '-m'], 'ask for the architecture')).trim();
  }

  /** Unpacks an archive below a folder that exists. */
  async put(archive: Buffer | Readable, folder = '/'): Promise<void> {
    throwIfAborted(this.place.work.signal);
    this.lastStep = `copying files to ${folder}`;
    await this.container.putArchive(archive, { path: folder });
  }

  /**
   * Runs a command to its end, whatever its exit status.
   *
   * @throws LimitReached when the command reaches a limit; then it, or everything in the container,
   * is stopped
   */
  async attempt(argv: readonly string[], command: Command = {}): Promise<Ended> {
    const { work, log, connection, limits } = this.place;
    const { isForeign = false } = command;
    throwIfAborted(work.signal);
    this.lastStep = command.doing ?? `running ${argv[0] ?? ''}`;
    log.line(`$ ${argv.map(loggedWord).join(' ')}`);
    const exec = await this.container.exec({
      Cmd: isForeign ? supervised(this.mustBeSupervised(), argv, limits) : [...argv],
      User: String(isForeign ? 0 : (command.user ?? 0)),
      WorkingDir: command.cwd ?? '/',
      Env: Object.entries(command.env ?? {}).map(([name, value]) => `${name}=${value}`),
      AttachStdout: true,
      AttachStderr: true,
    });
    const { output, standard, stopped } = await this.outputOf(exec, isForeign);
    throwIfAborted(work.signal);
    if (stopped !== undefined) throw this.limitReached(stopped, command);
    const ExitCode = await exitCode(exec);
    throwIfAborted(work.signal);
    if (ExitCode === null) {
      throw new EngineTrouble(
        `The Docker engine at ${connection.address} did not report how a command ended while building an image (${this.lastStep})`,
        "Try again; the engine's log may have details",
      );
    }
    log.line(`ended with ${ExitCode}`);
    const hit = isForeign ? limitHit(ExitCode) : undefined;
    if (hit !== undefined) throw this.limitReached(hit, command, output);
    return { code: ExitCode, output, standard };
  }

  /** Starts a command and reads its output to the end, or until it reaches a limit. */
  private async outputOf(
    exec: Dockerode.Exec,
    isForeign: boolean,
  ): Promise<{ output: string; standard: string; stopped: LimitHit | undefined }> {
    const { log, connection, limits } = this.place;
    const stream: Duplex = await exec.start({ hijack: true, stdin: false });
    let output = '';
    let standard = '';
    let bytes = 0;
    let stopped: LimitHit | undefined;
    const stop = (hit: LimitHit): void => {
      if (stopped !== undefined) return;
      stopped = hit;
      // Stop reading output that does not end.
      this.end()
        .catch(() => undefined)
        .finally(() => stream.destroy());
    };
    const reader = (take: (text: string) => void): PassThrough => {
      const decoder = new StringDecoder('utf8');
      const end = new PassThrough();
      end.on('data', (data: Buffer) => {
        bytes += data.length;
        if (bytes > outputLimit) return stop('output');
        const text = decoder.write(data);
        log.output(text);
        output = (output + text).slice(-kept);
        take(text);
      });
      return end;
    };
    // The supervisor ends a command that takes too long. This timer is for a supervisor that fails
    // to.
    const timeout = limits.buildMinutes * 60_000 + (isForeign ? 30_000 : 0);
    const timer = setTimeout(() => stop('time'), Math.min(timeout, 2 ** 31 - 1));
    connection.docker.modem.demuxStream(
      stream,
      reader((text) => (standard = (standard + text).slice(-kept))),
      reader(() => undefined),
    );
    try {
      await new Promise<void>((resolve, reject) => {
        stream.once('end', resolve).once('close', resolve).once('error', reject);
      });
    } finally {
      clearTimeout(timer);
    }
    return { output, standard, stopped };
  }

  private mustBeSupervised(): string {
    if (this.supervisor === undefined)
      throw new Error('third-party code must run under a supervisor');
    return this.supervisor;
  }

  private limitReached(
    hit: LimitHit,
    { doing = 'build the image' }: Command,
    output = '',
  ): LimitReached {
    const { limits, log } = this.place;
    const { what, todo } = limitWords(hit, limits);
    const last = output === '' ? '' : `, and ended with: ${lineOfProblem(lastLines(output, 2))}`;
    return new LimitReached(hit, `Could not ${doing}: ${what}${last}`, `${todo}. Log: ${log.path}`);
  }

  /**
   * Reads the content of a file.
   *
   * @param limit bytes
   * @throws Error when there is no such file, or when it is longer
   */
  async take(path: string, limit: number): Promise<Buffer> {
    throwIfAborted(this.place.work.signal);
    this.lastStep = `taking ${path}`;
    const stream = await this.container.getArchive({ path });
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > limit) throw new Error(`${path} is too long`);
      pieces.push(piece);
    }
    const file = (await filesOfTar(Buffer.concat(pieces))).get(posix.basename(path));
    if (file === undefined) throw new Error(`${path} is not a file`);
    return file;
  }

  /** Starts a program as root that runs beside others, until it is closed or the container ends. */
  async attach(argv: readonly string[]): Promise<AttachedProgram> {
    throwIfAborted(this.place.work.signal);
    this.lastStep = `starting ${argv[0] ?? ''}`;
    return attachProgram(this.container, argv);
  }

  /**
   * Runs a command that has to succeed, and returns its standard output.
   *
   * @param doing purpose of the command, as in "could not …": `install the dependencies of sympy
   * 1.7`
   * @throws HumanError with the last of its output and the path of the log
   */
  async run(argv: readonly string[], doing: string, command: Command = {}): Promise<string> {
    const ended = await this.attempt(argv, { ...command, doing });
    if (ended.code !== 0) throw this.failed(ended, doing);
    return ended.standard;
  }

  /** The error for a command that failed. */
  failed({ output, code }: Ended, doing: string): HumanError {
    const { connection, log } = this.place;
    const last = lastLines(output, 4);
    if (/no space left on device|disk quota exceeded/i.test(output)) {
      return new EngineDiskFull(
        `The disk of the Docker engine at ${connection.address} is full: could not ${doing}`,
        'Free some space: swt-bench storage --free-images all removes images built here; docker system df shows the rest',
      );
    }
    return new CommandFailed(
      `Could not ${doing}: ${last === '' ? `status ${code}` : lineOfProblem(last)}`,
      `See the full log: ${log.path}`,
      output,
    );
  }

  /**
   * Makes an image of the container, whole or not at all.
   *
   * @param changes instructions of a Dockerfile: LABEL, ENV, CMD …
   * @returns the image's id
   */
  async commit(repository: string, tag: string, changes: readonly string[]): Promise<string> {
    const { connection, work, log } = this.place;
    throwIfAborted(work.signal);
    log.line(`committing ${repository}:${tag}`);
    this.lastStep = `committing ${repository}:${tag}`;
    await this.container.commit({
      repo: repository,
      tag,
      changes: changes.join('\n'),
    } as unknown as object);
    const { Id, Size } = await connection.docker.getImage(`${repository}:${tag}`).inspect();
    log.line(`built ${repository}:${tag}, ${Id}, ${(Size / 1e6).toFixed(0)} MB including its base`);
    return Id;
  }
}

/** A word of a command for the log, which leaves out most of a long script of ours. */
function loggedWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  const [start, left] = [word.slice(0, 300), word.length - 300];
  return JSON.stringify(left > 0 ? `${start}… (${left} more characters)` : word);
}

const lastLines = (output: string, count: number): string =>
  output
    .trimEnd()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join(' ');

/** Milliseconds that the engine has to notice the end of a command after the end of its output. */
const settling = 30_000;

async function exitCode(exec: Dockerode.Exec): Promise<number | null> {
  for (const end = performance.now() + settling; ;) {
    const { ExitCode, Running } = await exec.inspect();
    if (ExitCode !== null || !Running || performance.now() > end) return ExitCode;
    await sleep(20);
  }
}

/** A LABEL instruction. https://docs.docker.com/reference/dockerfile/#label */
export const labelLines = (labels: Readonly<Record<string, string>>): string[] =>
  Object.entries(labels).map(([key, value]) => `LABEL ${key}=${quotedWord(value)}`);

const quotedWord = (text: string): string => `"${text.replace(/[\\"$]/g, '\\$&')}"`;
