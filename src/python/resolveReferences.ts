import { moduleOutline, type ModuleOutline } from './outline';
import type { PythonParser } from './parser';
import type { PathReference, Reference } from './references';

/** The files of R. */
export interface ReferenceTree {
  /** `owner/name`, by which links to other repositories are recognised. */
  readonly repo: string;
  /** Paths relative to the tree, with `/`. */
  readonly files: readonly string[];
  /** Content of one of `files`; undefined if it cannot be read. */
  read(path: string): Promise<string | undefined>;
}

/** The place that a reference leads to. */
export interface ReferenceTarget {
  /** One of the files of the tree. */
  readonly path: string;
  /** 1-based; 1 when the reference is to the whole file. It may lie after the end of the file. */
  readonly line: number;
}

export type ResolveReference = (reference: Reference) => Promise<ReferenceTarget | undefined>;

/** Folders of packages that are imported without the folder's name. */
const sourceRoots = ['', 'src/', 'lib/'];
/** The most imports through which a name is followed. SymPy and Django need three. */
const maxSteps = 5;
/** The most files that are parsed for one text. A malicious text could name many. */
const maxFiles = 300;
const maxFileLength = 2_000_000;

/**
 * Makes the function that finds the place of a reference in a tree. The function caches what it
 * reads, so make a new one for another tree.
 *
 * It finds a path as it is, or by its end if only one file fits. A path longer than the file's path
 * belongs to an installed copy or another checkout. A shorter one was written relative to a folder.
 * It finds a dotted name through packages (also below `src/` and `lib/`), their imports, and base
 * classes. An attribute that nothing defines leads to its class.
 *
 * @param mostFiles the most files that are parsed
 */
export function referenceResolver(
  tree: ReferenceTree,
  python: PythonParser,
  mostFiles = maxFiles,
): ResolveReference {
  const places = new Map<string, Promise<ReferenceTarget | undefined>>();
  const paths = pathFinder(tree.files);
  const names = new NameFinder(tree, python, mostFiles);
  const repository = tree.repo.split('/').at(-1)?.toLowerCase();

  const resolve = async (reference: Reference): Promise<ReferenceTarget | undefined> => {
    if (reference.kind === 'dotted') return names.find(reference.name);
    if (reference.repository !== undefined && reference.repository.toLowerCase() !== repository) {
      return undefined;
    }
    const path = paths(reference);
    if (path === undefined) return undefined;
    const inFile =
      reference.name === undefined ? undefined : await names.inFile(path, reference.name);
    return { path, line: inFile?.line ?? reference.line ?? 1 };
  };

  return (reference) => {
    const key =
      reference.kind === 'dotted'
        ? reference.name
        : JSON.stringify([
            reference.path,
            reference.line,
            reference.name,
            reference.repository?.toLowerCase(),
          ]);
    const known = places.get(key) ?? resolve(reference);
    places.set(key, known);
    return known;
  };
}

/** The folder of installed packages. The path after it is the one that is imported. */
const installed = /^.*\/(?:site|dist)-packages\//s;

function pathFinder(files: readonly string[]): (reference: PathReference) => string | undefined {
  const exact = new Set(files);
  const byName = new Map<string, string[]>();
  for (const file of files) {
    const name = file.slice(file.lastIndexOf('/') + 1);
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [file]);
    else known.push(file);
  }

  return (reference) => {
    const written = reference.path.replace(/^\.\//, '');
    if (exact.has(written)) return written;
    const candidates = byName.get(written.slice(written.lastIndexOf('/') + 1)) ?? [];
    // A bare name is often a file of the reporter, such as test_foo.py or models.py.
    if (!written.includes('/')) return only(candidates.filter((file) => !isAside(file)));
    const path = written.replace(installed, '');
    const longest = (fits: readonly string[]): string | undefined => {
      const length = Math.max(0, ...fits.map((file) => imported(file).length));
      return only(fits.filter((file) => imported(file).length === length));
    };
    const within = longest(
      candidates.filter((file) => imported(file).includes('/') && isEndOf(imported(file), path)),
    );
    if (within !== undefined || /^(?:[/~]|\w:)/.test(written) || path !== written) return within;
    return only(candidates.filter((file) => isEndOf(path, file)));
  };
}

/** The path without the source folder, which imports do not name. */
const imported = (file: string): string => file.replace(/^(?:src|lib)\//, '');
const isEndOf = (end: string, path: string): boolean => path === end || path.endsWith(`/${end}`);
const only = (files: readonly string[]): string | undefined =>
  files.length === 1 ? files[0] : undefined;
/**
 * Whether a file is an example, a test or data, and so seldom what an issue means by its bare name.
 */
const isAside = (file: string): boolean =>
  /(?:^|\/)(?:tests?|testing|docs?|examples?|galleries|tutorials?|benchmarks?|_?templates?|\w+_template)\//.test(
    file,
  );

/** The lookups so far, which bound circular and numerous imports. */
interface Trail {
  readonly depth: number;
  /** Files with the names that were looked up in them. */
  readonly seen: Set<string>;
}

class NameFinder {
  private readonly outlines = new Map<string, Promise<ModuleOutline | undefined>>();
  private readonly files: ReadonlySet<string>;

  constructor(
    private readonly tree: ReferenceTree,
    private readonly python: PythonParser,
    private readonly mostFiles: number,
  ) {
    this.files = new Set(tree.files);
  }

  async find(name: string): Promise<ReferenceTarget | undefined> {
    const names = name.split('.');
    if (names.length > 12) return undefined;
    return this.absolute(names, { depth: 0, seen: new Set() });
  }

  /** The place of a name in a file: of a definition, or of something that the file imports. */
  async inFile(path: string, name: string): Promise<ReferenceTarget | undefined> {
    return this.inModule(path, name.split('.'), { depth: 0, seen: new Set() });
  }

  /** Resolves a name by its longest prefix that is a module. */
  private async absolute(
    names: readonly string[],
    trail: Trail,
  ): Promise<ReferenceTarget | undefined> {
    for (let length = names.length; length > 0; length--) {
      const path = this.moduleFile(names.slice(0, length));
      if (path !== undefined) return this.inModule(path, names.slice(length), trail);
    }
    return undefined;
  }

  private moduleFile(names: readonly string[]): string | undefined {
    for (const root of sourceRoots) {
      const path = root + names.join('/');
      for (const end of ['.py', '/__init__.py', '.pyx']) {
        if (this.files.has(path + end)) return path + end;
      }
    }
    return undefined;
  }

  private async inModule(
    path: string,
    names: readonly string[],
    before: Trail,
  ): Promise<ReferenceTarget | undefined> {
    const [first] = names;
    if (first === undefined) return { path, line: 1 };
    const key = `${path} ${names.join('.')}`;
    if (before.depth > maxSteps || before.seen.has(key)) return undefined;
    before.seen.add(key);
    const trail = { ...before, depth: before.depth + 1 };
    const outline = await this.outline(path);
    if (outline === undefined) return undefined;

    const alias = outline.aliases.get(first);
    if (alias !== undefined) {
      const aliased = await this.inModule(path, [...alias.split('.'), ...names.slice(1)], trail);
      if (aliased !== undefined) return aliased;
    }
    const own = outline.lines.get(names.join('.'));
    if (own !== undefined) return { path, line: own };
    const owner = outline.lines.get(first);
    if (owner !== undefined) {
      return (await this.inBases(path, outline, names, trail)) ?? { path, line: owner };
    }
    const followed = await this.throughImports(path, outline, names, trail);
    if (followed !== undefined) return followed;
    const below = this.moduleFile([...packageOf(path), first]);
    return below === undefined || !path.endsWith('/__init__.py')
      ? undefined
      : this.inModule(below, names.slice(1), trail);
  }

  private async inBases(
    path: string,
    outline: ModuleOutline,
    names: readonly string[],
    trail: Trail,
  ): Promise<ReferenceTarget | undefined> {
    const [first = '', attribute, ...rest] = names;
    if (attribute === undefined || rest.length > 0) return undefined;
    for (const base of outline.bases.get(first) ?? []) {
      const place = await this.inModule(path, [...base.split('.'), attribute], trail);
      if (place === undefined) continue;
      // If only the base class itself was found, another base may have the attribute.
      const source = await this.outline(place.path);
      if (source?.names.get(place.line)?.endsWith(`.${attribute}`) === true) return place;
    }
    return undefined;
  }

  private async throughImports(
    path: string,
    outline: ModuleOutline,
    names: readonly string[],
    trail: Trail,
  ): Promise<ReferenceTarget | undefined> {
    const [first = '', ...rest] = names;
    for (const each of outline.imports) {
      if (each.name !== '*' && each.alias !== first) continue;
      if (each.name === '*' && first.startsWith('_')) continue;
      const from = absoluteModule(path, each.from);
      if (from === undefined) continue;
      const target =
        each.name === '*' ? names : [...(each.name === '' ? [] : [each.name]), ...rest];
      const place = await this.absolute([...from, ...target], trail);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  private outline(path: string): Promise<ModuleOutline | undefined> {
    const known = this.outlines.get(path);
    if (known !== undefined) return known;
    if (this.outlines.size >= this.mostFiles) return Promise.resolve(undefined);
    const reading = this.tree
      .read(path)
      .then((source) =>
        source === undefined || source.length > maxFileLength
          ? undefined
          : moduleOutline(this.python, source),
      );
    this.outlines.set(path, reading);
    return reading;
  }
}

/** Names of the package that a file belongs to. An `__init__.py` belongs to its own package. */
function packageOf(path: string): string[] {
  return imported(path).split('/').slice(0, -1);
}

/** `..core.basic` in `sympy/sets/sets.py` is `sympy.core.basic`. */
export function absoluteModule(path: string, from: string): string[] | undefined {
  const dots = /^\.*/.exec(from)?.[0].length ?? 0;
  const names = from
    .slice(dots)
    .split('.')
    .filter((name) => name !== '');
  if (dots === 0) return names;
  const folder = packageOf(path);
  if (dots - 1 > folder.length) return undefined;
  return [...folder.slice(0, folder.length - (dots - 1)), ...names];
}
