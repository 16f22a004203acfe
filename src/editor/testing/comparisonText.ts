import type * as vscode from 'vscode';
import type { FailedComparison } from '../../domain/outcome';

/** Characters before the first difference that show where it is. */
const before = 6;

/**
 * Both values of a failed comparison in one line: whole where they fit, else the part of each where
 * they begin to differ.
 *
 * @param room in characters
 */
export function comparisonText(
  l10n: typeof vscode.l10n,
  comparison: FailedComparison,
  room: number,
): string {
  const expected = inOneLine(comparison.expected);
  const actual = inOneLine(comparison.actual);
  const said = (one: string, other: string): string => l10n.t('expected {0}, got {1}', one, other);
  const whole = said(expected, actual);
  if (whole.length <= room) return whole;
  const left = room - said('', '').length;
  const half = Math.floor(left / 2);
  const from = Math.max(0, firstDifference(expected, actual) - before);
  const [one, other] = [tail(expected, from), tail(actual, from)];
  const short = cutText(one, Math.max(half, left - other.length));
  return said(short, cutText(other, Math.max(half, left - short.length)));
}

const inOneLine = (value: string): string => value.replaceAll(/\s+/g, ' ').trim();

/** A value of which only the beginning is equal has a mark in place of that. */
const tail = (value: string, from: number): string =>
  from === 0 ? value : `…${value.slice(from).replace(/^[\uDC00-\uDFFF]/, '')}`;

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Cuts between characters, never within a pair of surrogates. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text
    .slice(0, most - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()}…`;
}
