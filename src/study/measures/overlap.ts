import { type EvaluatedMethod, figuresOf, gradingOf } from './methods';
import type { RepairResults } from '../document/document';
import type { Grading } from '../entry';
import type { Overlap, RepairOverlap } from '../studyReportSchema';
import { overlapAtLeast } from './significance';

/**
 * A table with more cells than this is left out: nobody reads it, and for many methods it would
 * take all memory.
 */
export const mostCells = 100_000;

/** Ids of the instances on which a method succeeds. */
function solvedBy(method: EvaluatedMethod, grading?: Grading): Set<string> {
  const of = gradingOf(method, grading);
  return new Set(
    method.selected
      .filter(({ id }) => figuresOf(method.chosen.get(id), of).success)
      .map(({ id }) => id),
  );
}

/** Which methods solve the same instances. */
export function overlapOf(methods: readonly EvaluatedMethod[], grading?: Grading): Overlap {
  const sets = methods.map((method) => solvedBy(method, grading));
  const solvers = new Map<string, number[]>();
  for (const [index, set] of sets.entries()) {
    for (const id of set) {
      const own = solvers.get(id);
      if (own === undefined) solvers.set(id, [index]);
      else own.push(index);
    }
  }
  const regions = new Map<string, { methods: number[]; instances: string[] }>();
  for (const id of [...solvers.keys()].sort()) {
    const members = solvers.get(id) ?? [];
    const key = members.join();
    const region = regions.get(key);
    if (region === undefined) regions.set(key, { methods: members, instances: [id] });
    else region.instances.push(id);
  }
  return {
    names: methods.map(({ name }) => name),
    solved: sets.map((set) => set.size),
    union: solvers.size,
    regions: [...regions.values()].sort(
      (left, right) =>
        right.instances.length - left.instances.length ||
        left.methods.length - right.methods.length,
    ),
    ...(methods.length ** 2 <= mostCells && { pairs: pairsOf(sets) }),
  };
}

const pairsOf = (sets: readonly ReadonlySet<string>[]): number[][] =>
  sets.map((left) =>
    sets.map((right) => [...left].reduce((sum, id) => sum + (right.has(id) ? 1 : 0), 0)),
  );

/**
 * Table 6 with its p-value: tests whether instances with a reproduced issue are also those with a
 * fix.
 */
export function overlapWithRepairs(
  method: EvaluatedMethod,
  repairs: RepairResults,
  grading?: Grading,
): RepairOverlap {
  const attempted = repairs.attempted === undefined ? undefined : new Set(repairs.attempted);
  const population = method.selected
    .map(({ id }) => id)
    .filter((id) => attempted === undefined || attempted.has(id));
  const solved = solvedBy(method, grading);
  const resolved = new Set(repairs.resolved);
  const tests = population.filter((id) => solved.has(id));
  const fixes = population.filter((id) => resolved.has(id));
  const overlap = tests.filter((id) => resolved.has(id));
  const instances = population.length;
  return {
    method: method.name,
    repairs: repairs.name,
    instances,
    tests: tests.length,
    fixes: fixes.length,
    overlap,
    expected: instances === 0 ? 0 : (tests.length * fixes.length) / instances,
    p: overlapAtLeast(instances, tests.length, fixes.length, overlap.length),
  };
}
