import assert from 'node:assert/strict';
import fc from 'fast-check';
import { withoutEscapes } from '../../../src/domain/text';
import { triageCsv } from '../../../src/dataset/triage';
import { everydayRuns } from '../../everyday';

/** Parses strictly by RFC 4180, as a spreadsheet does. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const record: string[] = [];
    for (;;) {
      const match = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
      match.lastIndex = at;
      const field = match.exec(text);
      assert.ok(field !== null);
      record.push(field[1]?.replaceAll('""', '"') ?? field[2] ?? '');
      at = match.lastIndex;
      if (text.startsWith(',', at)) at += 1;
      else break;
    }
    assert.equal(text.slice(at, at + 2), '\r\n', `at ${at} of ${JSON.stringify(text)}`);
    at += 2;
    records.push(record);
  }
  return records;
}

describe('triage as CSV', () => {
  it('has one row for each instance, with what is known', () => {
    const reason = { explanation: '', tests: [] };
    const csv = triageCsv([
      {
        entry: { id: 'a__b-1', repo: 'a/b', createdAt: '2021-01-01T00:00:00Z' },
        triage: {
          tags: ['x', 'y'],
          note: 'says "no",\ntwice',
          classification: {
            description: 'reproducible',
            solution: 'none',
            location: { line: 'keywords', file: 'none' },
          },
        },
        validation: {
          date: '2026-01-02',
          reasons: [
            { kind: 'no F→P', ...reason },
            { kind: 'flaky', ...reason },
          ],
        },
        verdict: { success: false, reason: 'fails on R∘X*' },
      },
      {
        entry: { id: 'a__b-2' },
        validation: { date: '2026-01-03', reasons: [] },
        verdict: { success: true, reason: '' },
      },
      { entry: { id: 'a__b-3' }, status: { kind: 'candidate', success: true, reason: '' } },
      { entry: { id: 'a__b-4' }, status: { kind: 'golden valid' } },
      {
        entry: { id: 'a__b-5' },
        validation: { date: '2026-01-04', reasons: [{ kind: 'source not available', ...reason }] },
      },
    ]);
    const [head, first, second, third, fourth, fifth] = parseCsv(csv);
    assert.deepEqual(head, [
      ...['instance_id', 'repo', 'created_at', 'tags', 'note', 'description', 'solution'],
      ...['location_line', 'location_function', 'location_file'],
      ...['validation', 'validation_reasons', 'validation_date', 'last_verdict'],
    ]);
    assert.deepEqual(first, [
      ...['a__b-1', 'a/b', '2021-01-01T00:00:00Z', 'x, y', 'says "no",\ntwice'],
      ...['reproducible', 'none', 'keywords', '', 'none'],
      ...['not sound', 'no F→P, flaky', '2026-01-02', 'fails on R∘X*'],
    ]);
    const nothing = Array.from({ length: 9 }, () => '');
    assert.deepEqual(second, ['a__b-2', ...nothing, 'sound', '', '2026-01-03', 'success']);
    assert.deepEqual(third?.at(-1), 'success');
    assert.deepEqual(fourth, ['a__b-4', ...nothing, '', '', '', '']);
    assert.deepEqual(fifth?.slice(-4, -2), ['not validated', 'source not available']);
  });

  it('is whole for any note, and none is a formula', () => {
    const note = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('=1+1', '+1', '-1', '@x', '\t=1', '\r=1', 'a\nb', 'a\rb', '＝1'),
    );
    fc.assert(
      fc.property(note, note, (one, tag) => {
        const csv = triageCsv([
          { entry: { id: 'a' }, triage: { tags: [tag], note: one, classification: {} } },
        ]);
        const [head = [], row = []] = parseCsv(csv);
        assert.equal(row.length, head.length);
        for (const [cell, text] of [
          [row[4], one],
          [row[3], tag],
        ]) {
          const shown = withoutEscapes(text ?? '');
          assert.ok(cell === shown || cell === `'${shown}`);
          assert.doesNotMatch(cell ?? '', /^[=+\-@\t\r]/);
        }
      }),
      { numRuns: everydayRuns(500) },
    );
  });
});
