import type { Instance } from '../../../domain/instance';
import type { Trees } from '../../../repository/trees';
import type { DevContainerImage } from '../../devContainer';
import type { EngineWork } from '../../engine';
import { connect } from '../connection/connect';
import { instanceImage } from './instanceImage';
import type { DockerSettings } from '../dockerSettings';

/**
 * The image that the docker engine runs the tests of an instance in, for its dev container. It is pulled
 * or built when it is not there.
 *
 * @throws HumanError when no engine answers or the image cannot be had; Cancelled
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
    // What the name stands for may have become another image meanwhile.
    const named = await connection.docker
      .getImage(image.name)
      .inspect()
      .catch(() => undefined);
    return { name: named?.Id === image.id ? image.name : image.id, folder, python, install };
  } finally {
    connection.close();
  }
}
