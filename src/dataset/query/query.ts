import { HumanError } from '../../domain/humanError';
import { parseDateSpan } from '../rows/dates';
import {
  holds,
  isWords,
  statusKinds,
  triageKinds,
  type QueryCondition,
  type QueryItem,
} from './queryConditions';
import {
  bareDate,
  hintFor,
  hints,
  parseClassification,
  parseCount,
  parseCreated,
  parseStatus,
  wordOf,
} from './queryValues';

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
  'description: solution: location: is: – with a leading - for the opposite; repo:a repo:b for either';

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
    if (written === '') throw new HumanError(`"${text.slice(at)}" cannot be read`);
    at += written.length;
    const [, minus, key, quote, rest, bare] = match ?? [];
    if (quote !== undefined && !/^"(?:[^"\\]|\\.)*"$/u.test(quote)) {
      throw new HumanError(`The quote in ${written} is not closed`, 'End the phrase with "');
    }
    if (rest !== undefined && rest !== '') {
      throw new HumanError(
        `${written} goes on after its closing quote`,
        'Put a space after the phrase, or \\" for a quote inside it',
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
      throw new HumanError(`is: does not know "${value}"`, hintFor(key));
    }
    default:
      throw new HumanError(
        `The filter has no ${key}:`,
        `Keys are ${Object.keys(hints)
          .map((each) => `${each}:`)
          .join(' ')}. To search for the text, write it in quotes`,
      );
  }
}
