import { markedAsOracle } from '../../domain/answerSeen';
import type { RepairRates, Total } from '../studyReportSchema';
import type { RepairResults } from '../document/document';
import type { MakingCost } from '../../domain/instance';
import { type Granularity, granularities } from './correctLocation';
import type { JudgedRepair, RepairRun } from './judgedRepair';

/**
 * The rows of some runs, one for each model. A model with several samples for an instance is its
 * first sample, and has a second row for the best of them.
 */
export function repairRates(runs: readonly RepairRun[]): RepairRates[] {
  const owners = new Map<string, number>();
  for (const run of runs) {
    for (const model of modelsOf(run)) owners.set(model, (owners.get(model) ?? 0) + 1);
  }
  return runs.flatMap((run) =>
    modelsOf(run).flatMap((model) => {
      const name = owners.get(model) === 1 ? model : `${model} [${run.label}]`;
      return ratesOfModel(run, model, name);
    }),
  );
}

/** For the overlap with tests: what the first sample of each model was tried on, and resolved. */
export const repairResultsOf = (runs: readonly RepairRun[]): RepairResults[] =>
  repairRates(runs)
    .filter(({ samples }) => samples === 1)
    .map(({ name, resolved, tried }) => ({ name, resolved, attempted: tried }));

const modelsOf = ({ judged }: RepairRun): string[] => [
  ...new Set(judged.map(({ model }) => model)),
];

function ratesOfModel(run: RepairRun, model: string, name: string): RepairRates[] {
  const byInstance = new Map<string, JudgedRepair[]>(run.instances.map(({ id }) => [id, []]));
  for (const each of run.judged) {
    if (each.model === model) byInstance.get(each.instance)?.push(each);
  }
  const samples = [...byInstance.values()].map((all) =>
    [...all].sort((left, right) => left.sample - right.sample),
  );
  const most = Math.max(0, ...samples.map(({ length }) => length));
  const chosen = samples.map((all) => all.slice(0, 1));
  const madeBy = chosen.flat().find((each) => each.madeBy !== undefined)?.madeBy;
  const usesAnswer = samples.flat().some(({ oracle }) => oracle === true);
  const rates = (of: typeof samples, count: number): RepairRates => {
    const oracle = usesAnswer || count > 1;
    const shown = count > 1 ? `${name}, best of ${count}` : name;
    return {
      name: oracle ? markedAsOracle(shown) : shown,
      model,
      ...(madeBy === undefined ? {} : { madeBy }),
      oracle,
      samples: count,
      ...ratesOf(of),
    };
  };
  const first = rates(chosen, 1);
  return most < 2 ? [first] : [first, rates(samples, most)];
}

/** @param of the patches of each selected instance; an instance counts for what any of them does */
function ratesOf(
  of: readonly (readonly JudgedRepair[])[],
): Omit<RepairRates, 'name' | 'model' | 'madeBy' | 'oracle' | 'samples'> {
  const where = (holds: (each: JudgedRepair) => boolean): string[] =>
    of.flatMap((all) => all.find(holds)?.instance ?? []);
  const every = (holds: (each: JudgedRepair) => boolean): number =>
    of.filter((all) => all.length > 0 && all.every(holds)).length;
  const total = (key: keyof MakingCost): Total | undefined => totalOf(of, key);
  const dollars = total('dollars');
  const inputTokens = total('inputTokens');
  const outputTokens = total('outputTokens');
  return {
    selected: of.length,
    tried: where(({ hindrance }) => hindrance === undefined),
    resolved: where(({ status }) => status === 'resolved'),
    strictlyResolved: where(({ strict }) => strict?.resolved === true),
    differing: where(({ difference }) => difference !== undefined).length,
    emptyPatches: every(({ status }) => status === 'empty patch'),
    errors: every(({ status }) => status === 'error'),
    correctLocation: Object.fromEntries(
      granularities.map((each) => [
        each,
        where(({ location }) => location?.[each] === true).length,
      ]),
    ) as Record<Granularity, number>,
    ...(dollars === undefined ? {} : { dollars }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}

function totalOf(
  of: readonly (readonly JudgedRepair[])[],
  key: keyof MakingCost,
): Total | undefined {
  const sums = of.flatMap((all) => {
    const stated = all.flatMap(({ cost }) => cost?.[key] ?? []);
    return stated.length === 0 ? [] : [stated.reduce((sum, value) => sum + value, 0)];
  });
  const sum = sums.reduce((before, value) => before + value, 0);
  return sums.length === 0 ? undefined : { sum, known: sums.length, mean: sum / sums.length };
}
