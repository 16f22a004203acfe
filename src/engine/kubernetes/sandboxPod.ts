import { messageOf, throwIfAborted } from '../../domain/work';
import {
  type AttachedProgram,
  openAgentProtocol,
  type AgentProtocol,
  firstFrame,
} from '../sandbox/agentProtocol';
import { contentTime, earliestTime, type ArchiveEntry } from '../sandbox/archive';
import { tracerFolder } from '../sandbox/containerSandbox';
import { agentFolder, programBytes } from '../sandbox/programArchive';
import { SandboxUnusable, type EngineWork } from '../engine';
import type { Loss } from '../sandbox/agent';
import type { AvoidedNodes } from './nodes';
import type { Cluster } from './cluster';
import { hostName, mirrored, podSpec, withPython, type PodRequest } from './podSpec';
import { attachInPod } from './podStream';
import type { AwaitedPod, PodWatch } from './podWatch';
import { sendProgram } from './sendProgram';
import { pythonText } from '../pythonProgram';

/**
 * Milliseconds without a sign of life after which a sandbox counts as dead. With the time for asking
 * the cluster why, a frozen node is noticed within half a minute.
 */
const deadAfter = 23_000;

/** A running pod and its agent. */
export interface SandboxPod {
  readonly wire: AgentProtocol;
  readonly node: string;
  /** Name of its image, as the node pulls it. */
  readonly image: string;
  /** Address of its node. */
  readonly hostAddress: string;
  /** Digest of the image, as the node reports it. */
  readonly imageId: string;
  /** `performance.now()` when its container ran. */
  readonly since: number;
  /** Why the agent is gone, as far as the cluster says. */
  whyLost(): Promise<Loss | undefined>;
  /** Starts a program beside the agent, as root. */
  attach(argv: readonly string[]): Promise<AttachedProgram>;
  /** Removes the pod with all that runs in it; never throws. */
  remove(): Promise<void>;
}

interface SandboxPodRequest extends Omit<PodRequest, 'avoid' | 'programBytes'> {
  readonly cluster: Cluster;
  readonly watch: PodWatch;
  /** Files of the agent and the tracer. */
  readonly files: readonly ArchiveEntry[];
  /** Folder of the repository. */
  readonly folder: string;
  /** Folder of this machine with a program, which the pod has at `programFolder`, only to read. */
  readonly program?: string | undefined;
  /** Nodes that lost a sandbox; the pod does not go there, and a loss is added. */
  readonly avoided: AvoidedNodes;
  /** `performance.now()` when waiting for room and for the image is over. */
  readonly until: number;
  /** The pod has a node. */
  readonly onPlaced: () => void;
  /** What was reported about waiting so far. */
  readonly reported: AwaitedPod['reported'];
}

/**
 * Starts a pod with the agent in it. Nothing is left behind on failure.
 *
 * @throws HumanError, SandboxUnusable when the pod is lost while it starts, Cancelled
 */
export async function startPod(request: SandboxPodRequest, work: EngineWork): Promise<SandboxPod> {
  const { program } = request;
  const size = program === undefined ? undefined : await programBytes(program);
  for (;;) {
    const started = await startOnce(request, work, size);
    if (started !== undefined) return started;
  }
}

/**
 * @param size bytes of the program
 * @returns undefined when the pod found no room beside nodes that need not be avoided any more
 */
async function startOnce(
  request: SandboxPodRequest,
  { signal, reporter }: EngineWork,
  size: number | undefined,
): Promise<SandboxPod | undefined> {
  const { cluster, watch, instance, until, onPlaced, reported, program, pythons } = request;
  const { core, namespace } = cluster;
  throwIfAborted(signal);
  const image = mirrored(request.image, request.settings.kubernetes.mirrors);
  const avoid = request.avoided.present;
  const body = podSpec({ ...request, image, avoid: avoid.nodes, programBytes: size });
  const name = body.metadata?.name ?? '';
  const about = { name, instance, image, signal, reporter, reported };
  const awaited: AwaitedPod = { ...about, until, roomUntil: avoid.until, onPlaced };
  const losing = { isLost: false };
  const remove = (): Promise<void> => removePod(cluster, name, losing.isLost);
  try {
    await watch.created(awaited, () =>
      cluster.ask('creating a pod', () => core.createNamespacedPod({ namespace, body })),
    );
    if (program !== undefined) {
      const state = await watch.running(awaited, 'program');
      if (state.is === 'waiting' && state.for === 'program') {
        reporter.progress(`${instance}: sending the agent to its pod`);
        await sendProgram(cluster, name, { folder: program, pythons }, signal);
      }
    }
    const state = await watch.running(awaited, 'sandbox');
    if (state.is === 'waiting') {
      await remove();
      return undefined;
    }
    const since = performance.now();
    const whyLost = lossOf(request, { name, node: state.node, reporter }, losing);
    const wire = await startAgent(request, name, signal).catch(async (error: unknown) => {
      throwIfAborted(signal);
      const loss = await whyLost();
      const why = loss !== undefined && 'why' in loss ? loss.why : messageOf(error);
      throw new SandboxUnusable(
        `The agent of ${instance} did not start in the pod ${name}: ${why}`,
        'Run the tests again; if it happens again, check the cluster',
      );
    });
    const { node, imageId, hostAddress } = state;
    return {
      ...{ wire, node, image, imageId, hostAddress, since, whyLost },
      attach: (argv) => attachInPod(cluster, name, argv),
      remove: async () => {
        wire.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Asks why a pod was lost, and avoids its node where that may be lost too. */
function lossOf(
  { watch, instance, avoided }: SandboxPodRequest,
  pod: { readonly name: string; readonly node: string } & Pick<EngineWork, 'reporter'>,
  losing: { isLost: boolean },
): SandboxPod['whyLost'] {
  return async () => {
    const { loss, withNode } = await watch.whyLost(pod.name);
    losing.isLost = true;
    if (loss === undefined || 'why' in loss) {
      const why = loss?.why ?? 'unknown reason';
      pod.reporter.log(`${instance}: lost the pod ${pod.name}: ${why}`);
      if (withNode) avoided.add(pod.node);
    }
    return loss;
  };
}

async function startAgent(
  { cluster, files, folder, pythons }: SandboxPodRequest,
  name: string,
  signal: AbortSignal | undefined,
): Promise<AgentProtocol> {
  // Times would tell the pods of both sides apart.
  const contents = files.map(({ path, content }) => [
    `/${path}`,
    [content.toString('utf8'), contentTime(content)],
  ]);
  const line = Buffer.from(
    JSON.stringify(Object.fromEntries(contents)).replace(
      /[\u007f-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
  const config = { folder, user: defaultUser, tracer: tracerFolder, beats: true };
  const program = await attachInPod(
    cluster,
    name,
    withPython(
      ...([pythons, pythonText('start_agent.py'), String(line.length)] as const),
      ...[String(earliestTime), hostName],
      ...[`${agentFolder}/swt_agent.py`, JSON.stringify(config)],
    ),
    { silence: deadAfter },
  );
  program.write(line, () => undefined);
  const wire = openAgentProtocol(program, true);
  await firstFrame(wire, signal);
  return wire;
}

/** The number of the user that tests usually run as. */
const defaultUser = 1000;

/**
 * Removes a pod; never throws, since the next start removes what is left.
 *
 * @param byForce whether its node may be gone and cannot confirm
 */
export async function removePod(
  { core, namespace, ask }: Cluster,
  name: string,
  byForce: boolean,
): Promise<void> {
  await ask('removing a pod', () =>
    core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: byForce ? 0 : 1 }),
  ).catch(() => undefined);
}
