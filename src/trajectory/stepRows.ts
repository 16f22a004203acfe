import { asLabel } from '../domain/text';
import { number, seconds } from '../study/numbers';
import type { Spending, StepKind, TrajectoryStep } from './trajectory';

/** The line of a folded step: what it is about, at most 200 characters. */
export function stepLine({ kind, label, text }: TrajectoryStep): string {
  const line = asLabel(withoutTags(text));
  const shown = line === '' ? '(no text)' : line;
  return label === undefined || kind === 'action' ? shown : `${label}: ${shown}`;
}

/** UTF-16 units of a text that are read for its line. */
const readForLine = 2000;

/** What mini-SWE-agent puts around an output, as a short prefix: `exit 1: …`. */
const withoutTags = (text: string): string =>
  text
    .slice(0, readForLine)
    .replace(/^<returncode>([^<\n]{1,20})<\/returncode>\s*<output>\n?/, 'exit $1: ')
    .replace(/<\/output>\s*$/, '');

/** Short facts of a step: lines, seconds, tokens, dollars, difference to R. */
export function stepFacts(step: TrajectoryStep): string[] {
  const { kind, text, diff } = step;
  const lines = kind === 'observation' ? text.trimEnd().split('\n').length : 0;
  return [
    ...(step.isRestarted === true ? ['new workspace'] : []),
    ...(lines > 1 ? [`${number(lines)} lines`] : []),
    ...(diff === undefined ? [] : [diffSize(diff)]),
    ...(step.seconds === undefined ? [] : [seconds(step.seconds)]),
    ...spendingFacts(step),
  ];
}

/** Tokens and dollars for people; empty where nothing is known. */
export function spendingFacts({ inputTokens, outputTokens, dollars }: Spending): string[] {
  const known = inputTokens !== undefined || outputTokens !== undefined;
  return [
    ...(known ? [`${number(inputTokens ?? 0)} tokens in, ${number(outputTokens ?? 0)} out`] : []),
    ...(dollars === undefined ? [] : [inDollars(dollars)]),
  ];
}

/** `$0.0123`, `$1.23`. */
export const inDollars = (dollars: number): string =>
  `$${dollars.toFixed(dollars !== 0 && dollars < 0.1 ? 4 : 2)}`;

/** `+10 −2`: the added and removed lines of a unified diff; `no diff` where it is empty. */
export function diffSize(diff: string): string {
  const lines = diff.split('\n');
  const count = (sign: string): number =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return diff.trim() === '' ? 'no diff' : `diff +${count('+')} −${count('-')}`;
}

/** `2026-01-31 12:00:00 UTC` for a time of ISO 8601; any other text as it is. */
export function timeInWords(at: string): string {
  const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?$/.exec(at);
  if (time === null) return at;
  const [, day = '', clock = '', zone = ''] = time;
  return [day, clock, zone === 'Z' ? 'UTC' : zone].filter((each) => each !== '').join(' ');
}

/** What a reader wants to see of the steps. */
interface StepFilter {
  /** Kinds that are shown. */
  readonly kinds: ReadonlySet<StepKind>;
  /** Text that a step contains, in any case; empty for every step. */
  readonly words: string;
  /** Numbers of the steps with findings, if only those are shown. */
  readonly only: ReadonlySet<number> | undefined;
}

/** For each step whether the filter keeps it. */
export function keptSteps(
  steps: readonly TrajectoryStep[],
  { kinds, words, only }: StepFilter,
): boolean[] {
  const wanted = words.trim().toLowerCase();
  return steps.map(
    ({ kind, text, label = '' }, index) =>
      kinds.has(kind) &&
      (only === undefined || only.has(index + 1)) &&
      (wanted === '' ||
        text.toLowerCase().includes(wanted) ||
        label.toLowerCase().includes(wanted)),
  );
}

/** A piece of a text: a match of the searched words, or what stands between matches. */
interface TextPiece {
  readonly text: string;
  readonly isMatch: boolean;
}

/**
 * Cuts a text at the matches of words, in any case.
 *
 * @param most matches that are marked; the rest of the text stays whole
 */
export function markedPieces(text: string, words: string, most = 200): TextPiece[] {
  const wanted = words.trim().toLowerCase();
  const lower = text.toLowerCase();
  // Lower case has another length for a few letters; positions would be wrong then.
  if (wanted === '' || lower.length !== text.length) return [{ text, isMatch: false }];
  const pieces: TextPiece[] = [];
  let from = 0;
  for (let found = 0; found < most; found++) {
    const at = lower.indexOf(wanted, from);
    if (at === -1) break;
    if (at > from) pieces.push({ text: text.slice(from, at), isMatch: false });
    pieces.push({ text: text.slice(at, at + wanted.length), isMatch: true });
    from = at + wanted.length;
  }
  if (from < text.length || pieces.length === 0) {
    pieces.push({ text: text.slice(from), isMatch: false });
  }
  return pieces;
}
