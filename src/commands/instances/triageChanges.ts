import { dimensions } from '../../dataset/query';
import { checkedTag } from '../../dataset/triageFile';
import { HumanError } from '../../domain/work';
import type { Classification, LocationInformation, TriageEntry } from '../../domain/soundness';

/** The changes to an entry from the command line. */
export interface TriageChanges {
  tag?: string[];
  untag?: string[];
  /** Empty to remove the note. */
  note?: string;
  /** A category, or `unjudged` to remove it. */
  description?: string;
  solution?: string;
  /** `CATEGORY` for all three granularities, or `line=CATEGORY`, `function=…`, `file=…`. */
  location?: string[];
}

/**
 * The change that the options describe; undefined when they describe none.
 *
 * @throws HumanError naming a tag or a category that cannot be used
 */
export function changeOf(
  changes: TriageChanges,
): ((entry: TriageEntry) => TriageEntry) | undefined {
  const { note } = changes;
  const added = (changes.tag ?? []).map(checkedTag);
  const removed = new Set((changes.untag ?? []).map((tag) => tag.trim()));
  const description = judgement('description', changes.description);
  const solution = judgement('solution', changes.solution);
  const places = (changes.location ?? []).map(placeOf);
  const given = [note, changes.description, changes.solution].some((each) => each !== undefined);
  if (!given && added.length === 0 && removed.size === 0 && places.length === 0) return undefined;

  return (entry) => {
    const { description: oldDescription, solution: oldSolution, location } = entry.classification;
    const classification: Classification = {
      ...pick('description', description === undefined ? oldDescription : description.category),
      ...pick('solution', solution === undefined ? oldSolution : solution.category),
      location: places.reduce((before, place) => place(before), location ?? {}),
    };
    return {
      tags: [...entry.tags.filter((tag) => !removed.has(tag)), ...added],
      note: note ?? entry.note,
      classification,
    };
  };
}

/** An object with the field, or an empty one where the field has no value. */
const pick = <Key extends string, Value>(key: Key, value: Value | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [each in Key]?: Value };

/**
 * The judgement in an option: a category, or no category for `unjudged`; undefined when the option
 * is absent.
 */
function judgement<Dimension extends keyof typeof dimensions>(
  dimension: Dimension,
  word: string | undefined,
): { readonly category: keyof (typeof dimensions)[Dimension] | undefined } | undefined {
  if (word === undefined) return undefined;
  if (word === 'unjudged') return { category: undefined };
  const keys = Object.keys(dimensions[dimension]) as (keyof (typeof dimensions)[Dimension])[];
  const category = keys.find((key) => key === word);
  if (category !== undefined) return { category };
  throw new HumanError(
    `"${word}" is not a category of --${dimension}`,
    `Use ${keys.join(', ')}, or unjudged to remove the category` +
      (dimension === 'location' ? '; prefix line=, function= or file= to set one of them' : ''),
  );
}

function placeOf(text: string): (before: LocationInformation) => LocationInformation {
  const granular = (['line', 'function', 'file'] as const).filter((each) =>
    text.startsWith(`${each}=`),
  );
  const [only] = granular;
  const said = judgement('location', only === undefined ? text : text.slice(only.length + 1));
  const category = said?.category;
  return (before) => {
    const { line, function: ofFunction, file } = before;
    const at = (each: keyof LocationInformation, old: typeof line): typeof line =>
      only === undefined || only === each ? category : old;
    return {
      ...pick('line', at('line', line)),
      ...pick('function', at('function', ofFunction)),
      ...pick('file', at('file', file)),
    };
  };
}
