import { turnsOf } from '../../../domain/work';
import { isTestPath } from '../../../patch/testFiles';
import { moduleOutline, type ImportBinding } from '../../../python/outline';
import type { PythonParser } from '../../../python/parser';
import {
  absoluteModule,
  referenceResolver,
  type ResolveReference,
} from '../../../python/references';
import type { ModelView } from '../../modelView';

type Seen = Pick<ModelView, 'tree' | 'python' | 'repo'>;

/** Files that are parsed to follow imports. */
const mostParsed = 5000;
/** Names that are followed in one test file. */
const mostNames = 100;

/** The test files of R that have tests, by their paths in order. */
export async function testFilesOfR({ tree }: Pick<Seen, 'tree'>): Promise<string[]> {
  const found: string[] = [];
  for (const path of await tree.paths()) {
    if (!path.endsWith('.py') || !isTestPath(path)) continue;
    if (/(?:^|\/)(?:conftest|__init__)\.py$/.test(path)) continue;
    if (/^\s*(?:async\s+)?def\s+test/m.test((await tree.read(path)) ?? '')) found.push(path);
  }
  return found;
}

/**
 * The test files of R that reach some files: they import one of them, or use a name that an import
 * leads there, also through packages that hand it on. Those that use the most such names come
 * first, and before all a file that is named after one of them, as test_money.py after money.py.
 *
 * @param files paths of R
 * @throws Cancelled
 */
export async function reachingTestFiles(
  view: Seen,
  files: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const turns = turnsOf(signal);
  const { tree, python, repo } = view;
  const paths = await tree.paths();
  const read = (path: string): Promise<string | undefined> => tree.read(path);
  const resolve = referenceResolver({ repo, files: paths, read }, python, mostParsed);
  const wanted = new Set(files);
  const words = await namesIn(view, files);
  if (words.size === 0) return [];
  const found: { readonly path: string; readonly names: number; readonly isNamed: boolean }[] = [];
  for (const path of await testFilesOfR(view)) {
    await turns.pause();
    const text = (await tree.read(path)) ?? '';
    const imports = importsIn(python, text);
    const names = await namesReached(text, path, imports, { words, wanted, resolve });
    const isNamed = files.some((file) => stemOf(path).includes(stemOf(file)));
    if (names > 0) found.push({ path, names, isNamed });
  }
  return found
    .sort(
      (one, other) =>
        Number(other.isNamed) - Number(one.isNamed) ||
        other.names - one.names ||
        (one.path < other.path ? -1 : 1),
    )
    .map(({ path }) => path);
}

/** The names by which a file can be used: of its module, and what it defines at its top. */
async function namesIn({ tree, python }: Seen, files: readonly string[]): Promise<Set<string>> {
  const names = new Set<string>();
  for (const file of files) {
    const source = file.endsWith('.py') ? await tree.read(file) : undefined;
    if (source === undefined) continue;
    names.add(stemOf(file));
    for (const name of moduleOutline(python, source).lines.keys()) {
      if (!name.includes('.') && !/^__\w+__$/.test(name)) names.add(name);
    }
  }
  return names;
}

/** The name of a module, which for a package is that of its folder. */
const stemOf = (path: string): string =>
  path.replace(/(?:\/__init__)?\.py$/, '').replace(/^.*\//, '');

interface Reaching {
  /** Names by which wanted files can be used. */
  readonly words: ReadonlySet<string>;
  readonly wanted: ReadonlySet<string>;
  readonly resolve: ResolveReference;
}

/** How many different names of a source lead to wanted files. */
async function namesReached(
  source: string,
  path: string,
  imports: readonly ImportBinding[],
  { words, wanted, resolve }: Reaching,
): Promise<number> {
  // What is imported counts, also under another name.
  const chains = new Set(
    imports
      .filter(({ from, name }) => `${from}.${name}`.split('.').some((part) => words.has(part)))
      .map(({ alias }) => alias),
  );
  for (const [chain] of source.matchAll(/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g)) {
    const parts = chain.split('.');
    const last = parts.findLastIndex((part) => words.has(part));
    if (last >= 0) chains.add(parts.slice(0, last + 1).join('.'));
    if (chains.size >= mostNames) break;
  }
  let reached = 0;
  for (const chain of chains) {
    for (const name of importedNames(chain, path, imports)) {
      const target = await resolve({ kind: 'dotted', name, start: 0, end: 0 });
      if (!wanted.has(target?.path ?? '')) continue;
      reached += 1;
      break;
    }
  }
  return reached;
}

/** The dotted names that a name of a file can stand for, by its imports. */
function importedNames(chain: string, path: string, imports: readonly ImportBinding[]): string[] {
  const [first, ...rest] = chain.split('.');
  return imports.flatMap(({ from, name, alias }) => {
    if (name !== '*' && alias !== first) return [];
    const names = name === '*' ? [first, ...rest] : [...(name === '' ? [] : [name]), ...rest];
    const dotted = [...(absoluteModule(path, from) ?? []), ...names].join('.');
    return dotted.includes('.') ? [dotted] : [];
  });
}

/** What a source imports anywhere, also in functions. */
export function importsIn(python: PythonParser, source: string): readonly ImportBinding[] {
  const statements = source.matchAll(
    /^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:\([^)]*\)|[^\n;]*))/gm,
  );
  const text = [...statements].map(([, statement]) => `${statement}\n`).join('');
  return moduleOutline(python, text).imports;
}
