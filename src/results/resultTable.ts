import { listed, layOut, withoutControl } from '../domain/text';
import type { ChangeCoverage } from '../domain/changeCoverage';
import { type Outcome, type Side } from '../domain/outcome';
import { functionOf } from '../domain/testId';
import { killedInWords } from '../mutation/mutant';
import type { Rates } from '../study/rates';
import type { Report } from './reportSchema';
import { sampleName } from '../study/entry';

/** A candidate in the table of results; it is kept in memory instead of the whole report. */
export interface ResultLine {
  readonly instance: string;
  /** The model, with its sample where there are several. */
  readonly name: string;
  /** One for each of the columns. */
  readonly cells: readonly string[];
  /** Why its tests could not run, and what to do; absent where they ran. */
  readonly unrunnable?: string;
}

/** A column of the table of results, written once. */
interface ResultColumn {
  readonly head: string;
  /** Empty for a candidate without a grade, unless `ungraded` is there. */
  readonly cell: (report: Report, strict: NonNullable<Report['strict']>) => string;
  readonly ungraded?: (report: Report) => string;
  /** Whether the table has the column, by its cells. */
  readonly isShown?: (cells: readonly string[]) => boolean;
}

const nameOf = ({ model_name_or_path: model, sample = 1, oracle }: Report): string =>
  sampleName({ model, sample, ...(oracle === true && { oracle }) });

/** The outcomes of the candidate's own tests on a side. */
const outcomesOn =
  (side: Side): ResultColumn['cell'] =>
  (_, { candidate_tests, tests }) => {
    const own = new Set(candidate_tests);
    const mine = tests.filter((each) => own.has(functionOf(each.test)));
    return mine.length === 0 ? '–' : countOutcomes(mine.map((each) => each[side].outcome));
  };

const columns: readonly ResultColumn[] = [
  {
    head: 'Instance',
    cell: ({ instance_id: id }) => id,
    ungraded: ({ instance_id: id }) => id,
    isShown: (cells) => new Set(cells).size > 1,
  },
  { head: 'Candidate', cell: nameOf, ungraded: nameOf },
  {
    head: 'Applies',
    cell: (_, strict) => (strict.well_formed ? 'yes' : 'no'),
    ungraded: () => '?',
  },
  { head: 'On R', cell: outcomesOn('base') },
  { head: 'On R∘X*', cell: outcomesOn('fixed') },
  {
    head: 'Verdict',
    cell: ({ reason }, { success, findings }) => verdictCell(success, reason, findings),
    ungraded: ({ error, explanation }) => shortened(`not evaluated: ${error ?? explanation}`),
  },
  { head: 'ΔC', cell: (_, { change_coverage: coverage }) => coverageCell(coverage ?? undefined) },
  {
    head: 'Mutants killed',
    cell: ({ mutants }) => (mutants === undefined ? '–' : killedInWords(mutants)),
    ungraded: () => '–',
    isShown: (cells) => cells.some((cell) => cell !== '–'),
  },
];

export function resultLine(report: Report): ResultLine {
  const { strict } = report;
  return {
    instance: report.instance_id,
    name: nameOf(report),
    cells: columns.map(({ cell, ungraded }) =>
      strict === null ? (ungraded?.(report) ?? '') : cell(report, strict),
    ),
    ...(strict !== null && report.reason === 'could not run' && { unrunnable: strict.explanation }),
  };
}

/** Results for a terminal, one line for each candidate. */
export function resultTable(lines: readonly ResultLine[]): string {
  const shown = columns.flatMap(({ head, isShown }, at) =>
    isShown?.(lines.map(({ cells }) => cells[at] ?? '')) === false ? [] : [{ head, at }],
  );
  const table = layOut([
    shown.map(({ head }) => head),
    ...lines.map(({ cells }) => shown.map(({ at }) => cells[at] ?? '')),
  ]);
  return [table, ...unrunnableNotes(lines)].join('\n');
}

/** Maximum number of candidates that a note names. */
const named = 3;

/** Why candidates could not run, whole, since a cell has no room: one note for each cause. */
function unrunnableNotes(lines: readonly ResultLine[]): string[] {
  const causes = new Map<string, string[]>();
  for (const { instance, name, unrunnable } of lines) {
    if (unrunnable === undefined) continue;
    causes.set(unrunnable, [...(causes.get(unrunnable) ?? []), `${instance} (${name})`]);
  }
  return [...causes].map(([why, whose]) => {
    return `- could not run ${listed(whose, named)}: ${withoutControl(why)}`;
  });
}

/**
 * A shortened text for a cell: a whole log would push all columns out of sight. The full text
 * is below the table.
 */
const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** The verdict, with a sign where findings are below the table. */
function verdictCell(success: boolean, reason: string, findings: readonly unknown[]): string {
  const verdict = success ? '✓ reproduces the issue (F→P)' : `✗ ${reason}`;
  return findings.length > 0 ? `${verdict} ⚠` : verdict;
}

/** `67 %  4/6`, or a dash when no line is executable. */
export function coverageCell(
  coverage:
    | (Pick<ChangeCoverage, 'covered' | 'executable'> & {
        readonly delta?: number | null | undefined;
      })
    | undefined,
): string {
  if (coverage?.delta === undefined || coverage.delta === null) return '–';
  const percent = `${Math.round(coverage.delta * 100)} %`.padStart(5);
  return `${percent}  ${coverage.covered}/${coverage.executable}`;
}

function countOutcomes(outcomes: readonly Outcome[]): string {
  const counts = new Map<Outcome, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
}

/** The paper's rates as text, one line for each. */
export function ratesText(of: Rates): string {
  const share = (name: string, count: number): string =>
    `${name} ${of.selected === 0 ? 0 : Math.round((100 * count) / of.selected)} %`;
  const delta = of.deltaAll.mean;
  return (
    [
      share('W', of.wellFormed.count),
      share('S', of.success.count),
      share('F→×', of.failToAny.count),
      share('F→P', of.failToPass.count),
      share('P→P', of.passToPass.count),
      `ΔC ${delta === undefined ? '–' : `${Math.round(delta * 100)} %`}`,
    ].join('   ') + `   (of ${of.selected}, ${of.notEvaluated.length} not evaluated)`
  );
}
