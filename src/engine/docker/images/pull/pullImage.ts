import { homedir } from 'node:os';
import type { Readable } from 'node:stream';
import { Cancelled, throwIfAborted } from '../../../../domain/work';
import type { EngineWork } from '../../../engine';
import type { DockerConnection } from '../../connection/connect';
import type { DockerFolder } from '../../connection/contexts';
import { registryLogin, type RegistryLogin } from './registryLogin';
import { parseImageName, platformOf } from '../imageName';
import { engineProblem, lineOfProblem } from '../../connection/engineProblem';
import { pullProblem } from './pullProblem';
import { PullProgress } from './pullProgress';

/** Milliseconds between two lines of progress. */
const pace = 250;

/**
 * Pulls an image by its name, with the login that `docker login` left for its registry. When a pull
 * breaks off or is cancelled, the engine keeps the complete layers, and the next pull continues
 * from there. The image itself is present whole or not at all.
 *
 * @param place where logins are kept, by default those of this user
 * @returns the image's id, `sha256:…`
 * @throws ImageMissing, RegistryUnreachable, another HumanError (login, full disk, engine gone),
 * Cancelled
 */
export async function pullImage(
  connection: Pick<DockerConnection, 'docker' | 'address'>,
  name: string,
  work: EngineWork,
  place: DockerFolder = { env: process.env, home: homedir() },
): Promise<string> {
  const { signal, reporter } = work;
  const doing = `pulling ${name}`;
  throwIfAborted(signal);
  const { repository, tag, digest, registry } = parseImageName(name);
  const platform = platformOf(name);
  const login = await registryLogin(registry, place, (line) => reporter.log(line), signal);
  throwIfAborted(signal);
  reporter.log(`${doing}${login === undefined ? '' : `, logged in to ${registry}`}`);
  reporter.progress(`Pulling ${name}`);
  const progress = new PullProgress();
  try {
    const stream = await begin(connection, login, {
      fromImage: repository,
      tag: digest ?? tag,
      ...(platform === undefined ? {} : { platform }),
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    await follow(stream, progress, () =>
      reporter.progress(`Pulling ${name}: ${progress.describe()}`),
    );
    if (progress.error !== undefined) throw new Error(progress.error);
    throwIfAborted(signal);
  } catch (error) {
    if (error instanceof Cancelled || signal?.aborted === true) throw new Cancelled();
    throw pullProblem(error, { name, bytes: progress.bytes, address: connection.address });
  }
  try {
    const { Id } = await connection.docker.getImage(name).inspect();
    reporter.log(
      `pulled ${name}: ${Id}${progress.digest === undefined ? '' : `, digest ${lineOfProblem(progress.digest)}`}, ${progress.describe()}`,
    );
    return Id;
  } catch (error) {
    throw engineProblem(error, connection, doing);
  }
}

interface PullOptions {
  readonly fromImage: string;
  /** Tag or digest. */
  readonly tag: string | undefined;
  readonly platform?: string;
  readonly abortSignal?: AbortSignal;
}

async function begin(
  { docker }: Pick<DockerConnection, 'docker'>,
  login: RegistryLogin | undefined,
  options: PullOptions,
): Promise<Readable> {
  // The types have no overload with a login but without a callback.
  const create = docker as unknown as {
    createImage(login: RegistryLogin | undefined, options: PullOptions): Promise<Readable>;
  };
  return create.createImage(login, options);
}

/** Reads the stream to its end and reports progress now and then. */
async function follow(stream: Readable, progress: PullProgress, tell: () => void): Promise<void> {
  let told = -Infinity;
  stream.setEncoding('utf8');
  for await (const text of stream as AsyncIterable<string>) {
    progress.add(text);
    const now = performance.now();
    if (now - told < pace) continue;
    told = now;
    tell();
  }
  progress.end();
  tell();
}
