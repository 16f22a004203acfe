import { HumanError } from '../../domain/humanError';
import { statusWords } from '../../domain/status';
import { looksLikeDate, parseDateSpan } from '../rows/dates';
import {
  dimensions,
  isWords,
  reasonWords,
  type QueryCondition,
  type Dimension,
} from './queryConditions';

/** Hints what to write after each key. */
export const hints: Readonly<Record<string, string>> = {
  repo: 'Write part of owner/name, such as repo:sympy',
  status: `Allowed are ${[...Object.keys(statusWords), ...Object.keys(reasonWords)].join(', ')}`,
  changed:
    'Write a number of lines (changed:>20, changed:5..30), of files (changed:files>1) or part of a path',
  tests:
    'Write a number of lines (tests:>20, tests:5..30), of files (tests:files>1) or part of a path',
  issue: 'Write a number of characters, such as issue:>500 or issue:100..500',
  created: 'Write a date or two, such as created:2021-03 or created:2020..2021-06',
  after: 'Write a date, such as after:2020-05',
  before: 'Write a date, such as before:2021',
  version: 'Write the whole version, such as version:1.9',
  tag: 'Write a whole tag, or tag:* for any',
  note: 'Write part of a note, or note:* for any',
  ...Object.fromEntries(
    Object.entries(dimensions).map(([dimension, categories]) => [
      dimension,
      `Allowed are ${Object.keys(categories).join(', ')}, unjudged, and * for any category`,
    ]),
  ),
  is: `Allowed are ${Object.keys(isWords).join(', ')}`,
};

/** The hint for a key; for an unknown key, how to search for it as text. */
export const hintFor = (key: string): string =>
  (Object.hasOwn(hints, key.toLowerCase()) ? hints[key.toLowerCase()] : undefined) ??
  'To search for the text, write it in quotes';

/** The word as a key of the table; undefined if it is not one. */
export function wordOf<Table extends object>(table: Table, word: string): keyof Table | undefined {
  return (Object.keys(table) as (keyof Table)[]).find((each) => each === word);
}

export function parseStatus(word: string): QueryCondition {
  const status = wordOf(statusWords, word);
  if (status !== undefined) return { kind: 'status', word: status };
  const reason = wordOf(reasonWords, word);
  if (reason !== undefined) return { kind: 'reason', word: reason };
  throw new HumanError(`status: does not know "${word}"`, hintFor('status'));
}

export function parseClassification(
  dimension: Dimension,
  value: string,
  written: string,
): QueryCondition {
  const granular = /^(line|function|file)=(.*)$/su.exec(value);
  const granularity = granular === null ? undefined : wordOf(dimensions, granular[1] ?? '');
  if (dimension === 'location' && granularity !== undefined) {
    return parseClassification(granularity, granular?.[2] ?? '', written);
  }
  if (value !== '*' && value !== 'unjudged' && wordOf(dimensions[dimension], value) === undefined) {
    throw new HumanError(
      `${written}: "${value}" is no category of ${dimension}:`,
      hintFor(dimension) + (dimension === 'file' ? '. For a path, write changed:' : ''),
    );
  }
  return { kind: 'classification', dimension, value };
}

/** Undefined if the value is not a comparison, and so a path. */
export function parseCount(
  of: 'changed' | 'tests' | 'issue',
  value: string,
  written: string,
): QueryCondition | undefined {
  const compared = /^(files|lines)?(>=|<=|>|<|=)(.*)$/su.exec(value);
  const unit = of === 'issue' ? 'characters' : compared?.[1] === 'files' ? 'files' : 'lines';
  const sign = compared?.[2] ?? '=';
  const number = compared === null ? value : (compared[3] ?? '');
  const wrong = (why: string): HumanError => new HumanError(`${written} ${why}`, hintFor(of));
  const range = sign === '=' ? /^(\d{1,9})?\.\.(\d{1,9})?$/u.exec(number) : null;
  if (range !== null && (range[1] ?? range[2]) !== undefined) {
    const [min, max] = range
      .slice(1)
      .map((each) => (each === undefined ? undefined : Number(each)));
    if (min !== undefined && max !== undefined && min > max) throw wrong('runs backwards');
    return {
      kind: 'count',
      of,
      unit,
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
    };
  }
  if (!/^\d{1,9}$/u.test(number)) {
    if (compared === null) return undefined;
    throw wrong('compares with no number');
  }
  const n = Number(number);
  if (sign === '<' && n === 0) throw wrong('keeps nothing');
  return {
    kind: 'count',
    of,
    unit,
    ...(sign === '>' ? { min: n + 1 } : sign === '<' || sign === '<=' ? {} : { min: n }),
    ...(sign === '<' ? { max: n - 1 } : sign === '>' || sign === '>=' ? {} : { max: n }),
  };
}

/**
 * Reads `2021-03`, or a range of dates. A year alone is a search word, since ids are full of such
 * numbers.
 */
export function bareDate(value: string): QueryCondition | undefined {
  const [from = '', to, ...more] = value.split('..');
  const isRange =
    to !== undefined &&
    more.length === 0 &&
    from + to !== '' &&
    [from, to].every((each) => each === '' || looksLikeDate(each));
  return isRange || (to === undefined && looksLikeDate(from) && from.length > 4)
    ? parseCreated(value)
    : undefined;
}

export function parseCreated(value: string): QueryCondition {
  const compared = /^(>=|<=|>|<)(.*)$/su.exec(value);
  if (compared !== null) {
    const span = parseDateSpan(compared[2] ?? '');
    const sign = compared[1];
    if (sign === '>') return { kind: 'created', from: span.to };
    if (sign === '>=') return { kind: 'created', from: span.from };
    return { kind: 'created', to: sign === '<' ? span.from : span.to };
  }
  const [first = '', last, ...more] = value.split('..');
  if (last === undefined) return { kind: 'created', ...parseDateSpan(first) };
  if (more.length > 0 || first + last === '') parseDateSpan(value);
  const from = first === '' ? undefined : parseDateSpan(first).from;
  const to = last === '' ? undefined : parseDateSpan(last).to;
  if (from !== undefined && to !== undefined && from >= to) {
    throw new HumanError(`${value} runs backwards`, 'Write the earlier date first');
  }
  return {
    kind: 'created',
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}
