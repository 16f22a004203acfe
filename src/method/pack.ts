import { isTestPath } from '../patch/testFiles';
import { findDefinitions, type Definition } from '../python/definitions';
import type { PythonParser } from '../python/parser';
import { wordsOf } from './searchIndex';
import type { CountTokens } from './tokens';
import type { TreeOfR } from './treeOfR';

/** Files of R as a prompt shows them. */
export interface Packed {
  readonly paths: readonly string[];
  readonly text: string;
  readonly tokens: number;
}

/** What a prompt shows files for. */
export interface PackedFor {
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

/**
 * As many files as fit into a budget of tokens, in their order. A file that does not fit, or would
 * take more than half of the budget, is shown in part: the functions that the issue names or shares
 * its words with. In a prompt for tests, the best ranked test file comes second.
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
  const paths: string[] = [];
  const parts: string[] = [];
  let tokens = 0;
  let missed = 0;
  let excerpts = 0;
  for (const path of of.isForTests ? withTestsSecond(ranked) : ranked) {
    if (missed >= misses || tokens >= budget) break;
    const text = await of.tree.read(path);
    if (text === undefined || text.trim() === '') continue;
    const whole = wholeWithin(path, text, Math.min(budget / 2, budget - tokens), count);
    const room = Math.min(budget - tokens, Math.max(budget / 4, 400));
    const part =
      whole ?? (excerpts < mostExcerpts ? excerptOf(of, { path, text, room }, count) : undefined);
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

/** The paths, the first of a test in the second place at the latest. */
function withTestsSecond(ranked: readonly string[]): readonly string[] {
  const at = ranked.findIndex((path) => isTestPath(path) && /(?:^|\/)\w*tests?\w*\.py$/.test(path));
  if (at < 2) return ranked;
  return [...ranked.slice(0, 1), ranked[at] ?? '', ...ranked.slice(1, at), ...ranked.slice(at + 1)];
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
  { python, issue, isForTests }: PackedFor,
  { path, text, room }: { readonly path: string; readonly text: string; readonly room: number },
  count: CountTokens,
): Part | undefined {
  const lines = linesOf(text);
  const isTest = isForTests && isTestPath(path);
  const wanted = new Set<number>();
  let left = room - count(shownLines(path, [], () => false)) - 4;
  const take = (from: number, to: number): boolean => {
    const added = numbersIn(from, to).filter((line) => !wanted.has(line) && line <= lines.length);
    const shown = added.map((line) => `${line} ${lines[line - 1] ?? ''}`).join('\n');
    // `...` before and behind.
    const tokens = count(shown) + 4;
    if (tokens > left) return false;
    left -= tokens;
    for (const line of added) wanted.add(line);
    return true;
  };
  // A test needs the imports of its file, and a place to stand beside others.
  if (isTest) take(1, lastImport(lines));
  const before = wanted.size;
  for (const { definition } of byRelevance(python, text, { path, issue, isTest })) {
    const { range, parent } = definition;
    const from = parent?.kind === 'class' ? [parent.defLine] : [];
    const to = Math.min(range.endLine, range.startLine + mostLines - 1);
    if (take(range.startLine, to)) for (const line of from) take(line, line);
  }
  if (wanted.size === before) return undefined;
  const shown = `${shownLines(path, lines, (line) => wanted.has(line))}\n`;
  return { text: shown, tokens: count(shown) };
}

const numbersIn = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);

/** The last line of the imports at the beginning of a file; 0 where there are none. */
function lastImport(lines: readonly string[]): number {
  const last = lines.slice(0, 60).findLastIndex((line) => /^(?:from|import)\s/.test(line));
  return last + 1;
}

/** Functions of a file that have to do with an issue, the most relevant first. */
function byRelevance(
  python: PythonParser,
  text: string,
  {
    path,
    issue,
    isTest,
  }: { readonly path: string; readonly issue: string; readonly isTest: boolean },
): { readonly definition: Definition; readonly score: number }[] {
  const names = new Set(issue.match(/[A-Za-z_]\w{2,}/g));
  const words = new Set(wordsOf(issue));
  const raised = linesOfTracebacks(issue, path);
  const rows = text.split('\n');
  const score = ({ name, qualifiedName, parent, range }: Definition): number => {
    const own = new Set(wordsOf(rows.slice(range.startLine - 1, range.endLine).join('\n')));
    const shared = [...own].filter((word) => words.has(word)).length;
    return (
      (raised.some((line) => line >= range.startLine && line <= range.endLine) ? 20 : 0) +
      (names.has(name) && !/^__\w+__$/.test(name) ? 10 : 0) +
      (issue.includes(qualifiedName) && qualifiedName !== name ? 5 : 0) +
      (parent !== undefined && names.has(parent.name) ? 3 : 0) +
      (10 * shared) / (10 + own.size)
    );
  };
  return findDefinitions(python, text)
    .filter(({ kind, local }) => kind !== 'class' && !local)
    .map((definition) => ({ definition, score: score(definition) }))
    .filter(({ score: found }) => found > (isTest ? 0 : 1))
    .sort((one, other) => other.score - one.score);
}

/** Lines of a file that tracebacks in an issue name. */
function linesOfTracebacks(issue: string, path: string): number[] {
  return [...issue.matchAll(/File "([^"\n]{1,400})", line (\d+)/g)].flatMap(([, file = '', line]) =>
    file.endsWith(`/${path}`) || path.endsWith(`/${file}`) || file === path ? [Number(line)] : [],
  );
}
