import Dockerode from 'dockerode';
import { homedir } from 'node:os';
import { z } from 'zod';
import { Cancelled, HumanError, throwIfAborted } from '../../../domain/work';
import { parseAddress, writeAddress, type EngineAddress } from './engineAddress';
import { currentContext, readContext, tlsOfEnvironment, type DockerFolder } from './contexts';
import { diagnosis } from './diagnosis';
import { lineOfProblem } from './engineProblem';
import { NoProgramThere } from './ssh';
import { EngineAgent, timeoutOf } from './engineAgent';
import { defaultPlaces, type DefaultPlace } from './defaultPlaces';

export { engineProblem } from './engineProblem';

/** A connection to an engine that has answered. */
export interface DockerConnection {
  readonly docker: Dockerode;
  /** The engine's address as the user would write it, such as `unix:///var/run/docker.sock`. */
  readonly address: string;
  /**
   * The source of the address: `the setting`, `DOCKER_HOST`, `the context desktop-linux`, `the
   * default socket`.
   */
  readonly foundBy: string;
  readonly product: 'docker' | 'podman';
  /** Version of the engine, such as `20.10.24`. */
  readonly version: string;
  /** Version of the API for all calls, such as `1.41`. */
  readonly apiVersion: string;
  /** Whether the engine runs as a user, without rights over the machine. */
  readonly rootless: boolean;
  /** Processor architecture as `uname -m` names it: `x86_64`, `aarch64`. */
  readonly architecture: string;
  readonly processors: number;
  readonly memoryBytes: number;
  /**
   * Container limits that the engine accepts but does not enforce. Rootless engines without cgroup
   * v2 do that.
   */
  readonly missingLimits: readonly string[];
  /** Lets `work`, whose end nobody waits for and which does not fail, end before the connection. */
  meanwhile(work: Promise<void>): void;
  /** Waits for work of {@link meanwhile}, and closes the connections that stay open between calls. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Address from the settings; it takes precedence over all other sources. */
  readonly host?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** The user's home. */
  readonly home?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Where to look for an engine when nothing names one; the default places of this machine by
   * default.
   */
  readonly usual?: readonly DefaultPlace[] | undefined;
}

/** The oldest API with everything used here: the platform of a new container (Docker 20.10). */
const oldest = '1.40';
/** The API version that the calls are written for; used when the engine supports it. */
const preferred = '1.43';

const versionAnswer = z.object({
  Version: z.string(),
  ApiVersion: z.string(),
  MinAPIVersion: z.string().optional(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
});

const infoAnswer = z.object({
  OSType: z.string().optional(),
  Architecture: z.string(),
  NCPU: z.number(),
  MemTotal: z.number(),
  MemoryLimit: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
});

/**
 * Finds the engine and asks for its version and limits. The address comes from the first of these
 * that is there: the setting, `DOCKER_HOST`, the current docker context, the default sockets. When a
 * named engine does not answer, no other is tried.
 *
 * @throws HumanError naming what was tried, what is wrong there and what to do; Cancelled
 */
export async function connect(options: ConnectOptions = {}): Promise<DockerConnection> {
  const folder = { env: options.env ?? process.env, home: options.home ?? homedir() };
  const { signal } = options;
  throwIfAborted(signal);
  const named = await namedPlace(options.host, folder);
  if (named !== undefined) {
    try {
      return await open(named, folder.env, signal);
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      const { what, next } = diagnosis(error, named.address);
      throw new HumanError(
        `The engine at ${writeAddress(named.address)} (${named.foundBy}) cannot be used: ${what}`,
        next,
      );
    }
  }
  const usual =
    options.usual ??
    defaultPlaces({ platform: process.platform, uid: process.getuid?.(), ...folder });
  const tried: { place: DefaultPlace; what: string; next: string; absent: boolean }[] = [];
  for (const place of usual) {
    try {
      return await open(place, folder.env, signal);
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      tried.push({ place, ...diagnosis(error, place.address) });
    }
  }
  const there = tried.filter(({ absent }) => !absent);
  const advice =
    there.length === 0
      ? [
          'Install and start Docker or Podman, or specify an engine with DOCKER_HOST or in the settings',
        ]
      : [...new Set(there.map(({ next }) => next))];
  throw new HumanError(
    `No container engine responds. Tried ${tried
      .map(({ place, what }) => `${writeAddress(place.address)} (${place.foundBy}): ${what}`)
      .join('; ')}`,
    `${advice.join('. ')}. Without one, tests run with the local engine (--engine local)`,
  );
}

/** The engine that the setting, `DOCKER_HOST` or a context names; undefined when none does. */
async function namedPlace(
  host: string | undefined,
  folder: DockerFolder,
): Promise<DefaultPlace | undefined> {
  const given = host?.trim() ?? '';
  if (given !== '') {
    const tls = await tlsOfEnvironment(folder);
    return { address: parseAddress(given, 'the setting', tls), foundBy: 'the setting' };
  }
  const fromEnvironment = folder.env['DOCKER_HOST']?.trim() ?? '';
  if (fromEnvironment !== '') {
    const tls = await tlsOfEnvironment(folder);
    return { address: parseAddress(fromEnvironment, 'DOCKER_HOST', tls), foundBy: 'DOCKER_HOST' };
  }
  const context = await currentContext(folder);
  if (context === undefined) return undefined;
  const { name, foundBy } = context;
  return { address: await readContext(folder, name, foundBy), foundBy };
}

/**
 * Connects to an engine. Through ssh, Docker's own program connects on the other machine, or
 * Podman's when only that is installed.
 */
async function open(
  place: DefaultPlace,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<DockerConnection> {
  try {
    return await openWith(place, new EngineAgent(place.address, env), signal);
  } catch (error) {
    if (!(error instanceof NoProgramThere)) throw error;
    const podman = new EngineAgent(place.address, env, 'podman');
    return await openWith(place, podman, signal).catch((second: unknown) => {
      throw second instanceof NoProgramThere ? error : second;
    });
  }
}

async function openWith(
  { address, foundBy }: DefaultPlace,
  agent: EngineAgent,
  signal: AbortSignal | undefined,
): Promise<DockerConnection> {
  try {
    const unversioned = dockerode(address, agent, undefined) as unknown as Questions;
    const answer = await ask(address, signal, (options) => unversioned.version(options));
    const version = understood(versionAnswer, answer);
    const docker = dockerode(address, agent, negotiated(version));
    const info = understood(
      infoAnswer,
      await ask(address, signal, (options) => (docker as unknown as Questions).info(options)),
    );
    if (info.OSType !== undefined && info.OSType !== 'linux') {
      throw new HumanError(
        `it is set to ${lineOfProblem(info.OSType)} containers`,
        'Switch Docker Desktop to Linux containers',
      );
    }
    const underWay = new Set<Promise<void>>();
    const isPodman = version.Components?.some(({ Name }) => /podman/i.test(Name)) === true;
    return {
      docker,
      address: writeAddress(address),
      foundBy,
      product: isPodman ? 'podman' : 'docker',
      version: lineOfProblem(version.Version),
      apiVersion: negotiated(version),
      rootless: info.SecurityOptions?.some((each) => /\bname=rootless\b/.test(each)) === true,
      architecture: architectures[info.Architecture] ?? lineOfProblem(info.Architecture),
      processors: info.NCPU,
      memoryBytes: info.MemTotal,
      missingLimits: [
        ...(info.MemoryLimit === false ? ['memory'] : []),
        ...(info.PidsLimit === false ? ['processes'] : []),
        ...(info.CpuCfsQuota === false ? ['processors'] : []),
      ],
      meanwhile: (work) => {
        underWay.add(work);
        void work.finally(() => underWay.delete(work));
      },
      close: async () => {
        await Promise.all(underWay);
        agent.destroy();
      },
    };
  } catch (error) {
    agent.destroy();
    throw error;
  }
}

/** Go's names of architectures, which Podman answers with. */
const architectures: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

/** Options that dockerode takes although its types do not list them. */
interface Questions {
  version(options: { abortSignal: AbortSignal }): Promise<unknown>;
  info(options: { abortSignal: AbortSignal }): Promise<unknown>;
}

/** Makes a call, and aborts it after {@link timeoutOf} this kind of engine. */
async function ask(
  address: EngineAddress,
  signal: AbortSignal | undefined,
  call: (options: { abortSignal: AbortSignal }) => Promise<unknown>,
): Promise<unknown> {
  const late = AbortSignal.timeout(timeoutOf(address));
  try {
    return await call({
      abortSignal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
  } catch (error) {
    if (signal?.aborted === true) throw new Cancelled();
    if (!late.aborted) throw error;
    throw new HumanError(
      `no response within ${timeoutOf(address) / 1000} seconds`,
      'Check whether it is busy or hangs, then restart it',
    );
  }
}

function understood<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  throw new HumanError(
    'the server there is not a Docker engine',
    'Specify the address of a Docker or Podman engine',
  );
}

/**
 * Chooses the version of the API for all calls. A fixed version matters because the meaning of
 * calls changes between versions.
 *
 * @throws HumanError when the engine is too old
 */
export function negotiated(engine: {
  Version: string;
  ApiVersion: string;
  MinAPIVersion?: string | undefined;
}): string {
  if (isOlder(engine.ApiVersion, oldest)) {
    throw new HumanError(
      `it is too old: version ${lineOfProblem(engine.Version)} with API ${lineOfProblem(engine.ApiVersion)}`,
      `Update it to one with API ${oldest} or later: Docker 19.03, Podman 3`,
    );
  }
  if (isOlder(engine.ApiVersion, preferred)) return lineOfProblem(engine.ApiVersion);
  const { MinAPIVersion } = engine;
  return MinAPIVersion !== undefined && isOlder(preferred, MinAPIVersion)
    ? lineOfProblem(MinAPIVersion)
    : preferred;
}

function isOlder(one: string, other: string): boolean {
  const [major = 0, minor = 0] = one.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major !== otherMajor ? major < otherMajor : minor < otherMinor;
}

function dockerode(
  address: EngineAddress,
  agent: EngineAgent,
  apiVersion: string | undefined,
): Dockerode {
  const prefix = address.kind === 'tcp' ? address.prefix : '';
  const version = [prefix, apiVersion === undefined ? '' : `v${apiVersion}`].filter(Boolean);
  const options: Dockerode.DockerOptions & { agent: EngineAgent } = {
    // The agent makes the connection. The path only tells dockerode that there is no host to
    // connect to.
    socketPath: address.kind === 'socket' ? address.path : writeAddress(address),
    protocol: 'http',
    version: version.length === 0 ? undefined : version.join('/'),
    agent,
  };
  // The modem always reads DOCKER_HOST and its certificates, and fails when they are invalid.
  const host = process.env['DOCKER_HOST'];
  delete process.env['DOCKER_HOST'];
  const certificates = process.env['DOCKER_CERT_PATH'];
  delete process.env['DOCKER_CERT_PATH'];
  try {
    return new Dockerode(options);
  } finally {
    if (host !== undefined) process.env['DOCKER_HOST'] = host;
    if (certificates !== undefined) process.env['DOCKER_CERT_PATH'] = certificates;
  }
}
