import type { Grading } from './grading';
import { figuresOf, gradingOf, type EvaluatedMethod } from './methods';

/** Pass@k of one method. */
export interface PassAtK {
  readonly k: number;
  /** Mean over the selected instances, from 0 to 1. */
  readonly mean: number;
  /** Selected instances. */
  readonly of: number;
  /** Samples it was estimated from. */
  readonly samples: number;
}

/**
 * Chance that at least one of k candidates succeeds, drawn without replacement from n of which c
 * succeed. It is the unbiased estimator 1 − C(n−c, k) / C(n, k) of Chen et al. 2021, computed as a
 * product, which does not overflow.
 *
 * @param k at most n
 */
export function passAtKOf(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let none = 1;
  for (let factor = n - c + 1; factor <= n; factor++) none *= 1 - k / factor;
  return 1 - none;
}

/**
 * Pass@k for every k up to the number of samples. A sample that an instance lacks, because the
 * method produced none, counts as a failure.
 */
export function passAtK(method: EvaluatedMethod, grading?: Grading): PassAtK[] {
  const n = method.sampleCount;
  const of = method.selected.length;
  if (of === 0) return [];
  const successes = method.selected.map(
    ({ id }) =>
      (method.samples.get(id) ?? []).filter(
        (entry) => figuresOf(entry, gradingOf(method, grading)).success,
      ).length,
  );
  return Array.from({ length: n }, (_, index) => {
    const k = index + 1;
    const sum = successes.reduce((before, c) => before + passAtKOf(n, c, k), 0);
    return { k, mean: sum / of, of, samples: n };
  });
}
