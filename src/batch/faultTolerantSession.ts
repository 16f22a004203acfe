import pRetry from 'p-retry';
import type { Instance } from '../domain/instance';
import { Cancelled, messageOf, throwIfAborted } from '../domain/humanError';
import type { NotEvaluatedReason } from '../domain/reason';
import { sourceOf } from '../repository/source';
import { prepareTrees } from '../repository/trees';
import { openSession, type InstanceSession } from '../evaluation/session';
import { failureOf, isInfrastructureFault, type Stage } from './faults';
import type { BatchRequest, RetryOptions } from './batchRequest';

const patient: RetryOptions = { times: 3, firstDelay: 1000 };

/** Why work on an instance failed. */
interface Hindrance {
  readonly why: NotEvaluatedReason;
  /** For a person. */
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

/** The parts of a batch request with which the sandboxes of an instance are opened. */
type SandboxesRequest = Pick<
  BatchRequest,
  'engine' | 'python' | 'store' | 'sources' | 'storage' | 'signal' | 'reporter' | 'retry'
>;

/** A session of an instance; the signal of the request cancels its work. */
export function faultTolerantSession(
  instance: Instance,
  request: SandboxesRequest,
): FaultTolerantSession {
  const { signal, reporter, retry = patient } = request;
  let session: InstanceSession | undefined;
  const close = async (): Promise<void> => {
    const open = session;
    session = undefined;
    // An engine that is gone cannot remove its sandboxes; the next engine removes what it left.
    await open?.dispose().catch((error: unknown) => {
      reporter.log(`${instance.id}: its sandboxes were not removed: ${messageOf(error)}`);
    });
  };
  return {
    async attempt(what, work) {
      let stage: Stage = 'source';
      const once = async (): ReturnType<typeof work> => {
        throwIfAborted(signal);
        if (session === undefined) {
          stage = 'source';
          session = await openFor(instance, request);
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
            const next = retriesLeft > 0 ? 'trying again' : 'given up';
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

async function openFor(instance: Instance, request: SandboxesRequest): Promise<InstanceSession> {
  const { signal, reporter, engine, python, store } = request;
  reporter.progress(`${instance.id}: preparing R and R∘X*`);
  const source = await sourceOf(instance, request.sources);
  const trees = await prepareTrees(instance, source, request.storage, { signal, reporter });
  return openSession({ instance, trees, engine, python, store });
}
