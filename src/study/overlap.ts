import { figuresOf, gradingOf, type EvaluatedMethod } from './methods';
import type { RepairResults } from './document';
import type { Grading } from './grading';
import { overlapAtLeast } from './significance';

/**
 * A table with more cells than this is left out: nobody reads it, and for many methods it would
 * take all memory.
 */
export const mostCells = 100_000;

/** Instances that exactly these methods solve. */
interface OverlapRegion {
  /** Indices into the methods, ascending. */
  readonly methods: readonly number[];
  readonly instances: readonly string[];
}

/** Which methods solve the same instances (figure 6). */
export interface Overlap {
  /** Names of the methods, in their order. */
  readonly names: readonly string[];
  /** Number of instances that each solves. */
  readonly solved: readonly number[];
  /** Number of instances that at least one solves, as an ideal ensemble would. */
  readonly union: number;
  /** Regions with at least one instance, largest first. Every solved instance is in exactly one. */
  readonly regions: readonly OverlapRegion[];
  /** Number of instances that each pair solves together, by index; absent above {@link mostCells}. */
  readonly pairs?: readonly (readonly number[])[];
}

/** Ids of the instances on which a method succeeds. */
export function solvedBy(method: EvaluatedMethod, grading?: Grading): Set<string> {
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

/** Tests and fixes of the same instances (Table 6). */
export interface RepairOverlap {
  /** Name of the method that writes tests. */
  readonly method: string;
  /** Name of the repair results. */
  readonly repairs: string;
  /** Number of instances that both were tried on. */
  readonly instances: number;
  /**
   * Among these: instances with successful tests, instances with a resolving fix, and instances
   * with both.
   */
  readonly tests: number;
  readonly fixes: number;
  readonly overlap: readonly string[];
  /** Expected number of common instances if the two were independent. */
  readonly expected: number;
  /**
   * Chance of at least so many common instances if the two were independent and all instances
   * equally hard.
   */
  readonly p: number;
}

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
