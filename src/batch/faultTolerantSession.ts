import pRetry from 'p-retry';
import type { Instance } from '../domain/instance';
import { Cancelled, messageOf, throwIfAborted } from '../domain/work';
import type { NotEvaluatedReason } from '../domain/verdict';
import { sourceOf } from '../repository/source';
import { prepareTrees } from '../repository/trees';
import { openSession, type InstanceSession } from '../evaluation/session';
import { failureOf, isInfrastructureFault, type Stage } from './work/faults';
import type { BatchRequest, RetryOptions } from './batchRequest';

const patient: RetryOptions = { times: 3, firstDelay: 1000 };

/** Why work on an instance failed. */
interface Hindrance {
  readonly why: NotEvaluatedReason;
  /** For the user. */
  readonly failure: string;
}

/** The pair of sandboxes of one instance. It opens with the first attempt, and again after an infrastructure fault. */
interface FaultTolerantSession {
  /**
   * Calls `work` with the session, and a second time after an infrastructure fault (see
   * `faults.ts`).
   *
   * @param what names the work in the log
   * @returns the result of `work`, or the reason why it failed
   * @throws Cancelled, and nothing else
   */
  attempt<T>(
    what: string,
    work: (session: InstanceSession) => Promise<T>,
  ): Promise<T | { readonly hindrance: Hindrance }>;
  dispose(): Promise<void>;
}

/** Opens a session of an instance on an engine. */
export type OpenSandboxes = (
  instance: Instance,
  work: Pick<BatchRequest, 'engine' | 'signal' | 'reporter'>,
) => Promise<InstanceSession>;

/** A session of an instance; the signal of the request cancels its work. */
export function faultTolerantSession(
  instance: Instance,
  open: OpenSandboxes,
  request: Pick<BatchRequest, 'engine' | 'signal' | 'reporter' | 'retry'>,
): FaultTolerantSession {
  const { signal, reporter, retry = patient } = request;
  let session: InstanceSession | undefined;
  const close = async (): Promise<void> => {
    const opened = session;
    session = undefined;
    // An engine that is gone cannot remove its sandboxes; the next engine removes what it left.
    await opened?.dispose().catch((error: unknown) => {
      reporter.log(`${instance.id}: could not remove its sandboxes: ${messageOf(error)}`);
    });
  };
  return {
    async attempt(what, work) {
      let stage: Stage = 'source';
      const once = async (): ReturnType<typeof work> => {
        throwIfAborted(signal);
        if (session === undefined) {
          stage = 'source';
          session = await open(instance, request);
        }
        stage = 'environment';
        return work(session);
      };
      try {
        return await pRetry(once, {
          retries: retry.times,
          minTimeout: retry.firstDelay,
          factor: 3,
          ...(signal === undefined ? {} : { signal }),
          shouldRetry: ({ error }) => signal?.aborted !== true && isInfrastructureFault(error),
          onFailedAttempt: async ({ error, retriesLeft }) => {
            if (signal?.aborted === true || !isInfrastructureFault(error)) return;
            await close();
            const next = retriesLeft > 0 ? 'trying again' : 'giving up';
            reporter.log(`${what}: ${error.message} (${next})`);
          },
        });
      } catch (error) {
        if (signal?.aborted === true) throw new Cancelled();
        const hindrance = failureOf(error, stage);
        if (hindrance.why === 'internal error' && error instanceof Error) {
          reporter.log(error.stack ?? error.message);
        }
        // Close the session in any case, so that the next attempt does not depend on its state.
        await close();
        return { hindrance };
      }
    },
    dispose: close,
  };
}

/** What pairs of sandboxes are opened with. */
export type PairMeans = Pick<BatchRequest, 'python' | 'formats' | 'store' | 'sources' | 'storage'>;

/** Opens a pair of sandboxes, on trees that are made when they are needed. */
export const openingPairs =
  (means: PairMeans): OpenSandboxes =>
  async (instance, { signal, reporter, engine }) => {
    const { python, formats, store, sources, storage } = means;
    reporter.progress(`${instance.id}: preparing R and R∘X*`);
    const source = await sourceOf(instance, sources);
    const trees = await prepareTrees(instance, source, storage, { signal, reporter });
    return openSession({ instance, trees, engine, python, formats, store });
  };
