import type { Instance, Prediction } from '../domain/instance';
import { throwIfAborted } from '../domain/work';
import { workerPool } from '../engine/workerPool';
import type { NotEvaluatedReason } from '../domain/verdict';
import { sampleName } from '../study/entry';
import type { BatchRequest } from '../batch/batchRequest';
import { faultTolerantSession, type OpenSandboxes } from '../batch/faultTolerantSession';
import { planBatch, type PlanCounts, type PlannedWork } from '../batch/plan';
import type { BatchProgress } from '../batch/runBatch';
import { throughput } from '../batch/throughput';
import { guardedEngine } from '../engine/sandbox';
import type { InstanceSession } from '../evaluation/session';

/** Code patches, and the means to work on them; the rest is as for batches. */
export interface RepairPoolRequest extends Pick<
  BatchRequest,
  'instances' | 'engine' | 'workers' | 'retry' | 'engineLimits' | 'reporter'
> {
  /** Code patches, any number for each instance. */
  readonly repairs: readonly Prediction[];
}

export interface RepairHooks {
  /** Called once, before anything runs. */
  readonly onPlan?: (counts: Pick<PlanCounts, 'candidates' | 'instances' | 'environments'>) => void;
  /** `done` and `total` count code patches. */
  readonly onProgress?: (
    progress: Pick<BatchProgress, 'done' | 'total' | 'paused' | 'perHour' | 'secondsLeft'>,
  ) => void;
}

/** A code patch that could not be worked on, for no fault of its own. */
interface Hindered {
  readonly hindrance: NotEvaluatedReason;
  /** For the user. */
  readonly failure: string;
}

/** The work on each code patch, whatever its purpose. */
interface RepairWork<Result> {
  /** Opens the sandboxes of a worker. */
  readonly open: OpenSandboxes;
  /** The result that an earlier command has saved; undefined where there is none. */
  kept(repair: Prediction, place: number): Result | undefined;
  /** The result of a code patch for which nothing runs; undefined for others. */
  atOnce?(repair: Prediction): Result | undefined;
  /**
   * Begins the work on an instance. What it returns works on one code patch after the other, and
   * may share what is done once.
   *
   * @param stop also fires when the work elsewhere has failed
   */
  begin(
    instance: Instance,
    stop: AbortSignal,
  ): (session: InstanceSession, repair: Prediction) => Promise<Result>;
  hindered(repair: Prediction, why: Hindered): Result;
  /** Saves a result before the next code patch begins. */
  save(result: Result, repair: Prediction, place: number): Promise<void>;
}

interface PoolResults<Result> {
  /** One for each code patch of the instances, in their order. */
  readonly results: readonly Result[];
  /** How many an earlier command had finished. */
  readonly reused: number;
}

/**
 * Works on code patches, several at once, in warm sandboxes. A fault of one does not affect the
 * others; infrastructure faults are tried again.
 *
 * @throws Cancelled; what saving throws
 */
export async function workOnRepairs<Result>(
  request: RepairPoolRequest,
  work: RepairWork<Result>,
  hooks: RepairHooks,
  signal: AbortSignal,
): Promise<PoolResults<Result>> {
  throwIfAborted(signal);
  const { instances, repairs, workers } = request;
  const engine = guardedEngine(request.engine, request.engineLimits);
  const plan = planBatch(instances, repairs, workers);
  hooks.onPlan?.(plan.counts);
  const known = new Map(instances.map((instance) => [instance.id, instance]));
  const { results, left } = keptResults(plan.work, repairs, work);
  const reused = results.size;
  const total = plan.counts.candidates;
  const speed = throughput();
  const tell = (): void => {
    const done = results.size;
    hooks.onProgress?.({ done, total, paused: false, ...speed.estimate(total - done) });
  };
  tell();

  await workerPool(left, workers, signal, async (part, stop) => {
    const instance = known.get(part.instance);
    if (instance === undefined) return;
    const warm = faultTolerantSession(instance, work.open, {
      ...request,
      engine,
      signal: stop,
    });
    const workOn = work.begin(instance, stop);
    const attempt = async (repair: Prediction): Promise<Result> => {
      const what = `${instance.id}, ${sampleName({ sample: 1, ...repair })}`;
      const found = await warm.attempt(what, async (session) => ({
        result: await workOn(session, repair),
      }));
      if (!('hindrance' in found)) return found.result;
      const { why: hindrance, failure } = found.hindrance;
      return work.hindered(repair, { hindrance, failure });
    };
    try {
      for (const place of part.candidates) {
        throwIfAborted(stop);
        const repair = repairs[place];
        if (repair === undefined) continue;
        const result = work.atOnce?.(repair) ?? (await attempt(repair));
        await work.save(result, repair, place);
        results.set(place, result);
        speed.finished();
        tell();
      }
    } finally {
      await warm.dispose();
    }
  });
  return { results: [...results].sort(([a], [b]) => a - b).map(([, result]) => result), reused };
}

/** The results that an earlier command has saved, by the index of their repair, and what is left. */
function keptResults<Result>(
  parts: readonly PlannedWork[],
  repairs: readonly Prediction[],
  work: Pick<RepairWork<Result>, 'kept'>,
): { readonly results: Map<number, Result>; readonly left: readonly PlannedWork[] } {
  const results = new Map<number, Result>();
  const left = parts.flatMap((part) => {
    const candidates = part.candidates.filter((place) => {
      const repair = repairs[place];
      const kept = repair && work.kept(repair, place);
      if (kept !== undefined) results.set(place, kept);
      return kept === undefined;
    });
    return candidates.length > 0 ? [{ ...part, candidates }] : [];
  });
  return { results, left };
}
