import { withoutControl } from './withoutControl';

/** A cell that is longer would push all others out of the window. */
const longestCell = 200;

const cut = (cell: string): string =>
  cell.length > longestCell ? `${cell.slice(0, longestCell - 1)}…` : cell;

/**
 * Lays out columns with two spaces between them. Widths count characters, each of which is taken to
 * fill one column. Control characters become spaces, and long cells are cut.
 */
export function layOut(raw: readonly (readonly string[])[]): string {
  const rows = raw.map((row) => row.map((cell) => cut(withoutControl(cell))));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, [...cell].length);
    }
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd();
  const [head, ...body] = rows;
  if (head === undefined) return '';
  return [line(head), widths.map((width) => '─'.repeat(width)).join('──'), ...body.map(line)].join(
    '\n',
  );
}
