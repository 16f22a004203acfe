import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutantStatuses } from '../../../src/mutation/mutantSchema';
import { mutationOperators } from '../../../src/mutation/operators';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'mutants.md'), 'utf8');

/** The rows of the table below a head, without blanks around their cells. */
function rowsBelow(head: string): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} `)) + 2;
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('|'));
  return lines.slice(start, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the page on mutants', () => {
  it('has a row for each operator, in their order, with its example', () => {
    const code = (text: string): string => (text === '' ? 'nothing' : `\`${text}\``);
    assert.deepEqual(
      rowsBelow('operator'),
      mutationOperators.map(({ name, does, example: [before, after] }) => [
        ...[name, does, code(before), code(after)],
      ]),
    );
  });

  it('explains each status', () => {
    const statuses = rowsBelow('status').map(([status]) => status);
    assert.deepEqual(statuses, [...mutantStatuses]);
  });
});
