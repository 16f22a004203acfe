import type { Definition } from '../python/definitions';
import type { PythonModule } from '../python/module';
import type { CustomBlock } from './custom';
import type { CustomFile } from './customFile';

/**
 * A name that no definition has is taken for a closest one only if it is near in both senses: at least so
 * much of the name is the same (1 less the share of letters to change, digits the same, without `test_`),
 * and the definition lies at most so many lines from the place.
 */
export const closestName = { likeness: 0.75, lines: 10 } as const;

/** The line of R that a place stands for. */
export function placeLine(file: CustomFile, place: CustomBlock['place']): number {
  if (place === 'BOF') return 1;
  if (place === 'EOF') return file.lines.length;
  return typeof place === 'number' ? place : place.from;
}

/** How many lines a definition lies from a line; 0 when it holds it. */
function distance({ range }: Definition, line: number): number {
  return Math.max(0, range.startLine - line, line - range.endLine);
}

/** Whether a function can only be a method: its first parameter says so. */
export function takesSelf(definition: Definition): boolean {
  return /^(self|cls)$/.test(definition.parameters[0] ?? '');
}

const isClass = (definition: Definition): boolean => definition.kind === 'class';

const byName = new WeakMap<PythonModule, Map<string, Definition[]>>();

/** The definitions of one name, in the order of the file. */
export function definitionsNamed(module: PythonModule, name: string): readonly Definition[] {
  let names = byName.get(module);
  if (names === undefined) {
    byName.set(module, (names = new Map<string, Definition[]>()));
    for (const definition of module.definitions) {
      const same = names.get(definition.name);
      if (same === undefined) names.set(definition.name, [definition]);
      else same.push(definition);
    }
  }
  return names.get(name) ?? [];
}

/** What tells definitions of one name in one class apart: `@x.setter`, `@overload`. */
function accessor({ name, decorators }: Definition): string {
  const own = decorators.find(
    (text) =>
      text.startsWith(`${name}.`) || /(^|\.)(property|overload|cached_property)$/.test(text),
  );
  return own === undefined ? '' : own.startsWith(`${name}.`) ? own : 'property';
}

/**
 * The function or class of the file that a block means: by name and sort, of those that are not local,
 * that are methods if it is one, and that have its accessor; then nearest to its line.
 *
 * @param indented whether the block writes it below another indentation, as a method
 */
export function findTarget(
  file: CustomFile,
  block: CustomBlock,
  wanted: Definition,
  indented: boolean,
): { best: Definition; others: Definition[] } | undefined {
  const narrow = (all: Definition[], keep: (d: Definition) => boolean): Definition[] => {
    const kept = all.filter(keep);
    return kept.length > 0 ? kept : all;
  };
  let found = definitionsNamed(file.module, wanted.name).filter(
    (d) => isClass(d) === isClass(wanted),
  );
  found = narrow(found, (d) => !d.local);
  found = narrow(found, (d) => takesSelf(d) === takesSelf(wanted));
  found = narrow(found, (d) => accessor(d) === accessor(wanted));
  const inClass = indented || takesSelf(wanted) || isStatic(wanted);
  if (isClass(wanted) || inClass)
    found = narrow(found, (d) => (d.parent !== undefined) === inClass);
  const line = placeLine(file, block.place);
  const [best, ...others] = [...found].sort((a, b) => distance(a, line) - distance(b, line));
  return best === undefined ? undefined : { best, others };
}

/** Whether a decorator says that a function belongs to a class. */
export function isStatic(definition: Definition): boolean {
  return definition.decorators.some((text) => /^(static|class)method\b/.test(text));
}

/** The one definition whose name is closest to that of a block and near its line, if there is one. */
export function findClosest(
  file: CustomFile,
  block: CustomBlock,
  wanted: Definition,
): Definition | undefined {
  const line = placeLine(file, block.place);
  const near = file.module.definitions
    .filter((d) => !d.local && !file.named.has(d) && isClass(d) === isClass(wanted))
    .filter((d) => takesSelf(d) === takesSelf(wanted))
    .map((d) => ({ d, like: likeness(bareName(d.name), bareName(wanted.name)) }))
    .filter(({ d, like }) => like >= closestName.likeness && digits(d.name) === digits(wanted.name))
    .filter(({ d }) => distance(d, line) <= closestName.lines)
    .sort((a, b) => b.like - a.like || distance(a.d, line) - distance(b.d, line));
  const [best, second] = near;
  const sure =
    best !== undefined &&
    (second === undefined ||
      best.like > second.like ||
      distance(best.d, line) < distance(second.d, line));
  return sure ? best.d : undefined;
}

const bareName = (name: string): string => name.replace(/^(test_?|Test)(?=.)/, '');
const digits = (name: string): string => name.replace(/\D+/g, ' ').trim();

/** Up to three definitions with names much like one, the likest first. */
export function nearestNames(file: CustomFile, name: string): Definition[] {
  return file.module.definitions
    .map((d) => ({ d, like: likeness(d.name, name) }))
    .filter(({ like }) => like >= 0.5)
    .sort((a, b) => b.like - a.like)
    .slice(0, 3)
    .map(({ d }) => d);
}

/**
 * Up to three paths that one may have been meant for, the likeliest first: that end with it or that it
 * ends with, that have its file name, or one much like it.
 */
export function nearestPaths(paths: readonly string[], wanted: string): string[] {
  const name = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  const clean = wanted.replace(/^[~/\\]+/, '').replaceAll('\\', '/');
  const parts = clean.split('/');
  const score = (path: string): number => {
    if (path === clean) return 5;
    if (path.endsWith(`/${clean}`) || clean.endsWith(`/${path}`)) return 4;
    if (name(path) === name(clean)) {
      return 2 + path.split('/').filter((part) => parts.includes(part)).length / 100;
    }
    if (Math.abs(path.length - clean.length) > clean.length / 3) return 0;
    if (path[0] !== clean[0] && name(path)[0] !== name(clean)[0]) return 0;
    const like = likeness(path, clean);
    return like >= 0.75 ? like : 0;
  };
  return paths
    .map((path) => ({ path, value: score(path) }))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value || (a.path < b.path ? -1 : 1))
    .slice(0, 3)
    .map(({ path }) => path);
}

/** 1 for equal names, 0 for names that share no letter in its place. */
function likeness(a: string, b: string): number {
  return 1 - editDistance(a, b) / Math.max(a.length, b.length, 1);
}

/** Letters to add, leave out or change (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
