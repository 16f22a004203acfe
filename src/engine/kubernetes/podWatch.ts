import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { Cancelled, HumanError, throwIfAborted, type Reporter } from '../../domain/work';
import { labels } from '../docker/labels';
import { ImageMissing } from '../docker/images/pull/pullProblem';
import { SandboxUnusable } from '../engine';
import type { Loss } from '../sandbox/agent';
import type { Cluster } from './cluster';
import { QuotaUsed } from './clusterProblem';
import { podState, waitingWords, type PodState } from './podState';

/** Milliseconds between two looks while pods start; the first ones follow faster. */
const interval = (look: number): number => Math.min(400, 50 * 2 ** look);

/** Milliseconds between two attempts to make a pod that a quota leaves no room for. */
const quotaInterval = 1000;

/** Milliseconds that the state of a pod may lag behind the end of its stream. */
const lag = 5000;

/** A pod that someone waits for. */
export interface AwaitedPod {
  readonly name: string;
  readonly instance: string;
  readonly image: string;
  readonly signal: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** `performance.now()` when waiting for room and for the image is over. */
  readonly until: number;
  /** `performance.now()` when waiting for room alone is to be reconsidered. */
  readonly roomUntil: number;
  /** Called whenever the pod is seen to have a node. */
  readonly onPlaced: () => void;
  /** What was reported so far, which pods that replace one another share. */
  readonly reported: { progress: string; isLogged: boolean };
}

/** How a pod was lost. */
interface PodLoss {
  /** Why; undefined when nothing is known. */
  readonly loss: Loss | undefined;
  /** Whether its node may be lost too. */
  readonly withNode: boolean;
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {
    throw new Cancelled();
  });
}

/**
 * Follows the pods of one engine. All that wait for pods share one list of the API, however many
 * they are.
 */
export class PodWatch {
  private readonly waiting = new Map<string, PodState>();
  private looking: Promise<Map<string, V1Pod>> | undefined;

  /** @param memoryMb memory of each pod, for words */
  constructor(
    private readonly cluster: Cluster,
    private readonly limits: { readonly pendingMinutes: number; readonly memoryMb: number },
  ) {}

  /**
   * Makes a pod, as soon as the quota of the namespace leaves room for it.
   *
   * @param create asks the API for it
   * @throws HumanError when the limit is over, what `create` throws for another reason, Cancelled
   */
  async created(pod: AwaitedPod, create: () => Promise<unknown>): Promise<void> {
    for (;;) {
      throwIfAborted(pod.signal);
      try {
        await create();
        return;
      } catch (error) {
        if (!(error instanceof QuotaUsed)) throw error;
        this.report(pod, { is: 'waiting', for: 'room', why: error.reason });
      } finally {
        this.waiting.delete(pod.name);
      }
      await pause(quotaInterval, pod.signal);
    }
  }

  /**
   * Waits until a container of a pod runs: the one that takes a program, or the sandbox. Waiting for
   * room and for the image is no fault, up to the limit.
   *
   * @returns undefined when the pod still waits for room at the time `roomUntil`
   * @throws ImageMissing, HumanError when the limit is over or the pod can never start,
   * SandboxUnusable when the pod is gone, Cancelled
   */
  async running(
    pod: AwaitedPod,
    goal: 'program' | 'sandbox',
  ): Promise<PodState & { is: 'running' | 'waiting' }> {
    let missed = 0;
    try {
      for (let look = 0; ; look += 1) {
        throwIfAborted(pod.signal);
        const listed = (await this.look()).get(pod.name);
        // A list may be older than the pod.
        missed = listed === undefined ? missed + 1 : 0;
        if (listed !== undefined || missed > 8) {
          const state = podState(listed);
          if (state.is === 'refused') throw refused(pod, state.why);
          if (state.is === 'gone') throw unusable(pod.name, lossWords(state.loss));
          const needsRoom = state.is === 'waiting' && state.for === 'room';
          if (!needsRoom) pod.onPlaced();
          if (state.is === 'running') return state;
          if (goal === 'program' && state.for === 'program') return state;
          if (needsRoom && performance.now() >= pod.roomUntil) return state;
          this.report(pod, state);
        }
        await pause(interval(look), pod.signal);
      }
    } finally {
      this.waiting.delete(pod.name);
    }
  }

  /** Says what waits for what. @throws HumanError when the limit is over */
  private report(pod: AwaitedPod, state: PodState & { is: 'waiting' }): void {
    const { memoryMb } = this.limits;
    this.waiting.set(pod.name, state);
    const words = waitingWords([...this.waiting.values()], memoryMb);
    if (words !== pod.reported.progress) {
      pod.reporter.progress(`${pod.instance}: waiting for pods: ${words}`);
    }
    pod.reported.progress = words;
    // Logs without a terminal show no progress, and this may take an hour.
    if (!pod.reported.isLogged && state.for === 'room' && state.why !== '') {
      pod.reported.isLogged = true;
      pod.reporter.log(
        `${pod.instance}: a pod is waiting for room: ${waitingWords([state], memoryMb)}`,
      );
    }
    if (performance.now() > pod.until) throw this.late(pod, state);
  }

  /** Why the stream to a pod ended, as far as the cluster says; never throws. */
  async whyLost(name: string): Promise<PodLoss> {
    const end = performance.now() + lag;
    for (;;) {
      try {
        const state = podState(await this.read(name));
        if (state.is === 'gone') return { loss: state.loss, withNode: state.withNode === true };
        if (performance.now() > end) {
          const on = state.is === 'running' ? ` on node ${state.node}` : '';
          const why = `the connection to its pod${on} was lost`;
          return { loss: { why }, withNode: true };
        }
      } catch {
        return { loss: undefined, withNode: true };
      }
      await sleep(300);
    }
  }

  private async read(name: string): Promise<V1Pod | undefined> {
    const { core, namespace } = this.cluster;
    const about = 'reading a pod';
    return this.cluster.ask(about, () =>
      core.readNamespacedPod({ name, namespace }).catch((error: unknown) => {
        if ((error as { code?: unknown }).code === 404) return undefined;
        throw error;
      }),
    );
  }

  private look(): Promise<Map<string, V1Pod>> {
    const { core, namespace } = this.cluster;
    this.looking ??= this.cluster
      .ask('reading pods', () =>
        core.listNamespacedPod({ namespace, labelSelector: `${labels.made}=1` }),
      )
      .then(({ items }) => new Map(items.map((pod) => [pod.metadata?.name ?? '', pod])))
      .finally(() => (this.looking = undefined));
    return this.looking;
  }

  private late({ instance }: AwaitedPod, state: PodState): HumanError {
    const { pendingMinutes, memoryMb } = this.limits;
    return new HumanError(
      `The pod of ${instance} did not start within ${pendingMinutes} minutes: ${waitingWords([state], memoryMb)}`,
      'Free resources in the cluster, use less --memory, or wait longer with --pending-minutes',
    );
  }
}

function refused(what: AwaitedPod, why: string): HumanError {
  return new ImageMissing(
    `No pod can be started from ${what.image}: ${why}`,
    'Check --mirror and --pull-secret, and whether nodes can reach the registry',
  );
}

const lossWords = (loss: Loss): string => ('why' in loss ? loss.why : 'it ran out of memory');

const unusable = (name: string, why: string): SandboxUnusable =>
  new SandboxUnusable(
    `The pod ${name} cannot be used: ${why}`,
    'Run the tests again; if it happens again, check the cluster',
  );
