import { custom } from './custom/customDescriptor';
import { fuzzy } from './fuzzy/fuzzyDescriptor';
import type { FormatDescriptor } from './reading/formatDescriptor';
import { searchReplace } from './searchReplace/searchReplaceDescriptor';

/** The formats apart from the unified one, in the order in which messages list them. */
export const furtherFormats = [
  fuzzy,
  custom,
  searchReplace,
] as const satisfies readonly FormatDescriptor[];
