/** A file, and the similarity of its chunk that is nearest to the query. */
export interface NearFile {
  readonly path: string;
  /** Cosine, from -1 to 1. */
  readonly score: number;
}

/**
 * The files of the chunks that are nearest to a query, the best first; files of equal score are
 * sorted by path.
 *
 * @param chunks of each file, by path
 * @param most chunks that count
 */
export function nearestFiles(
  query: Float32Array,
  chunks: ReadonlyMap<string, readonly Float32Array[]>,
  most: number,
): NearFile[] {
  const scored = [...chunks].flatMap(([path, vectors]) =>
    vectors.map((vector) => ({ path, score: cosine(query, vector) })),
  );
  scored.sort(byScore);
  const best = new Map<string, NearFile>();
  for (const each of scored.slice(0, most)) {
    if (!best.has(each.path)) best.set(each.path, each);
  }
  return [...best.values()];
}

const byScore = (one: NearFile, other: NearFile): number =>
  other.score - one.score || (one.path < other.path ? -1 : one.path > other.path ? 1 : 0);

/** The cosine of the angle between two vectors; 0 where one has no length. */
function cosine(one: Float32Array, other: Float32Array): number {
  let product = 0;
  let ofOne = 0;
  let ofOther = 0;
  for (const [index, value] of one.entries()) {
    const against = other[index] ?? 0;
    product += value * against;
    ofOne += value * value;
    ofOther += against * against;
  }
  return ofOne === 0 || ofOther === 0 ? 0 : product / Math.sqrt(ofOne * ofOther);
}
