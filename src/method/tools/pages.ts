import { z } from 'zod';
import { HumanError } from '../../domain/work';

/** Input of a tool whose answer has pages. */
export const pageField = z
  .int()
  .min(1)
  .max(100_000)
  .optional()
  .describe('Page of the results; 1 by default');

/** Output of a tool whose answer has pages. */
export const pageShape = {
  page: z.int(),
  more: z.int().describe('Number of results on later pages'),
};

/** One page of a list. */
export interface ResultPage<T> {
  readonly page: number;
  readonly items: readonly T[];
  /** How many items follow on later pages. */
  readonly more: number;
}

/**
 * Cuts a page out of a list.
 *
 * @param page counted from 1
 * @throws HumanError when the list ends before the page
 */
export function pageOf<T>(all: readonly T[], page: number, size: number): ResultPage<T> {
  const pages = Math.max(1, Math.ceil(all.length / size));
  if (page > pages) {
    throw new HumanError(
      `There is no page ${page}: the last one is ${pages}`,
      'Request an existing page',
    );
  }
  const items = all.slice((page - 1) * size, page * size);
  return { page, items, more: Math.max(0, all.length - page * size) };
}

/** The last line of a page that others follow, for a model. */
export const nextPage = ({ page, more }: Pick<ResultPage<unknown>, 'page' | 'more'>): string[] =>
  more > 0 ? [`[${more} more: continue with page ${page + 1}]`] : [];
