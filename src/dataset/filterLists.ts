import { readPlainText } from '../files/plainFile';
import { isInstanceId } from '../domain/instance';
import { HumanError, messageOf, systemCode, type Reporter } from '../domain/work';
import { keptAddress } from './rows/importDataset';
import { isTriageFile, triageFilter } from './triage';
import { parseTriage } from './triageFile';

/** The source of a filter list, and whether it says what to keep or what to exclude. */
type NamedList = string | { readonly from: string; readonly exclude: boolean };

interface FilterOptions {
  /** Storage folder; downloads are kept in `data/swt-bench/` below it. */
  readonly storage: string;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** The user's own lists by name. */
  readonly named?: Readonly<Record<string, NamedList>>;
  readonly refresh?: boolean | undefined;
}

/** A filter list, with the test for the instances that it keeps. */
export interface FilterList {
  readonly name: string;
  readonly keeps: (id: string) => boolean;
  /** The ids that it names, whether it keeps or excludes them. */
  readonly ids: ReadonlySet<string>;
}

const published = (list: string): NamedList => ({
  from: `https://raw.githubusercontent.com/logic-star-ai/swt-bench/master/dataset/filter_cases_${list}.txt`,
  exclude: true,
});

/**
 * The instances of the SWE-bench datasets of these names that SWT-Bench excludes. Their golden
 * tests did not resolve them in each of five runs. They are 24, 67 and 311 instances.
 */
export const publishedLists: Readonly<Record<string, NamedList>> = {
  Lite: published('lite'),
  Verified: published('verified'),
  Full: published('full'),
};

/**
 * Loads a filter list: a file or an https address with one instance id a line, a triage file, or a
 * name. A name is one of the user's own, else `Lite`, `Verified` or `Full` in any case. `#` begins
 * a comment, and `!` excludes an id. A list of excluded ids alone keeps all others.
 *
 * @throws HumanError if it does not exist or is not a filter list; Cancelled
 */
export async function loadFilter(name: string, options: FilterOptions): Promise<FilterList> {
  const list = namedList(name, options.named ?? {});
  const from = typeof list === 'string' ? list : list.from;
  const excludes = typeof list !== 'string' && list.exclude;
  const text = await textOf(from, name, options);
  if (isTriageFile(text)) {
    const triage = parseTriage(text, from);
    const chosen = triageFilter(triage);
    const ids = new Set([...triage.instances.keys()].filter((id) => chosen.keeps(id)));
    return { name, ids, keeps: (id) => chosen.keeps(id) !== excludes };
  }
  const { kept, left } = parseFilter(text, from);
  const keeps = (id: string): boolean => (kept.size === 0 || kept.has(id)) && !left.has(id);
  return { name, ids: new Set([...kept, ...left]), keeps: (id) => keeps(id) !== excludes };
}

function namedList(name: string, named: Readonly<Record<string, NamedList>>): NamedList {
  const own = Object.entries(named).find(([key]) => key === name);
  if (own !== undefined) return own[1];
  const wanted = name.toLowerCase();
  const any = [...Object.entries(named), ...Object.entries(publishedLists)];
  return any.find(([key]) => key.toLowerCase() === wanted)?.[1] ?? name;
}

async function textOf(from: string, name: string, options: FilterOptions): Promise<string> {
  const isAddress = /^https?:\/\//i.test(from);
  const path = isAddress ? await keptAddress(from, { ...options, kind: 'filter list' }) : from;
  try {
    return await readPlainText(path, { named: true });
  } catch (error) {
    const code = systemCode(error);
    const known = [...Object.keys(publishedLists), ...Object.keys(options.named ?? {})].join(', ');
    throw new HumanError(
      code === 'ENOENT'
        ? `There is no filter list ${name}${name === from ? '' : ` at ${from}`}`
        : `The filter list ${from} cannot be read (${messageOf(error)})`,
      `Specify a text file or https URL with one instance ID per line, or ${known}`,
    );
  }
}

/** @throws HumanError naming the first line that is not an id */
function parseFilter(
  text: string,
  path: string,
): { kept: ReadonlySet<string>; left: ReadonlySet<string> } {
  const kept = new Set<string>();
  const left = new Set<string>();
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n?|\n/)
    .entries()) {
    const entry = line.replace(/#.*/, '').trim();
    if (entry === '') continue;
    const id = entry.replace(/^!\s*/, '');
    if (!isInstanceId(id)) {
      throw new HumanError(
        `Line ${index + 1} of the filter list ${path} is not a valid instance ID: ${JSON.stringify(entry.slice(0, 60))}`,
        'Write one ID per line, such as sympy__sympy-23117; # starts a comment',
      );
    }
    (entry.startsWith('!') ? left : kept).add(id);
  }
  if (kept.size + left.size > 0) return { kept, left };
  throw new HumanError(`The filter list ${path} is empty`, 'Write one ID per line');
}
