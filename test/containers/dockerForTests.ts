import { existsSync } from 'node:fs';
import Dockerode from 'dockerode';
import { dockerSettings, type DockerSettings } from '../../src/engine/docker/dockerSettings';

/** The setting that finds the base images of the tests; test/scripts/baseImages.mjs makes them. */
export const baseImage =
  process.env['SWT_BENCH_TEST_BASE_IMAGE'] ?? 'swt-test/python:{python}-bookworm';

/** The engine of the tests, through a plain client without any code under test. */
export const plainDocker = new Dockerode();

/**
 * Skips all tests of a suite, with the cause, where no engine answers at the usual place or a base
 * image is missing. For the `before` of a suite.
 *
 * @param pythons versions whose base images the suite needs
 */
export async function needDocker(
  suite: Mocha.Context,
  pythons: readonly string[] = ['3.9'],
): Promise<void> {
  const cause = await missing(pythons);
  if (cause === undefined) return;
  suite.test?.parent?.eachTest((test) => {
    (test as Mocha.Test & { skipReason?: string }).skipReason = `${test.fullTitle()}: ${cause}`;
  });
  suite.skip();
}

async function missing(pythons: readonly string[]): Promise<string | undefined> {
  const told = process.env['SWT_BENCH_NO_DOCKER'];
  if (told !== undefined) return told;
  try {
    await plainDocker.ping();
  } catch {
    return 'no Docker engine answers';
  }
  for (const python of pythons) {
    const tag = baseImage.replace('{python}', python);
    const isThere = await plainDocker
      .getImage(tag)
      .inspect()
      .then(() => true)
      .catch(() => false);
    if (!isThere) return `there is no image ${tag} (node test/scripts/baseImages.mjs ${python})`;
  }
  return undefined;
}

/** Settings for small sandboxes, with environments from the base images of the tests. */
export const testSettings = (more: Partial<DockerSettings> = {}): DockerSettings =>
  dockerSettings.read({
    ...{ baseImage, prebuilt: '', memoryMb: 1024, processes: 256, diskMb: 1024, idleMinutes: 0 },
    ...more,
  });

/** Names of the containers of an instance, running or not. */
export async function containersOf(
  instance: string,
  docker: Dockerode = plainDocker,
  all = true,
): Promise<string[]> {
  const found = await docker.listContainers({
    all,
    filters: { label: [`swt-bench.instance=${instance}`] },
  });
  return found.flatMap(({ Names }) => Names);
}

/** Kills the container of an instance in which a program runs, as soon as it does. */
export async function killWhatRuns(id: string, program: string): Promise<void> {
  for (;;) {
    for (const name of await containersOf(id)) {
      const container = plainDocker.getContainer(name.slice(1));
      const { Processes } = (await container.top()) as { Processes: string[][] };
      if (!Processes.some((each) => each.join(' ').includes(program))) continue;
      await container.kill();
      return;
    }
  }
}

/** Removes the images of an instance and its remaining containers. */
export async function removeImagesOf(
  instance: string,
  docker: Dockerode = plainDocker,
): Promise<void> {
  for (const name of await containersOf(instance, docker)) {
    await docker
      .getContainer(name.slice(1))
      .remove({ force: true })
      .catch((error: { statusCode?: number }) => {
        // It is gone, or being removed.
        if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
      });
  }
  await removeLabelled(docker, `swt-bench.instance=${instance}`);
}

/** Removes the images of a repository: those of its versions and of its instances. */
export const removeImagesOfRepository = (repo: string): Promise<void> =>
  removeLabelled(plainDocker, `swt-bench.repo=${repo}`);

async function removeLabelled(docker: Dockerode, label: string): Promise<void> {
  for (const { Id } of await docker.listImages({ filters: { label: [label] } })) {
    await docker
      .getImage(Id)
      .remove({ force: true })
      .catch(() => undefined);
  }
}

/** Where the machine's own certificates are, which a registry behind a proxy may need. */
export const certificates = ['/etc/ssl/certs/ca-certificates.crt'].find(existsSync);
