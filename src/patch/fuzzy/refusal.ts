import type { DiagnosticCode } from '../diagnostic';
import { leastFit, removedSimilarity, type Alignment, type OldLine } from './alignment';
import { withoutReturn, type TreeLines } from './treeLines';
import type { Hunk } from '../unified/hunk';

/** Why a hunk has no place. */
export interface Refusal {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  /** 0-based tree lines at which the hunk could begin, nearest first. */
  readonly candidates: readonly number[];
}

export function ambiguous(candidates: readonly number[]): Refusal {
  return {
    code: 'ambiguous',
    message: `it fits equally well at ${lineList(candidates)}`,
    hint: 'Add more context lines around the change, or use the correct line number',
    candidates,
  };
}

export function tooLittle(candidates: readonly Alignment[]): Refusal {
  const starts = candidates.map(({ start }) => start);
  return {
    code: 'low-confidence',
    message: `it contains only blank lines or brackets, which occur at ${lineList(starts)}`,
    hint: 'Add three lines of context around the change',
    candidates: starts,
  };
}

/** Refuses a hunk if every line is so frequent that comparing all places would take too long. */
export function tooRepetitive(candidates: readonly Alignment[]): Refusal {
  const starts = candidates.map(({ start }) => start);
  return {
    code: 'low-confidence',
    message:
      'the file and the patch repeat the same lines too often to compare every position' +
      (starts.length > 0 ? `; it fits at ${lineList(starts)}` : ''),
    hint: 'Use the correct line number, or patch the file in several steps',
    candidates: starts,
  };
}

export const nothingFits = {
  code: 'not-found' as const,
  message: 'no lines in the file are similar to its lines',
  hint: 'Check the path, and copy context and removed lines from the file without changes',
};

/** Why no place is good enough: names the nearest one and what is missing there. */
export function refuse(
  hunk: Hunk,
  old: readonly OldLine[],
  candidates: readonly Alignment[],
  tree: TreeLines,
): Refusal {
  const missing = old.find((line) => line.removed && line.loose < 0 && line.weight >= 0.6);
  if (candidates.length === 0 && missing !== undefined) {
    return {
      code: 'not-found',
      message:
        `it removes ${quote(missing.text)}, and no line near its context is similar enough ` +
        `(at least ${removedSimilarity} of 1)`,
      hint: 'Copy the removed lines from the file without changes',
      candidates: [],
    };
  }
  const best = candidates[0];
  const added = hunk.lines.filter((line) => line.kind === 'added' && line.text.trim() !== '');
  const there =
    added.length > 1 && added.every((line) => tree.exactNumberOf(withoutReturn(line.text)) >= 0);
  if (there) {
    return {
      ...nothingFits,
      message:
        'its old lines are not in the file but its added lines are; it may already be applied',
      hint: 'If so, remove the hunk',
      candidates: [],
    };
  }
  if (best === undefined || best.firm === 0) return { ...nothingFits, candidates: [] };
  return {
    code: 'low-confidence',
    message:
      `it fits best at ${lineList([best.start])}, but only ${Math.max(0, Math.round(best.fit * 100))} % ` +
      `agrees (at least ${leastFit * 100} % is needed)`,
    hint: 'Copy context and removed lines from the file without changes',
    candidates: [best.start],
  };
}

/** `line 3`, `lines 3 and 9`, `lines 3, 9, 12 and 40 more`; 1-based numbers for 0-based ones. */
export function lineList(lines: readonly number[]): string {
  const numbers = [...new Set(lines)].map((line) => String(Math.max(0, line) + 1));
  if (numbers.length === 1) return `line ${numbers[0]}`;
  const shown = numbers.slice(0, 6);
  const rest = numbers.length - shown.length;
  const last = rest > 0 ? `${rest} more` : shown.pop();
  return `lines ${shown.join(', ')} and ${last}`;
}

/** A line as messages show it. */
export function quote(text = ''): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
