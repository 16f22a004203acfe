import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { Cancelled, HumanError, throwIfAborted } from '../../domain/humanError';
import { labels } from '../docker/labels';
import { ImageMissing } from '../docker/images/pull/pullProblem';
import { SandboxUnusable, type EngineWork } from '../engine';
import type { Loss } from '../sandbox/agent';
import type { Cluster } from './cluster';
import { podState, waitingWords, type PodState } from './podState';

/** Milliseconds between two looks while pods start. */
const interval = 400;

/** Milliseconds that the state of a pod may lag behind the end of its stream. */
const lag = 5000;

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
   * Waits until the container of a pod runs. Waiting for room and for the image is no fault, up to
   * the limit.
   *
   * @throws ImageMissing, HumanError when the limit is over or the pod can never start,
   * SandboxUnusable when the pod is gone, Cancelled
   */
  async running(
    name: string,
    what: { readonly instance: string; readonly image: string },
    { signal, reporter }: EngineWork,
  ): Promise<Extract<PodState, { is: 'running' }>> {
    const { pendingMinutes, memoryMb } = this.limits;
    const end = Date.now() + pendingMinutes * 60_000;
    let said = '';
    let isLogged = false;
    let missed = 0;
    try {
      for (;;) {
        throwIfAborted(signal);
        const pod = (await this.look()).get(name);
        // A list may be older than the pod.
        missed = pod === undefined ? missed + 1 : 0;
        if (pod !== undefined || missed > 5) {
          const state = podState(pod);
          if (state.is === 'running') return state;
          if (state.is === 'refused') throw refused(what, state.why);
          if (state.is === 'gone') throw unusable(name, lossWords(state.loss));
          this.waiting.set(name, state);
          const words = waitingWords([...this.waiting.values()], memoryMb);
          if (words !== said) reporter.progress(`${what.instance}: waiting for pods: ${words}`);
          said = words;
          // Logs without a terminal show no progress, and this may take an hour.
          if (!isLogged && state.for === 'room' && state.why !== '') {
            isLogged = true;
            reporter.log(
              `${what.instance}: a pod waits for room: ${waitingWords([state], memoryMb)}`,
            );
          }
          if (Date.now() > end) throw this.late(what, state);
        }
        await sleep(interval, undefined, signal === undefined ? {} : { signal }).catch(() => {
          throw new Cancelled();
        });
      }
    } finally {
      this.waiting.delete(name);
    }
  }

  /** Why the stream to a pod ended, as far as the cluster says; never throws. */
  async whyLost(name: string): Promise<Loss | undefined> {
    const end = Date.now() + lag;
    for (;;) {
      try {
        const state = podState(await this.read(name));
        if (state.is === 'gone') return state.loss;
        if (Date.now() > end) {
          const on = state.is === 'running' ? ` on node ${state.node}` : '';
          return { why: `the connection to its pod${on} ended, or nothing was heard of it` };
        }
      } catch {
        return undefined;
      }
      await sleep(300);
    }
  }

  private async read(name: string): Promise<V1Pod | undefined> {
    const { core, namespace } = this.cluster;
    const about = 'asking for a pod';
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
      .ask('asking for pods', () =>
        core.listNamespacedPod({ namespace, labelSelector: `${labels.made}=1` }),
      )
      .then(({ items }) => new Map(items.map((pod) => [pod.metadata?.name ?? '', pod])))
      .finally(() => (this.looking = undefined));
    return this.looking;
  }

  private late({ instance }: { readonly instance: string }, state: PodState): HumanError {
    const { pendingMinutes, memoryMb } = this.limits;
    return new HumanError(
      `The pod of ${instance} did not start within ${pendingMinutes} minutes: ${waitingWords([state], memoryMb)}`,
      'Make room in the cluster, use less --memory, or wait longer with --pending-minutes',
    );
  }
}

function refused(what: { readonly image: string }, why: string): HumanError {
  return new ImageMissing(
    `No pod can be started from ${what.image}: ${why}`,
    'Look at --mirror and --pull-secret, and whether nodes can reach the registry',
  );
}

const lossWords = (loss: Loss): string => ('why' in loss ? loss.why : 'its memory was used up');

const unusable = (name: string, why: string): SandboxUnusable =>
  new SandboxUnusable(
    `The pod ${name} cannot be used: ${why}`,
    'Run the tests again; if it happens again, look at the cluster',
  );
