/** The middle one of some numbers, NaN for none. */
export const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/**
 * Prints a time in milliseconds as seconds, and in multiples of a plain one. `page` reads these
 * lines.
 */
export const line = (what: string, ms: number, plain?: number): void =>
  console.log(
    `${what.padEnd(62)} ${(ms / 1000).toFixed(2).padStart(7)} s` +
      (plain === undefined ? '' : `   × ${(ms / plain).toFixed(2)}`),
  );
