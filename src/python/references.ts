import { moduleOutline, type ModuleOutline } from './outline';
import type { PythonParser } from './parser';

/** A file that a text names, wherever the file was when the text was written. */
interface PathReference {
  readonly kind: 'path';
  /**
   * UTF-16 offsets into the text, `end` excluded. They include a line number that follows the path.
   */
  readonly start: number;
  readonly end: number;
  /**
   * As written, with `/` between the segments. Untrusted: only `referenceResolver` maps it to a
   * file.
   */
  readonly path: string;
  /** 1-based. */
  readonly line?: number;
  /** The name inside the file: `TestA.test_b` for pytest's `a.py::TestA::test_b`. */
  readonly name?: string;
  /** Name of the repository without its owner, if the text is a GitHub link to one of its files. */
  readonly repository?: string;
}

/** A dotted Python name, such as `sympy.core.basic.Basic.subs`. */
interface DottedReference {
  readonly kind: 'dotted';
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

export type Reference = PathReference | DottedReference;

/**
 * Candidates for references: links, quoted files of a traceback (which may contain spaces), and
 * runs of characters of paths and names. No alternative is ambiguous, and those without an end of
 * their own are bounded. So the time is linear in the text.
 */
const tokens =
  /(?<url>(?:https?|file):\/\/[^\s<>"'`|]+)|File "(?<quoted>[^"\n]{1,500})"|[\p{L}\p{N}_.\-+~@/\\$]+/gu;

/** Endings of a path with slashes that show that it is a file. */
const fileName =
  /\.(?:py|pyi|pyx|pxd|pyw|py_t|rst|rst_t|txt|md|cfg|toml|ini|in|ya?ml|json|ipynb|html?|css|m?js|ts|c|cc|cpp|h|hpp|f90|sql|csv|xml|svg|po|sh|bat|conf|j2|jinja|tex|mplstyle|g4|lark|template)$/iu;

/**
 * Endings of a word without slashes that show that it is a file. Other endings are as often
 * attributes or modules.
 */
const bareFileName =
  /^[\p{L}\p{N}_-][\p{L}\p{N}_.-]*\.(?:py|pyi|pyx|pxd|cfg|toml|ini|rst|md|txt|ya?ml|ipynb)$/iu;

const dottedName = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+$/u;

/** Suffixes that belong to a path. Each is tried only at the end of the path. */
const followers: readonly RegExp[] = [
  /::(?<name>[A-Za-z_]\w{0,199}(?:::[A-Za-z_]\w{0,199}){0,4})/y,
  /:L?(?<line>\d{1,7})(?:[-–]L?\d{1,7}|:\d{1,4})?(?!\d)/y,
  /#L?(?<line>\d{1,7})(?:C\d{1,4})?(?:-L?\d{1,7})?(?!\d)/y,
  /\((?<line>\d{1,7})\)/y,
  /["'`]?,?[ \t]{1,3}\(?(?:(?:at|on|in) )?lines? (?:no\.? |number )?(?<line>\d{1,7})(?!\d)/y,
];

/** Text before a path that gives its line: `line 12 of a/b.py`. */
const lineBefore =
  /\blines? (\d{1,7})(?:[-–]\d{1,7})? (?:of|in) (?:the )?(?:file |module )?["'`]?$/i;

/**
 * Finds the files and Python names that a text such as an issue mentions. These are paths with
 * either kind of slash and their line numbers, files of tracebacks, links to files on GitHub, and
 * dotted names. `referenceResolver` finds out whether they exist.
 *
 * @returns references in the order of the text, none overlapping another
 */
export function findReferences(text: string): Reference[] {
  const found: Reference[] = [];
  const search = new RegExp(tokens);
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const { url, quoted } = match.groups ?? {};
    const references =
      url !== undefined
        ? inUrl(url, match.index)
        : quoted !== undefined
          ? quoted.startsWith('<') // <stdin>, <string>
            ? []
            : path(text, quoted, match.index + 'File "'.length)
          : inToken(text, match[0], match.index);
    for (const reference of references) {
      // A drive letter may belong to the text before it: `a.py::C:/b.py`.
      const start = Math.max(reference.start, found.at(-1)?.end ?? 0);
      found.push({ ...reference, start });
    }
    const end = references.at(-1)?.end ?? 0;
    if (end > search.lastIndex) search.lastIndex = end;
  }
  return found;
}

function inUrl(whole: string, start: number): Reference[] {
  const url = withoutTail(whole, '.,;:!?)]}*_');
  const end = start + url.length;
  const github =
    /^https?:\/\/(?:www\.)?github\.com\/[\w.-]+\/([\w.-]+)\/(?:blob|blame|raw|edit)\/[^/#?]+\/([^#?]+)(?:\?[^#]*)?(?:#L(\d{1,7}))?/i.exec(
      url,
    ) ??
    /^https?:\/\/raw\.githubusercontent\.com\/[\w.-]+\/([\w.-]+)\/[^/#?]+\/([^#?]+)/i.exec(url);
  const local = /^file:\/\/\/?([^#?]+)(?:#L?(\d{1,7}))?/i.exec(url);
  const name = decoded(github?.[2] ?? local?.[1] ?? '');
  const line = github?.[3] ?? local?.[2];
  if (name === undefined || !fileName.test(name)) return [];
  return [
    {
      kind: 'path',
      start,
      end,
      path: name,
      ...(line !== undefined && { line: Number(line) }),
      ...(github?.[1] !== undefined && { repository: github[1] }),
    },
  ];
}

function inToken(text: string, token: string, index: number): Reference[] {
  const head = /^(?:[-+@$]|~(?![/\\]))*/.exec(token)?.[0].length ?? 0;
  const word = withoutTail(token.slice(head), '.-+~@/\\$');
  const start = index + head;
  if (word === '' || word.startsWith('//')) return [];
  if (/[\p{L}\p{N}_]@[\p{L}\p{N}_]/u.test(word)) return []; // an e-mail address
  const hasSlash = /[/\\]/.test(word);
  if (hasSlash ? fileName.test(word) : bareFileName.test(word)) return path(text, word, start);
  const found: Reference[] = [];
  for (const piece of word.matchAll(/[^/\\+\-~@$]+/g)) {
    const name = withoutTail(piece[0], '.');
    if (!dottedName.test(name) || isNoGlobalName(name)) continue;
    const from = start + piece.index;
    const end = from + name.length;
    found.push({
      kind: 'dotted',
      start: from,
      end: text.startsWith('()', end) ? end + 2 : end,
      name,
    });
  }
  return found;
}

function path(text: string, written: string, index: number): PathReference[] {
  let start = index;
  // The colon after a drive letter ends the run of characters before it.
  if (
    /^[/\\]/.test(written) &&
    /(?:^|[^\p{L}\p{N}_])[A-Za-z]:$/u.test(text.slice(Math.max(0, start - 3), start))
  )
    start -= 2;
  let end = index + written.length;
  const details: { line?: number; name?: string } = {};
  for (const follower of followers) {
    follower.lastIndex = end;
    const groups = follower.exec(text)?.groups;
    if (groups === undefined) continue;
    end = follower.lastIndex;
    const { line, name } = groups;
    if (line !== undefined) details.line = Number(line);
    if (name !== undefined) details.name = name.replaceAll('::', '.');
    break;
  }
  const before = lineBefore.exec(text.slice(Math.max(0, start - 60), start))?.[1];
  if (before !== undefined && details.line === undefined) details.line = Number(before);
  if (details.line === 0) delete details.line;
  return [{ kind: 'path', start, end, path: written.replaceAll('\\', '/'), ...details }];
}

/**
 * Whether a dotted name is no global name: `e.g`, `i.e`, a web address without its scheme, or a
 * name on `self`, `cls` or `super`.
 */
function isNoGlobalName(name: string): boolean {
  const parts = name.split('.');
  return (
    parts.every((part) => part.length === 1) ||
    /^(?:www|self|cls|super)$/i.test(parts[0] ?? '') ||
    /^(?:com|org|net)$/.test(parts.at(-1) ?? '')
  );
}

/**
 * Removes the characters of `tail` from the end. A loop, since a regular expression may take
 * quadratic time.
 */
function withoutTail(text: string, tail: string): string {
  let end = text.length;
  while (end > 0 && tail.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function decoded(address: string): string | undefined {
  try {
    return decodeURIComponent(address);
  } catch {
    return undefined;
  }
}

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
  /** 1-based; 1 when the reference is to the whole file. It may be after the end of the file. */
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
