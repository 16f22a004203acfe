import type { DevContainerImage } from '../engine/docker';
import type { EngineWork } from '../engine/engine';
import type { EnvironmentMaker, ImageRequest } from '../engine/environmentMaker';
import { plainName, projectNeeds } from './plan/projectNeeds';
import { recipeOf, versionTag } from './recipes';

/**
 * What engines are opened with. What makes environments is loaded when the first is made: an engine
 * that makes virtual environments needs nothing of images, and the other way round.
 */
export const environments: EnvironmentMaker = {
  surroundings: (instance) => ({
    tag: versionTag(instance),
    network: recipeOf(instance.repo, instance.version).network,
  }),
  async projectNames({ repo, version }, tree) {
    const { name } = await projectNeeds(tree, repo, recipeOf(repo, version));
    return [name, repo.split('/').at(-1) ?? ''].map(plainName);
  },
  virtualEnvironment: async (request, work) =>
    (await import('./virtual/virtualEnvironment')).virtualEnvironment(request, work),
  serviceEnvironment: async (...of) =>
    (await import('./virtual/serviceEnvironment')).serviceEnvironment(...of),
  instanceImage: async (request, work) =>
    (await import('./image/instanceImage')).instanceImage(request, work),
  fillImage: async (commands, request) =>
    (await import('./image/fillImage')).fillImage(commands, request),
};

/**
 * The image for the dev container of an instance, which is the one that the docker engine runs its
 * tests in. A missing image is pulled or built.
 *
 * @throws HumanError when no engine answers or the image cannot be pulled or built; Cancelled
 */
export async function devContainerImage(
  request: Omit<ImageRequest, 'connection'>,
  work: EngineWork,
): Promise<DevContainerImage> {
  const { settings, env = process.env } = request;
  const { connect } = await import('../engine/docker');
  const connection = await connect({ host: settings.host, env, signal: work.signal });
  try {
    const image = await environments.instanceImage({ ...request, env, connection }, work);
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
