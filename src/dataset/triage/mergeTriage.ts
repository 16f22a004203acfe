import { format, parseTriage, writtenForm, type Fields, type TriageFile } from './triageFile';

/** A field with different values in two files, of which only one can be kept. */
export interface TriageConflict {
  /** Id of the instance; empty for a field of the file itself. */
  readonly id: string;
  /** Such as `classification solution`. */
  readonly field: string;
  /** As JSON. The merge keeps this value. */
  readonly ours: string;
  readonly theirs: string;
}

/**
 * Merges two files. It keeps all tags, both notes, and each dimension of the classification from
 * the file that has it. If both judge a dimension differently, it keeps ours and reports a
 * conflict. Anything that one side removed and the other still has comes back.
 */
export function mergeTriage(
  ours: TriageFile,
  theirs: TriageFile,
): { file: TriageFile; conflicts: TriageConflict[] } {
  const conflicts: TriageConflict[] = [];
  const mergeOf = (id: string, our: Fields, their: Fields): Fields =>
    mergeFields(our, their, (field, a, b) =>
      conflicts.push({ id, field, ours: JSON.stringify(a), theirs: JSON.stringify(b) }),
    );
  const { instances: ourInstances, ...ourFields } = writtenForm(ours);
  const { instances: theirInstances, ...theirFields } = writtenForm(theirs);
  const instances = new Map(Object.entries(ourInstances));
  for (const [id, their] of Object.entries(theirInstances)) {
    instances.set(id, mergeOf(id, instances.get(id) ?? {}, their));
  }
  const merged = {
    ...mergeOf('', ourFields, theirFields),
    format,
    instances: Object.fromEntries(instances),
  };
  // Parse the result like any file, so that it passes every check.
  return { file: parseTriage(JSON.stringify(merged), '(merged)'), conflicts };
}

type Conflict = (field: string, ours: unknown, theirs: unknown) => void;

/** All fields of both; ours if both have one and the values cannot be combined. */
function mergeFields(ours: Fields, theirs: Fields, conflict: Conflict): Fields {
  const merged = new Map(Object.entries(ours));
  for (const [key, their] of Object.entries(theirs)) {
    const our = merged.get(key);
    if (our === undefined) {
      merged.set(key, their);
    } else if (key === 'note' && typeof our === 'string' && typeof their === 'string') {
      merged.set(key, mergeNotes(our, their));
    } else if (key === 'tags' && isList(our) && isList(their)) {
      merged.set(key, [...new Set([...our, ...their])]);
    } else if (isFields(our) && isFields(their)) {
      merged.set(
        key,
        mergeFields(our, their, (field, a, b) => conflict(`${key} ${field}`, a, b)),
      );
    } else if (JSON.stringify(our) !== JSON.stringify(their)) {
      conflict(key, our, their);
    }
  }
  return Object.fromEntries(merged);
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Both notes, or only the longer one if it contains the other. */
function mergeNotes(ours: string, theirs: string): string {
  const holds = (all: string, part: string): boolean => `\n${all}\n`.includes(`\n${part}\n`);
  if (holds(ours, theirs)) return ours;
  return holds(theirs, ours) ? theirs : `${ours}\n${theirs}`;
}
