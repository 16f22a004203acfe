import type { Instance } from '../domain/instance';
import { throwIfAborted } from '../domain/work';
import { workerPool } from '../engine/workerPool';
import type { RunEntry } from '../study/entry';
import type { Engine } from '../engine/engine';
import type { Report } from '../results/reportSchema';
import { toReport, writeSummaries } from '../results/report';
import { liveWriter } from '../results/runFolder';
import { entryOf, type BatchEntry } from '../results/entry';
import { candidateWork } from './work/candidateWork';
import { guardedEngine } from '../engine/sandbox';
import { checkModelFolders } from './checkModelFolders';
import { entryKeys } from './entryKeys';
import { manifestOf } from './manifestOf';
import { pauseGate } from './work/pauseGate';
import { planBatch, type PlanCounts, type PlannedWork } from './plan';
import { withResults, type RunResults } from './runResults';
import { throughput } from './throughput';
import type { BatchRequest, ResultsPlace } from './batchRequest';

/** The progress of a batch. */
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
  /**
   * Called when a candidate finishes, or was finished earlier; `place` is the index of its
   * prediction.
   */
  readonly onEntry?: (entry: RunEntry, report: Report, place: number) => void;
}

export interface BatchOutcome {
  /** In the order of the predictions. */
  readonly entries: readonly RunEntry[];
  readonly reused: number;
  /** Paths of the summaries that were written. */
  readonly written: readonly string[];
}

/** A running batch. */
export interface BatchHandle {
  /** Starts no candidate until `resume`; running ones come to their end. */
  pause(): void;
  resume(): void;
  /** Stops running candidates. Finished ones are kept, and the same request resumes from there. */
  cancel(): void;
  readonly paused: boolean;
  readonly progress: BatchProgress;
  /** Rejects with Cancelled, or with a HumanError where results cannot be kept. */
  readonly done: Promise<BatchOutcome>;
}

/**
 * Evaluates predictions, several at once. Every prediction of a selected instance gets one entry,
 * whatever happens to it. A failure of one does not affect the others.
 */
export const runBatch = (request: BatchRequest, hooks: BatchHooks = {}): BatchHandle =>
  new Batch(request, hooks);

/** The candidates to evaluate, and the place for their results. */
interface BatchWork {
  readonly parts: readonly PlannedWork[];
  /** Digests of what each entry depends on, by the index of its prediction. */
  readonly keys: readonly string[];
  readonly results: RunResults | undefined;
  readonly signal: AbortSignal;
}

class Batch implements BatchHandle {
  readonly done: Promise<BatchOutcome>;
  private readonly stopping = new AbortController();
  private readonly signal: AbortSignal;
  private readonly engine: Engine;
  private readonly gate = pauseGate();
  private readonly speed = throughput();
  private readonly started = new Date().toISOString();
  private readonly running = new Map<number, BatchProgress['running'][number]>();
  private readonly entries = new Map<number, RunEntry>();
  private total: number;
  private reused = 0;
  private onLive: (progress: BatchProgress) => void = () => undefined;

  constructor(
    private readonly request: BatchRequest,
    private readonly hooks: BatchHooks,
  ) {
    const { signal } = this.stopping;
    this.signal = request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]);
    this.engine = guardedEngine(request.engine, request.engineLimits);
    this.total = request.predictions.length;
    this.done = this.execute();
  }

  pause(): void {
    this.gate.pause();
    this.speed.pause();
    this.tell();
  }

  resume(): void {
    this.gate.resume();
    this.speed.resume();
    this.tell();
  }

  cancel(): void {
    this.stopping.abort();
  }

  get paused(): boolean {
    return this.gate.paused;
  }

  get progress(): BatchProgress {
    return {
      done: this.entries.size,
      total: this.total,
      reused: this.reused,
      running: [...this.running.values()],
      paused: this.paused,
      ...this.speed.estimate(this.total - this.entries.size),
    };
  }

  private tell(): void {
    const now = this.progress;
    this.hooks.onProgress?.(now);
    this.onLive(now);
  }

  private async execute(): Promise<BatchOutcome> {
    throwIfAborted(this.signal);
    const { instances, predictions, results: place, workers } = this.request;
    const { work: parts, counts } = planBatch(instances, predictions, workers);
    this.total = counts.candidates;
    this.hooks.onPlan?.(counts);
    const keys = entryKeys(this.request);
    if (place !== undefined) {
      checkModelFolders(predictions);
      return this.evaluateInto(place, parts, keys);
    }
    await this.evaluateAll({ parts, keys, results: undefined, signal: this.signal });
    return { entries: this.inOrder(), reused: this.reused, written: [] };
  }

  private async evaluateInto(
    place: ResultsPlace,
    parts: readonly PlannedWork[],
    keys: readonly string[],
  ): Promise<BatchOutcome> {
    const { out, runId } = place;
    const { instances, predictions, fresh } = this.request;
    const { engine } = this;
    const manifest = manifestOf({ ...this.request, engine }, place, this.total);
    const asked = { out, runId, manifest, predictions, fresh, signal: this.signal };
    return withResults(asked, async (results, signal) => {
      const live = liveWriter(results.folder);
      this.onLive = ({ reused: _reused, ...state }) =>
        live.update({ ...state, pid: process.pid, started: this.started });
      try {
        await this.evaluateAll({ parts, keys, results, signal });
        const ids = instances.map((instance) => instance.id);
        const entries = this.inOrder();
        const written = await writeSummaries(out, runId, entries, ids).catch((error: unknown) => {
          throw results.lost(error);
        });
        return { entries, reused: this.reused, written };
      } finally {
        await live.end();
      }
    });
  }

  private async evaluateAll(work: BatchWork): Promise<void> {
    const instances = new Map(this.request.instances.map((instance) => [instance.id, instance]));
    const left = await this.withoutKept(work);
    this.tell();
    await workerPool(left, this.request.workers, work.signal, async (part, stop) => {
      const instance = instances.get(part.instance);
      if (instance !== undefined) await this.evaluatePart(instance, part, work, stop);
    });
  }

  /** The candidates that no earlier command has finished. */
  private async withoutKept({ parts, keys, results, signal }: BatchWork): Promise<PlannedWork[]> {
    if (results === undefined) return [...parts];
    const left: PlannedWork[] = [];
    for (const part of parts) {
      const candidates: number[] = [];
      for (const place of part.candidates) {
        throwIfAborted(signal);
        const prediction = this.request.predictions[place];
        if (prediction === undefined) continue;
        const { instanceId: instance, model, sample = 1 } = prediction;
        const kept = await results.kept({ instance, model, sample }, keys[place] ?? '');
        if (kept === undefined) {
          candidates.push(place);
          continue;
        }
        this.entries.set(place, kept.entry);
        this.reused += 1;
        this.hooks.onEntry?.(kept.entry, kept.report, place);
      }
      if (candidates.length > 0) left.push({ ...part, candidates });
    }
    return left;
  }

  private async evaluatePart(
    instance: Instance,
    part: PlannedWork,
    work: BatchWork,
    signal: AbortSignal,
  ): Promise<void> {
    const { engine } = this;
    const candidates = candidateWork(instance, { ...this.request, engine, signal });
    try {
      for (const place of part.candidates) {
        await this.gate.open(signal);
        throwIfAborted(signal);
        const prediction = this.request.predictions[place];
        if (prediction === undefined) continue;
        const { instanceId, model } = prediction;
        this.running.set(place, { instance: instanceId, model, since: new Date().toISOString() });
        this.tell();
        try {
          await this.finish(place, await candidates.evaluate(prediction), work);
        } finally {
          this.running.delete(place);
        }
        this.speed.finished();
        this.tell();
      }
    } finally {
      await candidates.dispose();
    }
  }

  private async finish(
    place: number,
    finished: BatchEntry,
    { keys, results }: BatchWork,
  ): Promise<void> {
    const entry = entryOf(finished);
    const report = toReport(finished);
    await results?.record({ entry, report }, finished, keys[place] ?? '');
    this.entries.set(place, entry);
    this.hooks.onEntry?.(entry, report, place);
  }

  private inOrder(): RunEntry[] {
    return [...this.entries].sort(([left], [right]) => left - right).map(([, entry]) => entry);
  }
}
