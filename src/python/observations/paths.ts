import type { Node } from '../parser';
import type { Bindings } from './bindings';

/** What a path is relative to, as far as the source says. */
type Start =
  /**
   * As written, relative to the working directory, which is the root of the tree when tests start.
   */
  | 'as written'
  /** Relative to the root of the tree: the working directory or the runner's root. */
  | 'root'
  /** Relative to the source file itself. */
  | 'own file'
  /** Relative to the file of a module, `PathValue.module`. */
  | 'module'
  /** In a temporary folder. */
  | 'temporary'
  | 'unknown';

/** A path that an expression builds. */
export interface PathValue {
  readonly start: Start;
  /** Relative to the root of the tree, or else to `start`; `?` for unknown parts. */
  readonly parts: readonly string[];
  /** Dotted name of the module for `module`; absent if unknown. */
  readonly module?: string;
}

const unknown: PathValue = { start: 'unknown', parts: ['?'] };

/** Names that runners and people give to fixtures and variables for temporary folders. */
const temporaryNames = /^_?(tmp|temp|scratch|testdir$|pytester$|app$|isolated)/i;

/** Attributes of pytest objects for the root of the tree, and for the file of the test. */
const rootAttributes = /^(rootdir|rootpath|invocation_dir|startdir|startpath|inipath|inifile)$/;
const ownAttributes = /^(fspath)$/;

const same = new Set([
  ...['os.path.abspath', 'os.path.realpath', 'os.path.normpath', 'os.path.expanduser'],
  ...['os.fspath', 'os.fsencode', 'os.path.normcase', 'str', 'bytes', 'repr', 'next', 'iter'],
  ...['pathlib.Path', 'pathlib.PurePath', 'pathlib.PosixPath', 'pathlib.PurePosixPath'],
  ...['py.path.local', 'list', 'sorted', 'tuple', 'inspect.getmodule'],
]);
const sameMethods =
  /^(resolve|absolute|expanduser|as_posix|__str__|strip|rstrip|encode|decode|replace|format|with_name|with_suffix|with_stem|joinpath|join|parent|parents|lower|realpath)$/;
const filesOfModules =
  /^(inspect\.(getfile|getsourcefile|getabsfile)|importlib\.resources\.(files|path)|importlib_resources\.files|importlib\.util\.find_spec|pkgutil\.(get_loader|find_loader)|pkg_resources\.resource_filename)$/;

/**
 * Greatest depth to which expressions are followed. Deeper ones hide something or contain nothing.
 */
const deepest = 12;

/**
 * The path that an expression stands for, as far as its text says. The function joins parts and
 * follows names to their assignments. `dirname`, `parent` and `..` go one folder up.
 *
 * @param path of the source itself, relative to the root of the tree
 */
export function pathValueOf(node: Node, bindings: Bindings, path: string, depth = 0): PathValue {
  if (depth > deepest || !bindings.step()) return unknown;
  const read = (inner: Node | null | undefined): PathValue =>
    inner === null || inner === undefined ? unknown : pathValueOf(inner, bindings, path, depth + 1);
  switch (node.type) {
    case 'string':
      return { start: 'as written', parts: split(stringOf(node)) };
    case 'concatenated_string': {
      const texts = node.namedChildren.map((each) => (each === null ? '?' : stringOf(each)));
      return { start: 'as written', parts: split(texts.join('')) };
    }
    case 'parenthesized_expression':
    case 'await':
      return read(node.namedChild(0));
    case 'conditional_expression':
      return firstKnown([read(node.namedChild(0)), read(node.namedChild(2))]);
    case 'boolean_operator':
      return firstKnown([
        read(node.childForFieldName('left')),
        read(node.childForFieldName('right')),
      ]);
    case 'subscript':
      return pathOfSubscript(node, bindings, path, read);
    case 'binary_operator':
      return pathOfOperator(node, read);
    case 'identifier':
    case 'attribute':
      return pathOfName(node, bindings, path, read);
    case 'call':
      return pathOfCall(node, bindings, read);
    default:
      return unknown;
  }
}

const firstKnown = (values: readonly PathValue[]): PathValue =>
  values.find((value) => value.start !== 'unknown') ?? unknown;

function pathOfSubscript(
  node: Node,
  bindings: Bindings,
  path: string,
  read: (inner: Node | null | undefined) => PathValue,
): PathValue {
  const value = node.childForFieldName('value');
  const index = node.childForFieldName('subscript');
  if (value !== null && bindings.dotted(value) === 'sys.modules') {
    const name = index?.type === 'string' ? stringOf(index) : undefined;
    return { start: 'module', parts: ['?'], ...(name === undefined ? {} : { module: name }) };
  }
  if (value !== null && index?.type === 'string' && fileNames.test(stringOf(index))) {
    // `globals()['__file__']` is the same as `__file__`.
    return value.type === 'call' && callArguments(value).length === 0
      ? { start: 'own file', parts: split(path) }
      : fileOf(value, bindings);
  }
  const isParents =
    value?.type === 'attribute' && value.childForFieldName('attribute')?.text === 'parents';
  if (!isParents) return read(value);
  // `parents[0]` is `parent`.
  const times = index?.type === 'integer' ? Number(index.text) + 1 : 1;
  let up = read(value.childForFieldName('object'));
  for (let i = 0; i < Math.min(times, 50); i++) up = parentOf(up);
  return up;
}

function pathOfOperator(
  node: Node,
  read: (inner: Node | null | undefined) => PathValue,
): PathValue {
  const operator = node.childForFieldName('operator')?.text;
  const left = read(node.childForFieldName('left'));
  const right = read(node.childForFieldName('right'));
  if (operator === '/') return joined(left, right);
  if (operator === '+') return concatenated(left, right);
  // `'%s/money.py' % folder`: the inserted value may be the start of the path.
  if (operator === '%')
    return left.parts[0]?.startsWith('%') === true ? joined(right, tail(left)) : left;
  return unknown;
}

/** Attributes of a module that hold the path of its file. */
const fileNames = /^__(file|path|cached)__$/;

/**
 * The file of the module that an expression comes from. The file of a module that the test makes is
 * unknown, since the test chooses its place.
 */
function fileOf(node: Node, bindings: Bindings): PathValue {
  const of = ownerOf(node, bindings);
  if (of.kind === 'own' || of.kind === 'result') return unknown;
  return { start: 'module', parts: ['?'], ...(of.kind === 'module' && { module: of.name }) };
}

const tail = ({ parts }: PathValue): PathValue => ({ start: 'as written', parts: parts.slice(1) });

function pathOfName(
  node: Node,
  bindings: Bindings,
  path: string,
  read: (inner: Node | null | undefined) => PathValue,
): PathValue {
  const name = bindings.dotted(node);
  if (name === '__file__') return { start: 'own file', parts: split(path) };
  if (name === 'os.curdir') return { start: 'as written', parts: [] };
  if (name === 'os.pardir') return { start: 'as written', parts: ['..'] };
  if (name === 'os.sep' || name === 'os.path.sep') return { start: 'as written', parts: [''] };
  const value = bindings.valueOf(node);
  if (value !== undefined) return read(value);
  if (node.type === 'identifier') {
    return temporaryNames.test(node.text) ? { start: 'temporary', parts: ['?'] } : unknown;
  }
  const object = node.childForFieldName('object');
  const attribute = node.childForFieldName('attribute')?.text ?? '';
  if (/^(__file__|__path__|__cached__|origin|submodule_search_locations)$/.test(attribute)) {
    const of = object === null ? unknownOwner : ownerOf(object, bindings);
    // A module that the test makes or loads itself lies where the test puts it.
    if (of.kind === 'own' || of.kind === 'result') return unknown;
    if (attribute.startsWith('__') || read(object).start === 'module') {
      return { start: 'module', parts: ['?'], ...(of.kind === 'module' && { module: of.name }) };
    }
  }
  if (rootAttributes.test(attribute)) return { start: 'root', parts: [] };
  const of = read(object);
  if (of.start === 'temporary') return of;
  if (ownAttributes.test(attribute)) return { start: 'own file', parts: split(path) };
  if (attribute === 'parent' || attribute === 'dirname') return parentOf(of);
  if (attribute === 'parents') return of;
  return sameMethods.test(attribute) || of.start === 'module' ? of : unknown;
}

function pathOfCall(
  node: Node,
  bindings: Bindings,
  read: (inner: Node | null | undefined) => PathValue,
): PathValue {
  const callee = node.childForFieldName('function');
  const name = callee === null ? undefined : bindings.dotted(callee);
  const given = callArguments(node);
  const [first] = given;
  if (name === undefined || callee === null) return methodPath(callee, given, read);
  if (name === 'os.getcwd' || name === 'os.getcwdb' || name === 'pathlib.Path.cwd') {
    return { start: 'root', parts: [] };
  }
  if (name === 'getattr' && first !== undefined && given[1]?.type === 'string') {
    return fileNames.test(stringOf(given[1])) ? fileOf(first, bindings) : unknown;
  }
  if (name.startsWith('tempfile.')) return { start: 'temporary', parts: ['?'] };
  if (name === 'os.path.join' || name === 'posixpath.join') return joinAll(given.map(read));
  if (name === 'os.path.dirname') return parentOf(read(first));
  if (name === 'os.path.relpath') return read(first);
  if (same.has(name)) return given.length > 1 ? joinAll(given.map(read)) : read(first);
  if (filesOfModules.test(name)) {
    const of = first === undefined ? undefined : moduleOf(first, bindings);
    return { start: 'module', parts: ['?'], ...(of === undefined ? {} : { module: of }) };
  }
  return methodPath(callee, given, read);
}

function methodPath(
  callee: Node | null,
  given: readonly Node[],
  read: (inner: Node | null | undefined) => PathValue,
): PathValue {
  if (callee?.type !== 'attribute') return unknown;
  const object = callee.childForFieldName('object');
  const method = callee.childForFieldName('attribute')?.text ?? '';
  const of = read(object);
  if (of.start === 'temporary') return of;
  switch (method) {
    case 'joinpath':
    case 'join':
      return joinAll([of, ...given.map(read)]);
    case 'dirpath':
      return joinAll([parentOf(of), ...given.map(read)]);
    case 'with_name':
      return joinAll([parentOf(of), ...given.map(read)]);
    default:
      return sameMethods.test(method) ? of : of.start === 'module' ? of : unknown;
  }
}

/** The arguments of a call; for keyword arguments their values. */
export function callArguments(call: Node): Node[] {
  const list = call.childForFieldName('arguments');
  return (list?.namedChildren ?? []).flatMap((child) => {
    if (child === null || child.type === 'comment') return [];
    const value = child.type === 'keyword_argument' ? child.childForFieldName('value') : child;
    return value === null ? [] : [value];
  });
}

/** The value of a keyword argument. */
export function keywordOf(call: Node, name: string): Node | undefined {
  const list = call.childForFieldName('arguments');
  const found = (list?.namedChildren ?? []).find(
    (child) => child?.type === 'keyword_argument' && child.childForFieldName('name')?.text === name,
  );
  return found?.childForFieldName('value') ?? undefined;
}

/**
 * The module or package that code or a file belongs to. Undefined if the source defines it, a call
 * returns it, or it is unknown.
 */
export function moduleOf(node: Node, bindings: Bindings): string | undefined {
  const owner = ownerOf(node, bindings);
  return owner.kind === 'module' ? owner.name : undefined;
}

/** Where an object comes from. */
export type Owner =
  | { readonly kind: 'module'; readonly name: string }
  /** Defined in the source itself. */
  | { readonly kind: 'own' }
  /** Returned by a call. `by` is the owner of what is called, and of the result's attributes. */
  | { readonly kind: 'result'; readonly by: Owner }
  | { readonly kind: 'unknown' };

const unknownOwner: Owner = { kind: 'unknown' };

/** Calls whose result has the owner of their first argument. */
const through =
  /^(getattr|type|vars|super|functools\.(partial|partialmethod)|inspect\.(unwrap|getmodule|getattr_static)|operator\.attrgetter)$/;
const importing =
  /^(importlib\.import_module|__import__|importlib\.reload|pytest\.importorskip|pydoc\.locate)$/;

export function ownerOf(node: Node, bindings: Bindings, depth = 0): Owner {
  if (depth > deepest || !bindings.step()) return unknownOwner;
  const read = (inner: Node | null | undefined): Owner =>
    inner === null || inner === undefined ? unknownOwner : ownerOf(inner, bindings, depth + 1);
  switch (node.type) {
    case 'string':
      return /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(stringOf(node))
        ? { kind: 'module', name: stringOf(node) }
        : unknownOwner;
    case 'lambda':
      return { kind: 'own' };
    case 'parenthesized_expression':
    case 'await':
      return read(node.namedChild(0));
    case 'identifier': {
      const from = bindings.imported(node.text);
      if (from !== undefined) return { kind: 'module', name: from };
      if (bindings.defines(node.text)) return { kind: 'own' };
      return read(bindings.valueOf(node));
    }
    case 'subscript': {
      const value = node.childForFieldName('value');
      if (value !== null && bindings.dotted(value) === 'sys.modules') {
        return read(node.childForFieldName('subscript'));
      }
      return read(value);
    }
    case 'attribute': {
      const value = bindings.valueOf(node);
      if (value !== undefined) return read(value);
      const of = read(node.childForFieldName('object'));
      return of.kind === 'result' ? of.by : of;
    }
    case 'call': {
      const callee = node.childForFieldName('function');
      const name = callee === null ? undefined : bindings.dotted(callee);
      const [first] = callArguments(node);
      if (name !== undefined && importing.test(name)) return read(first);
      if (name !== undefined && through.test(name)) {
        const of = read(first);
        return of.kind === 'result' ? of.by : of;
      }
      return { kind: 'result', by: read(callee) };
    }
    default:
      return unknownOwner;
  }
}

/** The text of a string literal; `?` for each interpolation. */
export function stringOf(node: Node): string {
  return node.namedChildren
    .map((child) =>
      child?.type === 'string_content' ? child.text : child?.type === 'interpolation' ? '?' : '',
    )
    .join('');
}

const split = (text: string): string[] => text.split(/[/\\]/);

const isAbsolute = ({ start, parts }: PathValue): boolean =>
  start === 'as written' && parts[0] === '' && parts.length > 1;

function joined(left: PathValue, right: PathValue): PathValue {
  // The right path is relative, or else it replaces everything to its left.
  if (isAbsolute(right)) return right;
  if (right.start !== 'as written' && right.start !== 'unknown') return right;
  return { ...left, parts: [...left.parts, ...right.parts] };
}

const joinAll = ([first = unknown, ...rest]: readonly PathValue[]): PathValue =>
  rest.reduce(joined, first);

/** Concatenates texts: `a + '/b'`, `'test_' + name`. */
function concatenated(left: PathValue, right: PathValue): PathValue {
  if (right.start !== 'as written' && right.start !== 'unknown') return right;
  const [first = '', ...rest] = right.parts;
  const last = left.parts.at(-1) ?? '';
  return { ...left, parts: [...left.parts.slice(0, -1), `${last}${first}`, ...rest] };
}

function parentOf(value: PathValue): PathValue {
  if (value.start === 'module') return value;
  const parts = normal(value.parts);
  const last = parts.at(-1);
  if (last === undefined || last === '..') return { ...value, parts: [...parts, '..'] };
  return { ...value, parts: parts.slice(0, -1) };
}

/**
 * Removes `.`, empty parts, and `..` together with the name before it. A `..` that leads outside
 * stays in front.
 */
export function normal(parts: readonly string[]): string[] {
  const found: string[] = [];
  for (const part of parts) {
    if (part === '' || part === '.') continue;
    const last = found.at(-1);
    if (part === '..' && last !== undefined && last !== '..') found.pop();
    else found.push(part);
  }
  return found;
}
