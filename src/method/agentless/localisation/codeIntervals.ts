import type { Declaration } from '../../../python/outline';
import type { NamedPlace } from './namedPlaces';

/** 1-based lines of a file, both included. */
export type LineInterval = readonly [first: number, last: number];

/**
 * The lines of the places that an answer names in one file. A function may be named without its
 * class where the class was named before it, or where only one function has that name.
 *
 * @param places of this file, in the order of the answer
 * @param lines number of lines of the file
 * @returns the intervals, and the names that the file does not have
 */
export function intervalsOf(
  places: readonly NamedPlace[],
  declarations: readonly Declaration[],
  lines: number,
): { readonly intervals: readonly LineInterval[]; readonly unknown: readonly string[] } {
  const intervals: LineInterval[] = [];
  const unknown: string[] = [];
  let lastClass: string | undefined;
  for (const place of places) {
    if (place.kind === 'lines') {
      if (place.first <= lines) intervals.push([place.first, Math.min(place.last, lines)]);
      else unknown.push(`line ${place.first}`);
      continue;
    }
    const found = declared(place, declarations, lastClass);
    if (found === undefined) unknown.push(`${place.kind} ${place.name}`);
    else intervals.push([found.startLine, found.endLine]);
    if (place.kind === 'class') lastClass = found?.name;
  }
  return { intervals, unknown };
}

function declared(
  { kind, name }: Exclude<NamedPlace, { kind: 'lines' }>,
  declarations: readonly Declaration[],
  lastClass: string | undefined,
): Declaration | undefined {
  const ofKind = declarations.filter((each) => each.kind === kind);
  const exact = ofKind.find((each) => each.name === name);
  const within = ofKind.find((each) => each.name === `${lastClass ?? ''}.${name}`);
  const ending = ofKind.filter((each) => each.name.endsWith(`.${name}`));
  return within ?? exact ?? (ending.length === 1 ? ending[0] : undefined);
}

/**
 * Intervals with lines around them, sorted, and joined where they touch.
 *
 * @param lines number of lines of the file
 */
export function mergedIntervals(
  intervals: readonly LineInterval[],
  { around, lines }: { readonly around: number; readonly lines: number },
): LineInterval[] {
  const merged: [number, number][] = [];
  const widened = intervals
    .map(([first, last]): [number, number] => [
      Math.max(1, first - around),
      Math.min(lines, last + around),
    ])
    .sort((one, other) => one[0] - other[0]);
  for (const [first, last] of widened) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

/** The lines of a text, without their ends. */
export function linesOfCode(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/**
 * A file as a prompt shows it: its path, and the lines of the intervals. `...` stands for what is
 * left out.
 */
export function shownIntervals(
  path: string,
  text: string,
  intervals: readonly LineInterval[],
  { isNumbered }: { readonly isNumbered: boolean },
): string {
  const lines = linesOfCode(text);
  const shown = [`### ${path}`];
  let next = 1;
  for (const [first, last] of intervals) {
    if (first > next) shown.push('...');
    for (let at = first; at <= last; at += 1) {
      const line = lines[at - 1] ?? '';
      shown.push(isNumbered ? `${at} ${line}` : line);
    }
    next = last + 1;
  }
  if (next <= lines.length) shown.push('...');
  return shown.join('\n');
}
