import type { Finding } from '../../domain/finding';
import { functionOf } from '../../domain/testId';
import type { Act } from '../../engine/runners';
import type { EditedFile } from './editedFiles';
import { finding, quotedCode } from './finding';

/** What the tests of a candidate did in its runs. */
export interface Ran {
  readonly acts: readonly Act[];
  /** Test functions that the candidate adds or changes. */
  readonly ownTests: readonly string[];
  /** The files of R and of R∘X*. */
  readonly paths: () => Promise<ReadonlySet<string>>;
}

/** What only the text of a line shows: no event of the interpreter tells of it. */
const signs: readonly (readonly [sign: RegExp, what: string])[] = [
  [
    /\bSWT_[A-Z]|\bswt_(tracer|outcomes|audit|counts|seal|runner|lines|bytecode|rewrite)/,
    'looks for the recorder of the run',
  ],
  [/\bsys\.monitoring\b|\b(sys|threading)\.get(trace|profile)\b/, 'looks for the line counter'],
  [/\.f_back\b/, 'walks the frames of its callers'],
];

/**
 * Finds where a candidate's code does not run what it tests: it reads the sources or the
 * repository, or inspects code or the process. What it did in its runs counts, and beside it what
 * no run shows.
 *
 * @param ran undefined where it did not run
 */
export async function inspectsSource(
  files: readonly EditedFile[],
  ran: Ran | undefined,
): Promise<Finding | undefined> {
  const found = ran === undefined ? new Map<string, string>() : await inRuns(files, ran);
  for (const { path, source, spans } of files) {
    if (!path.endsWith('.py')) continue;
    const lines = source.split('\n');
    for (const { first, last } of spans) {
      for (let line = first; line <= last; line += 1) {
        const text = lines[line - 1] ?? '';
        const place = `${path}:${line}`;
        const what = signs.find(([sign]) => sign.test(text))?.[1];
        if (what === undefined || found.has(place)) continue;
        found.set(place, `${place} ${what}: ${quotedCode(text)}`);
      }
    }
  }
  return finding('inspects source', [...found.values()]);
}

/** The acts of a candidate's code, a sentence for each of its places, by the place. */
async function inRuns(
  files: readonly EditedFile[],
  { acts, ownTests, paths }: Ran,
): Promise<Map<string, string>> {
  const own = new Set(ownTests);
  const edited = new Map(files.map((file) => [file.path, file]));
  const isAdded = ([path, line]: readonly [string, number]): boolean =>
    edited.get(path)?.spans.some(({ first, last }) => first <= line && line <= last) === true;
  const found = new Map<string, string>();
  for (const act of acts) {
    const at = act.at.find(isAdded);
    // Where no line of the tree did it, a thread or a program of the test did.
    const isOwn = act.at.length === 0 && act.test !== null && own.has(functionOf(act.test));
    if ((at === undefined && !isOwn) || !(await isOfRepository(act, paths))) continue;
    const test = act.test ?? 'during import';
    if (at === undefined) {
      found.set(`${test} ${act.what}`, `${test}, in a thread or process, ${does(act)}`);
      continue;
    }
    const [path, line] = at;
    const place = `${path}:${line}`;
    const code = edited.get(path)?.source.split('\n')[line - 1] ?? '';
    if (!found.has(place)) {
      found.set(place, `${place} ${does(act)} (${test}): ${quotedCode(code)}`);
    }
  }
  return found;
}

/** Whether what an act is about is of R or R∘X*, and not of the candidate or of the test itself. */
async function isOfRepository({ path }: Act, paths: Ran['paths']): Promise<boolean> {
  if (path === undefined || path === '' || /(^|\/)(\.git|__pycache__)(\/|$)/.test(path))
    return true;
  const all = await paths();
  return all.has(path) || [...all].some((each) => each.startsWith(`${path}/`));
}

/** What an act does, as the predicate of a sentence. */
function does({ what, path, by }: Act): string {
  const files = path === '' ? 'the root of the repository' : (path ?? 'many files');
  switch (what) {
    case 'open':
      return `opens ${files}`;
    case 'list':
      return `lists ${files}`;
    case 'look':
      return `looks up ${files}, its size or its timestamps`;
    case 'link':
      return `moves or links ${files}`;
    case 'compile':
      return `compiles code under the name of ${files}`;
    case 'code':
      return `inspects the compiled code of ${files}`;
    case 'change':
      return `replaces compiled code with that of ${files}`;
    case 'run':
      return path === undefined ? `runs ${by ?? 'many programs'}` : `runs ${by ?? ''} on ${path}`;
    case 'git':
      return 'looks into .git';
    case 'proc':
      return 'looks into /proc';
    case 'recorder':
      return 'looks for the recorder of the run';
    case 'trace':
      return 'looks for the line counter';
    case 'frames':
      return 'walks the frames of its callers';
    case 'objects':
      return 'searches the objects of the process';
    case 'memory':
      return 'reads or changes the memory of the process';
    case 'hook':
      return 'hooks into interpreter events';
  }
}
