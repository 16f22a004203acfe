import type { ChangeCoverage } from './changeCoverage';
import type { Verdict } from './verdict';

/** What the rates need of a verdict: of the tests, how many. */
type Counted = Pick<Verdict, 'wellFormed' | 'success'> &
  Readonly<Record<'failToAny' | 'failToPass' | 'passToPass', { readonly length: number }>>;

/** What the rates need of one evaluated instance. */
export interface Graded {
  readonly instance: string;
  /** Undefined when the instance could not be evaluated. */
  readonly verdict: Counted | undefined;
  readonly changeCoverage: Pick<ChangeCoverage, 'delta'> | undefined;
  /** Why it could not be evaluated. */
  readonly failure?: string;
}

/** A share of the instances, with what it is a share of. */
export interface Rate {
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
  /** Mean ΔC in [0, 1] and over how many instances; an instance without executable lines is left out. */
  readonly deltaAll: Mean;
  readonly deltaSuccess: Mean;
  readonly deltaFailure: Mean;
  readonly notEvaluated: readonly { readonly instance: string; readonly reason: string }[];
}

export interface Mean {
  readonly mean: number | undefined;
  readonly of: number;
}

/**
 * Rates over a selection. An instance that could not be evaluated stays in the denominator, as an
 * instance on which nothing was reached, and is listed with its reason.
 */
export function rates(selection: readonly Graded[]): Rates {
  const of = selection.length;
  const rate = (holds: (verdict: Counted) => boolean): Rate => ({
    count: selection.filter(({ verdict }) => verdict !== undefined && holds(verdict)).length,
    of,
  });
  // A candidate that did not apply covers nothing, but only where something can be covered: its
  // instance has a ΔC of 0 if the golden runs found executable lines, and is left out otherwise.
  const withCoverage = selection.filter((each) => each.changeCoverage?.delta !== undefined);
  const mean = (part: readonly Graded[]): Mean => ({
    mean:
      part.length === 0
        ? undefined
        : part.reduce((sum, each) => sum + (each.changeCoverage?.delta ?? 0), 0) / part.length,
    of: part.length,
  });
  return {
    selected: of,
    wellFormed: rate((verdict) => verdict.wellFormed),
    success: rate((verdict) => verdict.success),
    failToAny: rate((verdict) => verdict.failToAny.length > 0),
    failToPass: rate((verdict) => verdict.failToPass.length > 0),
    passToPass: rate((verdict) => verdict.passToPass.length > 0),
    deltaAll: mean(withCoverage),
    deltaSuccess: mean(withCoverage.filter((each) => each.verdict?.success === true)),
    deltaFailure: mean(withCoverage.filter((each) => each.verdict?.success !== true)),
    notEvaluated: selection
      .filter((each) => each.verdict === undefined)
      .map((each) => ({ instance: each.instance, reason: each.failure ?? 'not run' })),
  };
}
