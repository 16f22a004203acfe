import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const pathOf = (page: string): string => join(__dirname, '..', '..', '..', 'docs', page);

const linesOf = (page: string): string[] => readFileSync(pathOf(page), 'utf8').split('\n');

const cellsOf = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** Where the rows of a table stand among the lines of its page, from its first to behind its last. */
function placeOfRows(
  lines: readonly string[],
  head: readonly string[],
): [first: number, end: number] {
  const start = lines.findIndex(
    (line) => line.startsWith('|') && cellsOf(line).join('|') === head.join('|'),
  );
  assert.ok(start >= 0, `no table with the head ${head.join(', ')}`);
  return [start + 2, lines.findIndex((line, index) => index > start && !line.startsWith('|'))];
}

/** A table of a page in docs/ that follows from the code. */
export interface DocTable {
  /** Name of the page, such as `mutants.md`. */
  readonly page: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The cells of the rows of the first table with this head in a page. */
export function rowsOfDocTable(page: string, head: readonly string[]): string[][] {
  const lines = linesOf(page);
  return lines.slice(...placeOfRows(lines, head)).map(cellsOf);
}

/**
 * Asserts that a page has a table with exactly these rows. With `UPDATE_DOCS=1` it writes them first;
 * `npx oxfmt docs` aligns them afterwards.
 */
export function assertDocTable({ page, head, rows }: DocTable): void {
  const lines = linesOf(page);
  const [first, end] = placeOfRows(lines, head);
  const found = lines.slice(first, end).map(cellsOf);
  if (process.env['UPDATE_DOCS'] === '1') {
    lines.splice(first, found.length, ...rows.map((cells) => `| ${cells.join(' | ')} |`));
    writeFileSync(pathOf(page), lines.join('\n'));
    return;
  }
  const advice = `${page}: run this test with UPDATE_DOCS=1, then npx oxfmt docs`;
  assert.deepEqual(found, rows, advice);
}
