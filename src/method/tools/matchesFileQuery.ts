/**
 * Whether a path is one that a query for files means. Without `*` and `?` the path has to contain
 * the query. With them, the file name has to match, or the whole path if the query has a `/`. Upper
 * and lower case are the same.
 *
 * The time is at most the product of both lengths, since queries come from models.
 */
export function matchesFileQuery(path: string, query: string): boolean {
  const [lowPath, pattern] = [path.toLowerCase(), query.toLowerCase()];
  if (!/[*?]/.test(pattern)) return lowPath.includes(pattern);
  if (!pattern.includes('/')) return matches(lowPath.slice(lowPath.lastIndexOf('/') + 1), pattern);
  return matches(lowPath, pattern);
}

// `*` stands for any characters of one name, `**` also for `/`, and `**/` for any folders or none.
function matches(text: string, pattern: string): boolean {
  const parts = pattern.match(/\*\*\/|\*+|[^*]/gu) ?? [];
  // The ends of all prefixes of the text that the parts so far match.
  let ends = new Set([0]);
  for (const part of parts) {
    ends = endsAfter(text, part, ends);
    if (ends.size === 0) return false;
  }
  return ends.has(text.length);
}

function endsAfter(text: string, part: string, ends: ReadonlySet<number>): Set<number> {
  const after = new Set<number>();
  if (!part.startsWith('*')) {
    for (const end of ends) {
      const isMatch =
        part === '?' ? end < text.length && text[end] !== '/' : text.startsWith(part, end);
      if (isMatch) after.add(end + part.length);
    }
    return after;
  }
  let isReached = false;
  for (let at = 0; at <= text.length; at += 1) {
    if (part === '*' && text[at - 1] === '/') isReached = false;
    if (ends.has(at)) isReached = true;
    const isEnd = part !== '**/' || ends.has(at) || text[at - 1] === '/';
    if (isReached && isEnd) after.add(at);
  }
  return after;
}
