import { layOut, plainJson, withoutControl, withoutEscapes } from '../domain/text';
import type { StudyDocument, StudyRequest } from './document/document';
import type { Grading } from './entry';
import { compareWith } from './measures/compare';
import { costsOf } from './measures/costs';
import {
  type Group,
  beforeAndAfter,
  groupsByIssueLength,
  groupsByRepository,
  lengthGroups,
} from './measures/groups';
import { type EvaluatedMethod, methodsOf } from './measures/methods';
import { nodeUses } from './measures/nodeUse';
import { mostCells, overlapOf, overlapWithRepairs } from './measures/overlap';
import { passAtK } from './measures/passAtK';
import { defaultResampling } from './measures/resampling';
import { summariseMethod } from './measures/summary';
import { agentlessAblations } from './resolution/agentlessAblation';
import { repairRates } from './resolution/repairRates';
import {
  type AgentlessAblation,
  type StudyReport,
  type GroupReport,
  studyVersion,
} from './studyReportSchema';
import { spreadColumns } from './tables/agentlessTables';
import {
  type MethodRow,
  hasTrajectoryFindings,
  methodColumns,
  trajectoryColumns,
} from './tables/methodColumns';
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

/** The methods that a document compares, baseline first, or all in their order if it names none. */
function askedMethods(
  methods: readonly EvaluatedMethod[],
  asked: StudyRequest,
): readonly EvaluatedMethod[] {
  if (asked.compare === undefined) return methods;
  return asked.compare.flatMap((name) => methods.find((method) => method.name === name) ?? []);
}

/** Computes every table of a document. */
export function studyReport(
  document: StudyDocument,
  options: { readonly grading?: Grading; readonly instances?: ReadonlySet<string> } = {},
): StudyReport {
  const { grading, instances } = options;
  const all = methodsOf(document.runs, {
    oracle: true,
    grading,
    ...(instances === undefined ? {} : { instances }),
  });
  const methods = askedMethods(all, document.asked);
  const graded = grading === undefined ? {} : { grading };
  // An oracle is not a method: it is neither tested against the baseline nor counted, unless
  // requested.
  const real = methods.filter((method) => !method.oracle || document.asked.compare !== undefined);
  const [baseline, ...others] = real;
  const several = methods.filter(
    (method) => method.sampleCount > 1 && method.oracleOf === undefined,
  );
  const resampling = { ...defaultResampling, resamples: resamplesFor(methods) };
  const intervals = resampling.resamples > 0;
  return {
    version: studyVersion,
    created: document.created,
    product: document.product,
    resampling,
    runs: document.runs.map(runReport),
    ...nodesReport(document),
    methods: methods.map((method) =>
      summariseMethod(method, { ...graded, ...(intervals && { intervals: resampling }) }),
    ),
    comparisons:
      baseline === undefined
        ? []
        : compareWith(baseline, others, { ...graded, resampling, intervals }),
    byRepository: (isMany(methods, repositoriesOf(methods))
      ? []
      : groupsByRepository(methods, graded)
    ).map(groupReport),
    byIssueLength: (isMany(methods, lengthGroups) ? [] : groupsByIssueLength(methods, graded)).map(
      (group) => ({
        ...groupReport(group),
        shortest: group.shortest,
        longest: group.longest,
      }),
    ),
    ...splitReport(methods, document.asked.splitDate, graded),
    ...(real.length < 2 ? {} : { overlap: overlapOf(real, grading) }),
    repairs: document.repairs.flatMap((repairs) =>
      methods.map((method) => overlapWithRepairs(method, repairs, grading)),
    ),
    ...repairReport(document.repairRuns),
    costs: methods.map((method) => costsOf(method, grading)),
    passAtK: several.map((method) => ({
      method: method.id,
      name: method.name,
      values: passAtK(method, grading),
    })),
    published: document.published,
    problems: document.problems,
  };
}

/** Draws that one report makes, which take some ten seconds. */
const mostDraws = 4e8;
/** A resample of one method takes as much as this many draws, whatever its instances. */
const drawsBeside = 40;
/** An interval of fewer resamples says nothing. */
const fewestResamples = 100;

/**
 * Resamples for each figure of a report: fewer where many methods would take hours, and none where
 * not even a few could be afforded.
 */
export function resamplesFor(methods: readonly Pick<EvaluatedMethod, 'selected'>[]): number {
  // Each method is also compared with the baseline.
  const each = methods.reduce((sum, { selected }) => sum + 2 * (selected.length + drawsBeside), 0);
  const most = Math.min(defaultResampling.resamples, Math.floor(mostDraws / each));
  return most < fewestResamples ? 0 : most;
}

/** Whether a table with a column for each method would have too many cells. */
const isMany = (methods: readonly EvaluatedMethod[], rows: number): boolean =>
  methods.length * rows > mostCells;

const repositoriesOf = (methods: readonly EvaluatedMethod[]): number =>
  new Set(methods.flatMap(({ selected }) => selected.map(({ repo }) => repo))).size;

const runReport = (run: StudyDocument['runs'][number]): StudyReport['runs'][number] => ({
  label: run.label,
  ...(run.dataset === undefined ? {} : { dataset: run.dataset }),
  ...(run.created === undefined ? {} : { created: run.created }),
  selected: run.instances.length,
  ...(run.denominator === undefined ? {} : { denominator: run.denominator }),
  entries: run.entries.length,
  unfinished: run.unfinished === true,
  grading: run.grading ?? 'strict',
  ...(run.nodeSeconds === undefined ? {} : { nodeSeconds: run.nodeSeconds }),
});

function nodesReport(document: StudyDocument): Pick<StudyReport, 'nodes'> {
  const nodes = nodeUses(document);
  return nodes.length === 0 ? {} : { nodes };
}

function repairReport(
  runs: StudyDocument['repairRuns'],
): Pick<StudyReport, 'repairRates' | 'agentless'> {
  if (runs === undefined) return {};
  const agentless = agentlessAblations(runs);
  return { repairRates: repairRates(runs), ...(agentless.length === 0 ? {} : { agentless }) };
}

function splitReport(
  methods: readonly EvaluatedMethod[],
  splitDate: string | undefined,
  graded: { readonly grading?: Grading },
): Pick<StudyReport, 'split'> {
  if (splitDate === undefined) return {};
  const split = beforeAndAfter(methods, splitDate, graded);
  return {
    split: { ...split, before: groupReport(split.before), after: groupReport(split.after) },
  };
}

const groupReport = ({ label, instances, summaries }: Group): GroupReport => ({
  label,
  instances,
  summaries: summaries.map(
    ({
      notEvaluated: _ids,
      reasons: _reasons,
      differing: _differing,
      findings: _findings,
      mutants: _mutants,
      answerSeen: _answerSeen,
      trajectoryFindings: _trajectoryFindings,
      ...rest
    }) => rest,
  ),
});
