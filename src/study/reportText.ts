import type { AgentlessAblation, StudyReport } from './studyReportSchema';
import { layOut, plainJson, withoutControl, withoutEscapes } from '../domain/text';
import {
  type MethodRow,
  hasTrajectoryFindings,
  methodColumns,
  trajectoryColumns,
} from './tables/methodColumns';
import { spreadColumns } from './tables/agentlessTables';
import { repairColumns } from './tables/repairColumns';
import { measuredRows, tablesOf } from './tables/tables';
import { stringify } from 'csv-stringify/sync';

/** The report as text for a terminal. */
export function reportText(report: StudyReport): string {
  const parts = tablesOf(report).map(({ title, rows, notes }) =>
    [title, '', layOut(rows), ...notes.map((note) => `- ${withoutControl(note)}`)].join('\n'),
  );
  return `${parts.join('\n\n')}\n`;
}

/**
 * The report as JSON, indented by two blanks, in pieces: of very many methods it is longer than a
 * string can be.
 */
export function* reportJson(report: StudyReport): Generator<string, void> {
  let before = '{\n';
  for (const [key, value] of Object.entries(report) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${before}  ${JSON.stringify(key)}: `;
    if (Array.isArray(value) && value.length > 0) yield* listJson(value);
    else yield indented(value, '  ');
    before = ',\n';
  }
  yield '\n}\n';
}

/** A list below the first level; pieces of many items, since each piece is one write. */
function* listJson(items: readonly unknown[]): Generator<string, void> {
  for (let start = 0; start < items.length; start += 100) {
    const part = items.slice(start, start + 100).map((item) => indented(item, '    '));
    yield `${start === 0 ? '[' : ','}\n    ${part.join(',\n    ')}`;
  }
  yield '\n  ]';
}

const indented = (value: unknown, by: string): string =>
  plainJson(JSON.stringify(value, null, 2)).replaceAll('\n', `\n${by}`);

/** The report for a document: headings and tables of GitHub-flavoured Markdown. */
export function reportMarkdown(report: StudyReport): string {
  const parts = tablesOf(report).map(({ title, rows, notes }) => {
    const [head = [], ...body] = rows;
    const line = (row: readonly string[]): string => `| ${row.map(markdownCell).join(' | ')} |`;
    const rule = `| ${head.map((_, index) => (index === 0 ? '---' : '--:')).join(' | ')} |`;
    const list = notes.map((note) => `- ${markdownCell(note)}`);
    return [`## ${title}`, '', line(head), rule, ...body.map(line), '', ...list]
      .join('\n')
      .trimEnd();
  });
  return `${parts.join('\n\n')}\n`;
}

/**
 * Escapes names from files, so that no sign of them becomes a link, a picture, HTML or another
 * cell.
 */
const markdownCell = (text: string): string =>
  withoutControl(text).replace(/[\\`*_{}[\]<>#|~&!]/g, (sign) =>
    sign === '|' ? '\\|' : `\\${sign}`,
  );

/**
 * The report for a spreadsheet: one row for each method, RFC 4180, UTF-8. Shares, means and
 * intervals are from 0 to 1; unknown values are empty cells. Values that a spreadsheet would take
 * for a formula get a leading `'`.
 */
export function reportCsv(report: StudyReport): string {
  const { published, repairRates, agentless = [] } = report;
  const measured = measuredRows(report);
  const columns = [
    ...methodColumns(),
    ...(hasTrajectoryFindings(measured) ? trajectoryColumns : []),
    ...(repairRates === undefined ? [] : repairColumns),
  ];
  const rows: MethodRow[] = [
    ...measured,
    ...published.map((row) => ({ published: row })),
    ...(repairRates ?? []).map((repair) => ({ repair })),
  ];
  const ofAgentless = spreadColumns(agentless);
  const agentlessOf = (row: MethodRow): AgentlessAblation | undefined =>
    'repair' in row ? agentless.find(({ name }) => name === row.repair.name) : undefined;
  const lines = [
    [...columns.flatMap(({ rawHeads }) => rawHeads), ...ofAgentless.map(({ head }) => head)],
    ...rows.map((row) => {
      const own = agentlessOf(row);
      return [
        ...columns.flatMap(({ raw }) => raw(row)),
        ...ofAgentless.map(({ figure }) => own && figure(own)),
      ];
    }),
  ];
  return stringify(
    lines.map((line) => line.map((cell) => cell ?? '')),
    {
      record_delimiter: 'windows',
      escape_formulas: true,
      quoted_match: /[\r\n]/,
      cast: { string: withoutEscapes },
    },
  );
}
