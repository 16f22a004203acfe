import { isLimit } from '../domain/verdict';
import { notEvaluatedReasons, type RunEntry } from '../domain/study/entry';

/** What a cell is coloured by. The symbol and the word say the same without colour. */
export type CellKind = 'success' | 'failure' | 'unusable' | 'stopped' | 'unknown' | 'pending';

export interface CellState {
  readonly kind: CellKind;
  /** One sign, different for each kind. */
  readonly symbol: string;
  /** What fits into a cell: the transitions of the candidate's tests, or why there are none. */
  readonly text: string;
  /** For the details and for screen readers: the reason, then the transitions with their counts. */
  readonly words: string;
}

export const symbols: Readonly<Record<CellKind, string>> = {
  success: '✓',
  failure: '✗',
  unusable: '⊘',
  stopped: '!',
  unknown: '?',
  pending: '…',
};

/** What the signs of cells mean, for the legend. */
export const kindWords: Readonly<Record<CellKind, string>> = {
  success: 'success',
  failure: 'tests ran, no success',
  unusable: 'no test of the candidate ran',
  stopped: 'stopped at a limit',
  unknown: 'not evaluated',
  pending: 'not there yet',
};

const unusable: ReadonlySet<string> = new Set([
  'no candidate',
  'does not apply',
  'edits outside tests',
  'no test found',
  'no test ran',
  'could not run',
]);

const notEvaluated: ReadonlySet<string> = new Set(notEvaluatedReasons);

/** @param entry undefined where the run has nothing for the instance (yet) */
export function cellState(entry: RunEntry | undefined): CellState {
  if (entry === undefined) {
    return { kind: 'pending', symbol: symbols.pending, text: '', words: 'not there yet' };
  }
  const kind = kindOf(entry);
  const transitions = transitionsOf(entry);
  const short = transitions.map(({ name }) => name).join(' ');
  const counted = transitions.map(({ name, count }) => `${count} ${name}`).join(', ');
  const ran = (kind === 'success' || kind === 'failure') && short !== '';
  return {
    kind,
    symbol: symbols[kind],
    text: ran ? short : entry.reason,
    words: counted === '' ? entry.reason : `${entry.reason}; ${counted}`,
  };
}

function kindOf(entry: RunEntry): CellKind {
  if (entry.success) return 'success';
  if (!entry.evaluated || notEvaluated.has(entry.reason)) return 'unknown';
  if (isLimit(entry.reason)) return 'stopped';
  return unusable.has(entry.reason) ? 'unusable' : 'failure';
}

/** Transitions that occur, in the order of the paper's tables. */
export function transitionsOf(
  entry: RunEntry,
): readonly { readonly name: string; readonly count: number }[] {
  return [
    { name: 'F→P', count: entry.failToPass },
    { name: 'F→F', count: entry.failToFail },
    { name: 'P→F', count: entry.passToFail },
    { name: 'P→P', count: entry.passToPass },
  ].filter(({ count }) => count > 0);
}
