import { labels } from '../docker/labels';
import { isAbandoned } from '../docker/sandbox/abandonedContainers';
import type { Cluster } from './cluster';
import { removePod } from './sandboxPod';

/** Milliseconds after its end when a pod is removed, whoever made it: nobody asks about it then. */
const endedAge = 600_000;

/**
 * Removes the pods whose process has ended without removing them, as for containers of the docker
 * engine, and pods that ended on their own.
 *
 * @throws HumanError when the cluster does not answer
 */
export async function removeAbandonedPods(cluster: Cluster): Promise<void> {
  const { core, namespace } = cluster;
  const now = Date.now();
  const { items } = await cluster.ask('looking for leftover pods', () =>
    core.listNamespacedPod({ namespace, labelSelector: `${labels.made}=1` }),
  );
  for (const { metadata, status } of items) {
    const name = metadata?.name ?? '';
    const created = metadata?.creationTimestamp?.getTime() ?? now;
    const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
    const Labels = { ...metadata?.annotations, ...metadata?.labels };
    const listed = { Id: name, Created: created / 1000, Labels };
    if ((hasEnded && now - created > endedAge) || (await isAbandoned(listed, now / 1000))) {
      await removePod(cluster, name, true);
    }
  }
}
