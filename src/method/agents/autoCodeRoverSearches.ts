import { HumanError, turnsOf } from '../../domain/work';
import { findDefinitions, type Definition } from '../../python/definitions';
import { signatureOf } from '../tools/outlineFile';
import { linesOf, shortLine } from '../tools/places';
import { bounded } from '../tools/tool';
import type { FoundLine } from '../view/treeOfR';
import type { FilesOnR } from './filesOnR';

/** A call of a search, as text such as `search_method_in_file("purr", "cat.py")` says it. */
export interface SearchCall {
  readonly name: string;
  readonly args: readonly string[];
}

/** A place that the model takes for relevant; parts that it does not know are absent. */
export interface RelevantLocation {
  readonly file?: string | undefined;
  readonly class?: string | undefined;
  readonly method?: string | undefined;
}

/** Results of a search that are shown in full. */
const shownInFull = 3;
/** Places of further results that are named. */
const mostNamed = 20;
/** Lines that are shown before and after a line of code that is found. */
const around = 3;
/** Lines of the beginning of a file. */
const firstLines = 100;
/** Files that a search for a definition reads; a name such as `__init__` is in more. */
const mostRead = 200;
/** Characters of one result. */
const longestResult = 20_000;
/** Characters of a call. */
const longestCall = 2000;

/** What a search looks in. */
interface Searching {
  readonly files: FilesOnR;
  readonly signal: AbortSignal | undefined;
}

interface Search {
  readonly parameters: readonly string[];
  /** For the model. */
  readonly does: string;
  run(searching: Searching, args: readonly string[]): Promise<string>;
}

const searches: Readonly<Record<string, Search>> = {
  search_class: {
    parameters: ['class_name'],
    does: 'the outline of a class in any file: its header and the headers of its methods',
    run: async (at, [name = '']) =>
      told(`a class ${name}`, await definitionsNamed(at, 'class', name), outlineOf),
  },
  search_class_in_file: {
    parameters: ['class_name', 'file_name'],
    does: 'the full code of a class in a file',
    run: async (at, [name = '', file = '']) => inFile(at, file, 'class', name),
  },
  search_method: {
    parameters: ['method_name'],
    does: 'the code of methods and functions with this name in any file',
    run: async (at, [name = '']) =>
      told(`a method ${name}`, await definitionsNamed(at, 'method', name), codeOf),
  },
  search_method_in_file: {
    parameters: ['method_name', 'file_name'],
    does: 'the code of methods and functions with this name in one file',
    run: async (at, [name = '', file = '']) => inFile(at, file, 'method', name),
  },
  search_method_in_class: {
    parameters: ['method_name', 'class_name'],
    does: 'the code of a method of a class',
    run: async (at, [name = '', owner = '']) =>
      told(`a method ${name} of a class ${owner}`, await methodsOf(at, owner, name), codeOf),
  },
  search_code: {
    parameters: ['code'],
    does: 'places that contain this code, with the surrounding lines',
    run: async (at, [code = '']) => toldHits(at, code, await hitsOf(at, code)),
  },
  search_code_in_file: {
    parameters: ['code', 'file_name'],
    does: 'the same in one file',
    run: async (at, [code = '', file = '']) => {
      const paths = await filesNamed(at, file);
      if (paths.length === 0) return noFile(file);
      const hits = await hitsOf(at, code);
      return toldHits(
        at,
        code,
        hits.filter(({ path }) => paths.includes(path)),
      );
    },
  },
  show_file_start: {
    parameters: ['file_name'],
    does: `the first ${firstLines} lines of a file, such as the imports of a test file`,
    run: async ({ files }, [file = '']) => {
      const [path] = (await files.tree.paths()).filter((each) => isNamed(each, file));
      const text = path === undefined ? undefined : await files.tree.read(path);
      if (path === undefined || text === undefined) return noFile(file);
      return shown({ path, line: 1, code: linesOf(text).slice(0, firstLines).join('\n') });
    },
  },
};

/** The searches as the model sees them. */
export const searchDocs = Object.entries(searches)
  .map(([name, { parameters, does }]) => `- ${name}(${parameters.join(', ')}): ${does}`)
  .join('\n');

/** A string literal of Python or a bare word, with or without the name of its parameter. */
const argument =
  /\s*(?:[A-Za-z_]\w*\s*=\s*)?(?:"(?<double>(?:[^"\\]|\\[^])*)"|'(?<single>(?:[^'\\]|\\[^])*)'|(?<bare>[^\s,'"()]+))\s*(?:,|$)/y;

/** A call, or what is wrong with it as text for the model. */
export function parseSearchCall(text: string): SearchCall | { readonly problem: string } {
  const quoted = JSON.stringify(shortLine(text, 200));
  const [, name = '', inside = ''] =
    text.length > longestCall ? [] : (/^\s*([A-Za-z_]\w*)\s*\(([^]*)\)\s*$/.exec(text) ?? []);
  const search = Object.hasOwn(searches, name) ? searches[name] : undefined;
  if (search === undefined) return { problem: `${quoted} is not a search call` };
  const args: string[] = [];
  const next = new RegExp(argument);
  while (next.lastIndex < inside.trimEnd().length) {
    const found = next.exec(inside)?.groups;
    if (found === undefined) return { problem: `${quoted} has arguments that are not strings` };
    args.push(found['bare'] ?? unescaped(found['double'] ?? found['single'] ?? ''));
  }
  const { parameters } = search;
  if (args.length !== parameters.length || args.some((each) => each.trim() === '')) {
    return { problem: `${quoted} needs the arguments (${parameters.join(', ')})` };
  }
  return { name, args };
}

/** The call as text, which {@link parseSearchCall} reads. */
export const searchCallText = ({ name, args }: SearchCall): string =>
  `${name}(${args.map(literal).join(', ')})`;

const marks: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

const literal = (text: string): string =>
  `"${text.replace(/[\\"\n\t\r]/g, (mark) => `\\${Object.keys(marks).find((key) => marks[key] === mark) ?? mark}`)}"`;

const unescaped = (text: string): string =>
  text.replace(
    /\\([^])/g,
    (whole, mark: string) => marks[mark] ?? (/[\\'"]/.test(mark) ? mark : whole),
  );

/** Does a search on R, without edits. What cannot be searched is said in the text. */
export async function runSearchCall(
  { name, args }: SearchCall,
  searching: Searching,
): Promise<string> {
  try {
    return (await searches[name]?.run(searching, args)) ?? '';
  } catch (error) {
    if (error instanceof HumanError) return `${error.message}.`;
    throw error;
  }
}

/** The code of a relevant location, as far as it can be found. */
export async function codeOfLocation(
  location: RelevantLocation,
  searching: Searching,
): Promise<string> {
  const { file, class: owner, method } = location;
  const paths = file === undefined ? undefined : await filesNamed(searching, file);
  if (method !== undefined) {
    const found =
      owner === undefined
        ? await definitionsNamed(searching, 'method', method, paths)
        : await methodsOf(searching, owner, method, paths);
    if (found.length > 0) return told(`a method ${method}`, found, codeOf);
  }
  if (owner !== undefined) {
    const found = await definitionsNamed(searching, 'class', owner, paths);
    if (found.length > 0) return told(`a class ${owner}`, found, codeOf);
  }
  if (file === undefined) return `Nothing found with the name ${owner ?? method ?? ''}.`;
  return runSearchCall({ name: 'show_file_start', args: [file] }, searching);
}

/** A class, method or function of R. */
interface Found {
  readonly path: string;
  readonly source: string;
  readonly definition: Definition;
  /** All definitions of its file. */
  readonly all: readonly Definition[];
}

/** Whether the index has a file: Python, and neither documentation nor what a build has made. */
const isIndexed = (path: string): boolean =>
  path.endsWith('.py') && !/^(?:doc|build)[^/]*\//.test(path);

/** Whether a path ends with a name, part by part. */
const isNamed = (path: string, name: string): boolean => {
  const plain = name.trim().replace(/^(?:\.?\/)+/, '');
  return path === plain || path.endsWith(`/${plain}`);
};

const filesNamed = async ({ files }: Searching, name: string): Promise<string[]> =>
  (await files.tree.paths()).filter((path) => isIndexed(path) && isNamed(path, name));

const noFile = (name: string): string => `The repository has no file ${shortLine(name, 200)}.`;

/**
 * Definitions by name, such as `Cat` or `Cat.purr`, in the order of paths and lines.
 *
 * @param within the files to search; by default those with a line that defines the name
 */
async function definitionsNamed(
  searching: Searching,
  kind: 'class' | 'method',
  written: string,
  within?: readonly string[],
): Promise<Found[]> {
  const { files, signal } = searching;
  const name = written.replace(/\(.*$/s, '').trim();
  if (!/^[\p{L}_][\p{L}\p{N}_.]*$/u.test(name)) {
    throw new HumanError(`${JSON.stringify(shortLine(written, 100))} is no name`, 'Give a name');
  }
  const turns = turnsOf(signal);
  const found: Found[] = [];
  for (const path of within ?? (await filesThatDefine(searching, kind, name))) {
    await turns.pause();
    const source = (await files.tree.read(path)) ?? '';
    const all = findDefinitions(files.python, source);
    for (const definition of all) {
      const { qualifiedName } = definition;
      const isKind = (definition.kind === 'class') === (kind === 'class');
      const isMeant = qualifiedName === name || qualifiedName.endsWith(`.${name}`);
      if (isKind && isMeant) found.push({ path, source, definition, all });
    }
  }
  return found;
}

/** Indexed files with a line that defines the last part of a name, as many as are read. */
async function filesThatDefine(
  { files, signal }: Searching,
  kind: 'class' | 'method',
  name: string,
): Promise<string[]> {
  // Plain text is found ten times as fast as a regular expression.
  const pattern = `${kind === 'class' ? 'class' : 'def'} ${name.split('.').at(-1)}`;
  const isWhole = new RegExp(`(?:^|\\s)${pattern}(?![\\p{L}\\p{N}_])`, 'u');
  const lines = await files.tree.search({ pattern, ending: '.py' }, signal);
  const paths = lines.filter(({ text }) => isWhole.test(text)).map(({ path }) => path);
  return [...new Set(paths)].filter(isIndexed).slice(0, mostRead);
}

/** The methods of a name in the classes of a name. */
async function methodsOf(
  searching: Searching,
  owner: string,
  name: string,
  within?: readonly string[],
): Promise<Found[]> {
  const classes = await definitionsNamed(searching, 'class', owner, within);
  return classes.flatMap((each) =>
    each.all
      .filter(({ parent, name: own }) => parent === each.definition && own === name.trim())
      .map((definition) => ({ ...each, definition })),
  );
}

async function inFile(
  searching: Searching,
  file: string,
  kind: 'class' | 'method',
  name: string,
): Promise<string> {
  const paths = await filesNamed(searching, file);
  if (paths.length === 0) return noFile(file);
  const found = await definitionsNamed(searching, kind, name, paths);
  return told(`a ${kind} ${name} in ${file}`, found, codeOf);
}

/** A result of a search. */
interface Shown {
  readonly path: string;
  /** 1-based, of the first line of the code. */
  readonly line: number;
  /** The class or function that it is, or that contains it. */
  readonly within?: string | undefined;
  readonly code: string;
}

const shown = ({ path, line, within, code }: Shown): string =>
  `${path}${within === undefined ? '' : `, ${within}`}, from line ${line}:\n\`\`\`python\n${bounded(code, longestResult)}\n\`\`\``;

/**
 * The results of a search.
 *
 * @param paths the file of each result
 * @param full the first results in full
 */
function toldResults(what: string, paths: readonly string[], full: readonly string[]): string {
  if (paths.length === 0) return `The repository has no match for ${what}.`;
  const rest = [...new Set(paths.slice(full.length))];
  const named = `${rest.slice(0, mostNamed).join(', ')}${rest.length > mostNamed ? ', …' : ''}`;
  return [
    `Found ${paths.length} ${paths.length === 1 ? 'place' : 'places'} with ${what}:`,
    ...full,
    ...(rest.length === 0 ? [] : [`${paths.length - full.length} more in ${named}`]),
  ].join('\n\n');
}

const told = (what: string, found: readonly Found[], code: (found: Found) => string): string =>
  toldResults(
    what,
    found.map(({ path }) => path),
    found.slice(0, shownInFull).map((each) =>
      shown({
        path: each.path,
        line: each.definition.range.startLine,
        within: each.definition.qualifiedName,
        code: code(each),
      }),
    ),
  );

const codeOf = ({ source, definition: { range } }: Found): string =>
  linesOf(source)
    .slice(range.startLine - 1, range.endLine)
    .join('\n');

function outlineOf({ source, definition, all }: Found): string {
  const methods = all.filter(({ parent }) => parent === definition);
  return [
    signatureOf(definition, source),
    ...methods.map((each) => `    ${signatureOf(each, source)}`),
  ].join('\n');
}

/** Lines of indexed files at which a piece of code begins, which may have several lines. */
async function hitsOf({ files, signal }: Searching, code: string): Promise<FoundLine[]> {
  const wanted = linesOf(code.trim());
  const [pattern = ''] = wanted;
  const lines = await files.tree.search({ pattern, ending: '.py' }, signal);
  const indexed = lines.filter(({ path }) => isIndexed(path));
  if (wanted.length === 1) return indexed;
  const hits: FoundLine[] = [];
  for (const hit of indexed) {
    const source = linesOf((await files.tree.read(hit.path)) ?? '');
    const there = source.slice(hit.line - 1, hit.line - 1 + wanted.length);
    if (there.join('\n').includes(wanted.join('\n'))) hits.push(hit);
  }
  return hits;
}

async function toldHits(
  { files }: Searching,
  code: string,
  hits: readonly FoundLine[],
): Promise<string> {
  const full: string[] = [];
  for (const { path, line } of hits.slice(0, shownInFull)) {
    const source = (await files.tree.read(path)) ?? '';
    const start = Math.max(1, line - around);
    const lines = linesOf(source).slice(start - 1, line + around);
    const inside = findDefinitions(files.python, source).findLast(
      ({ range }) => range.startLine <= line && line <= range.endLine,
    );
    const text = lines.map((each) => shortLine(each)).join('\n');
    full.push(shown({ path, line: start, within: inside?.qualifiedName, code: text }));
  }
  const paths = hits.map(({ path }) => path);
  return toldResults(`the code ${JSON.stringify(shortLine(code, 200))}`, paths, full);
}
