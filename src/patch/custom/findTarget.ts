import type { Definition } from '../../python/definitions';
import type { PythonModule } from '../../python/module';
import type { PartedModule } from '../../python/partedModule';
import type { CustomBlock } from './parseCustom';
import type { CustomFile, NameSearch } from './customFile';
import { squeezedSimilarity } from '../fuzzy/treeLines';

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

const byParent = new WeakMap<PythonModule, Map<Definition, Definition[]>>();

/** What a class or function itself defines, in the order of the file. */
export function membersOf(module: PythonModule, definition: Definition): readonly Definition[] {
  let members = byParent.get(module);
  if (members === undefined) {
    byParent.set(module, (members = new Map<Definition, Definition[]>()));
    for (const each of module.definitions) {
      if (each.parent === undefined) continue;
      const same = members.get(each.parent);
      if (same === undefined) members.set(each.parent, [each]);
      else same.push(each);
    }
  }
  return members.get(definition) ?? [];
}

/** What tells definitions of one name in one class apart: `@x.setter`, `@overload`. */
export function accessor({ name, decorators }: Definition): string {
  const own = decorators.find(
    (text) =>
      text.startsWith(`${name}.`) || /(^|\.)(property|overload|cached_property)$/.test(text),
  );
  return own === undefined ? '' : own.startsWith(`${name}.`) ? own : 'property';
}

/** The definitions of a file that one of a block may stand for. */
interface Targets {
  /** How many there are. */
  readonly count: number;
  /** Those nearest to the line of the block, the nearest first; as many as are asked for. */
  readonly nearest: readonly [Definition, ...Definition[]];
  /** Tells them from others. */
  readonly key: string;
}

/**
 * The functions or classes of the file that a block can mean: by name and sort, of those that are not
 * local, that are methods if it is one, and that have its accessor; then nearest to its line.
 *
 * @param indented whether the block writes it below another indentation, as a method
 * @param most how many of the nearest are wanted
 */
export function findTarget(
  file: CustomFile,
  block: CustomBlock,
  wanted: Definition,
  indented: boolean,
  most = 1,
): Targets | undefined {
  const { all, key } = candidates(file.module, wanted, indented);
  const [first] = all;
  if (first === undefined) return undefined;
  const [best = first, ...others] = nearestTo(all, placeLine(file, block.place), most);
  return { count: all.length, nearest: [best, ...others], key };
}

interface Candidates {
  readonly all: readonly Definition[];
  readonly key: string;
}

/** Kept, since a file can have thousands of definitions of one name, and a patch as many blocks. */
const candidatesIn = new WeakMap<PartedModule, Map<string, Candidates>>();

function candidates(module: PartedModule, wanted: Definition, indented: boolean): Candidates {
  const inClass = indented || takesSelf(wanted) || isStatic(wanted);
  const { name } = wanted;
  const sort = [name, isClass(wanted), takesSelf(wanted), accessor(wanted), inClass].join('\n');
  let known = candidatesIn.get(module);
  if (known === undefined) candidatesIn.set(module, (known = new Map<string, Candidates>()));
  let result = known.get(sort);
  if (result === undefined) {
    let all = module.named(name).filter((d) => isClass(d) === isClass(wanted));
    if (all.length > 1) {
      all = narrow(all, (d) => !d.local);
      all = narrow(all, (d) => takesSelf(d) === takesSelf(wanted));
      all = narrow(all, (d) => accessor(d) === accessor(wanted));
      if (isClass(wanted) || inClass)
        all = narrow(all, (d) => (d.parent !== undefined) === inClass);
    }
    known.set(sort, (result = { all, key: all.map((d) => d.range.start).join(' ') }));
  }
  return result;
}

/** The definitions that are nearest to a line, the nearest first, of equal ones the upper. */
function nearestTo(all: readonly Definition[], line: number, most: number): Definition[] {
  if (all.length <= most) return [...all].sort((a, b) => distance(a, line) - distance(b, line));
  const near: { d: Definition; away: number }[] = [];
  for (const d of all) {
    const away = distance(d, line);
    if (near.length === most && away >= (near.at(-1)?.away ?? 0)) continue;
    const at = near.findLastIndex((each) => each.away <= away) + 1;
    near.splice(at, 0, { d, away });
    near.length = Math.min(near.length, most);
  }
  return near.map(({ d }) => d);
}

/** Those that are kept, or all if that is none. */
function narrow(all: Definition[], keep: (d: Definition) => boolean): Definition[] {
  const kept = all.filter(keep);
  return kept.length > 0 ? kept : all;
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
    .filter((d) => distance(d, line) <= closestName.lines)
    .filter((d) => !d.local && !file.named().has(d) && isClass(d) === isClass(wanted))
    .filter((d) => takesSelf(d) === takesSelf(wanted))
    .map((d) => ({
      d,
      like: likeness(bareName(d.name), bareName(wanted.name), closestName.likeness),
    }))
    .filter(({ d, like }) => like > 0 && digits(d.name) === digits(wanted.name))
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

/** So many names are compared at most to find those that the blocks about one file may mean. */
export const mostCompared = 100_000;

export const nameSearch = (): NameSearch => ({ left: mostCompared, found: new Map() });

/**
 * Up to three definitions with names much like one, the likest first; none once too many names have been
 * compared for the file.
 */
export function nearestNames(file: CustomFile, name: string): readonly Definition[] {
  const { names } = file;
  let near = names.found.get(name);
  if (near !== undefined) return near;
  const { definitions } = file.module;
  const known = namesOf(file.module);
  if (known.size > names.left) return [];
  names.left -= known.size;
  const like = new Map<string, number>();
  for (const other of known) {
    const value = likeness(other, name, 0.5);
    if (value > 0) like.set(other, value);
  }
  near =
    like.size === 0
      ? []
      : definitions
          .filter((d) => like.has(d.name))
          .sort((a, b) => (like.get(b.name) ?? 0) - (like.get(a.name) ?? 0))
          .slice(0, 3);
  names.found.set(name, near);
  return near;
}

const namesIn = new WeakMap<PartedModule, ReadonlySet<string>>();

/** The different names of a module's definitions. */
function namesOf(module: PartedModule): ReadonlySet<string> {
  let known = namesIn.get(module);
  if (known === undefined) {
    known = new Set(module.definitions.map(({ name }) => name));
    namesIn.set(module, known);
  }
  return known;
}

/**
 * Up to three paths that one may have been meant for, the likeliest first: that end with it or that it
 * ends with, that have its file name, or one much like it.
 */
export function nearestPaths(paths: readonly string[], wanted: string): string[] {
  const name = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  const clean = wanted.replace(/^[~/\\]+/, '').replaceAll('\\', '/');
  const parts = clean.split('/');
  const score = (path: string, least: number): number => {
    if (path === clean) return 5;
    if (path.endsWith(`/${clean}`) || clean.endsWith(`/${path}`)) return 4;
    if (name(path) === name(clean)) {
      return 2 + path.split('/').filter((part) => parts.includes(part)).length / 100;
    }
    if (Math.abs(path.length - clean.length) > clean.length / 3) return 0;
    if (path[0] !== clean[0] && name(path)[0] !== name(clean)[0]) return 0;
    return likeness(path, clean, least);
  };
  const best: { path: string; value: number }[] = [];
  for (const path of paths) {
    // Only what is as like as the third one so far may come among the three.
    const value = score(path, Math.max(0.75, best[2]?.value ?? 0));
    if (value === 0) continue;
    best.push({ path, value });
    best.sort((a, b) => b.value - a.value || (a.path < b.path ? -1 : 1));
    best.length = Math.min(best.length, 3);
  }
  return best.map(({ path }) => path);
}

/**
 * 1 for equal names, less for names that share fewer letters, 0 for those that are not like each other by at
 * least `least`, which is told fast.
 */
function likeness(a: string, b: string, least: number): number {
  if (least > 1) return 0;
  const longest = Math.max(a.length, b.length, 1);
  // Whole letters, whatever is lost in computing with shares.
  const most = Math.floor((1 - least) * longest + 1e-9);
  if (Math.abs(a.length - b.length) > most || lettersApart(a, b) > most) return 0;
  const like = squeezedSimilarity(a, b, least - 1e-9);
  return Math.round((1 - like) * longest) > most ? 0 : like;
}

/** How many letters of one text are missing in the other, in any order: never more than the edit distance. */
function lettersApart(a: string, b: string): number {
  const counts = new Int16Array(128);
  const count = (text: string, by: number): void => {
    for (let i = 0; i < text.length; i += 1) {
      const letter = text.charCodeAt(i) & 127;
      counts[letter] = (counts[letter] ?? 0) + by;
    }
  };
  count(a, 1);
  count(b, -1);
  let [more, fewer] = [0, 0];
  for (const count of counts) {
    if (count > 0) more += count;
    else fewer -= count;
  }
  return Math.max(more, fewer);
}
