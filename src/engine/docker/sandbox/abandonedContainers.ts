import type { Container } from 'dockerode';
import { uptime } from 'node:os';
import { hasEnded, ownerWord } from '../../../repository/lock';
import { engineProblem, type DockerConnection } from '../connection/connect';
import { containerKinds, labels, madeHere } from '../labels';

type Reached = Pick<DockerConnection, 'docker' | 'address'>;

/** The fields of the engine's container list that are used here. */
interface Listed {
  readonly Id: string;
  /** Seconds since 1970. */
  readonly Created: number;
  readonly Labels: Readonly<Record<string, string>> | null;
}

/** Seconds after which a container of a process on another machine counts as left over. */
const foreignAge = 24 * 3600;

/**
 * Removes the containers whose process has ended without removing them, unfinished builds included.
 * A remote engine has several users, and the processes of other machines cannot be checked. Their
 * containers are removed when they are a day old. Containers that others made are never touched.
 *
 * @returns how many were removed
 * @throws HumanError when the engine does not answer
 */
export async function removeAbandonedContainers({ docker, address }: Reached): Promise<number> {
  const now = Date.now() / 1000;
  let removed = 0;
  try {
    const all: Listed[] = await docker.listContainers({ all: true, filters: madeHere });
    for (const container of all) {
      if (!(await isAbandoned(container, now))) continue;
      try {
        await removeNow(docker.getContainer(container.Id));
        removed += 1;
      } catch (error) {
        // Someone else is already removing it.
        if ((error as { statusCode?: number }).statusCode !== 409) throw error;
      }
    }
  } catch (error) {
    throw engineProblem(error, { address }, 'removing leftover containers');
  }
  return removed;
}

/**
 * Whether the process that made one of our containers no longer needs it.
 *
 * @param now seconds since 1970
 */
export async function isAbandoned(container: Listed, now: number): Promise<boolean> {
  const owner = ownerOf(container);
  if (owner === undefined) return false;
  const machine = owner.split('-')[1];
  const own = (await ownerWord()).split('-')[1];
  // Process numbers start again when the machine starts, and outside of Linux nothing tells reused
  // ones apart.
  if (machine === own) return container.Created < now - uptime() || hasEnded(owner);
  return now - container.Created > foreignAge;
}

/** The process that made a container; undefined when the container is not ours. */
function ownerOf({ Labels }: Listed): string | undefined {
  const kind = Labels?.[labels.kind] as (typeof containerKinds)[number];
  const isOurs = Labels?.[labels.made] === '1' && containerKinds.includes(kind);
  return isOurs ? Labels?.[labels.owner] || undefined : undefined;
}

/**
 * Removes a container at once, running or not; does nothing when it is gone already. The container
 * is killed first, since Podman would wait for it to end on its own.
 */
export async function removeNow(container: Pick<Container, 'kill' | 'remove'>): Promise<void> {
  await container.kill().catch(() => undefined);
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode !== 404) throw error;
  }
}
