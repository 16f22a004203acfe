import assert from 'node:assert/strict';
import { signsOf, summaryCaption, summaryOf } from '../../../src/dashboard/page/summaryRows';
import {
  type MethodRow,
  costColumns,
  coverageColumns,
  findingColumns,
  methodColumns,
  nameColumn,
  rateColumns,
  reasonColumns,
  trajectoryColumns,
} from '../../../src/study/tables/methodColumns';
import { methodsOf } from '../../../src/study/measures/methods';
import { studyReport, reportCsv, reportMarkdown, reportText } from '../../../src/study/reportText';
import { repairColumns } from '../../../src/study/tables/repairColumns';
import { summariseMethod } from '../../../src/study/measures/summary';
import { type TableColumn, column, formats } from '../../../src/study/tables/tableColumn';
import { simulatedStudy } from '../dashboard/simulated';
import { assertDocTable } from '../docs/docTable';

/** A row of the documentation: head, heads in a spreadsheet, and what it says. */
const documented = ({ head, rawHeads, help }: TableColumn<MethodRow>): string[] => [
  ...[head, rawHeads.map((each) => `\`${each}\``).join(', ')],
  help.replaceAll('*', String.raw`\*`),
];

describe('the columns of methods', () => {
  it('are drawn in every rendering from one entry', () => {
    const fake = column<MethodRow, number>({
      id: 'fake_figure',
      head: 'fake head',
      help: 'what the fake figure means',
      format: formats.number(1),
      value: (row) => ('summary' in row ? 4242.5 : undefined),
    });
    const study = simulatedStudy({ instances: 10, methods: 2 });
    const list = rateColumns as TableColumn<MethodRow>[];
    list.push(fake);
    try {
      const report = studyReport(study);
      for (const text of [reportText(report), reportMarkdown(report)]) {
        assert.ok(text.includes('fake head') && text.includes('4242.5'), text);
      }
      assert.match(reportCsv(report), /,fake_figure,[^]*,4242\.5,/);
      const methods = methodsOf(study.runs);
      const summaries = methods.map((method) => summariseMethod(method));
      const given = { methods, summaries, comparisons: [], published: [], kept: undefined };
      const { columns, rows } = summaryOf({ ...given, baseline: undefined });
      const shown = columns.find(({ head }) => head === 'fake head');
      assert.deepEqual(
        [...rows.values()].map((row) => shown?.page(row).text),
        ['4242.5', '4242.5'],
      );
      assert.deepEqual(signsOf(columns).at(-4), ['fake head', 'what the fake figure means']);
    } finally {
      list.splice(list.indexOf(fake), 1);
    }
  });

  it('have heads, help and ids of their own in each table', () => {
    for (const columns of [
      [nameColumn, ...rateColumns, ...coverageColumns],
      [nameColumn, ...costColumns],
      [nameColumn, ...findingColumns],
      [nameColumn, ...trajectoryColumns],
      reasonColumns,
      repairColumns,
    ]) {
      assert.ok(columns.every(({ head, help }) => head !== '' && help !== ''));
      assert.equal(new Set(columns.map(({ head }) => head)).size, columns.length);
    }
    const all = [...methodColumns(), ...trajectoryColumns, ...repairColumns];
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
    const heads = all.flatMap(({ rawHeads }) => rawHeads);
    assert.equal(new Set(heads).size, heads.length);
  });

  it('are in the documentation, in their order (UPDATE_DOCS=1 writes them)', () => {
    // One column for each finding and each reason: the page names them as a whole.
    const single = [...methodColumns(), ...trajectoryColumns].filter(({ id }) => !id.includes(':'));
    const head = ['column', 'in CSV', 'says'];
    assertDocTable({ page: 'evaluate.md', head, rows: single.map(documented) });
    assertDocTable({ page: 'judge-repairs.md', head, rows: repairColumns.map(documented) });
  });
});

describe('the caption of the summary', () => {
  it('says what the figures are shares of, with a filter too', () => {
    const rest = ', with 95 % bootstrap intervals over the instances';
    assert.equal(summaryCaption(undefined), `In percent of all selected instances${rest}`);
    assert.equal(summaryCaption(0), 'No instances match the filter');
    assert.equal(summaryCaption(1), `In percent of the 1 instance that matches the filter${rest}`);
    assert.equal(summaryCaption(14), `In percent of the 14 instances that match the filter${rest}`);
  });
});
