import { z } from 'zod';
import { HumanError, type Immutable } from '../../domain/work';
import { findDefinitions, type Definition } from '../../python/definitions';
import type { ModelView } from '../modelView';
import { matchesFileQuery } from './matchesFileQuery';
import { signatureOf } from './outlineFile';
import { nextPage, pageField, pageOf, pageShape, type ResultPage } from './pages';
import { folderField, shortLine } from './places';
import { fields, toolOf, type ToolResult, type ToolWork } from './tool';

const kinds = ['text', 'regex', 'class', 'function', 'file'] as const;

/** A search whose defaults are filled in. */
interface Search {
  readonly query: string;
  readonly kind: (typeof kinds)[number];
  readonly within: string | undefined;
  readonly page: number;
}

const hit = fields({
  path: z.string(),
  line: z.int().optional(),
  end_line: z.int().optional().describe('Last line of a definition'),
  text: z.string().optional().describe("The line, or a definition's signature"),
  inside: z.string().optional().describe('The class or function around a definition'),
});
type Hit = z.infer<typeof hit>;

const output = fields({
  hits: z.array(hit),
  ...pageShape,
});
type Output = Immutable<z.infer<typeof output>>;

const hitsOfPage = 80;

export const searchCode = toolOf({
  name: 'search_code',
  title: 'Search the code',
  description: `Searches the repository, including tests. kind "class" and "function" find definitions by name (methods are functions; you can write Class.method) and return their files, lines and signatures; "text" finds lines that contain the query literally; "regex" finds lines that match a regular expression (Perl syntax: \\d, \\w, \\s, \\b, (?i), lookaround; one line at a time); "file" finds files whose path contains the query, or whose name matches it with * and ? (with a /, the whole path; ** matches any folders). ${hitsOfPage} results per page. It shows the repository without the candidate.`,
  input: fields({
    query: z
      .string()
      .min(1)
      .max(500)
      .describe('Name of a class, function or file, text, or regular expression'),
    kind: z.enum(kinds).describe('Kind of the query'),
    within: folderField('Search only this file or folder, such as tests').optional(),
    page: pageField,
  }),
  output,
  effect: 'reads',
  usesCandidate: false,
  confirmation: 'Gives the model matching lines of files in the repository.',
  async run(view, { query, kind, within, page = 1 }, work) {
    const search: Search = { query, kind, within: within === '' ? undefined : within, page };
    if (/[\0\r\n]/.test(query)) {
      throw new HumanError('The query has more than one line', 'Search for a single line');
    }
    switch (kind) {
      case 'class':
      case 'function':
        return definitions(view, search, work);
      case 'text':
      case 'regex':
        return lines(view, search, work);
      case 'file':
        return files(view, search);
    }
  },
});

async function lines(
  { tree }: ModelView,
  { query, kind, within, page: asked }: Search,
  { signal }: ToolWork,
): Promise<ToolResult<Output>> {
  const found = await tree.search({ pattern: query, isRegex: kind === 'regex', within }, signal);
  if (found.length === 0) {
    const holds = kind === 'regex' ? 'matches' : 'holds';
    return nothing(
      (await whyNothingWithin(tree, within)) ??
        `No line of ${within ?? 'the repository'} ${holds} ${JSON.stringify(query)}.`,
    );
  }
  const { items, page, more } = pageOf(found, asked, hitsOfPage);
  const hits = items.map(({ path, line, text }) => ({
    path,
    line,
    text: shortLine(text.trim(), 200),
  }));
  const inFiles = new Set(found.map(({ path }) => path)).size;
  return answer(
    `${count(found.length, 'line')} in ${count(inFiles, 'file')}:`,
    { items: hits, page, more },
    ({ path, line, text }) => `${path}:${line}: ${text}`,
  );
}

async function files(
  { tree }: ModelView,
  { query, within, page }: Search,
): Promise<ToolResult<Output>> {
  const name = query.trim().replace(/^(?:\.\/)+/, '');
  const found = (await tree.paths()).filter(
    (path) => isWithin(path, within) && matchesFileQuery(path, name),
  );
  if (found.length === 0) {
    return nothing(
      (await whyNothingWithin(tree, within)) ??
        `No file in ${within ?? 'the repository'} has a path that matches ${JSON.stringify(name)}.`,
    );
  }
  const hits = found.map((path) => ({ path }));
  return answer(
    `${count(found.length, 'file')}:`,
    pageOf(hits, page, hitsOfPage),
    ({ path }) => path,
  );
}

async function definitions(
  { tree, python }: ModelView,
  { query, kind, within, page }: Search,
  { signal }: ToolWork,
): Promise<ToolResult<Output>> {
  const name = query
    .replace(/^(?:async\s+)?(?:def|class)\s+/, '')
    .replace(/\(.*$/, '')
    .trim();
  if (!/^[\p{L}_][\p{L}\p{N}_.]*$/u.test(name)) {
    throw new HumanError(
      `${JSON.stringify(query)} is not the name of a ${kind}`,
      'Use only the name, such as Money or Money.allocate, or search with kind "text"',
    );
  }
  const parts = name.split('.');
  const last = parts.at(-1) ?? name;
  // Plain text is found ten times as fast as a regular expression.
  const pattern = `${kind === 'class' ? 'class' : 'def'} ${last}`;
  const isWhole = new RegExp(`(?:^|\\s)${pattern}(?![\\p{L}\\p{N}_])`, 'u');
  const matching = (await tree.search({ pattern, within, ending: '.py' }, signal)).filter(
    ({ text }) => isWhole.test(text),
  );
  const unread = new Map<string, number>();
  for (const { path } of matching) unread.set(path, (unread.get(path) ?? 0) + 1);
  const found: Hit[] = [];
  for (const path of [...unread.keys()]) {
    if (found.length >= page * hitsOfPage) break;
    unread.delete(path);
    const source = (await tree.read(path)) ?? '';
    if (!parts.every((part) => source.includes(part))) continue;
    for (const each of findDefinitions(python, source)) {
      if (isMeant(each, kind, name)) found.push(hitOf(path, each, source));
    }
  }
  if (found.length === 0) {
    return nothing(
      (await whyNothingWithin(tree, within)) ??
        `There is no ${kind} named ${name} in ${within ?? 'the repository'}.${matching.length > 0 ? ` There are definitions of ${last} elsewhere: search for ${last}.` : ' It may be defined in another way: search with kind "text".'}`,
    );
  }
  const shown = pageOf(found, page, hitsOfPage);
  const more = [...unread.values()].reduce((sum, each) => sum + each, shown.more);
  return answer(
    `${count(shown.items.length, 'definition')}:`,
    { ...shown, more },
    ({ path, line, end_line: end, text, inside }) =>
      `${path}:${line}-${end}  ${text}${inside === undefined ? '' : `  (in ${inside})`}`,
  );
}

const hitOf = (path: string, definition: Definition, source: string): Hit => ({
  path,
  line: definition.range.startLine,
  end_line: definition.range.endLine,
  text: signatureOf(definition, source),
  ...(definition.parent !== undefined && { inside: definition.parent.qualifiedName }),
});

const isMeant = (each: Definition, kind: (typeof kinds)[number], name: string): boolean =>
  (kind === 'class') === (each.kind === 'class') &&
  (each.qualifiedName === name || each.qualifiedName.endsWith(`.${name}`));

/** Says that the place of a search does not exist: an empty result would be misread. */
async function whyNothingWithin(
  tree: ModelView['tree'],
  within: string | undefined,
): Promise<string | undefined> {
  return (await tree.paths()).some((path) => isWithin(path, within))
    ? undefined
    : `The repository has no file or folder ${JSON.stringify(within)}: see list_files.`;
}

const isWithin = (path: string, within: string | undefined): boolean =>
  within === undefined || path === within || path.startsWith(`${within}/`);

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

const nothing = (text: string): ToolResult<Output> => ({
  text,
  data: { hits: [], page: 1, more: 0 },
});

function answer(
  head: string,
  { items, page, more }: ResultPage<Hit>,
  lineOf: (hit: Hit) => string,
): ToolResult<Output> {
  const text = [head, ...items.map(lineOf), ...nextPage({ page, more })].join('\n');
  return { text, data: { hits: items, page, more } };
}
