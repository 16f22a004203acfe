// Parsers for the values of command line options.
import { InvalidArgumentError } from 'commander';

/**
 * Ids or names separated by commas.
 * @throws InvalidArgumentError
 */
export function list(value: string): string[] {
  const ids = value.split(',').map((id) => id.trim());
  if (ids.some((id) => id === '')) throw new InvalidArgumentError('Write ids separated by commas.');
  return ids;
}

/**
 * A number greater than 0.
 * @throws InvalidArgumentError
 */
export function positive(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) {
    throw new InvalidArgumentError('Write a number greater than 0.');
  }
  return number;
}

/**
 * A whole number greater than 0.
 * @throws InvalidArgumentError
 */
export function whole(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError('Write a whole number greater than 0.');
  }
  return number;
}

/**
 * A whole number, 0 or greater.
 * @throws InvalidArgumentError
 */
export function natural(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isSafeInteger(number) || number < 0) {
    throw new InvalidArgumentError('Write a whole number, 0 or greater.');
  }
  return number;
}

/**
 * A number from 0 to 2; null for `none`, which means the server's default.
 *
 * @throws InvalidArgumentError
 */
export function temperature(value: string): number | null {
  if (value === 'none') return null;
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0 && number <= 2)) {
    throw new InvalidArgumentError('Write a number from 0 to 2, or `none`.');
  }
  return number;
}

/**
 * Dollars for a million tokens of input and of output: `2.5,10`.
 *
 * @throws InvalidArgumentError
 */
export function price(value: string): { input: number; output: number } {
  const [input = NaN, output = NaN, ...more] = value
    .split(',')
    .map((part) => (part.trim() === '' ? NaN : Number(part)));
  if (!(input >= 0 && output >= 0 && Number.isFinite(input + output)) || more.length > 0) {
    throw new InvalidArgumentError('Write two numbers, such as 2.5,10.');
  }
  return { input, output };
}
