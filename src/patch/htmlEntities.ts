import type { Diagnostic } from './diagnostic';
import { readPythonStrings, type OpenQuotes } from './pythonStrings';
import type { PatchTree } from './patchTree';

const characters: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&apos;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

const entity = /&(?:lt|gt|amp|quot|apos|nbsp|#34|#39|#x27);/;
const entities = new RegExp(entity, 'g');

/** Whether a text holds any of the entities that escaping for HTML writes. */
function holdsEntities(text: string): boolean {
  return entity.test(text);
}

const unescaped = (line: string): string =>
  line.replace(entities, (found) => characters[found] ?? found);

/** A text that is escaped for HTML as a web page would show it; undefined if it holds no entity. */
export function withoutEntities(
  text: string,
): { text: string; diagnostic: Diagnostic } | undefined {
  const lines = text.split('\n');
  const first = lines.findIndex(holdsEntities);
  if (first < 0) return undefined;
  const diagnostic: Diagnostic = {
    severity: 'warning',
    code: 'malformed',
    line: first + 1,
    message: 'The text is escaped for HTML; it is taken for what a web page would show',
    hint: 'Copy the text from its source, not from a web page',
  };
  return { text: lines.map(unescaped).join('\n'), diagnostic };
}

/** Lines of `<` or `>` that belong to a format, which a page may show though the code is escaped. */
const markers = /^[ \t]*(?:<{5,9}|>{5,9})(?: ?[A-Z]+)?[ \t]*\r?$/gm;

/** Whether a text holds characters as they are that escaping for HTML would have left none of. */
function holdsRaw(text: string): boolean {
  const rest = text.replace(markers, '');
  return (
    /[<>]/.test(rest) ||
    rest.replace(entities, '').includes('&') ||
    (/&(?:quot|#34);/.test(rest) && rest.includes('"')) ||
    (/&(?:apos|#39|#x27);/.test(rest) && rest.includes("'"))
  );
}

/**
 * What to make of entities in the lines that a text adds, where the rest of it fits the tree as it is.
 *
 * A test of HTML has them in its strings, so that they are only taken for what escaping has left of a
 * character when both are so: one of them stands in the Python that comes out, outside strings and
 * comments, where none can be meant; and the text holds no `<`, `>` or `&` as it is but in the markers of a
 * format, nor a quotation mark if it holds the entity of one. With one of the two a warning names the
 * lines, and nothing is changed; with neither they are as they are meant.
 *
 * @param files contents after, by path, as the text makes them
 * @returns undefined where nothing is to be said
 */
export async function judgeHtmlEntities(
  text: string,
  files: ReadonlyMap<string, string | undefined>,
  tree: PatchTree,
): Promise<{ isEscaped: boolean; warning: Diagnostic } | undefined> {
  if (!holdsEntities(text)) return undefined;
  const added = new Set<string>();
  let isInCode = false;
  for (const [path, after] of files) {
    if (after === undefined || !holdsEntities(after)) continue;
    const before = new Set(((await tree.read(path)) ?? '').split('\n'));
    let open: OpenQuotes = '';
    for (const line of after.split('\n')) {
      // A number's `#` begins no comment.
      const { code, open: next } = readPythonStrings(line.replace(/&#\w+;/g, '&quot;'), open);
      open = next;
      if (!holdsEntities(line) || before.has(line)) continue;
      added.add(line.trim());
      isInCode ||= path.endsWith('.py') && holdsEntities(code);
    }
  }
  const lines = text.split('\n');
  const named = lines.flatMap((line, i) =>
    holdsEntities(line) && (added.has(line.trim()) || added.has(line.slice(1).trim())) ? [i] : [],
  );
  const [first] = named;
  if (first === undefined) return undefined;
  const isRaw = holdsRaw(text);
  if (!isInCode && isRaw) return undefined;
  const title = 'Write the characters that the entities stand for';
  const warning: Diagnostic = {
    severity: 'warning',
    code: 'html-entities',
    line: first + 1,
    endLine: (named.at(-1) ?? first) + 1,
    message: `${listed(named)} would be added with entities of HTML as they are; the text may have been escaped on its way`,
    hint: `${title}, unless the entities are meant`,
    fixes: [
      {
        title,
        edits: named.map((i) => ({ from: i + 1, to: i + 2, lines: [unescaped(lines[i] ?? '')] })),
      },
    ],
  };
  return { isEscaped: isInCode && !isRaw, warning };
}

/** Up to five lines, 0-based ones, as they are told to people. */
function listed(lines: readonly number[]): string {
  const numbers = lines.slice(0, 5).map((line) => line + 1);
  if (lines.length > 5) return `Lines ${numbers.join(', ')} and ${lines.length - 5} more`;
  const last = numbers.pop();
  return numbers.length === 0 ? `Line ${last}` : `Lines ${numbers.join(', ')} and ${last}`;
}
