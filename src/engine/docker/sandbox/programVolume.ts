import { randomBytes } from 'node:crypto';
import { throwIfAborted } from '../../../domain/work';
import { programFolder } from '../../engine';
import { programArchive } from '../../sandbox/programArchive';
import { engineProblem, type DockerConnection } from '../connection/connect';
import { containerLabels, madeHere } from '../labels';
import { isAbandoned, removeNow } from './abandonedContainers';

/**
 * Makes a volume with the files of a folder, for containers that only read it. The files travel as a
 * tar, so that an engine on another machine gets them too. Nothing is left behind on failure.
 *
 * @param folder on this machine
 * @param image any image of the engine: a container that never runs fills the volume
 * @returns the name of the volume
 * @throws HumanError when the folder cannot be read or the engine does not do it, Cancelled
 */
export async function makeProgramVolume(
  connection: DockerConnection,
  folder: string,
  image: string,
  signal?: AbortSignal,
): Promise<string> {
  const { docker } = connection;
  const name = `swt-bench-program-${randomBytes(6).toString('hex')}`;
  const Labels = await containerLabels('program');
  throwIfAborted(signal);
  try {
    await docker.createVolume({ Name: name, Labels });
    const container = await docker.createContainer({
      ...{ Image: image, Entrypoint: ['/bin/true'], Cmd: [], NetworkDisabled: true, Labels },
      HostConfig: {
        NetworkMode: 'none',
        Mounts: [{ Type: 'volume', Source: name, Target: programFolder, ReadOnly: false }],
      },
    });
    try {
      await container.putArchive(await programArchive(folder, signal), { path: programFolder });
      throwIfAborted(signal);
    } finally {
      await removeNow(container);
    }
    return name;
  } catch (error) {
    await removeVolume(connection, name);
    throwIfAborted(signal);
    throw engineProblem(error, connection, `sending the agent from ${folder}`);
  }
}

/** Removes a volume; never throws. One that stays is removed later, as abandoned. */
export async function removeVolume(
  { docker }: Pick<DockerConnection, 'docker'>,
  name: string,
): Promise<void> {
  await docker
    .getVolume(name)
    .remove({ force: true })
    .catch(() => undefined);
}

/** Removes the volumes of programs whose process has ended without removing them. */
export async function removeAbandonedVolumes(
  connection: Pick<DockerConnection, 'docker'>,
): Promise<void> {
  // Some engines are reached through a filter that knows no volumes.
  const { Volumes } = await connection.docker
    .listVolumes({ filters: madeHere })
    .catch(() => ({ Volumes: [] }));
  const now = Date.now() / 1000;
  for (const volume of Volumes ?? []) {
    const { Name: Id, Labels } = volume;
    const created = Date.parse((volume as { readonly CreatedAt?: string }).CreatedAt ?? '');
    const Created = Number.isNaN(created) ? now : created / 1000;
    if (await isAbandoned({ Id, Created, Labels }, now)) await removeVolume(connection, Id);
  }
}
