import { z } from 'zod';
import { HumanError } from '../../domain/humanError';
import { findDefinitions, type Definition } from '../../python/definitions';
import type { ModelView } from '../modelView';
import { signatureOf } from './outlineFile';
import { folderField, shortLine } from './places';
import { fields, type Tool, type ToolWork } from './tool';

const kinds = ['text', 'regex', 'class', 'function'] as const;

interface Input {
  readonly query: string;
  readonly kind: (typeof kinds)[number];
  readonly within?: string | undefined;
}

const mostHits = 80;

export const searchCode: Tool<Input> = {
  name: 'search_code',
  title: 'Search the code',
  description:
    'Searches the repository, tests included. kind "class" and "function" find definitions by name (methods are functions, and may be written Class.method) and give their files, lines and signatures; "text" finds lines that hold the query as it stands, "regex" lines that match an extended regular expression (POSIX). It shows the repository as it is, without the candidate.',
  input: fields({
    query: z
      .string()
      .min(1)
      .max(500)
      .describe('Name of a class or function, text, or regular expression'),
    kind: z.enum(kinds).describe('What the query is'),
    within: folderField('Search only this file or folder, such as tests').optional(),
  }),
  effect: 'reads',
  confirmation: 'Gives the model lines of files of the repository that match.',
  async run(view, { query, kind, within }, work) {
    const place = within === '' ? undefined : within;
    if (/[\r\n]/.test(query)) {
      throw new HumanError('The query has several lines', 'Search for one line of it');
    }
    switch (kind) {
      case 'class':
      case 'function':
        return definitions(view, { query, kind, within: place }, work);
      case 'text':
      case 'regex':
        return text(view, { query, kind, within: place }, work);
    }
  },
};

async function text({ tree }: ModelView, { query, kind, within }: Input, { signal }: ToolWork) {
  const found = await tree.search({ pattern: query, isRegex: kind === 'regex', within }, signal);
  if (found.length === 0) {
    const why = within === undefined ? undefined : await whyNothingWithin(tree, within);
    return (
      why ??
      `No line of ${within ?? 'the repository'} ${kind === 'regex' ? 'matches' : 'holds'} ${JSON.stringify(query)}.`
    );
  }
  const files = new Set(found.map(({ path }) => path)).size;
  return [
    `${count(found.length, 'line')} in ${count(files, 'file')}:`,
    ...found
      .slice(0, mostHits)
      .map(({ path, line, text }) => `${path}:${line}: ${shortLine(text.trim(), 200)}`),
    ...moreThan(found.length - mostHits, 'line'),
  ].join('\n');
}

async function definitions(
  { tree, python }: ModelView,
  { query, kind, within }: Input,
  { signal }: ToolWork,
): Promise<string> {
  const name = query
    .replace(/^(?:async\s+)?(?:def|class)\s+/, '')
    .replace(/\(.*$/, '')
    .trim();
  if (!/^[\p{L}_][\p{L}\p{N}_.]*$/u.test(name)) {
    throw new HumanError(
      `${JSON.stringify(query)} is not the name of a ${kind}`,
      'Give the bare name, such as Money or Money.allocate, or search with kind "text"',
    );
  }
  const parts = name.split('.');
  const last = parts.at(-1) ?? name;
  // Plain text is found ten times as fast as a regular expression.
  const pattern = `${kind === 'class' ? 'class' : 'def'} ${last}`;
  const isWhole = new RegExp(`(?:^|\\s)${pattern}(?![\\p{L}\\p{N}_])`, 'u');
  const lines = (await tree.search({ pattern, within, ending: '.py' }, signal)).filter(({ text }) =>
    isWhole.test(text),
  );
  const unread = new Map<string, number>();
  for (const { path } of lines) unread.set(path, (unread.get(path) ?? 0) + 1);
  const found: string[] = [];
  for (const path of [...unread.keys()]) {
    if (found.length >= mostHits) break;
    unread.delete(path);
    const source = (await tree.read(path)) ?? '';
    if (!parts.every((part) => source.includes(part))) continue;
    for (const each of findDefinitions(python, source)) {
      if (!isMeant(each, kind, name)) continue;
      const { startLine, endLine } = each.range;
      const inside = each.parent === undefined ? '' : `  (in ${each.parent.qualifiedName})`;
      found.push(`${path}:${startLine}-${endLine}  ${signatureOf(each, source)}${inside}`);
    }
  }
  if (found.length === 0) {
    const why = within === undefined ? undefined : await whyNothingWithin(tree, within);
    return (
      why ??
      `No ${kind} of ${within ?? 'the repository'} is called ${name}.${lines.length > 0 ? ` There are definitions of ${last} elsewhere: search for ${last}.` : ' It may be defined another way: search with kind "text".'}`
    );
  }
  const more = [...unread.values()].reduce((sum, each) => sum + each, found.length - mostHits);
  return [
    `${count(Math.min(found.length, mostHits), 'definition')}:`,
    ...found.slice(0, mostHits),
    ...moreThan(more, 'definition'),
  ].join('\n');
}

const isMeant = (each: Definition, kind: Input['kind'], name: string): boolean =>
  (kind === 'class') === (each.kind === 'class') &&
  (each.qualifiedName === name || each.qualifiedName.endsWith(`.${name}`));

/** Says that the place of a search does not exist: an empty result would be misread. */
async function whyNothingWithin(
  tree: ModelView['tree'],
  within: string,
): Promise<string | undefined> {
  const isThere = (await tree.paths()).some(
    (path) => path === within || path.startsWith(`${within}/`),
  );
  return isThere
    ? undefined
    : `The repository has no file or folder ${JSON.stringify(within)}: see list_files.`;
}

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

const moreThan = (more: number, noun: string): string[] =>
  more > 0
    ? [`[${count(more, `more ${noun}`)} not shown; narrow the query, or search within a folder]`]
    : [];
