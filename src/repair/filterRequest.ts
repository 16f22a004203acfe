import type { Prediction } from '../domain/instance';
import type { TestedRepair } from '../study/resolution';
import type { BatchRequest } from '../batch/batchRequest';
import type { PairMeans } from '../batch/faultTolerantSession';
import type { RepairPoolRequest } from './repairPool';
import type { RepairSettings } from './testRepair';

/** What to filter, by which means, and where its results go; the rest is as for batches. */
export interface FilterRequest
  extends
    RepairPoolRequest,
    PairMeans,
    Pick<BatchRequest, 'timeoutSeconds' | 'format' | 'fresh' | 'signal'>,
    Pick<RepairSettings, 'resolved'> {
  /** Generated tests: the first of each instance counts. */
  readonly tests: readonly Prediction[];
  /** Where results go; without it only finished test runs are kept. */
  readonly results?: {
    readonly out: string;
    readonly runId: string;
    /** The text of the file that is written beside the journal at the end. */
    readonly text: (filtered: FilteredBatch) => string;
  };
}

export interface FilteredBatch {
  /** One entry for each code patch of the instances, in their order. */
  readonly tested: readonly TestedRepair[];
  /** How many an earlier command had already finished. */
  readonly reused: number;
  /** Path of the result file; absent where no results are written. */
  readonly written?: string;
}
