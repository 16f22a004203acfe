import type { MakingCost } from '../../domain/instance';
import type { Grading, RunEntry } from '../entry';
import type { Costs, Total } from '../studyReportSchema';
import { type EvaluatedMethod, figuresOf, gradingOf } from './methods';

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
