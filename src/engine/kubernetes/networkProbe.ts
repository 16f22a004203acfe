import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { HumanError } from '../../domain/work';
import { labels } from '../docker/labels';
import type { Agent } from '../sandbox/agent';
import { apiStatus } from './clusterProblem';
import type { Cluster } from './cluster';
import { closedLabel } from './podSpec';
import { podCommands } from './preparedImage';
import { pythonText } from '../pythonProgram';

const policyName = 'swt-bench-deny-all';

/**
 * Makes the network policy that keeps sandboxes from every network. Whoever may not make policies
 * needs someone else's: what counts is what the pods can reach.
 */
export async function makeNetworkPolicy({ networking, namespace, ask }: Cluster): Promise<void> {
  const body = {
    metadata: { name: policyName },
    spec: {
      podSelector: { matchLabels: { [labels.made]: '1', [closedLabel]: 'closed' } },
      policyTypes: ['Ingress', 'Egress'],
    },
  };
  await ask('creating a network policy', () =>
    networking.createNamespacedNetworkPolicy({ namespace, body }).catch((error: unknown) => {
      if (apiStatus(error) !== 409 && apiStatus(error) !== 403) throw error;
    }),
  );
}

/** A policy may take effect a moment after the pod starts. */
const attempts = 4;

/**
 * Addresses that a sandbox must not reach, from inside.
 *
 * @param targets addresses with ports that are known to answer
 * @returns those that it reached
 * @throws SandboxUnusable
 */
export async function reachedByPod(
  agent: Agent,
  python: string,
  targets: readonly (readonly [string, number])[],
): Promise<readonly string[]> {
  let reached: readonly string[] = [];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt > 0) await sleep(1000);
    const { code, standard } = await podCommands(agent).attempt(
      [python, '-I', '-S', '-c', pythonText('reach_network.py')],
      { env: { TARGETS: JSON.stringify(targets) } },
    );
    const line = standard.trim().split('\n').at(-1) ?? '';
    if (code !== 0) throw agent.unusable(`its network could not be tested: ${line.slice(-200)}`);
    reached = z.array(z.string()).parse(JSON.parse(line));
    if (reached.length === 0) break;
  }
  return reached;
}

/** The refusal of a cluster that does not keep sandboxes from the network. */
export const notEnforced = (node: string, reached: readonly string[]): HumanError =>
  new HumanError(
    `Node ${node} does not enforce network policies: a sandbox reached ${reached.join(', ')}`,
    'Use a cluster whose network plugin enforces them, or use --accept-network to grade tests anyway. Models never get network access',
  );
