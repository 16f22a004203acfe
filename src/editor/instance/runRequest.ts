import type { Outcome, Side } from '../../domain/outcome';
import type { Reporter } from '../../domain/work';
import type { FirstResult } from '../../evaluation/firstResult';

/** Options of a run, and its listeners. */
export interface RunRequestOptions {
  readonly signal: AbortSignal;
  readonly reporter: Reporter;
  readonly onOutput?: (side: Side, text: string) => void;
  /** Called with each outcome as it arrives, if the engine reports them. */
  readonly onOutcome?: (side: Side, test: string, outcome: Outcome) => void;
  readonly onFirst?: (first: FirstResult) => void;
  /** Run only the tests that an edit since the last complete run can affect. */
  readonly onlyAffected?: boolean;
  /** Called when all earlier requests have ended. */
  readonly onTurn?: () => void;
  /** `performance.now()` of the save or request that caused the run; by default now. */
  readonly askedAt?: number;
}
