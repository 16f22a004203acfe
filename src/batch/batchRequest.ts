import type { Instance, Prediction } from '../domain/instance';
import type { Denominator } from '../study/entrySchema';
import type { Reporter, Shard } from '../domain/work';
import type { Engine } from '../engine/engine';
import type { CandidateResult } from '../evaluation/candidateResult';
import type { Mode } from '../evaluation/prepareCandidate';
import type { InstanceSession, RunOptions } from '../evaluation/session';
import type { RunStore } from '../evaluation/testRun';
import type { MutantResults } from '../mutation/mutantSchema';
import type { FormatDescriptor } from '../patch/toUnified';
import type { PythonParser } from '../python/parser';
import type { Sources } from '../repository/source';
import type { EngineLimits } from '../engine/sandbox';
import type { InstancesAndPredictions } from './partOfShard';

/** How often, and after what delay, a batch retries what an infrastructure fault has ended. */
export interface RetryOptions {
  /** Tries after the first one. */
  readonly times: number;
  /** Milliseconds before the second try; each further delay is three times as long. */
  readonly firstDelay: number;
}

/** Which mutants the candidates are tried on. */
export interface MutantRequest {
  /** Maximum number of mutants of an instance. */
  readonly limit: number;
  /** Mutants that run at once for each candidate. */
  readonly workers: number;
  /** Tries a candidate on mutants; or why there are none. */
  readonly test: (
    session: InstanceSession,
    result: CandidateResult,
    options: MutantOptions,
  ) => Promise<MutantResults | { readonly failure: string }>;
}

/** How a candidate is tried on mutants. */
interface MutantOptions
  extends
    Pick<MutantRequest, 'limit' | 'workers'>,
    Pick<RunOptions, 'timeoutSeconds' | 'signal' | 'reporter' | 'reuse'> {
  /** Where finished runs are kept. */
  readonly store: RunStore;
}

/** A shard, with the run of which it is a part. */
export interface ShardOfRun extends Shard {
  readonly whole: InstancesAndPredictions;
}

/** What a batch evaluates, by which means, and where its results go. */
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
  /** `auto`, or the name of the unified format or of one in `formats`. */
  readonly format: string;
  /** Formats that predictions may have apart from the unified one. */
  readonly formats: readonly FormatDescriptor[];
  /** Leave out edits outside tests. */
  readonly testsOnly?: boolean;
  readonly mode: Mode;
  /** Try each candidate on mutants of X* too. */
  readonly mutants?: MutantRequest | undefined;
  /** Run candidates again although their runs are kept, and restart the results folder. */
  readonly fresh: boolean;
  /** Where reports go. Without it no report is written, and only finished test runs are kept. */
  readonly results?: ResultsPlace;
  /** Set where the request is one shard of a run. */
  readonly shard?: ShardOfRun | undefined;
  /** How to retry after infrastructure faults; see `faults.ts`. */
  readonly retry?: RetryOptions;
  /** The limits after which the engine counts as stuck. */
  readonly engineLimits?: EngineLimits;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

export interface ResultsPlace {
  readonly out: string;
  readonly runId: string;
  /** For people: the dataset, as they named it. */
  readonly dataset: string;
  /** How the user chose the instances; absent where nobody was asked. */
  readonly denominator?: Denominator;
  /** For people: where the predictions came from, with the digest of each file. */
  readonly predictions: readonly { readonly from: string; readonly sha256?: string }[];
}
