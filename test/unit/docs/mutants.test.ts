import assert from 'node:assert/strict';
import { mutantStatuses } from '../../../src/mutation/mutantSchema';
import { mutationOperators } from '../../../src/mutation/operators';
import { assertDocTable, rowsOfDocTable } from './docTable';

describe('the page on mutants', () => {
  it('has a row for each operator, in their order, with its example (UPDATE_DOCS=1 writes them)', () => {
    const code = (text: string): string => (text === '' ? 'nothing' : `\`${text}\``);
    assertDocTable({
      page: 'mutants.md',
      head: ['operator', 'what it does', 'before', 'after'],
      rows: mutationOperators.map(({ name, does, example: [before, after] }) => [
        ...[name, does, code(before), code(after)],
      ]),
    });
  });

  it('explains each status', () => {
    const statuses = rowsOfDocTable('mutants.md', ['status', 'means']).map(([status]) => status);
    assert.deepEqual(statuses, [...mutantStatuses]);
  });
});
