import { stringify } from 'csv-stringify/sync';
import { findingKinds, trajectoryFindingKinds } from '../domain/finding';
import { entryReasons } from '../domain/verdict';
import type { StudyReport } from './report';
import { granularities } from './resolution/correctLocation';
import type { RepairRates } from './resolution/repairRates';
import { deltaKeys, shareKeys } from './summary';
import { layOut, plainJson, withoutControl, withoutEscapes } from '../domain/text';
import { agentlessColumns } from './agentlessColumns';
import { comparisonsByMethod, tablesOf } from './tables';

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

/** The data of a measured method's row. */
interface MeasuredRow {
  readonly method: StudyReport['methods'][number];
  readonly comparison: StudyReport['comparisons'][number] | undefined;
  readonly costs: StudyReport['costs'][number] | undefined;
}
type PublishedRow = StudyReport['published'][number];
type Cell = string | number;

/** A column: its head, and its cell for a measured method and for a published one. */
type Column = readonly [
  head: string,
  measured: (row: MeasuredRow) => Cell | null | undefined,
  published?: (row: PublishedRow) => Cell | null | undefined,
];

const columns: readonly Column[] = [
  ['method', ({ method }) => method.name, (row) => row.method],
  ['source', () => 'measured', (row) => `published: ${row.split}, ${row.source}`],
  ['oracle', ({ method }) => String(method.oracle), ({ oracle }) => String(oracle === true)],
  ['answer_seen', ({ method }) => method.answerSeen, (row) => row.answerSeen],
  ['grading', ({ method }) => method.grading, () => 'harness'],
  ['selected', ({ method }) => method.selected, (row) => row.selected],
  ['evaluated', ({ method }) => method.evaluated],
  ...shareKeys.flatMap((key): Column[] => [
    [`${key}_count`, ({ method }) => method[key].count],
    [
      key,
      ({ method }) => (method[key].of === 0 ? '' : method[key].count / method[key].of),
      (row) => row[key],
    ],
    [`${key}_low`, ({ method }) => method[key].interval?.[0]],
    [`${key}_high`, ({ method }) => method[key].interval?.[1]],
  ]),
  ['resolved_count', ({ method }) => method.resolved?.count],
  ...deltaKeys.flatMap((key): Column[] => [
    [key, ({ method }) => method[key].mean, (row) => row[key]],
    [`${key}_of`, ({ method }) => method[key].of],
    [`${key}_low`, ({ method }) => method[key].interval?.[0]],
    [`${key}_high`, ({ method }) => method[key].interval?.[1]],
  ]),
  ['mutants_killed', ({ method }) => method.mutants?.killed],
  ['mutants', ({ method }) => method.mutants?.all],
  ['mutants_of', ({ method }) => method.mutants?.of],
  ['success_p', ({ comparison }) => comparison?.shares.success.p],
  ['success_p_holm', ({ comparison }) => comparison?.adjusted.success],
  ['delta_p', ({ comparison }) => comparison?.delta.p],
  ['delta_p_holm', ({ comparison }) => comparison?.adjusted.delta],
  ['dollars', ({ costs }) => costs?.dollars?.sum, (row) => row.dollars],
  ['input_tokens', ({ costs }) => costs?.inputTokens?.sum],
  ['output_tokens', ({ costs }) => costs?.outputTokens?.sum],
  ['seconds_to_make', ({ costs }) => costs?.makingSeconds?.mean, (row) => row.seconds],
  ['seconds_to_evaluate', ({ costs }) => costs?.evaluationSeconds?.mean],
  ...[...entryReasons, 'not run yet' as const].map((reason): Column => [
    `reason: ${reason}`,
    ({ method }) => method.reasons.find((each) => each.reason === reason)?.count ?? 0,
  ]),
  ['findings_of', ({ method }) => method.findings.of],
  ...findingKinds.map((kind): Column => [
    `finding: ${kind}`,
    ({ method }) => method.findings.kinds[kind],
  ]),
  ['any_finding', ({ method }) => method.findings.any],
  ['success_with_finding', ({ method }) => method.findings.successesWith],
];

/** Columns of reports in which a trajectory has a finding. */
const trajectoryColumns: readonly Column[] = [
  ['trajectories', ({ method }) => method.trajectoryFindings?.of],
  ...trajectoryFindingKinds.map((kind): Column => [
    `trajectory warning: ${kind}`,
    ({ method }) => method.trajectoryFindings?.kinds[kind],
  ]),
  ['any_trajectory_warning', ({ method }) => method.trajectoryFindings?.any],
  ['success_with_trajectory_warning', ({ method }) => method.trajectoryFindings?.successesWith],
  ['trajectory_notes_only', ({ method }) => method.trajectoryFindings?.notesOnly],
];

/** A column of code repair. */
type RepairColumn = readonly [head: string, cell: (row: RepairRates) => Cell | undefined];

/** Columns of code repair, after those of tests. */
const repairColumns: readonly RepairColumn[] = [
  ['repair_model', ({ madeBy }) => madeBy?.model],
  ['repair_resolved_count', ({ resolved }) => resolved.length],
  ['repair_resolved', ({ resolved, selected }) => shareOf(resolved.length, selected)],
  ['repair_strictly_resolved_count', ({ strictlyResolved }) => strictlyResolved.length],
  ['repair_dollars_mean', ({ dollars }) => dollars?.mean],
  ['repair_input_tokens_mean', ({ inputTokens }) => inputTokens?.mean],
  ['repair_output_tokens_mean', ({ outputTokens }) => outputTokens?.mean],
  ...granularities.map(
    (each) =>
      [
        `repair_correct_${each}`,
        ({ correctLocation, selected }: RepairRates) => shareOf(correctLocation[each], selected),
      ] as const,
  ),
  ['repair_empty_patches', ({ emptyPatches }) => emptyPatches],
  ['repair_errors', ({ errors }) => errors],
];

/** Columns of the ablations of Agentless, in the row of their model. */
const ofAgentless = (all: NonNullable<StudyReport['agentless']>): RepairColumn[] =>
  agentlessColumns(all).map(([head, cell]) => [
    head,
    ({ name }) => {
      const own = all.find((each) => each.name === name);
      return own && cell(own);
    },
  ]);

const shareOf = (count: number, of: number): Cell | undefined =>
  of === 0 ? undefined : count / of;

/** The cells of a row of code repair in the columns that it shares with tests. */
const sharedCells: Readonly<Record<string, (row: RepairRates) => Cell>> = {
  method: ({ name }) => name,
  source: () => 'measured',
  oracle: ({ oracle }) => String(oracle),
  selected: ({ selected }) => selected,
  evaluated: ({ tried }) => tried.length,
};

/**
 * The report for a spreadsheet: one row for each method, RFC 4180, UTF-8. Shares, means and
 * intervals are from 0 to 1; unknown values are empty cells. Values that a spreadsheet would take
 * for a formula get a leading `'`.
 */
export function reportCsv(report: StudyReport): string {
  const { methods, costs, published, repairRates, agentless = [] } = report;
  const comparisonOf = comparisonsByMethod(report);
  const measured = methods.map((method, index): MeasuredRow => ({
    method,
    comparison: comparisonOf.get(method.method),
    costs: costs[index],
  }));
  const isFound = methods.some(
    ({ trajectoryFindings: found }) => found !== undefined && found.any + found.notesOnly > 0,
  );
  const shown = isFound ? [...columns, ...trajectoryColumns] : columns;
  const ofRepair = repairRates === undefined ? [] : [...repairColumns, ...ofAgentless(agentless)];
  const noRepair = ofRepair.map(() => '');
  const rows = [
    [...shown, ...ofRepair].map(([head]) => head),
    ...measured.map((row) => [...shown.map(([, cell]) => cell(row) ?? ''), ...noRepair]),
    ...published.map((row) => [...shown.map(([, , cell]) => cell?.(row) ?? ''), ...noRepair]),
    ...(repairRates ?? []).map((row) => [
      ...shown.map(([head]) => sharedCells[head]?.(row) ?? ''),
      ...ofRepair.map(([, cell]) => cell(row) ?? ''),
    ]),
  ];
  return stringify(rows, {
    record_delimiter: 'windows',
    escape_formulas: true,
    quoted_match: /[\r\n]/,
    cast: { string: withoutEscapes },
  });
}
