import { kindsOfSeverity } from '../../domain/finding';
import type { EntryReason } from '../../domain/verdict';
import type { RunEntry } from '../../study/entry';
import type { MutantFraction } from '../../mutation/mutant';
import type { Column } from './columns';

/**
 * The kind that determines a cell's colour. The symbol and the word say the same without colour.
 */
export type CellKind =
  | 'success'
  | 'failure'
  | 'unusable'
  | 'stopped'
  | 'unsound'
  | 'unknown'
  | 'pending'
  | 'left-out';

interface CellState {
  readonly kind: CellKind;
  /** One character, different for each kind. */
  readonly symbol: string;
  /**
   * The short text in the cell: the transitions of the candidate's tests, or why there are none.
   */
  readonly text: string;
  /** For the details and for screen readers: the reason, the transitions with their counts, findings. */
  readonly words: string;
  /**
   * Whether the candidate has findings, or its trajectory warnings; the cell then shows
   * `findingSymbol` too.
   */
  readonly hasFindings: boolean;
}

/** Stands beside the symbol of a cell whose candidate has findings. */
export const findingSymbol = '⚠';

export const symbols: Readonly<Record<CellKind, string>> = {
  success: '✓',
  failure: '✗',
  unusable: '⊘',
  stopped: '!',
  unsound: '≠',
  unknown: '?',
  pending: '…',
  'left-out': '·',
};

/** The meaning of the symbols, for the legend. */
export const kindWords: Readonly<Record<CellKind, string>> = {
  success: 'success',
  failure: 'tests ran, not a success',
  unusable: "none of the candidate's tests ran",
  stopped: 'stopped at a limit',
  unsound: "the run's records contradict each other",
  unknown: 'not evaluated',
  pending: 'not run yet',
  'left-out': 'not selected in this run',
};

/** The kind of a cell for each reason of an entry without success. */
const kindOfReason: Readonly<Record<EntryReason, CellKind>> = {
  success: 'failure',
  'no candidate': 'unusable',
  'does not apply': 'unusable',
  'edits outside tests': 'unusable',
  'no test found': 'unusable',
  'syntax error': 'unusable',
  'passes on R': 'failure',
  'fails on both sides': 'failure',
  'unrelated failure': 'failure',
  'breaks a test': 'failure',
  'no test ran': 'unusable',
  'could not run': 'unusable',
  'timed out': 'stopped',
  'too many processes': 'stopped',
  'too much output': 'stopped',
  'out of memory': 'stopped',
  'disk full': 'stopped',
  unsound: 'unsound',
  'not resolved': 'failure',
  'no prediction': 'unknown',
  'source not available': 'unknown',
  'environment failed': 'unknown',
  'instance cannot be used': 'unknown',
  'internal error': 'unknown',
  'no report': 'unknown',
};

/**
 * The cell of an instance in a column. Where a run has ended, a selected instance without an entry
 * has no prediction; only a run that can continue may still add one.
 */
export function columnCell(
  { entries, selected, unfinished }: Pick<Column, 'entries' | 'selected' | 'unfinished'>,
  id: string,
): CellState {
  const entry = entries.get(id);
  if (!selected.has(id)) return emptyCell('left-out', '');
  if (entry !== undefined) return cellState(entry);
  return unfinished ? emptyCell('pending', '') : emptyCell('unknown', 'no prediction');
}

/** A cell without an entry. The text is also its words, where it has one. */
const emptyCell = (kind: CellKind, text: string): CellState => ({
  kind,
  symbol: symbols[kind],
  text,
  words: text === '' ? kindWords[kind] : text,
  hasFindings: false,
});

/** The cell of a candidate that was evaluated, or that the run gives a reason for. */
export function cellState(entry: RunEntry): CellState {
  const kind = kindOf(entry);
  const transitions = transitionsOf(entry);
  const short = transitions.map(({ name }) => name).join(' ');
  const counted = transitions.map(({ name, count }) => `${count} ${name}`).join(', ');
  const { findings = [], trajectoryFindings = [], mutants } = entry;
  const kinds = findings.map((each) => each.kind);
  const warned = kindsOfSeverity(trajectoryFindings, 'warning');
  const noted = kindsOfSeverity(trajectoryFindings, 'note');
  const told = (what: string, of: readonly string[]): string[] =>
    of.length === 0 ? [] : [`${what}: ${of.join(', ')}`];
  const ran = (kind === 'success' || kind === 'failure') && short !== '';
  return {
    kind,
    symbol: symbols[kind],
    text: ran ? short : entry.reason,
    words: [
      entry.reason,
      ...(counted === '' ? [] : [counted]),
      ...(mutants === undefined ? [] : [mutantWords(mutants)]),
      ...told('findings', kinds),
      ...told('findings in the trajectory', warned),
      ...told('notes on the trajectory', noted),
    ].join('; '),
    hasFindings: kinds.length + warned.length > 0,
  };
}

/** For the details and for screen readers. */
const mutantWords = ({ killed, all }: MutantFraction): string =>
  all === 0 ? 'no mutants' : `kills ${killed} of ${all} mutants`;

function kindOf(entry: RunEntry): CellKind {
  if (entry.success) return 'success';
  return entry.evaluated ? kindOfReason[entry.reason] : 'unknown';
}

/** Transitions with a count above 0, in the order of the paper's tables. */
function transitionsOf(
  entry: RunEntry,
): readonly { readonly name: string; readonly count: number }[] {
  return [
    { name: 'F→P', count: entry.failToPass },
    { name: 'F→F', count: entry.failToFail },
    { name: 'P→F', count: entry.passToFail },
    { name: 'P→P', count: entry.passToPass },
  ].filter(({ count }) => count > 0);
}
