import type { ChangeCoverage } from '../domain/changeCoverage';
import { functionOf, type Outcome } from '../domain/outcome';
import type { Rates } from '../domain/rates';
import type { BatchEntry } from './batch';

/** Results for a person at a terminal, one candidate a line. */
export function resultTable(entries: readonly BatchEntry[]): string {
  const several = new Set(entries.map((entry) => entry.prediction.instanceId)).size > 1;
  const head = ['Candidate', 'Applies', 'On R', 'On R∘X*', 'Verdict', 'ΔC'];
  const rows = entries.map((entry) => {
    const name = entry.prediction.model;
    const first = several ? [entry.prediction.instanceId, name] : [name];
    if (!('result' in entry)) {
      return [...first, '?', '', '', shortened(`not evaluated: ${entry.failure}`), ''];
    }
    const { result } = entry;
    const own = new Set(result.ownTests);
    const mine = result.tests.filter((each) => own.has(functionOf(each.test)));
    const outcomes = (side: 'base' | 'fixed'): string =>
      mine.length === 0 ? '–' : countOutcomes(mine.map((each) => each[side].outcome));
    return [
      ...first,
      result.strict.wellFormed ? 'yes' : 'no',
      outcomes('base'),
      outcomes('fixed'),
      verdictCell(result.strict.success, result.strict.reason),
      coverageCell(result.changeCoverage),
    ];
  });
  return layOut([several ? ['Instance', ...head] : head, ...rows]);
}

/** A whole log in one cell would move all columns out of sight; it is told in full below the table. */
const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

function verdictCell(success: boolean, reason: string): string {
  return success ? '✓ reproduces the issue (F→P)' : `✗ ${reason}`;
}

/** `67 %  4/6`, or a dash when no line is executable. */
export function coverageCell(coverage: ChangeCoverage | undefined): string {
  if (coverage?.delta === undefined) return '–';
  const percent = `${Math.round(coverage.delta * 100)} %`.padStart(5);
  return `${percent}  ${coverage.covered}/${coverage.executable}`;
}

function countOutcomes(outcomes: readonly Outcome[]): string {
  const counts = new Map<Outcome, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
}

/** The paper's rates, one a line. */
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

/**
 * Columns with two spaces between them; widths by characters, which all have one column here. Control
 * characters become spaces: names and messages from files must not break a line or drive the terminal.
 */
export function layOut(raw: readonly (readonly string[])[]): string {
  // eslint-disable-next-line no-control-regex -- these are what is to be removed
  const control = /[\u0000-\u001f\u007f-\u009f]+/g;
  const rows = raw.map((row) => row.map((cell) => cell.replace(control, ' ')));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, [...cell].length);
    }
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd();
  const [head, ...body] = rows;
  if (head === undefined) return '';
  return [line(head), widths.map((width) => '─'.repeat(width)).join('──'), ...body.map(line)].join(
    '\n',
  );
}
