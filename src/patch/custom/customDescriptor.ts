import { partsWithKeys, type FormatDescriptor, type Part } from '../reading/formatDescriptor';
import { holdsCustomBlocks, readBlockParts } from './readBlocks';

/**
 * {@link holdsCustomBlocks}, which checks every line, only if a line ends with a word of the
 * format.
 */
const holdsCustom = (text: string): boolean =>
  /(?:diff|rewrite|insert)[\s>"'`*]*$/im.test(text) && holdsCustomBlocks(text);

/** Blocks of the paper, which name a definition or a line to rewrite or to insert at. */
export const custom = {
  name: 'custom',
  written: 'blocks between "diff" and "end diff"',
  holds: holdsCustom,
  partsOf: (text) => (holdsCustom(text) ? partsOf(text) : []),
  convert: async (text, work) => (await import('./convertCustom')).convertCustom(text, work),
} as const satisfies FormatDescriptor;

const definition = /^\s*(?:\d+[|:]?\s+)?(?:async\s+def|def|class)\s+(\w+)/;

function partsOf(text: string): Part[] {
  const lines = text.split('\n');
  return partsWithKeys(
    readBlockParts(text).map(({ path, keyword, place, code, line, endLine, missing }) => {
      const written = lines.slice(code.from - 1, code.to - 1).map((each) => each.trimEnd());
      const name = written
        .map((each) => definition.exec(each)?.[1])
        .find((found) => found !== undefined);
      return {
        ...{ format: 'custom', line, endLine, complete: missing.length === 0 },
        paths: path === undefined ? [] : [path.value],
        key: JSON.stringify([path?.value, keyword?.value, place?.value, name ?? written]),
      };
    }),
  );
}
