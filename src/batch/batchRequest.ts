import type { Instance, Prediction } from '../domain/instance';
import type { Reporter } from '../domain/reporter';
import type { Engine } from '../engine/engine';
import type { Mode } from '../evaluation/prepareCandidate';
import type { RunStore } from '../evaluation/runStore';
import type { AskedFormat } from '../patch/conversion';
import type { PythonParser } from '../python/parser';
import type { Sources } from '../repository/source';
import type { EngineLimits } from '../engine/guardedEngine';

/** How often, and after how long, what an infrastructure fault has ended is tried again. */
export interface RetryOptions {
  /** After the first try. */
  readonly times: number;
  /** Milliseconds before the second try; three times as long before each further one. */
  readonly firstDelay: number;
}

/** What a batch evaluates, with what, and where its results go. */
export interface BatchRequest {
  /** All selected instances, also those without a prediction: rates are shares of them. */
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
  /** Run candidates again although their runs are kept, and begin a results folder anew. */
  readonly fresh: boolean;
  /** Where reports go; without it nothing is written, and only finished test runs are kept. */
  readonly results?: ResultsPlace;
  /** How infrastructure faults are met; see `faults.ts`. */
  readonly retry?: RetryOptions;
  /** After which the engine counts as stuck. */
  readonly engineLimits?: EngineLimits;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

export interface ResultsPlace {
  readonly out: string;
  readonly runId: string;
  /** For people: as the dataset was named. */
  readonly dataset: string;
  /** For people: where the predictions came from, with the digest of each file. */
  readonly predictions: readonly { readonly from: string; readonly sha256?: string }[];
}
