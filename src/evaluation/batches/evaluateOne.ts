import pRetry from 'p-retry';
import type { Instance, Prediction } from '../../domain/instance';
import { Cancelled, messageOf, throwIfAborted } from '../../domain/problem';
import { splitTestEdits, testFilesOf } from '../../patch/testFiles';
import { parseUnified } from '../../patch/unified';
import { sourceOf } from '../../repository/source';
import { prepareTrees } from '../../repository/trees';
import { evaluateCandidate, type CandidateOptions, type CandidateResult } from '../candidate';
import type { CandidateRequest } from '../reading';
import { openSession, type InstanceSession } from '../session';
import type { BatchEntry, GradedEntry } from './entry';
import { failureOf, isInfrastructureFault, type Stage } from './faults';
import type { BatchRequest } from './run';

/** How often, and after how long, what an infrastructure fault has ended is tried again. */
export interface RetryOptions {
  /** After the first try. */
  readonly times: number;
  /** Milliseconds before the second try; three times as long before each further one. */
  readonly firstDelay: number;
}

const patient: RetryOptions = { times: 3, firstDelay: 1000 };

/** The candidates of one instance, one after the other in one warm pair of sandboxes. */
export interface CandidateWork {
  /**
   * Grades a prediction, or finds out why that cannot be done.
   * @throws Cancelled, and nothing else
   */
  evaluate(prediction: Prediction): Promise<BatchEntry>;
  dispose(): Promise<void>;
}

/** @param request its signal ends what runs */
export function candidateWork(instance: Instance, request: BatchRequest): CandidateWork {
  const { signal, reporter, retry = patient } = request;
  let session: InstanceSession | undefined;
  const close = async (): Promise<void> => {
    const open = session;
    session = undefined;
    // An engine that is gone cannot remove its sandboxes, and what it leaves is removed by the next.
    await open?.dispose().catch((error: unknown) => {
      reporter.log(`${instance.id}: its sandboxes were not removed: ${messageOf(error)}`);
    });
  };

  const grade = async (prediction: Prediction, at: (stage: Stage) => void): Promise<BatchEntry> => {
    throwIfAborted(signal);
    if (session === undefined) {
      at('source');
      session = await openFor(instance, request);
    }
    at('environment');
    const candidate: CandidateRequest = {
      model: prediction.model,
      text: prediction.patch,
      format: request.format,
      mode: request.mode,
      ...(request.testsOnly === true && { testsOnly: true }),
    };
    const options: CandidateOptions = {
      timeoutSeconds: request.timeoutSeconds,
      signal,
      reporter,
      reuse: !request.fresh,
      fresh: request.fresh,
    };
    const result = await evaluateCandidate(session, candidate, options);
    const entry: GradedEntry = {
      prediction,
      result,
      environment: await session.environment(request),
    };
    const others = othersOf(result, candidate);
    if (others.length === 0) return entry;
    const alone = await evaluateCandidate(session, { ...candidate, testsOnly: true }, options);
    return alone.strict.success ? { ...entry, spoiledBy: others } : entry;
  };

  return {
    async evaluate(prediction) {
      const started = performance.now();
      let stage: Stage = 'source';
      let entry: BatchEntry;
      try {
        entry = await pRetry(() => grade(prediction, (at) => (stage = at)), {
          retries: retry.times,
          minTimeout: retry.firstDelay,
          factor: 3,
          ...(signal === undefined ? {} : { signal }),
          shouldRetry: ({ error }) => signal?.aborted !== true && isInfrastructureFault(error),
          onFailedAttempt: async ({ error, retriesLeft }) => {
            if (signal?.aborted === true || !isInfrastructureFault(error)) return;
            await close();
            const next = retriesLeft > 0 ? 'trying again' : 'given up';
            reporter.log(`${instance.id}, ${prediction.model}: ${error.message} (${next})`);
          },
        });
      } catch (error) {
        if (signal?.aborted === true) throw new Cancelled();
        const failure = failureOf(error, stage);
        if (failure.why === 'internal error' && error instanceof Error) {
          reporter.log(error.stack ?? error.message);
        }
        // Whatever state it is in, the next candidate does not have to find out.
        await close();
        entry = { prediction, ...failure };
      }
      return { ...entry, seconds: (performance.now() - started) / 1000 };
    },
    dispose: close,
  };
}

/**
 * Files that a candidate edits beside its tests, where these edits may be what keeps it from success:
 * one that fixes the bug itself passes on R, and one that changes what is built may fail anywhere.
 */
function othersOf(result: CandidateResult, candidate: CandidateRequest): string[] {
  const { strict, patch } = result;
  const isAlone = candidate.mode !== 'unit-test' || candidate.testsOnly === true;
  if (strict.success || isAlone || patch.trim() === '') return [];
  const parsed = parseUnified(patch);
  if (testFilesOf(parsed).length === 0) return [];
  return splitTestEdits(parsed).others.map((file) => file.newPath ?? file.oldPath ?? '');
}

async function openFor(instance: Instance, request: BatchRequest): Promise<InstanceSession> {
  const { signal, reporter, engine, python, store } = request;
  reporter.progress(`${instance.id}: preparing R and R∘X*`);
  const source = await sourceOf(instance, request.sources);
  const trees = await prepareTrees(instance, source, request.storage, { signal, reporter });
  return openSession({ instance, trees, engine, python, store });
}
