import { z } from 'zod';
import { parseForeignJson } from '../files/json';
import { checkedId, isInstanceId } from '../domain/instance';
import { HumanError, messageOf } from '../domain/work';
import {
  descriptionQualities,
  locationsGiven,
  solutionsInDescription,
  type Classification,
  type LocationInformation,
  type TriageEntry,
} from '../domain/soundness';

/**
 * One person's judgements, one entry for each instance. The text is JSON that can be committed and
 * merged: `{"format": 1, "instances": {"<id>": {"tags": […], "note": "…", "classification":
 * {…}}}}`. Ids and tags are sorted, keys have a fixed order, and each value is on its own line.
 */
export interface TriageFile {
  /** In the order of the ids. */
  readonly instances: ReadonlyMap<string, TriageEntry>;
  /** Fields of a later version, of the file and of entries by id. They are kept as they are. */
  readonly further: { readonly file: Fields; readonly entries: ReadonlyMap<string, Fields> };
}

export type Fields = Readonly<Record<string, unknown>>;

export const emptyTriage: TriageFile = {
  instances: new Map(),
  further: { file: {}, entries: new Map() },
};

/**
 * Increases when older versions would misread the file. Fields that they can ignore do not increase
 * it.
 */
export const format = 1;

/** What is wrong with a tag; undefined if it is valid. Lists separate tags by commas. */
function tagProblem(tag: string): string | undefined {
  if (tag.trim() === '') return 'is empty';
  if (tag.includes(',')) return 'contains a comma';
  if (/\p{Cc}|\p{Zl}|\p{Zp}/u.test(tag.trim())) return 'contains a control character';
  return [...tag.trim()].length > 60 ? 'is longer than 60 characters' : undefined;
}

/**
 * A valid tag, without spaces around it.
 *
 * @throws HumanError if it is empty, or has commas, control characters or more than 60 characters
 */
export function checkedTag(tag: string): string {
  const problem = tagProblem(tag);
  if (problem === undefined) return tag.trim();
  throw new HumanError(
    `The tag ${JSON.stringify(tag.slice(0, 80))} ${problem}`,
    'Use at most 60 characters and no commas',
  );
}

const category = <Table extends object>(table: Table) => {
  const keys = Object.keys(table) as (keyof Table & string)[];
  return z.enum(keys, {
    error: (issue) => `${JSON.stringify(issue.input)} is none of ${keys.join(', ')}`,
  });
};

const granularity = category(locationsGiven).optional();
const entrySchema = z.looseObject(
  {
    tags: z
      .array(
        z.string('is not a text').superRefine((tag, context) => {
          const problem = tagProblem(tag);
          if (problem !== undefined) context.addIssue(problem);
        }),
        'is not a list of texts',
      )
      .optional(),
    note: z.string('is not a text').optional(),
    classification: z
      .looseObject(
        {
          description: category(descriptionQualities).optional(),
          solution: category(solutionsInDescription).optional(),
          location: z
            .looseObject(
              { line: granularity, function: granularity, file: granularity },
              'is not an object',
            )
            .optional(),
        },
        'is not an object',
      )
      .optional(),
  },
  'is not an object',
);

const fileSchema = z.looseObject(
  {
    format: z.number('format is not a number'),
    instances: z.record(z.string(), z.unknown(), 'instances is not an object'),
  },
  'it is not a JSON object',
);

const conflictMarker = /^(<{7}|>{7})( |$)/m;

/**
 * Whether a text is meant as a triage file, even if damaged, and not as a list of ids or a dataset.
 */
export function isTriageFile(text: string): boolean {
  try {
    return fileSchema.safeParse(parseForeignJson(text.replace(/^\uFEFF/, ''))).success;
  } catch {
    return conflictMarker.test(text) && /^\s*\{/.test(text) && /"instances"\s*:/.test(text);
  }
}

/**
 * Reads the text of a triage file.
 *
 * @param path names the file in messages
 * @throws HumanError naming the invalid ids and fields
 */
export function parseTriage(raw: string, path: string): TriageFile {
  const text = raw.replace(/^\uFEFF/, '');
  if (conflictMarker.test(text)) {
    const line = text.slice(0, text.search(conflictMarker)).split('\n').length;
    throw new HumanError(
      `The triage file ${path} has an unresolved git conflict in line ${line}`,
      'Check out one side (`git checkout --ours` or `--theirs`), save the other side to a ' +
        'file (`git show :3:PATH` or `:2:PATH`), and run `swt-bench triage --triage FILE --merge OTHER`',
    );
  }
  const refuse = (problems: readonly string[]): never => {
    const more = problems.length > 3 ? ` (and ${problems.length - 3} more)` : '';
    throw new HumanError(
      `The triage file ${path} is invalid: ${problems.slice(0, 3).join('; ')}${more}`,
      'Fix it, or restore its last version',
    );
  };
  let value: unknown;
  try {
    value = parseForeignJson(text);
  } catch (error) {
    return refuse([`it is not JSON (${messageOf(error)})`]);
  }
  const file = fileSchema.safeParse(value);
  if (!file.success) return refuse([file.error.issues[0]?.message ?? '']);
  const { format: written, instances: found, ...further } = file.data;
  if (written !== format) {
    throw new HumanError(
      `The triage file ${path} has format ${written}, but this version reads format ${format}`,
      'Update SWT-Bench, or use another file',
    );
  }
  const problems = repeatedIds(text).map((id) => `${id} appears twice`);
  const instances = new Map<string, TriageEntry>();
  const entries = new Map<string, Fields>();
  for (const [id, each] of Object.entries(found)) {
    const entry = entrySchema.safeParse(each);
    if (!isInstanceId(id)) {
      problems.push(`${JSON.stringify(id.slice(0, 80))} is not a valid instance ID`);
    } else if (entry.success) {
      instances.set(id, entryOf(entry.data));
      entries.set(id, furtherOf(entry.data));
    } else {
      for (const { path: at, message } of entry.error.issues) {
        problems.push(`${[id, ...at.map(String)].join(' ')}: ${message}`);
      }
    }
  }
  if (problems.length > 0) refuse(problems);
  return tidy({ instances, further: { file: further, entries } });
}

/**
 * Ids that occur twice in `instances`, and fields that occur twice in an entry, as after a conflict
 * that was resolved by keeping both sides. JSON.parse would keep the last one and lose the other.
 */
function repeatedIds(json: string): string[] {
  const path: string[] = [];
  /** The keys of each open object. */
  const seen: Set<string>[] = [];
  const repeated: string[] = [];
  for (const { 0: token, 1: string, 2: colon } of json.matchAll(
    /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g,
  )) {
    if (token === '{' || token === '[') {
      path.push('');
      seen.push(new Set());
    } else if (token === '}' || token === ']') {
      path.pop();
      seen.pop();
    } else if (string !== undefined && colon !== undefined) {
      const key = String(JSON.parse(string));
      path[path.length - 1] = key;
      const keys = seen.at(-1);
      if (path[0] === 'instances' && keys?.has(key) === true) {
        repeated.push(path.length === 1 ? key : path.slice(1).join(' '));
      }
      keys?.add(key);
    }
  }
  return repeated;
}

type WrittenEntry = z.infer<typeof entrySchema>;

function entryOf({ tags = [], note = '', classification = {} }: WrittenEntry): TriageEntry {
  const { description, solution, location } = classification;
  return {
    tags,
    note,
    classification: {
      ...(description === undefined ? {} : { description }),
      ...(solution === undefined ? {} : { solution }),
      ...(location === undefined ? {} : { location: locationOf(location) }),
    },
  };
}

function locationOf(location: {
  readonly [at in keyof LocationInformation]?: LocationInformation[at] | undefined;
}): LocationInformation {
  const { line, function: ofFunction, file } = location;
  return {
    ...(line === undefined ? {} : { line }),
    ...(ofFunction === undefined ? {} : { function: ofFunction }),
    ...(file === undefined ? {} : { file }),
  };
}

/** The fields of an entry that this version does not know, at their places. */
function furtherOf(entry: WrittenEntry): Fields {
  const { classification = {} } = entry;
  const location = without(classification.location ?? {}, ['line', 'function', 'file']);
  const dimensions = {
    ...without(classification, ['description', 'solution', 'location']),
    ...(Object.keys(location).length === 0 ? {} : { location }),
  };
  return {
    ...without(entry, ['tags', 'note', 'classification']),
    ...(Object.keys(dimensions).length === 0 ? {} : { classification: dimensions }),
  };
}

const without = (fields: object, keys: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));

const fieldsIn = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** Sorts a file and removes empty entries. @throws HumanError if an id or a tag is not valid */
export function tidy({ instances, further }: TriageFile): TriageFile {
  const inOrder = <Value>(map: ReadonlyMap<string, Value>): [string, Value][] =>
    [...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const entries = new Map(
    inOrder(further.entries).filter(([, each]) => Object.keys(each).length > 0),
  );
  const sayingSomething = inOrder(instances)
    .map(([id, entry]) => [checkedId(id), tidyEntry(entry)] as const)
    .filter(([id, entry]) => entries.has(id) || !isEmpty(entry));
  return { instances: new Map(sayingSomething), further: { file: further.file, entries } };
}

/** Whether an entry contains no judgement. */
export const isEmpty = ({ tags, note, classification }: TriageEntry): boolean =>
  tags.length === 0 && note === '' && Object.keys(classification).length === 0;

function tidyEntry({ tags, note, classification }: TriageEntry): TriageEntry {
  const { location, ...others } = classification;
  const placed = location === undefined ? {} : locationOf(location);
  return {
    tags: [...new Set(tags.map(checkedTag))].sort(),
    note: note.replace(/\r\n?/g, '\n').trim(),
    classification: {
      ...entryOf({ classification: others }).classification,
      ...(Object.keys(placed).length === 0 ? {} : { location: placed }),
    },
  };
}

/** The text of a triage file; equal files have equal texts. @throws HumanError like `tidy` */
export function printTriage(file: TriageFile): string {
  const { instances, ...further } = writtenForm(tidy(file));
  return `${JSON.stringify({ format, instances, ...further }, null, 2)}\n`;
}

/** The content of the file without the number of the format. */
export function writtenForm({ instances, further }: TriageFile): {
  readonly instances: Readonly<Record<string, Fields>>;
} & Fields {
  return {
    instances: Object.fromEntries(
      [...instances].map(([id, entry]) => [id, printable(entry, further.entries.get(id) ?? {})]),
    ),
    ...further.file,
  };
}

function printable({ tags, note, classification }: TriageEntry, further: Fields): Fields {
  const { classification: unknown, ...rest } = further;
  const dimensions = fieldsIn(unknown);
  const merged: Classification & Fields = {
    ...classification,
    ...dimensions,
    ...(classification.location === undefined && dimensions['location'] === undefined
      ? {}
      : { location: { ...classification.location, ...fieldsIn(dimensions['location']) } }),
  };
  return {
    ...(tags.length === 0 ? {} : { tags }),
    ...(note === '' ? {} : { note }),
    ...(Object.keys(merged).length === 0 ? {} : { classification: merged }),
    ...rest,
  };
}
