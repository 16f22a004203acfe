import type { FormatDescriptor } from '../reading/formatDescriptor';
import { readingOfDiffs } from '../unified/unifiedDescriptor';

/** Diffs with wrong line numbers or context. It is only requested, since a doubt is an error in it. */
export const fuzzy = {
  name: 'fuzzy',
  placesAnyDiff: true,
  ...readingOfDiffs('fuzzy', 'loose'),
  convert: async (text, { tree, turns }) =>
    (await import('./convertFuzzy')).convertFuzzy(text, tree, turns),
} as const satisfies FormatDescriptor;
