import type { InstanceEntry } from '../domain/instance';
import {
  goldenOf,
  statusWords,
  type InstanceStatus,
  descriptionQualities,
  isLiteS,
  locationsGiven,
  solutionsInDescription,
  type TriageEntry,
  type UnsoundReason,
} from '../domain/soundness';
import { HumanError } from '../domain/work';
import { parseDateSpan, createdTime, looksLikeDate } from './rows/dates';

/** A filter of instances: all groups must hold. */
export interface Query {
  readonly groups: readonly Group[];
  /** Whether it needs statuses, which are stored on disk. */
  readonly needsStatus: boolean;
  /** Whether it needs tags, notes or the classification, and so a triage file. */
  readonly needsTriage: boolean;
  /** Whether it needs the instance itself, beyond its status and triage. */
  readonly needsEntry: boolean;
}

/** Any of the conditions must hold; none of them when negated. */
interface Group {
  readonly negated: boolean;
  readonly any: readonly QueryCondition[];
}

/** Whether a filter keeps an instance. */
export function matches(query: Query, item: QueryItem): boolean {
  return query.groups.every(
    ({ negated, any }) => any.some((condition) => holds(condition, item)) !== negated,
  );
}

/** One line of help for an input box. */
export const queryHelp =
  'Words and "phrases", repo: status: changed: tests: issue: created: after: before: version: tag: note: ' +
  'description: solution: location: is: – a leading - negates a term; repo:a repo:b matches either';

/**
 * Reads a filter; docs/triage.md describes the language. An empty text keeps everything.
 *
 * @throws HumanError naming the word that cannot be read and the allowed ones
 */
export function parseQuery(text: string): Query {
  const groups = new Map<string, { negated: boolean; any: QueryCondition[] }>();
  for (const word of words(text)) {
    const condition = parseWord(word);
    const shared = word.negated ? undefined : groupOf(condition);
    const key = shared ?? `alone ${groups.size}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { negated: word.negated, any: [condition] });
    else group.any.push(condition);
  }
  const conditions = [...groups.values()].flatMap((group) => group.any);
  return {
    groups: [...groups.values()],
    needsStatus: conditions.some(({ kind }) => statusKinds.has(kind)),
    needsTriage: conditions.some(({ kind }) => triageKinds.has(kind)),
    needsEntry: conditions.some(({ kind }) => !triageKinds.has(kind) && !statusKinds.has(kind)),
  };
}

/**
 * The name of the group in which one condition is enough; undefined if the condition must hold by
 * itself.
 */
function groupOf(condition: QueryCondition): string | undefined {
  switch (condition.kind) {
    case 'text':
    case 'is':
      return undefined;
    case 'count':
      return condition.min === undefined || condition.max === undefined
        ? undefined
        : `${condition.of} ${condition.unit}`;
    case 'created':
      return condition.from === undefined || condition.to === undefined ? undefined : 'created';
    case 'path':
      return `${condition.of} path`;
    case 'classification':
      return condition.dimension;
    case 'any':
      return condition.of;
    case 'reason':
      return 'status';
    case 'repo':
    case 'status':
    case 'tag':
    case 'note':
    case 'version':
      return condition.kind;
  }
}

/** A parsed word of a filter. */
interface Word {
  /** As written, for messages. */
  readonly written: string;
  readonly negated: boolean;
  /** Lower case; undefined for a search word. */
  readonly key: string | undefined;
  readonly value: string;
  /** Whether the value is quoted, so that nothing in it has a special meaning. */
  readonly quoted: boolean;
}

function words(text: string): Word[] {
  const found: Word[] = [];
  const pattern = /(-(?=\S))?(?:([a-z][a-z-]*):)?(?:("(?:[^"\\]|\\.)*"?)(\S*)|(\S*))/gisuy;
  let at = 0;
  for (;;) {
    while (/\s/u.test(text.charAt(at))) at += 1;
    if (at >= text.length) return found;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    const written = match?.[0] ?? '';
    if (written === '') throw new HumanError(`"${text.slice(at)}" is not a valid filter`);
    at += written.length;
    const [, minus, key, quote, rest, bare] = match ?? [];
    if (quote !== undefined && !/^"(?:[^"\\]|\\.)*"$/u.test(quote)) {
      throw new HumanError(`The quote in ${written} is not closed`, 'End the phrase with "');
    }
    if (rest !== undefined && rest !== '') {
      throw new HumanError(
        `${written} continues after its closing quote`,
        'Add a space after the phrase, or write \\" for a quote inside it',
      );
    }
    const value = quote?.slice(1, -1).replace(/\\(.)/gsu, '$1') ?? bare ?? '';
    if (value === '') {
      throw new HumanError(
        key === undefined ? `${written} is an empty phrase` : `${key}: has no value`,
        key === undefined ? 'Write something between the quotes' : hintFor(key),
      );
    }
    found.push({
      written,
      negated: minus !== undefined,
      key: key?.toLowerCase(),
      value,
      quoted: quote !== undefined,
    });
  }
}

function parseWord({ written, key, value, quoted }: Word): QueryCondition {
  const lower = value.toLowerCase();
  switch (key) {
    case undefined:
      return (quoted ? undefined : bareDate(value)) ?? { kind: 'text', text: lower };
    case 'repo':
      return { kind: 'repo', part: lower };
    case 'status':
      return parseStatus(lower);
    case 'changed':
    case 'tests':
      return (
        (quoted ? undefined : parseCount(key, lower, written)) ?? {
          kind: 'path',
          of: key,
          part: lower,
        }
      );
    case 'issue': {
      const count = parseCount(key, lower, written);
      if (count !== undefined) return count;
      throw new HumanError(`${written}: "${value}" is not a number of characters`, hintFor(key));
    }
    case 'tag':
      return !quoted && value === '*' ? { kind: 'any', of: key } : { kind: key, tag: lower };
    case 'note':
      return !quoted && value === '*' ? { kind: 'any', of: key } : { kind: key, part: lower };
    case 'version':
      return { kind: 'version', version: lower };
    case 'description':
    case 'solution':
    case 'location':
    case 'line':
    case 'function':
    case 'file':
      return parseClassification(key, lower, written);
    case 'created':
      return parseCreated(value);
    case 'after':
      return { kind: 'created', from: parseDateSpan(value).from };
    case 'before':
      return { kind: 'created', to: parseDateSpan(value).from };
    case 'is': {
      const what = wordOf(isWords, lower);
      if (what !== undefined) return { kind: 'is', what };
      throw new HumanError(`is: has no value "${value}"`, hintFor(key));
    }
    default:
      throw new HumanError(
        `There is no filter key ${key}:`,
        `Keys are ${Object.keys(hints)
          .map((each) => `${each}:`)
          .join(' ')}. To search for this text, put it in quotes`,
      );
  }
}

/** The data that a filter tests. */
export interface QueryItem {
  readonly entry: InstanceEntry;
  readonly status: InstanceStatus;
  /** Absent if the user has not judged the instance. */
  readonly triage?: TriageEntry;
}

/** Texts to compare with are in lower case. */
export type QueryCondition =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'repo'; readonly part: string }
  | { readonly kind: 'status'; readonly word: StatusWord }
  | { readonly kind: 'reason'; readonly word: ReasonWord }
  | { readonly kind: 'path'; readonly of: 'changed' | 'tests'; readonly part: string }
  /** Both limits are inclusive; at least one is present. */
  | {
      readonly kind: 'count';
      readonly of: 'changed' | 'tests' | 'issue';
      readonly unit: 'lines' | 'files' | 'characters';
      readonly min?: number;
      readonly max?: number;
    }
  | { readonly kind: 'tag'; readonly tag: string }
  | { readonly kind: 'note'; readonly part: string }
  | { readonly kind: 'any'; readonly of: 'tag' | 'note' }
  | { readonly kind: 'version'; readonly version: string }
  /** `value` is a category of the dimension, `*` for any, or `unjudged`. */
  | { readonly kind: 'classification'; readonly dimension: Dimension; readonly value: string }
  /**
   * From `from` (included) to `to` (excluded), in milliseconds since 1970; at least one is present.
   */
  | { readonly kind: 'created'; readonly from?: number; readonly to?: number }
  | { readonly kind: 'is'; readonly what: IsWord };

type StatusWord = keyof typeof statusWords;

/** Words for the reasons why an instance is not sound, or not validated. */
const reasonWords = {
  'does-not-apply': 'golden patch does not apply',
  'fails-after-fix': 'golden fails after the fix',
  'no-f2p': 'no F→P',
  flaky: 'flaky',
  environment: 'environment failed',
  source: 'source not available',
  'timed-out': 'timed out',
} as const satisfies Record<string, UnsoundReason['kind']>;
type ReasonWord = keyof typeof reasonWords;

/** `location` means any of the three granularities. */
export const dimensions = {
  description: descriptionQualities,
  solution: solutionsInDescription,
  location: locationsGiven,
  line: locationsGiven,
  function: locationsGiven,
  file: locationsGiven,
} as const;
type Dimension = keyof typeof dimensions;

const isWords = {
  'lite-s': (triage: TriageEntry) => isLiteS(triage),
  triaged: () => true,
} as const satisfies Record<string, (triage: TriageEntry) => boolean>;
type IsWord = keyof typeof isWords;

/** Conditions that look at the status. */
const statusKinds: ReadonlySet<QueryCondition['kind']> = new Set(['status', 'reason']);

/** Conditions that look at tags, notes or the classification. */
const triageKinds: ReadonlySet<QueryCondition['kind']> = new Set([
  'tag',
  'note',
  'any',
  'classification',
  'is',
]);

function holds(condition: QueryCondition, item: QueryItem): boolean {
  const { entry, status, triage } = item;
  switch (condition.kind) {
    case 'text':
      return (
        textOf(entry).includes(condition.text) ||
        (triage !== undefined &&
          (triage.tags.some((tag) => tag.toLowerCase().includes(condition.text)) ||
            triage.note.toLowerCase().includes(condition.text)))
      );
    case 'repo':
      return entry.repo.toLowerCase().includes(condition.part);
    case 'status':
      return statusWords[condition.word](status);
    case 'reason': {
      const golden = goldenOf(status);
      return (
        golden !== undefined &&
        golden.kind !== 'golden valid' &&
        golden.reason.includes(reasonWords[condition.word])
      );
    }
    case 'path':
      return (condition.of === 'changed' ? entry.patch : entry.tests).files.some((file) =>
        file.toLowerCase().includes(condition.part),
      );
    case 'count': {
      const count = countOf(condition, entry);
      return count >= (condition.min ?? -Infinity) && count <= (condition.max ?? Infinity);
    }
    case 'tag':
      return triage?.tags.some((tag) => tag.toLowerCase() === condition.tag) === true;
    case 'note':
      return triage?.note.toLowerCase().includes(condition.part) === true;
    case 'any':
      return (
        triage !== undefined && (condition.of === 'tag' ? triage.tags : triage.note).length > 0
      );
    case 'version':
      return entry.version.toLowerCase() === condition.version;
    case 'classification':
      return isClassified(condition, triage);
    case 'created': {
      const time = createdTime(entry.createdAt);
      return (
        time !== undefined &&
        time >= (condition.from ?? -Infinity) &&
        time < (condition.to ?? Infinity)
      );
    }
    case 'is':
      return triage !== undefined && isWords[condition.what](triage);
  }
}

function countOf(
  { of, unit }: Extract<QueryCondition, { kind: 'count' }>,
  entry: InstanceEntry,
): number {
  if (of === 'issue') return entry.issue.length;
  const size = of === 'changed' ? entry.patch : entry.tests;
  return unit === 'files' ? size.files.length : size.lines;
}

function isClassified(
  { dimension, value }: Extract<QueryCondition, { kind: 'classification' }>,
  triage: TriageEntry | undefined,
): boolean {
  const { description, solution, location } = triage?.classification ?? {};
  const judged = {
    description: [description],
    solution: [solution],
    location: [location?.line, location?.function, location?.file],
    line: [location?.line],
    function: [location?.function],
    file: [location?.file],
  }[dimension].filter((each) => each !== undefined);
  if (value === '*') return judged.length > 0;
  if (value === 'unjudged') return judged.length === 0;
  return judged.some((each) => each === value);
}

/** Lower-case texts of entries, cached so that filtering keeps up with typing. */
const texts = new WeakMap<InstanceEntry, string>();

function textOf(entry: InstanceEntry): string {
  let text = texts.get(entry);
  if (text === undefined) {
    // The user cannot type the separator, so no phrase matches across fields.
    text = [entry.id, entry.repo, entry.issue].join('\u0000').toLowerCase();
    texts.set(entry, text);
  }
  return text;
}

/** Hints what to write after each key. */
const hints: Readonly<Record<string, string>> = {
  repo: 'Use part of owner/name, such as repo:sympy',
  status: `Use one of ${[...Object.keys(statusWords), ...Object.keys(reasonWords)].join(', ')}`,
  changed:
    'Use a number of lines (changed:>20, changed:5..30), a number of files (changed:files>1), or part of a path',
  tests:
    'Use a number of lines (tests:>20, tests:5..30), a number of files (tests:files>1), or part of a path',
  issue: 'Use a number of characters, such as issue:>500 or issue:100..500',
  created: 'Use a date or a range, such as created:2021-03 or created:2020..2021-06',
  after: 'Use a date, such as after:2020-05',
  before: 'Use a date, such as before:2021',
  version: 'Use the full version, such as version:1.9',
  tag: 'Use a full tag, or tag:* for any',
  note: 'Use part of a note, or note:* for any',
  ...Object.fromEntries(
    Object.entries(dimensions).map(([dimension, categories]) => [
      dimension,
      `Use ${Object.keys(categories).join(', ')}, unjudged, or * for any category`,
    ]),
  ),
  is: `Use one of ${Object.keys(isWords).join(', ')}`,
};

/** The hint for a key; for an unknown key, how to search for it as text. */
const hintFor = (key: string): string =>
  (Object.hasOwn(hints, key.toLowerCase()) ? hints[key.toLowerCase()] : undefined) ??
  'To search for this text, put it in quotes';

/** The word as a key of the table; undefined if it is not one. */
function wordOf<Table extends object>(table: Table, word: string): keyof Table | undefined {
  return (Object.keys(table) as (keyof Table)[]).find((each) => each === word);
}

function parseStatus(word: string): QueryCondition {
  const status = wordOf(statusWords, word);
  if (status !== undefined) return { kind: 'status', word: status };
  const reason = wordOf(reasonWords, word);
  if (reason !== undefined) return { kind: 'reason', word: reason };
  throw new HumanError(`status: has no value "${word}"`, hintFor('status'));
}

function parseClassification(dimension: Dimension, value: string, written: string): QueryCondition {
  const granular = /^(line|function|file)=(.*)$/su.exec(value);
  const granularity = granular === null ? undefined : wordOf(dimensions, granular[1] ?? '');
  if (dimension === 'location' && granularity !== undefined) {
    return parseClassification(granularity, granular?.[2] ?? '', written);
  }
  if (value !== '*' && value !== 'unjudged' && wordOf(dimensions[dimension], value) === undefined) {
    throw new HumanError(
      `${written}: "${value}" is not a category of ${dimension}:`,
      hintFor(dimension) + (dimension === 'file' ? '. For a path, use changed:' : ''),
    );
  }
  return { kind: 'classification', dimension, value };
}

/** Undefined if the value is not a comparison, and so a path. */
function parseCount(
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
    if (min !== undefined && max !== undefined && min > max)
      throw wrong('has its ends in the wrong order');
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
    throw wrong('has no number to compare with');
  }
  const n = Number(number);
  if (sign === '<' && n === 0) throw wrong('matches nothing');
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
function bareDate(value: string): QueryCondition | undefined {
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

function parseCreated(value: string): QueryCondition {
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
    throw new HumanError(
      `${value} has its ends in the wrong order`,
      'Write the earlier date first',
    );
  }
  return {
    kind: 'created',
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}
