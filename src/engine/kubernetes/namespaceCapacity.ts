import type { Machine } from '../engine';
import type { Cluster } from './cluster';
import { podSizes, type PodSettings } from './podSpec';

/** Pairs at once where the namespace has no quota; pods that find no room wait. */
const pairsWithoutQuota = 4;

/**
 * How much the namespace allows, in the terms of one machine: as many sandboxes as the quota of its
 * requests or limits holds. Where there is no quota, or none that may be read, a few pairs.
 *
 * @throws HumanError when the cluster does not answer
 */
export async function namespaceCapacity(
  { core, namespace, ask }: Cluster,
  limits: PodSettings['limits'],
): Promise<Machine> {
  const { items } = await ask("reading the namespace's quota", () =>
    core.listNamespacedResourceQuota({ namespace }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code === 403) return { items: [] };
      throw error;
    }),
  );
  const room = (...names: readonly string[]): number | undefined => {
    const free = items.flatMap(({ status }) =>
      names.flatMap((name) => {
        const hard = status?.hard?.[name];
        return hard === undefined ? [] : [quantity(hard) - quantity(status?.used?.[name] ?? '0')];
      }),
    );
    return free.length === 0 ? undefined : Math.max(0, Math.min(...free));
  };
  const sizes = podSizes(limits);
  const sandboxes = [
    divided(room('requests.cpu', 'limits.cpu', 'cpu'), sizes.processors),
    divided(room('requests.memory', 'limits.memory', 'memory'), sizes.memoryBytes),
    divided(
      room('requests.ephemeral-storage', 'limits.ephemeral-storage', 'ephemeral-storage'),
      sizes.diskBytes,
    ),
    divided(room('pods', 'count/pods'), 1),
  ].flatMap((each) => (each === undefined ? [] : [each]));
  const most = sandboxes.length === 0 ? 2 * pairsWithoutQuota : Math.min(...sandboxes);
  // Whoever counts workers gives each sandbox a processor.
  return { cores: most, memoryBytes: most * sizes.memoryBytes };
}

const divided = (room: number | undefined, each: number): number | undefined =>
  room === undefined ? undefined : Math.floor(room / each);

const units: Readonly<Record<string, number>> = {
  ...{ m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 },
};

/**
 * A quantity such as `500m`, `4Gi` or `1e9`; 0 for anything else.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export function quantity(written: string): number {
  const found = /^([0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(written.trim());
  return found === null ? 0 : Number(found[1]) * (units[found[2] ?? ''] ?? 0);
}
