import type { PythonTest } from './tests';

/**
 * Finds tests that were only renamed since their texts were stored. They are in the same class or
 * file, and differ in nothing but the name. Ambiguous matches are left out.
 *
 * @param now the present tests of the files
 * @param before the stored texts by test id
 * @returns present id to earlier id
 */
export function renamedTests(
  now: readonly Pick<PythonTest, 'id' | 'name' | 'text'>[],
  before: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const there = new Set(now.map((test) => test.id));
  const fresh = now.filter((test) => !before.has(test.id));
  if (fresh.length === 0) return new Map();
  const gone = new Map<string, string | undefined>();
  for (const [id, text] of before) {
    if (there.has(id)) continue;
    const key = keyOf(id, text);
    gone.set(key, gone.has(key) ? undefined : id);
  }
  const found = new Map<string, string>();
  const taken = new Map<string, string>();
  for (const { id, text } of fresh) {
    const was = gone.get(keyOf(id, text));
    if (was === undefined) continue;
    const other = taken.get(was);
    if (other !== undefined) found.delete(other);
    else found.set(id, was);
    taken.set(was, id);
  }
  return found;
}

/**
 * Finds tests of an earlier version that a later one only renames, or moves to another class or
 * file. Where several have the same code, those with the same name belong together.
 *
 * @param added tests that only the later version has
 * @param removed tests that only the earlier version has
 * @returns later id by earlier id
 */
export function movedTests(
  added: readonly PythonTest[],
  removed: readonly PythonTest[],
): ReadonlyMap<string, string> {
  const places = new Map<string, PythonTest[]>();
  for (const test of added) {
    const code = codeOf(test.name, test.text);
    places.set(code, [...(places.get(code) ?? []), test]);
  }
  const moved = new Map<string, string>();
  for (const sameName of [true, false]) {
    for (const { id, name, text } of removed) {
      if (moved.has(id)) continue;
      const free = places.get(codeOf(name, text)) ?? [];
      const at = free.findIndex((test) => !sameName || test.name === name);
      const [test] = at < 0 ? [] : free.splice(at, 1);
      if (test !== undefined) moved.set(id, test.id);
    }
  }
  return moved;
}

/** The class or file of a test, and its text without its name. */
function keyOf(id: string, text: string): string {
  const end = id.lastIndexOf('::');
  return `${id.slice(0, end)}\0${codeOf(id.slice(end + 2), text)}`;
}

/** The text of a test without its name. */
const codeOf = (name: string, text: string): string =>
  text.replace(new RegExp(`(\\bdef\\s+)${escaped(name)}(?=\\s*[(\\[])`), '$1_');

const escaped = (name: string): string => name.replace(/[$]/g, '\\$&');
