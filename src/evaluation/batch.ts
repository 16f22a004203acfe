import type { Instance, Prediction } from '../domain/instance';
import { Cancelled, HumanError, messageOf } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import type { Engine, Environment } from '../engine/engine';
import type { AskedFormat } from '../patch/convert';
import type { PythonParser } from '../python/parser';
import { GitError } from '../repository/git';
import { sourceOf, type Sources } from '../repository/source';
import { prepareTrees } from '../repository/trees';
import { evaluateCandidate, type CandidateResult } from './candidate';
import type { Mode } from './reading';
import type { RunStore } from './runStore';
import { openSession, type InstanceSession } from './session';

export interface BatchRequest {
  readonly instances: readonly Instance[];
  readonly predictions: readonly Prediction[];
  readonly engine: Engine;
  readonly python: PythonParser;
  readonly store: RunStore;
  readonly sources: Sources;
  readonly storage: string;
  /** How many candidates are evaluated at once; each runs both sides in parallel. */
  readonly workers: number;
  readonly timeoutSeconds: number;
  readonly format: AskedFormat;
  /** Leave out edits outside tests. */
  readonly testsOnly?: boolean;
  readonly mode: Mode;
  /** Run candidates again although their runs are kept. */
  readonly fresh: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** What became of one prediction: a grade, or why there is none. */
export type BatchEntry =
  | {
      readonly prediction: Prediction;
      readonly result: CandidateResult;
      /** What its tests ran with. */
      readonly environment?: Environment;
    }
  | { readonly prediction: Prediction; readonly failure: string };

/**
 * Evaluates predictions, several at once. Results come in the order of the predictions; a failure of
 * one leaves the others alone.
 *
 * @param onEntry called as each is done
 * @throws Cancelled
 */
export async function evaluateBatch(
  request: BatchRequest,
  onEntry: (entry: BatchEntry) => Promise<void>,
): Promise<BatchEntry[]> {
  const instances = new Map(request.instances.map((instance) => [instance.id, instance]));
  const entries = new Array<BatchEntry | undefined>(request.predictions.length);
  let next = 0;

  const work = async (): Promise<void> => {
    let session: InstanceSession | undefined;
    try {
      for (let index = next++; index < request.predictions.length; index = next++) {
        const prediction = request.predictions[index];
        const instance = prediction && instances.get(prediction.instanceId);
        if (prediction === undefined || instance === undefined) continue;
        let entry: BatchEntry;
        try {
          if (session?.instance.id !== instance.id) {
            await session?.dispose();
            session = undefined;
            session = await open(instance, request);
          }
          const result = await evaluateCandidate(
            session,
            {
              model: prediction.model,
              text: prediction.patch,
              format: request.format,
              mode: request.mode,
              ...(request.testsOnly === true && { testsOnly: true }),
            },
            {
              timeoutSeconds: request.timeoutSeconds,
              signal: request.signal,
              reporter: request.reporter,
              reuse: !request.fresh,
              fresh: request.fresh,
            },
          );
          entry = { prediction, result, environment: await session.environment(request) };
        } catch (error) {
          if (error instanceof Cancelled || request.signal?.aborted === true) throw new Cancelled();
          // A fault of ours in one candidate must not end a batch in the night, nor pass unseen.
          const known = error instanceof HumanError || error instanceof GitError;
          entry = {
            prediction,
            failure: known ? error.message : `internal error: ${messageOf(error)}`,
          };
          if (!known && error instanceof Error) request.reporter.log(error.stack ?? error.message);
        }
        entries[index] = entry;
        await onEntry(entry);
      }
    } finally {
      await session?.dispose();
    }
  };
  const workers = Math.max(1, Math.min(request.workers, request.predictions.length));
  const ends = await Promise.allSettled(Array.from({ length: workers }, work));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return entries.filter((entry) => entry !== undefined);
}

async function open(instance: Instance, request: BatchRequest): Promise<InstanceSession> {
  request.reporter.progress(`${instance.id}: preparing R and R∘X*`);
  const source = await sourceOf(instance, request.sources);
  const trees = await prepareTrees(instance, source, request.storage, {
    signal: request.signal,
    reporter: request.reporter,
  });
  return openSession({
    instance,
    trees,
    engine: request.engine,
    python: request.python,
    store: request.store,
  });
}
