import type { Outcome, Side } from '../../domain/outcome';
import type { Reporter } from '../../domain/reporter';
import type { FirstResult } from '../../evaluation/firstResult';

/** How a run is done, and who is told of it. */
export interface RunRequestOptions {
  readonly signal: AbortSignal;
  readonly reporter: Reporter;
  readonly onOutput?: (side: Side, text: string) => void;
  /** Told of outcomes as they come, where the engine sees them. */
  readonly onOutcome?: (side: Side, test: string, outcome: Outcome) => void;
  readonly onFirst?: (first: FirstResult) => void;
  /** Only what an edit since the last complete run can have an effect on has to run. */
  readonly onlyAffected?: boolean;
  /** Called when nothing that was asked for before is running any more. */
  readonly onTurn?: () => void;
  /** `performance.now()` of the save or request that asks for the run; by default now. */
  readonly askedAt?: number;
}
