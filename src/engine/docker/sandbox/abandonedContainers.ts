import type { Container } from 'dockerode';
import { uptime } from 'node:os';
import { hasEnded, ownerWord } from '../../../repository/owner';
import { engineProblem, type DockerConnection } from '../connection/connect';
import { containerKinds, labels, madeHere } from '../labels';

type Reached = Pick<DockerConnection, 'docker' | 'address'>;

/** What the engine's list says of a container, as far as it is used. */
export interface Listed {
  readonly Id: string;
  /** Seconds since 1970. */
  readonly Created: number;
  readonly Labels: Readonly<Record<string, string>> | null;
}

/** Seconds after which a container of a process on another machine is taken for left over. */
const foreignAge = 24 * 3600;

/**
 * Removes the containers whose process has ended without removing them itself, half-made images'
 * containers among them. Those of another machine (a remote engine has several users) whose process
 * cannot be asked about go when they are a day old. What others made is never touched.
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
        // Somebody else is at it.
        if ((error as { statusCode?: number }).statusCode !== 409) throw error;
      }
    }
  } catch (error) {
    throw engineProblem(error, { address }, 'removing containers that are left over');
  }
  return removed;
}

/**
 * Whether nobody needs a container of ours any more.
 * @param now seconds since 1970
 */
export async function isAbandoned(container: Listed, now: number): Promise<boolean> {
  const owner = ownerOf(container);
  if (owner === undefined) return false;
  const machine = owner.split('-')[1];
  const own = (await ownerWord()).split('-')[1];
  // Numbers of processes begin anew when the machine starts, and off Linux nothing tells them apart.
  if (machine === own) return container.Created < now - uptime() || hasEnded(owner);
  return now - container.Created > foreignAge;
}

/** The process that made a container; undefined when it is none of ours. */
function ownerOf({ Labels }: Listed): string | undefined {
  const kind = Labels?.[labels.kind] as (typeof containerKinds)[number];
  const isOurs = Labels?.[labels.made] === '1' && containerKinds.includes(kind);
  return isOurs ? Labels?.[labels.owner] || undefined : undefined;
}

/**
 * Removes a container at once, running or not; nothing happens when it is gone already. It is killed
 * first, since Podman would wait for it to end by itself.
 */
export async function removeNow(container: Pick<Container, 'kill' | 'remove'>): Promise<void> {
  await container.kill().catch(() => undefined);
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode !== 404) throw error;
  }
}
