import { partsWithKeys, type FormatDescriptor, type Part } from '../reading/formatDescriptor';
import { holdsSearchReplace, parseSearchReplace } from './parseSearchReplace';

/** Blocks with the lines to search for and their replacement. */
export const searchReplace = {
  name: 'search-replace',
  written: 'SEARCH/REPLACE blocks',
  holds: holdsSearchReplace,
  partsOf: (text) => (holdsSearchReplace(text) ? partsOf(text) : []),
  convert: async (text, { tree, turns }) =>
    (await import('./convertSearchReplace')).convertSearchReplace(text, tree, turns),
} as const satisfies FormatDescriptor;

const partsOf = (text: string): Part[] =>
  partsWithKeys(
    parseSearchReplace(text).blocks.map(({ path, line, endLine, body, dividers }) => {
      const search = body.slice(0, dividers[0]).map((each) => each.trimEnd());
      const whole = search.every((each) => each === '') ? body : search;
      const part = { format: 'search-replace', line, endLine, paths: [path], complete: true };
      return { ...part, key: JSON.stringify([path, whole]) };
    }),
  );
