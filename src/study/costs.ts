import type { Grading } from './grading';
import type { RunEntry } from './entry';
import type { MakingCost } from '../domain/instance';
import { figuresOf, gradingOf, type EvaluatedMethod } from './methods';

/** The sum of a figure over the candidates that state it. */
export interface Total {
  readonly sum: number;
  /** Number of candidates that state it. */
  readonly known: number;
  readonly mean: number;
}

/** Costs of the candidates of a method (tables 9 to 11). */
export interface Costs {
  /** `EvaluatedMethod.id`. */
  readonly method: string;
  readonly name: string;
  /** Number of candidates counted; for the row of an oracle all samples. */
  readonly candidates: number;
  /** Costs of making candidates, as their predictions state them; absent if none does. */
  readonly dollars?: Total;
  readonly inputTokens?: Total;
  readonly outputTokens?: Total;
  readonly makingSeconds?: Total;
  /** Seconds of evaluation; nearly 0 for candidates whose runs were reused. */
  readonly evaluationSeconds?: Total;
  /**
   * Dollars for each success, over the instances whose candidates all state their costs. Absent if
   * there is no such instance, or no success on one.
   */
  readonly dollarsPerSuccess?: number;
}

/** Costs of one method over the selected instances. */
export function costsOf(method: EvaluatedMethod, grading?: Grading): Costs {
  const paidFor = (id: string): readonly RunEntry[] => {
    // An oracle that picks the best of five samples pays for all five.
    if (method.oracleOf !== undefined) return method.samples.get(id) ?? [];
    const entry = method.chosen.get(id);
    return entry === undefined ? [] : [entry];
  };
  const entries = method.selected.flatMap(({ id }) => paidFor(id));
  const total = (read: (entry: RunEntry) => number | undefined): Total | undefined => {
    const values = entries.map(read).filter((value) => value !== undefined);
    const sum = values.reduce((before, value) => before + value, 0);
    return values.length === 0
      ? undefined
      : { sum, known: values.length, mean: sum / values.length };
  };
  const of = (key: keyof MakingCost): Total | undefined => total((entry) => entry.cost?.[key]);
  const dollars = of('dollars');
  const inputTokens = of('inputTokens');
  const outputTokens = of('outputTokens');
  const makingSeconds = of('seconds');
  const evaluationSeconds = total((entry) => (entry.seconds > 0 ? entry.seconds : undefined));
  // A success of unknown price would make the others look cheaper.
  const priced = method.selected.filter(({ id }) =>
    paidFor(id).every((entry) => entry.cost?.dollars !== undefined),
  );
  const spent = priced
    .flatMap(({ id }) => paidFor(id))
    .reduce((sum, entry) => sum + (entry.cost?.dollars ?? 0), 0);
  const successes = priced.filter(
    ({ id }) => figuresOf(method.chosen.get(id), gradingOf(method, grading)).success,
  ).length;
  return {
    method: method.id,
    name: method.name,
    candidates: entries.length,
    ...(dollars === undefined ? {} : { dollars }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(makingSeconds === undefined ? {} : { makingSeconds }),
    ...(evaluationSeconds === undefined ? {} : { evaluationSeconds }),
    ...(dollars === undefined || successes === 0 ? {} : { dollarsPerSuccess: spent / successes }),
  };
}
