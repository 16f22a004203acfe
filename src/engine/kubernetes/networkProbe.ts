import { setTimeout as sleep } from 'node:timers/promises';
import { HumanError } from '../../domain/work';
import { labels } from '../docker/labels';
import type { Agent } from '../sandbox/agent';
import { apiStatus } from './clusterProblem';
import type { Cluster } from './cluster';
import { closedLabel } from './podSpec';

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

/** An address with a port that is known to answer. */
type Target = readonly [string, number];

/** Seconds in which an address that can be reached has answered. */
const answerTime = 1.5;

/**
 * Lets a sandbox begin to connect to addresses that it must not reach. It can be prepared meanwhile.
 *
 * @param seconds that {@link reachedByPod} waits at least, from now on
 * @throws SandboxUnusable
 */
export async function tryToReach(
  agent: Agent,
  targets: readonly Target[],
  seconds = answerTime,
): Promise<void> {
  await agent.ask({ kind: 'reach', targets, seconds });
}

/**
 * What {@link tryToReach} has come to.
 *
 * @returns the addresses that the sandbox reached
 * @throws SandboxUnusable
 */
export async function reachedByPod(
  agent: Agent,
  targets: readonly Target[],
): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt += 1) {
    const { header } = await agent.ask({ kind: 'reached' });
    const { reached } = header;
    if (reached === undefined) throw agent.unusable('its network could not be tested');
    if (reached.length === 0 || attempt === attempts) return reached;
    await sleep(1000);
    await tryToReach(agent, targets);
  }
}

/** The refusal of a cluster that does not keep sandboxes from the network. */
export const notEnforced = (node: string, reached: readonly string[]): HumanError =>
  new HumanError(
    `Node ${node} does not enforce network policies: a sandbox reached ${reached.join(', ')}`,
    'Use a cluster whose network plugin enforces them, or use --accept-network to grade tests anyway. Models never get network access',
  );
