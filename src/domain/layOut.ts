/**
 * Lays out columns with two spaces between them. Widths count characters, each of which is taken to
 * fill one column. Control characters become spaces, since names and messages from files must not
 * break a line or control the terminal.
 */
export function layOut(raw: readonly (readonly string[])[]): string {
  // eslint-disable-next-line no-control-regex -- control characters are removed here
  const control = /[\u0000-\u001f\u007f-\u009f]+/g;
  const rows = raw.map((row) => row.map((cell) => cell.replace(control, ' ')));
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
