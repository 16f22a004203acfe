import Dockerode from 'dockerode';
import { homedir } from 'node:os';
import { z } from 'zod';
import { Cancelled, HumanError, throwIfAborted } from '../../../domain/humanError';
import { parseAddress, writeAddress, type EngineAddress } from './engineAddress';
import { currentContext, readContext, tlsOfEnvironment, type DockerFolder } from './contexts';
import { diagnosis } from './diagnosis';
import { lineOfProblem } from './engineProblem';
import { NoProgramThere } from './ssh';
import { EngineAgent, patienceOf } from './engineAgent';
import { usualPlaces, type UsualPlace } from './usualPlaces';

export { engineProblem } from './engineProblem';

/** An engine that answers. */
export interface DockerConnection {
  readonly docker: Dockerode;
  /** As a person would write it, such as `unix:///var/run/docker.sock`. */
  readonly address: string;
  /** Who named the address: `the setting`, `DOCKER_HOST`, `the context desktop-linux`, `the usual socket`. */
  readonly foundBy: string;
  readonly product: 'docker' | 'podman';
  /** Of the engine, such as `20.10.24`. */
  readonly version: string;
  /** That calls are made with, such as `1.41`. */
  readonly apiVersion: string;
  /** Whether the engine runs as a user, without rights over the machine. */
  readonly rootless: boolean;
  /** As `uname -m` names it: `x86_64`, `aarch64`. */
  readonly architecture: string;
  readonly processors: number;
  readonly memoryBytes: number;
  /** Limits of containers that it takes and does not keep, as rootless engines do without cgroup v2. */
  readonly missingLimits: readonly string[];
  /** Ends what is kept open between calls. */
  close(): void;
}

export interface ConnectOptions {
  /** Address from the settings, before all others. */
  readonly host?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** The user's home. */
  readonly home?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Where engines are looked for when nothing names one; those of this machine when absent. */
  readonly usual?: readonly UsualPlace[] | undefined;
}

/** The oldest API that everything used here is in: platform of a new container (Docker 20.10). */
const oldest = '1.40';
/** The API that calls are written for, where the engine has it. */
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
 * Finds the engine and asks what it is. It is the one that the setting names, else `DOCKER_HOST`, else
 * the current docker context, else the first of the usual sockets that answers. Where one is named and
 * does not answer, no other is tried.
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
    usualPlaces({ platform: process.platform, uid: process.getuid?.(), ...folder });
  const tried: { place: UsualPlace; what: string; next: string; absent: boolean }[] = [];
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
      ? ['Install and start Docker or Podman, or name an engine by DOCKER_HOST or in the settings']
      : [...new Set(there.map(({ next }) => next))];
  throw new HumanError(
    `No container engine answers. Tried ${tried
      .map(({ place, what }) => `${writeAddress(place.address)} (${place.foundBy}): ${what}`)
      .join('; ')}`,
    `${advice.join('. ')}. Without one, tests run with the local engine (--engine local)`,
  );
}

/** The engine that somebody named, or undefined. */
async function namedPlace(
  host: string | undefined,
  folder: DockerFolder,
): Promise<UsualPlace | undefined> {
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

/** Through ssh it is Docker's own program that connects there, or Podman's where that is all there is. */
async function open(
  place: UsualPlace,
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
  { address, foundBy }: UsualPlace,
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
        `it runs containers of ${lineOfProblem(info.OSType)}`,
        'Switch Docker Desktop to Linux containers',
      );
    }
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
      close: () => agent.destroy(),
    };
  } catch (error) {
    agent.destroy();
    throw error;
  }
}

/** Podman answers with Go's names. */
const architectures: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

/** What dockerode takes besides what its types say. */
interface Questions {
  version(options: { abortSignal: AbortSignal }): Promise<unknown>;
  info(options: { abortSignal: AbortSignal }): Promise<unknown>;
}

/** A call that is broken off after the patience with this kind of engine. */
async function ask(
  address: EngineAddress,
  signal: AbortSignal | undefined,
  call: (options: { abortSignal: AbortSignal }) => Promise<unknown>,
): Promise<unknown> {
  const late = AbortSignal.timeout(patienceOf(address));
  try {
    return await call({
      abortSignal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
  } catch (error) {
    if (signal?.aborted === true) throw new Cancelled();
    if (!late.aborted) throw error;
    throw new HumanError(
      `no answer within ${patienceOf(address) / 1000} seconds`,
      'See whether it is busy or hangs, and restart it',
    );
  }
}

function understood<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  throw new HumanError(
    'what answers there is no Docker engine',
    'Name the address of a Docker or Podman engine',
  );
}

/**
 * The version of the API that calls are made with: an engine changes what they mean from one to the next.
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
    // The agent makes the connection; the path only says that there is no host to go to.
    socketPath: address.kind === 'socket' ? address.path : writeAddress(address),
    protocol: 'http',
    version: version.length === 0 ? undefined : version.join('/'),
    agent,
  };
  // The modem reads DOCKER_HOST and its certificates in any case, and fails when they are no good.
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
