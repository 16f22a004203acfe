import type { Grading } from '../entry';
import type { StudyReport } from '../studyReportSchema';
import { type EvaluatedMethod, figuresOf, gradingOf } from './methods';

/**
 * Chance, for k from 1 to n, that at least one of k candidates succeeds, drawn without replacement
 * from n of which c succeed. It is the unbiased estimator 1 − C(n−c, k) / C(n, k) of Chen et al.
 * 2021, computed as a product, which does not overflow.
 */
export function chancesOf(n: number, c: number): number[] {
  let none = 1;
  return Array.from({ length: n }, (_, drawn) => {
    none *= Math.max(0, n - c - drawn) / (n - drawn);
    return 1 - none;
  });
}

/**
 * Pass@k for every k up to the number of samples. A sample that an instance lacks, because the
 * method produced none, counts as a failure.
 */
export function passAtK(
  method: EvaluatedMethod,
  grading?: Grading,
): StudyReport['passAtK'][number]['values'][number][] {
  const n = method.sampleCount;
  const of = method.selected.length;
  if (of === 0) return [];
  // Instances with equally many successes have the same chances.
  const times = new Map<number, number>();
  for (const { id } of method.selected) {
    const c = (method.samples.get(id) ?? []).filter(
      (entry) => figuresOf(entry, gradingOf(method, grading)).success,
    ).length;
    times.set(c, (times.get(c) ?? 0) + 1);
  }
  const sums = new Float64Array(n);
  for (const [c, count] of times) {
    for (const [index, chance] of chancesOf(n, c).entries()) sums[index]! += count * chance;
  }
  return [...sums].map((sum, index) => ({ k: index + 1, mean: sum / of, of, samples: n }));
}
