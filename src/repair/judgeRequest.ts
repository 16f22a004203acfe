import type { BatchRequest, ResultsPlace } from '../batch/batchRequest';
import type { PairMeans } from '../batch/faultTolerantSession';
import type { JudgedRepair } from '../study/resolution';
import type { RepairPoolRequest } from './repairPool';

/** Settings of the runs that judge a code patch. */
export type JudgeSettings = Pick<BatchRequest, 'timeoutSeconds' | 'format' | 'signal' | 'reporter'>;

/** Which code patches to judge, by which means, and where the results go. */
export interface JudgeRequest
  extends RepairPoolRequest, PairMeans, JudgeSettings, Pick<BatchRequest, 'fresh' | 'shard'> {
  /** Where results go; without it only finished test runs are kept. */
  readonly results?: ResultsPlace;
}

export interface JudgedBatch {
  /** One entry for each code patch of the instances, in their order. */
  readonly judged: readonly JudgedRepair[];
  /** How many an earlier command had already finished. */
  readonly reused: number;
  /** Paths of the summaries, one for each model and sample; empty where no results are written. */
  readonly written: readonly string[];
}
