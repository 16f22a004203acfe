import packageJson from '../../package.json';
import type { Prediction } from '../domain/instance';
import { HumanError, throwIfAborted } from '../domain/problem';
import type { RunEntry } from '../domain/study/entry';
import { toReport, writeSummaries, type InstanceReport } from '../results/report';
import { liveWriter } from '../results/live';
import { factsOf } from '../results/manifest';
import { modelFolder } from '../results/runFolder';
import { entryOf, type BatchEntry } from '../results/entry';
import { candidateWork } from './candidateWork';
import { guardedEngine } from './guardedEngine';
import { entryKeys, sameness } from './entryKeys';
import { pauseGate } from './pauseGate';
import { planBatch, type PlanCounts, type PlannedWork } from './plan';
import { workerPool } from './workerPool';
import { withResults, type RunResults } from './runResults';
import { throughput } from './throughput';
import type { BatchRequest } from './batchRequest';

/** How far a batch is. */
export interface BatchProgress {
  readonly done: number;
  readonly total: number;
  /** How many of those done were finished by an earlier command. */
  readonly reused: number;
  readonly running: readonly {
    readonly instance: string;
    readonly model: string;
    /** ISO 8601. */
    readonly since: string;
  }[];
  readonly paused: boolean;
  /** Candidates per hour; absent until one is done. */
  readonly perHour?: number;
  readonly secondsLeft?: number;
}

export interface BatchHooks {
  /** Called once, before anything runs. */
  readonly onPlan?: (counts: PlanCounts) => void;
  readonly onProgress?: (progress: BatchProgress) => void;
  /** Called as each candidate is finished, or found finished; `place` is that of its prediction. */
  readonly onEntry?: (entry: RunEntry, report: InstanceReport, place: number) => void;
}

export interface BatchOutcome {
  /** In the order of the predictions. */
  readonly entries: readonly RunEntry[];
  readonly reused: number;
  /** Paths of the summaries that were written. */
  readonly written: readonly string[];
}

/** A batch that is under way. */
export interface BatchHandle {
  /** No candidate is begun until `resume`; those that run come to their end. */
  pause(): void;
  resume(): void;
  /** Stops what runs. What is finished is kept, and the same request goes on from there. */
  cancel(): void;
  readonly paused: boolean;
  readonly progress: BatchProgress;
  /** Rejects with Cancelled, or a HumanError where results cannot be kept. */
  readonly done: Promise<BatchOutcome>;
}

/**
 * Evaluates predictions, several at once. Every prediction of a selected instance gets one entry,
 * whatever happens to it; a failure of one leaves the others alone.
 */
export function runBatch(request: BatchRequest, hooks: BatchHooks = {}): BatchHandle {
  const cancel = new AbortController();
  const signal =
    request.signal === undefined ? cancel.signal : AbortSignal.any([request.signal, cancel.signal]);
  const engine = guardedEngine(request.engine, request.engineLimits);
  const gate = pauseGate();
  const speed = throughput();
  const started = new Date().toISOString();
  const running = new Map<number, BatchProgress['running'][number]>();
  const entries = new Map<number, RunEntry>();
  let total = request.predictions.length;
  let reused = 0;
  let onLive: (progress: BatchProgress) => void = () => undefined;

  const progress = (): BatchProgress => ({
    done: entries.size,
    total,
    reused,
    running: [...running.values()],
    paused: gate.paused,
    ...speed.estimate(total - entries.size),
  });
  const tell = (): void => {
    const now = progress();
    hooks.onProgress?.(now);
    onLive(now);
  };

  const evaluateAll = async (
    work: readonly PlannedWork[],
    keys: readonly string[],
    results: RunResults | undefined,
    signal: AbortSignal,
  ): Promise<void> => {
    const instances = new Map(request.instances.map((instance) => [instance.id, instance]));
    const left = await withoutKept(work, keys, results, signal);
    tell();
    await workerPool(left, request.workers, signal, async (part, stop) => {
      const instance = instances.get(part.instance);
      if (instance === undefined) return;
      const candidates = candidateWork(instance, { ...request, engine, signal: stop });
      try {
        for (const place of part.candidates) {
          await gate.open(stop);
          throwIfAborted(stop);
          const prediction = request.predictions[place];
          if (prediction === undefined) continue;
          const { instanceId, model } = prediction;
          running.set(place, { instance: instanceId, model, since: new Date().toISOString() });
          tell();
          let finished: BatchEntry;
          try {
            finished = await candidates.evaluate(prediction);
            await finish(place, finished, keys[place] ?? '', results);
          } finally {
            running.delete(place);
          }
          speed.finished();
          tell();
        }
      } finally {
        await candidates.dispose();
      }
    });
  };

  const finish = async (
    place: number,
    batchEntry: BatchEntry,
    key: string,
    results: RunResults | undefined,
  ): Promise<void> => {
    const entry = entryOf(batchEntry);
    const report = toReport(batchEntry);
    await results?.record({ entry, report }, batchEntry, key);
    entries.set(place, entry);
    hooks.onEntry?.(entry, report, place);
  };

  /** The work that no earlier command has done. */
  const withoutKept = async (
    work: readonly PlannedWork[],
    keys: readonly string[],
    results: RunResults | undefined,
    stop: AbortSignal,
  ): Promise<PlannedWork[]> => {
    if (results === undefined) return [...work];
    const left: PlannedWork[] = [];
    for (const part of work) {
      const candidates: number[] = [];
      for (const place of part.candidates) {
        throwIfAborted(stop);
        const prediction = request.predictions[place];
        if (prediction === undefined) continue;
        const { instanceId: instance, model, sample = 1 } = prediction;
        const kept = await results.kept({ instance, model, sample }, keys[place] ?? '');
        if (kept === undefined) {
          candidates.push(place);
          continue;
        }
        entries.set(place, kept.entry);
        reused += 1;
        hooks.onEntry?.(kept.entry, kept.report, place);
      }
      if (candidates.length > 0) left.push({ ...part, candidates });
    }
    return left;
  };

  const inOrder = (): RunEntry[] =>
    [...entries].sort(([left], [right]) => left - right).map(([, entry]) => entry);

  const execute = async (): Promise<BatchOutcome> => {
    throwIfAborted(signal);
    const { instances, predictions, results: place } = request;
    const plan = planBatch(instances, predictions, request.workers);
    total = plan.counts.candidates;
    hooks.onPlan?.(plan.counts);
    const keys = entryKeys(request);
    if (place !== undefined) checkFolders(predictions);
    if (place === undefined) {
      await evaluateAll(plan.work, keys, undefined, signal);
      return { entries: inOrder(), reused, written: [] };
    }
    const manifest = {
      run: place.runId,
      product: packageJson.version,
      dataset: place.dataset,
      mode: request.mode,
      format: request.format,
      testsOnly: request.testsOnly === true,
      timeoutSeconds: request.timeoutSeconds,
      engine: engine.description,
      instances: instances.map(factsOf),
      models: [...new Set(predictions.map((each) => each.model))],
      predictions: place.predictions.map((each) => ({ ...each })),
      candidates: total,
      same: { ...sameness(request) },
    };
    const asked = {
      ...{ out: place.out, runId: place.runId, manifest, predictions },
      ...{ fresh: request.fresh, signal },
    };
    return withResults(asked, async (results, signal) => {
      const live = liveWriter(results.folder);
      onLive = ({ reused: _reused, ...state }) =>
        live.update({ ...state, pid: process.pid, started });
      try {
        await evaluateAll(plan.work, keys, results, signal);
        const ids = instances.map((instance) => instance.id);
        const entries = inOrder();
        const written = await writeSummaries(place.out, place.runId, entries, ids).catch(
          (error: unknown) => {
            throw results.lost(error);
          },
        );
        return { entries, reused, written };
      } finally {
        await live.end();
      }
    });
  };

  return {
    pause() {
      gate.pause();
      speed.pause();
      tell();
    },
    resume() {
      gate.resume();
      speed.resume();
      tell();
    },
    cancel: () => cancel.abort(),
    get paused() {
      return gate.paused;
    },
    get progress() {
      return progress();
    },
    done: execute(),
  };
}

/**
 * Two models may have one folder, as the harness names them: the reports of one would write over those
 * of the other.
 *
 * @throws HumanError naming both
 */
function checkFolders(predictions: readonly Prediction[]): void {
  const owners = new Map<string, string>();
  for (const { model, sample = 1 } of predictions) {
    const folder = modelFolder(model, sample);
    const owner = owners.get(folder);
    if (owner !== undefined && owner !== model) {
      throw new HumanError(
        `The models ${owner} and ${model} would have one folder of reports, ${folder}`,
        'Rename one of them in its predictions, or evaluate them with different --out',
      );
    }
    owners.set(folder, model);
  }
}
