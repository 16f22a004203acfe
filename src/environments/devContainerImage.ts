import type { Instance } from '../domain/instance';
import type { Trees } from '../repository/trees';
import type { DevContainerImage } from '../engine/devContainer';
import type { EngineWork } from '../engine/engine';
import { connect } from '../engine/docker/connection/connect';
import { instanceImage } from './image/instanceImage';
import type { DockerSettings } from '../engine/docker/dockerSettings';

/**
 * The image for the dev container of an instance, which is the one that the docker engine runs its
 * tests in. A missing image is pulled or built.
 *
 * @throws HumanError when no engine answers or the image cannot be pulled or built; Cancelled
 */
export async function devContainerImage(
  request: {
    readonly instance: Instance;
    readonly trees: Trees;
    readonly settings: DockerSettings;
    /** The storage folder. */
    readonly storage: string;
    readonly env?: NodeJS.ProcessEnv;
  },
  work: EngineWork,
): Promise<DevContainerImage> {
  const { settings, env = process.env } = request;
  const connection = await connect({ host: settings.host, env, signal: work.signal });
  try {
    const image = await instanceImage({ ...request, env, connection }, work);
    const { folder, python, install } = image;
    // The name may refer to another image by now.
    const named = await connection.docker
      .getImage(image.name)
      .inspect()
      .catch(() => undefined);
    return { name: named?.Id === image.id ? image.name : image.id, folder, python, install };
  } finally {
    await connection.close();
  }
}
