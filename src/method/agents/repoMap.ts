import type { CountTokens } from '../prompt/tokens';
import type { RepoTags } from './repoTags';

/** How much more the names that a text mentions weigh. */
const mentionedWeight = 10;
/** The weight of names that are private by convention. */
const privateWeight = 0.1;
/** Names that more files define, such as `__init__`, tell no file from another. */
const mostDefiners = 40;

/** A line of the map: a file, or all definitions of a name in a file. */
interface MapItem {
  readonly path: string;
  readonly name: string | undefined;
}

/** What a map is made of. */
interface MapParts {
  readonly tags: RepoTags;
  /** Paths of all files, sorted. */
  readonly paths: readonly string[];
  /** Untrusted. */
  readonly issue: string;
  /** Files that the model sees whole, which the map leaves out. */
  readonly inChat: ReadonlySet<string>;
  readonly budgetTokens: number;
  readonly count: CountTokens;
}

/**
 * A map of a repository, as in aider's `repomap.py`: the definitions that matter most for an issue, with
 * their first lines, and then names of files, as many as the budget holds.
 */
export async function repoMap(parts: MapParts): Promise<string> {
  const { tags, paths, issue, inChat, budgetTokens, count } = parts;
  const ranked = (await rankedItems(tags, issue)).filter(({ path }) => !inChat.has(path));
  const known = new Set([...ranked.map(({ path }) => path), ...inChat]);
  const rest = paths.filter((path) => !known.has(path)).map((path) => ({ path, name: undefined }));
  const items = [...ranked, ...rest];
  // An item has a token at least.
  let [fits, most] = [0, Math.min(items.length, budgetTokens)];
  while (fits < most) {
    const half = Math.ceil((fits + most) / 2);
    if (count(drawn(tags, items.slice(0, half))) <= budgetTokens) fits = half;
    else most = half - 1;
  }
  return drawn(tags, items.slice(0, fits));
}

/** A name that files define, with the files that call it. */
interface Reference {
  readonly name: string;
  readonly definers: readonly string[];
  readonly callers: readonly { readonly path: string; readonly weight: number }[];
}

/** Definitions by the rank that flows to them from the files that call them, the best first. */
async function rankedItems(tags: RepoTags, issue: string): Promise<MapItem[]> {
  const references = referencesIn(tags, new Set(issue.match(/\w+/g)));
  const ranks = await fileRanks(tags, references);
  const outgoing = new Map<string, number>();
  for (const { definers, callers } of references) {
    for (const { path, weight } of callers) {
      outgoing.set(path, (outgoing.get(path) ?? 0) + weight * definers.length);
    }
  }
  const items: { item: MapItem; rank: number }[] = [];
  for (const { name, definers, callers } of references) {
    const flow = ({ path, weight }: Reference['callers'][number]): number =>
      ((ranks[path] ?? 0) * weight) / (outgoing.get(path) ?? 1);
    const rank = callers.reduce((sum, caller) => sum + flow(caller), 0);
    items.push(...definers.map((path) => ({ item: { path, name }, rank })));
  }
  const files = tags
    .map(({ path }) => ({ item: { path, name: undefined }, rank: ranks[path] ?? 0 }))
    .sort(byRank);
  return [...items.sort(byRank), ...files].map(({ item }) => item);
}

/** Compares by rank, and equal ranks by path and name, so that the order is that of every run. */
function byRank(
  one: { readonly item: MapItem; readonly rank: number },
  other: { readonly item: MapItem; readonly rank: number },
): number {
  if (one.rank !== other.rank) return other.rank - one.rank;
  const key = ({ path, name }: MapItem): string => `${path} ${name ?? ''}`;
  return key(one.item) < key(other.item) ? -1 : 1;
}

function referencesIn(tags: RepoTags, mentioned: ReadonlySet<string>): Reference[] {
  const definers = new Map<string, Set<string>>();
  for (const { path, definitions } of tags) {
    for (const { name } of definitions) {
      const files = definers.get(name);
      if (files === undefined) definers.set(name, new Set([path]));
      else files.add(path);
    }
  }
  const callers = new Map<string, { path: string; weight: number }[]>();
  for (const { path, calls } of tags) {
    for (const [name, times] of calls) {
      const files = definers.get(name);
      if (files === undefined || files.size > mostDefiners) continue;
      const factor = mentioned.has(name)
        ? mentionedWeight
        : name.startsWith('_')
          ? privateWeight
          : 1;
      const list = callers.get(name) ?? [];
      list.push({ path, weight: factor * times });
      callers.set(name, list);
    }
  }
  return [...callers].map(([name, list]) => ({
    name,
    definers: [...(definers.get(name) ?? [])],
    callers: list,
  }));
}

/** PageRank of the files, with an edge from each one that calls a name to each one that defines it. */
async function fileRanks(
  tags: RepoTags,
  references: readonly Reference[],
): Promise<Readonly<Record<string, number>>> {
  if (tags.length === 0) return {};
  const { DirectedGraph } = await import('graphology');
  const { default: pagerank } = await import('graphology-metrics/centrality/pagerank');
  const graph = new DirectedGraph();
  for (const { path } of tags) graph.addNode(path);
  const weights = new Map<string, Map<string, number>>();
  for (const { definers, callers } of references) {
    for (const { path, weight } of callers) {
      const to = weights.get(path) ?? new Map<string, number>();
      for (const definer of definers) to.set(definer, (to.get(definer) ?? 0) + weight);
      weights.set(path, to);
    }
  }
  for (const [from, edges] of weights) {
    for (const [to, weight] of edges) graph.addEdge(from, to, { weight });
  }
  return pagerank(graph);
}

/** The items as text: by path, each file with the first lines of its definitions. */
function drawn(tags: RepoTags, items: readonly MapItem[]): string {
  const names = new Map<string, Set<string>>();
  for (const { path, name } of items) {
    const known = names.get(path) ?? new Set<string>();
    if (name !== undefined) known.add(name);
    names.set(path, known);
  }
  const byPath = new Map(tags.map((each) => [each.path, each.definitions]));
  return [...names]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, wanted]) => drawnFile(path, wanted, byPath.get(path) ?? []))
    .join('\n');
}

function drawnFile(
  path: string,
  wanted: ReadonlySet<string>,
  definitions: RepoTags[number]['definitions'],
): string {
  const shown = new Set<number>();
  for (const [index, { name }] of definitions.entries()) {
    if (!wanted.has(name)) continue;
    // A method is below the header of its class.
    for (let at: number | undefined = index; at !== undefined; at = definitions[at]?.around) {
      shown.add(at);
    }
  }
  if (shown.size === 0) return path;
  const lines: string[] = [];
  let last = 0;
  for (const { line, header } of definitions.filter((_, index) => shown.has(index))) {
    if (line > last + 1) lines.push('⋮');
    lines.push(header);
    last = line;
  }
  return [`${path}:`, ...lines, '⋮'].join('\n');
}
