import { stringify } from 'csv-stringify/sync';
import { findingKinds } from '../domain/finding';
import { entryReasons } from '../domain/reason';
import type { StudyReport } from '../domain/study/report';
import { deltaKeys, shareKeys } from '../domain/study/summary';
import { layOut } from '../domain/layOut';
import { tablesOf } from './tables';

/** For a terminal. */
export function reportText(report: StudyReport): string {
  const parts = tablesOf(report).map(({ title, rows, notes }) =>
    [title, '', layOut(rows), ...notes.map((note) => `- ${plain(note)}`)].join('\n'),
  );
  return `${parts.join('\n\n')}\n`;
}

/** For a document: headings and tables of GitHub-flavoured Markdown. */
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

/** Control characters of names from files must not break a line or drive a terminal. */
// eslint-disable-next-line no-control-regex -- these are what is to be removed
const plain = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');

/** Names come from files: none of their signs may become a link, a picture, HTML or another cell. */
const markdownCell = (text: string): string =>
  plain(text).replace(/[\\`*_{}[\]<>#|~&!]/g, (sign) => (sign === '|' ? '\\|' : `\\${sign}`));

/**
 * For a spreadsheet: one row for each method, RFC 4180, UTF-8. Shares, means and intervals are from 0 to 1;
 * a cell is empty where nothing is known. Values that a spreadsheet would take for a formula get a leading
 * `'`.
 */
export function reportCsv(report: StudyReport): string {
  const interval = (key: string): string[] => [`${key}_low`, `${key}_high`];
  const head = [
    'method',
    'source',
    'grading',
    'selected',
    'evaluated',
    ...shareKeys.flatMap((key) => [`${key}_count`, key, ...interval(key)]),
    'resolved_count',
    ...deltaKeys.flatMap((key) => [key, `${key}_of`, ...interval(key)]),
    'success_p',
    'success_p_holm',
    'delta_p',
    'delta_p_holm',
    'dollars',
    'input_tokens',
    'output_tokens',
    'seconds_to_make',
    'seconds_to_evaluate',
    ...[...entryReasons, 'not run yet'].map((reason) => `reason: ${reason}`),
    'findings_of',
    ...findingKinds.map((kind) => `finding: ${kind}`),
    'any_finding',
    'success_with_finding',
  ];
  const rows = report.methods.map((method, index) => {
    const comparison = report.comparisons.find((each) => each.first === method.method);
    const costs = report.costs[index];
    return [
      method.name,
      'measured',
      method.grading,
      method.selected,
      method.evaluated,
      ...shareKeys.flatMap((key) => {
        const { count, of, interval } = method[key];
        return [count, of === 0 ? '' : count / of, ...(interval ?? ['', ''])];
      }),
      method.resolved?.count ?? '',
      ...deltaKeys.flatMap((key) => {
        const { mean, of, interval } = method[key];
        return [mean ?? '', of, ...(interval ?? ['', ''])];
      }),
      comparison?.shares.success.p ?? '',
      comparison?.adjusted.success ?? '',
      comparison?.delta.p ?? '',
      comparison?.adjusted.delta ?? '',
      costs?.dollars?.sum ?? '',
      costs?.inputTokens?.sum ?? '',
      costs?.outputTokens?.sum ?? '',
      costs?.makingSeconds?.mean ?? '',
      costs?.evaluationSeconds?.mean ?? '',
      ...[...entryReasons, 'not run yet' as const].map(
        (reason) => method.reasons.find((each) => each.reason === reason)?.count ?? 0,
      ),
      method.findings.of,
      ...findingKinds.map((kind) => method.findings.kinds[kind]),
      method.findings.any,
      method.findings.successesWith,
    ];
  });
  const published = report.published.map((row) => [
    row.method,
    `published: ${row.split}, ${row.source}`,
    'harness',
    row.selected,
    '',
    ...shareKeys.flatMap((key) => ['', row[key] ?? '', '', '']),
    '',
    ...deltaKeys.flatMap((key) => [row[key] ?? '', '', '', '']),
    ...['', '', '', ''],
    row.dollars ?? '',
    ...['', ''],
    row.seconds ?? '',
    '',
    ...[...entryReasons, 'not run yet'].map(() => ''),
    ...['', ...findingKinds, '', ''].map(() => ''),
  ]);
  return stringify([head, ...rows, ...published], {
    record_delimiter: 'windows',
    escape_formulas: true,
    quoted_match: /[\r\n]/,
  });
}
