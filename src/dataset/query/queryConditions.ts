import type { InstanceEntry } from '../../domain/instance';
import { goldenOf, statusWords, type InstanceStatus } from '../../domain/status';
import {
  descriptionQualities,
  isLiteS,
  locationsGiven,
  solutionsInDescription,
  type TriageEntry,
} from '../../domain/triage';
import type { UnsoundReason } from '../../domain/validation';
import { createdTime } from '../rows/dates';

/** The data that a filter tests. */
export interface QueryItem {
  readonly entry: InstanceEntry;
  readonly status: InstanceStatus;
  /** Absent if the person has not judged the instance. */
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
export const reasonWords = {
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
export type Dimension = keyof typeof dimensions;

export const isWords = {
  'lite-s': (triage: TriageEntry) => isLiteS(triage),
  triaged: () => true,
} as const satisfies Record<string, (triage: TriageEntry) => boolean>;
type IsWord = keyof typeof isWords;

/** Conditions that look at the status. */
export const statusKinds: ReadonlySet<QueryCondition['kind']> = new Set(['status', 'reason']);

/** Conditions that look at tags, notes or the classification. */
export const triageKinds: ReadonlySet<QueryCondition['kind']> = new Set([
  'tag',
  'note',
  'any',
  'classification',
  'is',
]);

export function holds(condition: QueryCondition, item: QueryItem): boolean {
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
    // A person cannot type the separator, so no phrase matches across fields.
    text = [entry.id, entry.repo, entry.issue].join('\u0000').toLowerCase();
    texts.set(entry, text);
  }
  return text;
}
