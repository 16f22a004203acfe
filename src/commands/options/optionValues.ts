// Parsers for the values of command line options.
import { InvalidArgumentError } from 'commander';

/**
 * Ids or names separated by commas.
 * @throws InvalidArgumentError
 */
export function list(value: string): string[] {
  const ids = value.split(',').map((id) => id.trim());
  if (ids.some((id) => id === '')) throw new InvalidArgumentError('Write IDs separated by commas.');
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
 * Dollars for a million tokens of input, of output, of input from a cache, and of input that is
 * written to one: `2.5,10`, `2.5,10,1.25`.
 *
 * @throws InvalidArgumentError
 */
export function price(value: string): {
  input: number;
  output: number;
  cached?: number;
  cacheWrite?: number;
} {
  const numbers = value.split(',').map((part) => (part.trim() === '' ? NaN : Number(part)));
  const [input, output, cached, cacheWrite] = numbers;
  const isGood = numbers.length <= 4 && numbers.every((each) => Number.isFinite(each) && each >= 0);
  if (!isGood || input === undefined || output === undefined) {
    throw new InvalidArgumentError('Write two to four numbers, such as 2.5,10 or 2.5,10,1.25.');
  }
  return {
    ...{ input, output },
    ...(cached !== undefined && { cached }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/**
 * A number from 0 to 1.
 *
 * @throws InvalidArgumentError
 */
export function share(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0 && number <= 1)) {
    throw new InvalidArgumentError('Write a number from 0 to 1.');
  }
  return number;
}

/**
 * A further `NAME=VALUE` of a repeatable option.
 *
 * @throws InvalidArgumentError, which does not repeat the value: it may be a secret
 */
export function header(value: string, others: Record<string, string> = {}): Record<string, string> {
  const [, name, text] = /^([\w!#$%&'*+.^`|~-]+)=(.+)$/s.exec(value) ?? [];
  if (name === undefined || text === undefined || /[\r\n]/.test(text)) {
    throw new InvalidArgumentError('Write it as NAME=VALUE.');
  }
  return { ...others, [name]: text };
}

/** Fields of a request that other options set, or that the method writes. */
const ownFields =
  /^(?:model|messages|system|systemInstruction|contents|stream|tools|max_tokens|max_completion_tokens|temperature|top_p)$/;

/**
 * A further `KEY=JSON` of a repeatable option.
 *
 * @throws InvalidArgumentError
 */
export function bodyField(
  value: string,
  others: Record<string, unknown> = {},
): Record<string, unknown> {
  const equals = value.indexOf('=');
  const name = value.slice(0, Math.max(0, equals));
  if (ownFields.test(name)) {
    throw new InvalidArgumentError(
      `${JSON.stringify(name)} is set by the method or another option.`,
    );
  }
  try {
    if (name === '') throw new Error('no name');
    return { ...others, [name]: JSON.parse(value.slice(equals + 1)) as unknown };
  } catch {
    throw new InvalidArgumentError('Write it as KEY=JSON, such as seed=7 or user=\'"me"\'.');
  }
}
