import type { Diagnostic } from '../diagnostic';
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

/** Whether a text contains any of the entities that HTML escaping writes. */
function holdsEntities(text: string): boolean {
  return entity.test(text);
}

const unescaped = (line: string): string =>
  line.replace(entities, (found) => characters[found] ?? found);

/** Decodes the entities of a text, as a web page would show it; undefined if it contains none. */
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
    message: 'The text is HTML-escaped; it is decoded as a browser would display it',
    hint: 'Copy the text from its source, not from a web page',
  };
  return { text: lines.map(unescaped).join('\n'), diagnostic };
}

/**
 * Lines of `<` or `>` that belong to a format. A page may show these even if the code is escaped.
 */
const markers = /^[ \t]*(?:<{5,9}|>{5,9})(?: ?[A-Z]+)?[ \t]*\r?$/gm;

/** Whether a text contains plain characters that HTML escaping would have replaced. */
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
 * Judges the entities in the added lines of a text whose other lines fit the tree as they are.
 *
 * A test of HTML has entities in its strings. So they count as escaped characters only if two
 * conditions hold. First, an entity is in the resulting Python outside strings and comments, where
 * it cannot be intended. Second, the text has no plain `<`, `>` or `&` except in the markers of a
 * format. It also has no plain quotation mark if it has the entity of one. If only one condition
 * holds, a warning names the lines and nothing changes. If neither holds, the entities are
 * intended.
 *
 * @param files new contents by path, as the text makes them
 * @returns undefined if there is nothing to report
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
      // The `#` of a numeric entity begins no comment.
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
    message: `${listed(named)} would be added with HTML entities; the text may have been escaped by mistake`,
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

/** Names up to five 0-based lines as messages show them. */
function listed(lines: readonly number[]): string {
  const numbers = lines.slice(0, 5).map((line) => line + 1);
  if (lines.length > 5) return `Lines ${numbers.join(', ')} and ${lines.length - 5} more`;
  const last = numbers.pop();
  return numbers.length === 0 ? `Line ${last}` : `Lines ${numbers.join(', ')} and ${last}`;
}
