import { layOut, plural, withoutControl } from '../../domain/text';
import { killedInWords } from '../../mutation/mutant';
import type { TestedMutant } from '../../mutation/mutantSchema';
import { sampleName } from '../../study/entry';
import { coverageCell } from '../../results/resultTable';
import type { Report } from '../../results/reportSchema';

/** Longest part of a code that is in a table. */
const longestCode = 40;

/** The tables of `mutants`: the scores of the candidates, then the mutants line by line. */
export function mutantsText(instance: string, reports: readonly Report[]): string {
  const [first] = reports.flatMap(({ mutants }) => mutants ?? []);
  const parts = [
    first === undefined ? `${instance}: mutants unknown` : headOf(instance, first),
    layOut([
      ['Candidate', 'Verdict', 'Mutants killed', 'by F→P tests', 'ΔC'],
      ...reports.map(scoreRow),
    ]),
    ...(first === undefined || first.all === 0 ? [] : [mutantTable(first.list, reports)]),
    ...reports.flatMap(notesOf),
  ];
  return `${parts.join('\n\n')}\n`;
}

type MutantsBlock = NonNullable<Report['mutants']>;

const headOf = (instance: string, { made, all }: MutantsBlock): string =>
  `${instance}: ${plural(made, 'mutant')} in lines that X* adds${all < made ? `; testing a sample of ${all}` : ''}`;

function scoreRow(report: Report): string[] {
  const { mutants, strict } = report;
  return [
    nameOf(report),
    strict === null
      ? 'not evaluated'
      : strict.success
        ? '✓ reproduces the issue (F→P)'
        : `✗ ${report.reason}`,
    mutants === undefined ? 'unknown' : killedInWords(mutants),
    mutants === undefined ? '' : `${mutants.killed_by_FAIL_TO_PASS}`,
    coverageCell(strict?.change_coverage ?? undefined),
  ];
}

const statusMarks: Readonly<Record<TestedMutant['status'], string>> = {
  killed: '✓ killed',
  'timed out': '✓ timed out',
  survived: '✗ survived',
  'not covered': '– not covered',
};

function mutantTable(mutants: MutantsBlock['list'], reports: readonly Report[]): string {
  const tried = reports.filter((report) => report.mutants !== undefined);
  return layOut([
    ['Line in R∘X*', 'Operator', 'Fault', ...tried.map(nameOf)],
    ...mutants.map(({ path, line, operator, before, after }, index) => [
      `${withoutControl(path)}:${line}`,
      operator,
      `${shortCode(before)} → ${after === '' ? 'nothing' : shortCode(after)}`,
      ...tried.map((report) => {
        const status = report.mutants?.list[index]?.status;
        return status === undefined ? '' : statusMarks[status];
      }),
    ]),
  ]);
}

/** Code on one line. */
function shortCode(code: string): string {
  const line = withoutControl(code.replace(/\s+/g, ' ').trim());
  return line.length > longestCode ? `${line.slice(0, longestCode - 1)}…` : line;
}

function nameOf({ model_name_or_path: model, sample = 1, oracle }: Report): string {
  return sampleName({ model, sample, ...(oracle === true && { oracle }) });
}

/** Why a candidate was tried on nothing. */
const notesOf = (report: Report): string[] =>
  report.mutants !== undefined
    ? []
    : [report.error ?? '', ...(report.notes ?? [])]
        .filter((note) => note !== '')
        .map((note) => `${nameOf(report)}: ${withoutControl(note)}`);
