import type { CountTokens } from './tokens';
import type { TreeOfR } from './treeOfR';

/** Files of R as a prompt shows them. */
export interface Packed {
  readonly paths: readonly string[];
  readonly text: string;
  readonly tokens: number;
}

/** After this number of files in a row that do not fit, the rest is ignored. */
const misses = 20;

/** A file as a prompt shows it, with the numbers of its lines. */
export function shownFile(path: string, text: string): string {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const numbered = lines.map((line, index) => `${index + 1} ${line.replace(/\r$/, '')}`);
  return [`[start of ${path}]`, ...numbered, `[end of ${path}]`].join('\n');
}

/**
 * As many whole files as fit into a budget of tokens, in their order. A file that does not fit is
 * left out, but smaller ones after it may still fit. A file that would take more than half of the
 * budget is left out too. A single module of thousands of lines is worth less than two files and
 * their tests.
 *
 * @param budget tokens
 */
export async function packFiles(
  tree: TreeOfR,
  ranked: readonly string[],
  budget: number,
  count: CountTokens,
): Promise<Packed> {
  const paths: string[] = [];
  const parts: string[] = [];
  let tokens = 0;
  let missed = 0;
  for (const path of ranked) {
    if (missed >= misses) break;
    const text = await tree.read(path);
    if (text === undefined || text.trim() === '') continue;
    // A token stands for a few characters at most, so a file that is far too long need not be
    // counted.
    const shown = text.length > 6 * budget ? undefined : `${shownFile(path, text)}\n`;
    const size = shown === undefined ? Infinity : count(shown);
    if (shown === undefined || size > budget / 2 || tokens + size > budget) {
      missed += 1;
      continue;
    }
    missed = 0;
    paths.push(path);
    parts.push(shown);
    tokens += size;
  }
  return { paths, text: parts.join('\n'), tokens };
}
