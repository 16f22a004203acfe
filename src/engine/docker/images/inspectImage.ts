import { engineProblem, type DockerConnection } from '../connection/connect';
import { refusedStatus } from '../connection/engineProblem';

/** An image that the engine has. */
export interface PresentImage {
  readonly id: string;
  /** Size of the image and of those that it is based on. */
  readonly bytes: number;
  readonly labels: Readonly<Record<string, string>>;
  /** PATH of its configuration. */
  readonly path: string;
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The image that the engine has under a name or id; undefined when there is none.
 *
 * @throws HumanError when the engine does not answer
 */
export async function inspectImage(
  connection: Pick<DockerConnection, 'docker' | 'address'>,
  name: string,
): Promise<PresentImage | undefined> {
  try {
    const { Id, Size, Config } = await connection.docker.getImage(name).inspect();
    // Podman and recent versions of Docker leave out empty fields.
    const { Labels, Env } = Config as { Labels?: Record<string, string>; Env?: string[] };
    const path = Env?.find((line) => line.startsWith('PATH='))?.slice('PATH='.length);
    return { id: Id, bytes: Size, labels: Labels ?? {}, path: path ?? defaultPath };
  } catch (error) {
    if (refusedStatus(error) === 404) return undefined;
    throw engineProblem(error, connection, `looking for the image ${name}`);
  }
}
