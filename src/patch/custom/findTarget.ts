import type { Definition } from '../../python/definitions';
import type { PythonModule } from '../../python/module';
import type { PartedModule } from '../../python/partedModule';
import type { CustomBlock } from './parseCustom';
import type { CustomFile, NameSearch } from './customFile';
import { squeezedSimilarity } from '../fuzzy/treeLines';

/**
 * Limits for taking a name that no definition has for the closest existing one. `likeness` is 1
 * less the share of letters to change, without `test_`; digits must be the same. `lines` is the
 * greatest distance of the definition from the place.
 */
export const closestName = { likeness: 0.75, lines: 10 } as const;

/** The line of R that a place means. */
export function placeLine(file: CustomFile, place: CustomBlock['place']): number {
  if (place === 'BOF') return 1;
  if (place === 'EOF') return file.lines.length;
  return typeof place === 'number' ? place : place.from;
}

/** Number of lines between a definition and a line; 0 if the definition contains it. */
function distance({ range }: Definition, line: number): number {
  return Math.max(0, range.startLine - line, line - range.endLine);
}

/** Whether the first parameter shows that a function is a method. */
export function takesSelf(definition: Definition): boolean {
  return /^(self|cls)$/.test(definition.parameters[0] ?? '');
}

const isClass = (definition: Definition): boolean => definition.kind === 'class';

const byParent = new WeakMap<PythonModule, Map<Definition, Definition[]>>();

/** The direct members of a class or function, in the order of the file. */
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

/** What distinguishes definitions of one name in one class: `@x.setter`, `@overload`. */
export function accessor({ name, decorators }: Definition): string {
  const own = decorators.find(
    (text) =>
      text.startsWith(`${name}.`) || /(^|\.)(property|overload|cached_property)$/.test(text),
  );
  return own === undefined ? '' : own.startsWith(`${name}.`) ? own : 'property';
}

/** The definitions of a file that a definition of a block may mean. */
interface Targets {
  /** Number of such definitions. */
  readonly count: number;
  /** Those nearest to the line of the block, the nearest first, at most as many as requested. */
  readonly nearest: readonly [Definition, ...Definition[]];
  /** Equal for equal sets of definitions. */
  readonly key: string;
}

/**
 * The functions or classes of the file that a definition of a block can mean, nearest to its line
 * first. They have the same name and sort. Where possible they are also not local, methods if it is
 * one, and have the same accessor.
 *
 * @param indented whether the block indents the definition, as a method
 * @param most how many of the nearest to return
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

/**
 * Cached, since a file can have thousands of definitions of one name, and a patch as many blocks.
 */
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

/**
 * The definitions nearest to a line, the nearest first. Among equally near ones, the upper comes
 * first.
 */
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

/** The definitions that pass `keep`, or all if none does. */
function narrow(all: Definition[], keep: (d: Definition) => boolean): Definition[] {
  const kept = all.filter(keep);
  return kept.length > 0 ? kept : all;
}

/** Whether a decorator shows that a function belongs to a class. */
export function isStatic(definition: Definition): boolean {
  return definition.decorators.some((text) => /^(static|class)method\b/.test(text));
}

/**
 * The one definition near the line of a block whose name is closest; undefined if there is none.
 */
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

/** The most names that are compared to find those that the blocks of one file may mean. */
export const mostCompared = 100_000;

export const nameSearch = (): NameSearch => ({ left: mostCompared, found: new Map() });

/**
 * Up to three definitions with similar names, the most similar first. None once too many names have
 * been compared for the file.
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

/** The distinct names of a module's definitions. */
function namesOf(module: PartedModule): ReadonlySet<string> {
  let known = namesIn.get(module);
  if (known === undefined) {
    known = new Set(module.definitions.map(({ name }) => name));
    namesIn.set(module, known);
  }
  return known;
}

/**
 * Up to three paths that a wrong path may mean, the likeliest first. Candidates end with the wrong
 * path or are its end, have its file name, or have a similar path.
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
    // Only a path at least as similar as the third one so far can be among the three.
    const value = score(path, Math.max(0.75, best[2]?.value ?? 0));
    if (value === 0) continue;
    best.push({ path, value });
    best.sort((a, b) => b.value - a.value || (a.path < b.path ? -1 : 1));
    best.length = Math.min(best.length, 3);
  }
  return best.map(({ path }) => path);
}

/**
 * Similarity of two names: 1 for equal names, less for names with fewer common letters. Returns 0
 * quickly if it is below `least`.
 */
function likeness(a: string, b: string, least: number): number {
  if (least > 1) return 0;
  const longest = Math.max(a.length, b.length, 1);
  // Round to whole letters, against errors of floating point.
  const most = Math.floor((1 - least) * longest + 1e-9);
  if (Math.abs(a.length - b.length) > most || lettersApart(a, b) > most) return 0;
  const like = squeezedSimilarity(a, b, least - 1e-9);
  return Math.round((1 - like) * longest) > most ? 0 : like;
}

/**
 * How many letters of one text the other lacks, in any order. This is never more than the edit
 * distance.
 */
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
