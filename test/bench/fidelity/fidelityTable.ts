import type { Instance } from '../../../src/domain/instance';
import { fidelityCauses } from './fidelityCauses';
import type { FidelityRow } from './fidelityRow';

const count = <T>(all: readonly T[], holds: (each: T) => boolean): number =>
  all.filter(holds).length;

const isEqual = (row: FidelityRow): boolean =>
  row.notRun === undefined && row.differing?.length === 0;

/** A row that agrees as the parser that made its lists reads the log. */
const isEqualButForLog = (row: FidelityRow): boolean =>
  row.notRun === undefined &&
  (row.differing ?? []).every(({ cause }) => cause === "artefact of the dataset's log");

/** A row of which everything that differs is explained. */
const isExplained = (row: FidelityRow): boolean =>
  row.notRun === undefined && (row.differing ?? []).every(({ cause }) => cause !== 'unexplained');

/** Minutes or hours, for people. */
const duration = (seconds: number): string =>
  seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;

const size = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/**
 * The results as Markdown: a table by repository, differing tests by cause, the rows that differ or
 * did not run, each with its cause, and what became of each row.
 *
 * @param tried the last line of the journal about rows that were tried
 * @param selected all rows, also those that were not tried
 * @param day `YYYY-MM-DD`
 */
export function fidelityTable(
  tried: readonly FidelityRow[],
  selected: readonly Pick<Instance, 'id' | 'repo'>[],
  day: string,
): string {
  const ofId = new Map(tried.map((row) => [row.id, row]));
  const rows = selected.flatMap(({ id }) => ofId.get(id) ?? []);
  const repos = [...new Set(selected.map(({ repo }) => repo))].sort();
  const lines = repos.map((repo) => {
    const isOf = (each: Pick<Instance, 'repo'>): boolean => each.repo === repo;
    return repositoryLine(repo, count(selected, isOf), rows.filter(isOf));
  });
  return [
    `As of ${day}, ${rows.length} of ${selected.length} rows were tried.`,
    '',
    '| repository | rows | tried | ran | resolved | strict success | lists equal | but for the log | explained | time | disk |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    repositoryLine('**all**', selected.length, rows),
    '',
    '## Differing tests by cause',
    '',
    ...causesTable(rows, repos),
    '',
    '## Rows that differ',
    '',
    ...differingLines(rows),
    '',
    '## Rows that did not run',
    '',
    ...notRunLines(rows),
    '',
    '## Each row',
    '',
    '| row | source | resolved | strict success | lists |',
    '| --- | --- | --- | --- | --- |',
    ...selected.map(({ id }) => rowLine(id, ofId.get(id))),
    '',
  ].join('\n');
}

function rowLine(id: string, row: FidelityRow | undefined): string {
  if (row === undefined) return `| ${id} | | | | not tried |`;
  const { notRun, resolved, strictSuccess, differing = [] } = row;
  if (notRun !== undefined) return `| ${id} | ${sourceText(row)} | | | did not run |`;
  const causes = fidelityCauses.flatMap((cause) => {
    const tests = count(differing, (each) => each.cause === cause);
    return tests === 0 ? [] : `${tests} ${cause}`;
  });
  const word = (is: boolean | undefined): string => (is === true ? 'yes' : 'no');
  const lists = causes.length === 0 ? 'equal' : causes.join(', ');
  return `| ${id} | ${sourceText(row)} | ${word(resolved)} | ${word(strictSuccess)} | ${lists} |`;
}

/** Bytes of trees and kept runs, and of environments, which rows of a version share. */
function bytesOf(rows: readonly FidelityRow[]): number {
  const environments = new Map(
    rows.map(({ interpreter, environmentBytes = 0 }) => [interpreter, environmentBytes]),
  );
  const all = [...rows.map(({ bytes }) => bytes), ...environments.values()];
  return all.reduce((sum, each) => sum + each, 0);
}

function repositoryLine(name: string, selected: number, rows: readonly FidelityRow[]): string {
  const cells = [
    name,
    selected,
    rows.length,
    count(rows, ({ notRun }) => notRun === undefined),
    count(rows, ({ resolved }) => resolved === true),
    count(rows, ({ strictSuccess }) => strictSuccess === true),
    count(rows, isEqual),
    count(rows, isEqualButForLog),
    count(rows, isExplained),
    duration(rows.reduce((sum, { seconds }) => sum + seconds, 0)),
    size(bytesOf(rows)),
  ];
  return `| ${cells.join(' | ')} |`;
}

function causesTable(rows: readonly FidelityRow[], repos: readonly string[]): string[] {
  const tests = rows.flatMap(({ repo, id, differing = [] }) =>
    differing.map(({ cause }) => ({ repo, id, cause })),
  );
  const found = fidelityCauses.filter((cause) => tests.some((test) => test.cause === cause));
  if (found.length === 0) return ['None.'];
  return [
    '| cause | tests | rows | repositories |',
    '| --- | --- | --- | --- |',
    ...found.map((cause) => {
      const of = tests.filter((test) => test.cause === cause);
      const where = repos.filter((repo) => of.some((test) => test.repo === repo));
      const cells = [cause, of.length, new Set(of.map(({ id }) => id)).size, where.join(', ')];
      return `| ${cells.join(' | ')} |`;
    }),
  ];
}

function differingLines(rows: readonly FidelityRow[]): string[] {
  const differing = rows.filter((row) => (row.differing ?? []).length > 0);
  if (differing.length === 0) return ['None.'];
  return [
    '| row | source | tests | cause | shown by |',
    '| --- | --- | --- | --- | --- |',
    ...differing.flatMap((row) => {
      const all = row.differing ?? [];
      const shown = new Set(all.map(({ cause, detail }) => JSON.stringify([cause, detail])));
      return [...shown].map((key) => {
        const [cause = '', detail = ''] = JSON.parse(key) as string[];
        const tests = count(all, (test) => test.cause === cause && test.detail === detail);
        const tried = cause === 'unexplained' ? triedText(row) : '';
        const cells = [row.id, sourceText(row), tests, cause, asCell(detail) + tried];
        return `| ${cells.join(' | ')} |`;
      });
    }),
  ];
}

/** What was run to find a cause, in vain. */
const triedText = ({ tried = [] }: FidelityRow): string =>
  tried.length === 0 ? '; nothing more was run' : `; also run: ${asCell(tried.join('; '))}`;

function notRunLines(rows: readonly FidelityRow[]): string[] {
  const notRun = rows.filter((row) => row.notRun !== undefined);
  return notRun.length === 0
    ? ['None.']
    : [
        '| row | source | why |',
        '| --- | --- | --- |',
        ...notRun.map((row) => `| ${row.id} | ${sourceText(row)} | ${asCell(row.notRun ?? '')} |`),
      ];
}

function sourceText({ source, packageDay }: FidelityRow): string {
  const { release = 'a release', takenOut = [] } = source;
  const from =
    source.kind === 'commit'
      ? 'commit'
      : `${release}${takenOut.length === 0 ? '' : ` without ${takenOut.join(' and ')}`}`;
  return packageDay === undefined ? from : `${from}; packages of ${packageDay.taken}`;
}

/** Text in a cell of a table: one line, bars and marks escaped. */
const asCell = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[|<>*_`\\]/g, String.raw`\$&`)
    .slice(0, 240);
