import { deltaOf, type RunEntry } from './entry';

/** The fields of an entry that the rates are computed from. */
export type RatedEntry = Pick<
  RunEntry,
  | 'instance'
  | 'evaluated'
  | 'explanation'
  | 'wellFormed'
  | 'success'
  | 'failToAny'
  | 'failToPass'
  | 'passToPass'
  | 'delta'
>;

/** A share of the instances, with its denominator. */
interface Rate {
  readonly count: number;
  readonly of: number;
}

/** The paper's Table 2 and 3 for one set of predictions. Shares are of all selected instances. */
export interface Rates {
  readonly selected: number;
  readonly wellFormed: Rate;
  readonly success: Rate;
  readonly failToAny: Rate;
  readonly failToPass: Rate;
  readonly passToPass: Rate;
  /**
   * Mean ΔC in [0, 1] and the number of instances in it. Instances without executable lines are
   * left out.
   */
  readonly deltaAll: Mean;
  readonly deltaSuccess: Mean;
  readonly deltaFailure: Mean;
  readonly notEvaluated: readonly { readonly instance: string; readonly reason: string }[];
}

interface Mean {
  readonly mean: number | undefined;
  readonly of: number;
}

/**
 * Rates over a selection. An instance that could not be evaluated stays in the denominator and
 * counts as a failure in every rate. It is also listed with its reason.
 */
export function rates(selection: readonly RatedEntry[]): Rates {
  const of = selection.length;
  const rate = (holds: (entry: RatedEntry) => boolean): Rate => ({
    count: selection.filter((entry) => entry.evaluated && holds(entry)).length,
    of,
  });
  // A candidate that did not apply covers nothing. Its instance has a ΔC of 0 if the golden runs
  // found executable lines, and is left out otherwise.
  const withCoverage = selection.filter((entry) => deltaOf(entry.delta) !== undefined);
  const isSuccess = (entry: RatedEntry): boolean => entry.evaluated && entry.success;
  const mean = (part: readonly RatedEntry[]): Mean => ({
    mean:
      part.length === 0
        ? undefined
        : part.reduce((sum, entry) => sum + (deltaOf(entry.delta) ?? 0), 0) / part.length,
    of: part.length,
  });
  return {
    selected: of,
    wellFormed: rate((entry) => entry.wellFormed),
    success: rate((entry) => entry.success),
    failToAny: rate((entry) => entry.failToAny > 0),
    failToPass: rate((entry) => entry.failToPass > 0),
    passToPass: rate((entry) => entry.passToPass > 0),
    deltaAll: mean(withCoverage),
    deltaSuccess: mean(withCoverage.filter(isSuccess)),
    deltaFailure: mean(withCoverage.filter((entry) => !isSuccess(entry))),
    notEvaluated: selection
      .filter((entry) => !entry.evaluated)
      .map((entry) => ({ instance: entry.instance, reason: entry.explanation })),
  };
}
