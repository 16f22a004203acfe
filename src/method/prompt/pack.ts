import { z } from 'zod';
import { sha256 } from '../../files/digest';
import { keepPackedJson, readPackedJson } from '../../files/json';
import { isTestPath } from '../../patch/testFiles';
import { findDefinitions, type Definition } from '../../python/definitions';
import type { PythonParser } from '../../python/parser';
import { retrievedPath, wordsOf, type Place } from './rankFiles';
import type { CountTokens } from './tokens';
import type { TreeOfR } from '../view/treeOfR';

/** Files of R as a prompt shows them. */
export interface Packed {
  readonly paths: readonly string[];
  readonly text: string;
  readonly tokens: number;
}

/** What a prompt shows files for. */
interface PackedFor {
  readonly tree: TreeOfR;
  readonly python: PythonParser;
  /** Untrusted. */
  readonly issue: string;
  /** Whether the prompt asks for tests, so that the best of the existing test files is shown. */
  readonly isForTests: boolean;
}

/** After this number of files in a row that do not fit, the rest is ignored. */
const misses = 20;
/** The most files of which a prompt shows a part. */
const mostExcerpts = 6;
/** The most functions of an excerpt, and its tokens, where the issue names none of them. */
const mostUnnamed = { functions: 2, tokens: 500 };
/** The most lines of one function in an excerpt. */
const mostLines = 80;

/** A file as a prompt shows it, with the numbers of its lines. */
export function shownFile(path: string, text: string): string {
  return shownLines(path, linesOf(text), () => true);
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The lines of a file that are wanted, with their numbers, and `...` where others are left out. */
function shownLines(
  path: string,
  lines: readonly string[],
  isWanted: (line: number) => boolean,
): string {
  const shown = lines.flatMap((line, index) => {
    if (isWanted(index + 1)) return [`${index + 1} ${line}`];
    return index === 0 || isWanted(index) ? ['...'] : [];
  });
  return [`[start of ${path}]`, ...shown, `[end of ${path}]`].join('\n');
}

/** Raised when files are packed differently, so that they are packed again. */
const format = 1;

const packedSchema = () =>
  z.object({ paths: z.array(z.string()), text: z.string(), tokens: z.number() });

/**
 * As `packFiles`. The result is kept with the runs of the instance, since files of R are parsed and
 * their tokens counted for it.
 */
export async function packKeptFiles(
  of: PackedFor,
  ranked: readonly string[],
  budget: number,
  { count, storage, instance }: Place & { readonly count: CountTokens },
): Promise<Packed> {
  const key = sha256(JSON.stringify([of.issue, of.isForTests, ranked, budget])).slice(0, 16);
  const path = retrievedPath({ storage, instance }, `${of.tree.digest}-${format}-${key}-files`);
  const known = await readPackedJson(path, (data) => packedSchema().parse(data));
  if (known !== undefined) return known;
  const packed = await packFiles(of, ranked, budget, count);
  await keepPackedJson(path, packed);
  return packed;
}

/**
 * As many files as fit into a budget of tokens, in their order. A file that does not fit, or would
 * take more than half of the budget, is shown in part: the functions that the issue names. In a prompt for
 * tests, the best ranked test file that has room comes second, with functions that share words with the issue where
 * it names none.
 *
 * @param ranked paths, the best first
 * @param budget tokens
 */
export async function packFiles(
  of: PackedFor,
  ranked: readonly string[],
  budget: number,
  count: CountTokens,
): Promise<Packed> {
  const tests = of.isForTests ? await bestTests(of, ranked, budget / 2, count) : undefined;
  const paths: string[] = [];
  const parts: string[] = [];
  let tokens = 0;
  let missed = 0;
  let excerpts = 0;
  for (const path of inSecondPlace(ranked, tests)) {
    if (missed >= misses || tokens >= budget) break;
    const text = await of.tree.read(path);
    if (text === undefined || text.trim() === '') continue;
    const whole = wholeWithin(path, text, Math.min(budget / 2, budget - tokens), count);
    const room = Math.min(budget - tokens, Math.max(budget / 4, 400));
    const part =
      whole ??
      (excerpts < mostExcerpts
        ? excerptOf(of, { path, text, room, isTest: path === tests }, count)
        : undefined);
    if (part === undefined) {
      missed += 1;
      continue;
    }
    if (whole === undefined) excerpts += 1;
    missed = 0;
    paths.push(path);
    parts.push(part.text);
    tokens += part.tokens;
  }
  return { paths, text: parts.join('\n'), tokens };
}

/** Whether a path is that of a module of tests, and not of what tests use. */
const isTestModule = (path: string): boolean =>
  isTestPath(path) && /(?:^|\/)(?:tests?|tests?_\w+|\w+_tests?)\.py$/.test(path);

/** Test modules, the best ranked, among which one is looked for that has room. */
const mostTestModules = 5;

/** The best ranked test module that can be shown whole, or else the best ranked. */
async function bestTests(
  { tree }: PackedFor,
  ranked: readonly string[],
  most: number,
  count: CountTokens,
): Promise<string | undefined> {
  const modules = ranked.filter(isTestModule).slice(0, mostTestModules);
  for (const path of modules) {
    const text = (await tree.read(path)) ?? '';
    if (text.trim() !== '' && wholeWithin(path, text, most, count) !== undefined) return path;
  }
  return modules[0];
}

/** The paths with one of them in the second place, unless it is before. */
function inSecondPlace(paths: readonly string[], path: string | undefined): readonly string[] {
  if (path === undefined || paths.indexOf(path) < 2) return paths;
  const others = paths.filter((each) => each !== path);
  return [...others.slice(0, 1), path, ...others.slice(1)];
}

interface Part {
  readonly text: string;
  readonly tokens: number;
}

/** A whole file, where it has no more tokens than this. */
export function wholeWithin(
  path: string,
  text: string,
  most: number,
  count: CountTokens,
): Part | undefined {
  // A token stands for a few characters at most, so a file that is far too long need not be counted.
  if (text.length > 6 * most) return undefined;
  const shown = `${shownFile(path, text)}\n`;
  const tokens = count(shown);
  return tokens > most ? undefined : { text: shown, tokens };
}

/** The parts of a file that matter for an issue, with the lines of the classes around them. */
function excerptOf(
  { python, issue }: PackedFor,
  {
    path,
    text,
    room,
    isTest,
  }: {
    readonly path: string;
    readonly text: string;
    readonly room: number;
    /** Whether it is shown even where the issue names nothing of it. */
    readonly isTest: boolean;
  },
  count: CountTokens,
): Part | undefined {
  const lines = linesOf(text);
  const wanted = new Set<number>();
  let left = room - count(shownLines(path, [], () => false)) - 4;
  const take = (from: number, to: number): boolean => {
    const added = numbersIn(from, to).filter((line) => !wanted.has(line) && line <= lines.length);
    const shown = added.map((line) => `${line} ${lines[line - 1] ?? ''}`).join('\n');
    // `...` before and behind.
    const tokens = count(`${shown}\n`) + 6;
    if (tokens > left) return false;
    left -= tokens;
    for (const line of added) wanted.add(line);
    return true;
  };
  if (!isTest && !mayBeNamed(text, { path, issue })) return undefined;
  const relevant = byRelevance(python, text, { path, issue });
  const isNamed = (relevant[0]?.score ?? 0) >= named;
  // What merely shares words with the issue must not take the room of whole files.
  if (!isNamed && !isTest) return undefined;
  if (!isNamed) left = Math.min(left, mostUnnamed.tokens);
  // A test needs the imports of its file, and a place beside others.
  if (isTest) take(1, lastImport(lines));
  const before = wanted.size;
  for (const { definition } of isNamed
    ? relevant.filter(({ score }) => score >= named)
    : relevant.slice(0, mostUnnamed.functions)) {
    const { range, parent } = definition;
    const from = parent?.kind === 'class' ? [parent.defLine] : [];
    const to = Math.min(range.endLine, range.startLine + mostLines - 1);
    if (take(range.startLine, to)) for (const line of from) take(line, line);
  }
  if (wanted.size === before) return undefined;
  const shown = `${shownLines(path, lines, (line) => wanted.has(line))}\n`;
  const tokens = count(shown);
  return tokens > room ? undefined : { text: shown, tokens };
}

const numbersIn = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);

/** The last line of the imports at the beginning of a file; 0 where there are none. */
function lastImport(lines: readonly string[]): number {
  const last = lines.slice(0, 60).findLastIndex((line) => /^(?:from|import)\s/.test(line));
  return last + 1;
}

/** The score of a function that the issue names, or that its tracebacks lead to. */
const named = 10;

/** Names in the code of an issue: fenced, between backticks, called, or of more than one word. */
function namesIn(issue: string): ReadonlySet<string> {
  const code =
    issue.match(/```[\s\S]*?```|`[^`\n]*`|[\w.]+\(|\w*\.\w+|\w+_\w+|[a-z]+[A-Z]\w*/g) ?? [];
  return new Set(code.flatMap((each) => each.match(/[A-Za-z_]\w{2,}/g) ?? []));
}

/**
 * Whether an issue may name a function of a file: if not, the file need not be parsed. A qualified
 * name has the function's own behind a dot.
 */
function mayBeNamed(text: string, { path, issue }: { path: string; issue: string }): boolean {
  const names = namesIn(issue);
  const defined = text.matchAll(/\b(?:def|class)\s+(\w+)/g);
  return (
    linesOfTracebacks(issue, path).length > 0 ||
    [...defined].some(([, name = '']) => names.has(name) || issue.includes(`.${name}`))
  );
}

/** Functions of a file that have to do with an issue, the most relevant first. */
function byRelevance(
  python: PythonParser,
  text: string,
  { path, issue }: { readonly path: string; readonly issue: string },
): { readonly definition: Definition; readonly score: number }[] {
  const names = namesIn(issue);
  const words = new Set(wordsOf(issue));
  const raised = linesOfTracebacks(issue, path);
  const rows = text.split('\n');
  const score = ({ name, qualifiedName, parent, range }: Definition): number => {
    const own = new Set(wordsOf(rows.slice(range.startLine - 1, range.endLine).join('\n')));
    const shared = [...own].filter((word) => words.has(word)).length;
    return (
      (raised.some((line) => line >= range.startLine && line <= range.endLine) ? 20 : 0) +
      (names.has(name) && !/^__\w+__$/.test(name) ? named : 0) +
      (issue.includes(qualifiedName) && qualifiedName !== name ? 5 : 0) +
      (parent !== undefined && names.has(parent.name) ? named : 0) +
      (10 * shared) / (10 + own.size)
    );
  };
  return findDefinitions(python, text)
    .filter(({ kind, local }) => kind !== 'class' && !local)
    .map((definition) => ({ definition, score: score(definition) }))
    .filter(({ score: found }) => found > 0)
    .sort((one, other) => other.score - one.score);
}

/** Lines of a file that tracebacks in an issue name. */
function linesOfTracebacks(issue: string, path: string): number[] {
  return [...issue.matchAll(/File "([^"\n]{1,400})", line (\d+)/g)].flatMap(([, file = '', line]) =>
    file.endsWith(`/${path}`) || path.endsWith(`/${file}`) || file === path ? [Number(line)] : [],
  );
}
