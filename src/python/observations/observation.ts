import type { Node } from '../parser';

/** A condition that R must meet for an observation to count. The code that reads R checks it. */
export type ObservationCondition =
  /** One of these paths, relative to the root of R, is a file of R. */
  | { readonly fileOfR: readonly string[] }
  /** The module or package of this name lies in R. */
  | { readonly packageOfR: string }
  /** No module or package of this name lies in R. */
  | { readonly notOfR: string };

/** A place in a source that a person should look at. */
export interface Observation {
  /** 1-based. */
  readonly line: number;
  /** What the code does, as the predicate of a sentence, such as `runs git`. */
  readonly what: string;
  /** The first line of the code, trimmed. Untrusted. */
  readonly text: string;
  readonly condition?: ObservationCondition;
}

/** 1-based numbers of lines, first and last included. */
export interface LineSpan {
  readonly first: number;
  readonly last: number;
}

/** Joins consecutive lines into spans. */
export function spansOf(lines: Iterable<number>): LineSpan[] {
  const spans: { first: number; last: number }[] = [];
  for (const line of [...new Set(lines)].sort((a, b) => a - b)) {
    const open = spans.at(-1);
    if (open !== undefined && open.last === line - 1) open.last = line;
    else spans.push({ first: line, last: line });
  }
  return spans;
}

/** UTF-16 units of the longest source that is examined. Honest files of tests are shorter. */
export const longestSource = 1_000_000;
/** Most nodes that are examined in one source. */
const mostNodes = 100_000;
/**
 * Greatest depth of nodes that are examined, since looking up a parent costs time for each level.
 */
const deepest = 300;

/**
 * The nodes of given types that lie on given lines, at least in part, in the order of the source.
 *
 * @returns `whole` is false if the source has more or deeper nodes than are examined
 */
export function nodesOn(
  root: Node,
  types: readonly string[],
  spans: readonly LineSpan[],
): { readonly nodes: readonly Node[]; readonly whole: boolean } {
  const wanted = new Set(types);
  const nodes: Node[] = [];
  let whole = true;
  const cursor = root.walk();
  try {
    for (let depth = 0; ;) {
      const first = cursor.startPosition.row + 1;
      const last = cursor.endPosition.row + 1;
      const touches = spans.some((span) => first <= span.last && span.first <= last);
      if (touches && wanted.has(cursor.nodeType)) nodes.push(cursor.currentNode);
      if (nodes.length === mostNodes) return { nodes, whole: false };
      if (touches && depth === deepest) whole = false;
      if (touches && depth < deepest && cursor.gotoFirstChild()) {
        depth += 1;
        continue;
      }
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return { nodes, whole };
        depth -= 1;
      }
    }
  } finally {
    cursor.delete();
  }
}

/** Makes an observation of a node. `lines` are those of the whole source, and so is the tree. */
export function observe(
  node: Node,
  what: string,
  lines: readonly string[],
  condition?: ObservationCondition,
): Observation {
  const line = node.startPosition.row + 1;
  const text = (lines[line - 1] ?? '').trim();
  return { line, what, text, ...(condition === undefined ? {} : { condition }) };
}
