/** Whether this is the run of each day. The full run, and a file that is run by itself, try everything. */
export const isEveryday = process.env['SWT_BENCH_TESTS'] === 'everyday';

/** Each day every fifth of many cases, always the same ones; otherwise all of them. */
export function everydayCases<T>(all: readonly T[]): T[] {
  return all.filter((_, i) => !isEveryday || i % 5 === 0);
}

/** How often a property is tried, or its cases are counted: each day a fifth of the times of the full run. */
export function everydayRuns(full: number): number {
  return isEveryday ? Math.ceil(full / 5) : full;
}
