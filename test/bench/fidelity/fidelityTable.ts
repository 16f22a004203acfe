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
 * did not run, each with its cause.
 *
 * @param rows the last line of the journal about each row that was tried
 * @param selected number of rows, also of those that were not tried
 * @param day `YYYY-MM-DD`
 */
export function fidelityTable(rows: readonly FidelityRow[], selected: number, day: string): string {
  const repos = [...new Set(rows.map(({ repo }) => repo))].sort();
  const lines = repos.map((repo) =>
    repositoryLine(
      repo,
      rows.filter((row) => row.repo === repo),
    ),
  );
  return [
    `As of ${day}, ${rows.length} of ${selected} rows were tried.`,
    '',
    '| repository | tried | ran | resolved | strict success | lists equal | but for the log | explained | time | disk |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    repositoryLine('**all**', rows),
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
  ].join('\n');
}

function repositoryLine(name: string, rows: readonly FidelityRow[]): string {
  const cells = [
    name,
    rows.length,
    count(rows, ({ notRun }) => notRun === undefined),
    count(rows, ({ resolved }) => resolved === true),
    count(rows, ({ strictSuccess }) => strictSuccess === true),
    count(rows, isEqual),
    count(rows, isEqualButForLog),
    count(rows, isExplained),
    duration(rows.reduce((sum, { seconds }) => sum + seconds, 0)),
    size(rows.reduce((sum, { bytes }) => sum + bytes, 0)),
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
        const cells = [row.id, sourceText(row), tests, cause, asCell(detail)];
        return `| ${cells.join(' | ')} |`;
      });
    }),
  ];
}

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
