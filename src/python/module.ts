import { definitionsIn, rangeOf, type Definition, type SourceRange } from './definitions';
import type { Node, PythonParser } from './parser';

/** One name that an import binds: `from module import name as alias`, or `import module as alias`. */
export interface ImportedName {
  /** Empty for `import module`. */
  readonly from: string;
  readonly name: string;
  readonly alias: string;
}

export interface ImportStatement {
  readonly range: SourceRange;
  readonly names: readonly ImportedName[];
  readonly future: boolean;
}

/** A statement of the module itself, with its decorators. */
export interface Statement {
  readonly type: 'import' | 'definition' | 'string' | 'other';
  readonly range: SourceRange;
}

/** The outline of a source, enough to edit it without understanding all of it. */
export interface PythonModule {
  readonly definitions: readonly Definition[];
  readonly statements: readonly Statement[];
  /** Imports among `statements`, so none below `try` or `if`. */
  readonly imports: readonly ImportStatement[];
  /**
   * Names that imports below `try` or `if` bind when the module runs, except below `if
   * TYPE_CHECKING`.
   */
  readonly guarded: readonly ImportedName[];
  /** The statements of each class body. The key is the offset at which the body begins. */
  readonly bodies: ReadonlyMap<number, readonly Statement[]>;
  /** String literals over several lines, whose content must keep its indentation. */
  readonly longStrings: readonly (SourceRange & { readonly docstring: boolean })[];
  /** 1-based line of the first syntax error. */
  readonly errorLine?: number | undefined;
}

/** Reads the outline of a source. */
export function readModule(python: PythonParser, source: string): PythonModule {
  const parts: { module: PythonModule; segment: Segment }[] = [];
  for (const segment of segmentsOf(source)) {
    const module = python.parse(segment.text, moduleIn);
    const last = parts.at(-1);
    if (module.errorLine === undefined || last?.module.errorLine === undefined) {
      parts.push({ module, segment });
      continue;
    }
    // Two broken segments may be one statement with a wrong cut in it.
    const joined = { ...last.segment, text: last.segment.text + segment.text };
    parts[parts.length - 1] = { module: python.parse(joined.text, moduleIn), segment: joined };
  }
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only.module;
  return joinModules(parts.map(({ module, segment }) => movedModule(module, segment)));
}

/**
 * Joins the outlines of consecutive parts of one source, whose ranges are those of the whole
 * source.
 */
export function joinModules(modules: readonly PythonModule[]): PythonModule {
  const errorLine = modules.find((module) => module.errorLine !== undefined)?.errorLine;
  return {
    definitions: modules.flatMap((module) => module.definitions),
    statements: modules.flatMap((module) => module.statements),
    imports: modules.flatMap((module) => module.imports),
    guarded: modules.flatMap((module) => module.guarded),
    bodies: new Map(modules.flatMap((module) => [...module.bodies])),
    longStrings: modules.flatMap((module) => module.longStrings),
    ...(errorLine !== undefined && { errorLine }),
  };
}

/** The outline of a segment, with ranges of the whole source. */
export function movedModule(module: PythonModule, { start, line }: Segment): PythonModule {
  if (start === 0 && line === 0) return module;
  const moved = (range: SourceRange): SourceRange => ({
    startLine: range.startLine + line,
    endLine: range.endLine + line,
    start: range.start + start,
    end: range.end + start,
  });
  const movedStatement = ({ type, range }: Statement): Statement => ({ type, range: moved(range) });
  const here = new Map<Definition, Definition>();
  const definitions = module.definitions.map((each) => {
    const parent = each.parent && here.get(each.parent);
    const own: Definition = {
      ...each,
      ...(parent !== undefined && { parent }),
      range: moved(each.range),
      defLine: each.defLine + line,
      body: moved(each.body),
    };
    here.set(each, own);
    return own;
  });
  return {
    definitions,
    statements: module.statements.map(movedStatement),
    imports: module.imports.map((each) => ({ ...each, range: moved(each.range) })),
    guarded: module.guarded,
    bodies: new Map([...module.bodies].map(([at, body]) => [at + start, body.map(movedStatement)])),
    longStrings: module.longStrings.map((each) => ({ ...each, ...moved(each) })),
    ...(module.errorLine !== undefined && { errorLine: module.errorLine + line }),
  };
}

/** The outline of a parsed tree. */
export function moduleIn(root: Node): PythonModule {
  const present = plainChildren(root);
  const errorLine = firstError(root);
  return {
    definitions: definitionsIn(root),
    statements: statementsOf(root),
    imports: present.filter((node) => typeOf(node) === 'import').map(readImport),
    guarded: present.flatMap(guardedImports),
    bodies: bodiesIn(root),
    longStrings: longStringsIn(root),
    ...(errorLine !== undefined && { errorLine }),
  };
}

function longStringsIn(root: Node): PythonModule['longStrings'] {
  // Only these make a string continue on the next line, and checking every string takes long.
  if (!/'''|"""|\\\n/.test(root.text)) return [];
  return root
    .descendantsOfType('string')
    .filter((node) => node !== null)
    .filter((node) => node.startPosition.row !== node.endPosition.row)
    .map((node) => ({
      ...rangeOf(node),
      docstring: node.parent?.type === 'expression_statement' && node.parent.namedChildCount === 1,
    }));
}

/** Named children except comments. */
function plainChildren(node: Node): Node[] {
  return node.namedChildren
    .filter((child) => child !== null)
    .filter((child) => child.type !== 'comment');
}

function statementsOf(node: Node): Statement[] {
  return plainChildren(node).map((child) => ({ type: typeOf(child), range: rangeOf(child) }));
}

function bodiesIn(root: Node): Map<number, Statement[]> {
  const bodies = new Map<number, Statement[]>();
  for (const node of root.descendantsOfType('class_definition')) {
    const body = node?.childForFieldName('body') ?? null;
    if (body !== null) bodies.set(body.startIndex, statementsOf(body));
  }
  return bodies;
}

/** The imports below a branching statement, except those that only a type checker sees. */
function guardedImports(node: Node): ImportedName[] {
  if (!/^(if|try|with)_statement$|_clause$|^block$/.test(node.type)) return [];
  if (/\bTYPE_CHECKING$/.test(node.childForFieldName('condition')?.text ?? '')) {
    return node
      .childrenForFieldName('alternative')
      .flatMap((part) => (part === null ? [] : guardedImports(part)));
  }
  return plainChildren(node).flatMap((child) =>
    typeOf(child) === 'import' ? readImport(child).names : guardedImports(child),
  );
}

function typeOf(node: Node): Statement['type'] {
  switch (node.type) {
    case 'import_statement':
    case 'import_from_statement':
    case 'future_import_statement':
      return 'import';
    case 'function_definition':
    case 'class_definition':
    case 'decorated_definition':
      return 'definition';
    case 'expression_statement':
      return /^(concatenated_)?string$/.test(node.namedChild(0)?.type ?? '') ? 'string' : 'other';
    default:
      return 'other';
  }
}

function readImport(node: Node): ImportStatement {
  const future = node.type === 'future_import_statement';
  const from = future ? '__future__' : (node.childForFieldName('module_name')?.text ?? '');
  const names: ImportedName[] = [];
  for (const child of node.childrenForFieldName('name')) {
    if (child === null) continue;
    const aliased = child.type === 'aliased_import';
    names.push({
      from,
      name: aliased ? (child.childForFieldName('name')?.text ?? '') : child.text,
      alias: aliased ? (child.childForFieldName('alias')?.text ?? '') : '',
    });
  }
  if (node.namedChildren.some((child) => child?.type === 'wildcard_import')) {
    names.push({ from, name: '*', alias: '' });
  }
  return { range: rangeOf(node), names, future };
}

/**
 * 1-based line of the first fault that Python rejects. A fault is a syntax error, or a statement
 * whose indentation differs from the first of its block. The grammar accepts the latter.
 */
export function findFault(python: PythonParser, source: string): number | undefined {
  let last: { segment: Segment; fault: number } | undefined;
  for (const segment of segmentsOf(source)) {
    const fault = python.parse(segment.text, faultIn);
    if (last === undefined) {
      if (fault !== undefined) last = { segment, fault };
      continue;
    }
    if (fault === undefined) break;
    // Two broken segments may be one statement with a wrong cut in it.
    const joined = { ...last.segment, text: last.segment.text + segment.text };
    const still = python.parse(joined.text, faultIn);
    last = still === undefined ? undefined : { segment: joined, fault: still };
  }
  return last && last.fault + last.segment.line;
}

/** Like `readModule`, for the code of one block. Wrong indentation counts as a syntax error. */
export function readCodeModule(python: PythonParser, source: string): PythonModule {
  return python.parse(source, codeModuleIn);
}

function codeModuleIn(root: Node): PythonModule {
  const module = moduleIn(root);
  const errorLine = module.errorLine ?? wrongIndentIn(root);
  return { ...module, ...(errorLine !== undefined && { errorLine }) };
}

/** Like `findFault`, for a parsed tree. */
function faultIn(root: Node): number | undefined {
  return firstError(root) ?? wrongIndentIn(root);
}

/**
 * Whether every statement of a tree without syntax errors is indented like the first one of its
 * block.
 */
export function isEvenIn(root: Node): boolean {
  return wrongIndentIn(root) === undefined;
}

function wrongIndentIn(root: Node): number | undefined {
  let wrong: number | undefined;
  for (const block of [root, ...root.descendantsOfType('block')]) {
    const statements = block === null ? [] : plainChildren(block);
    const first = statements[0]?.startPosition.column;
    let row = -1;
    for (const { startPosition, endPosition } of statements) {
      const opensLine = startPosition.row > row;
      row = endPosition.row;
      if (!opensLine || startPosition.column === first) continue;
      wrong = Math.min(wrong ?? Infinity, startPosition.row + 1);
      break;
    }
  }
  return wrong;
}

function firstError(root: Node): number | undefined {
  if (!root.hasError) return undefined;
  let node = root;
  for (;;) {
    const next = node.children.find(
      (child) => child !== null && (child.hasError || child.isMissing),
    );
    if (node.isError || node.isMissing || next === null || next === undefined) break;
    node = next;
  }
  return node.startPosition.row + 1;
}

/** Part of a source that can be parsed on its own: some statements of the module. */
export interface Segment {
  readonly text: string;
  /** UTF-16 units of the source before it. */
  readonly start: number;
  /** Lines of the source before it. */
  readonly line: number;
}

/** A line without indentation that begins a function or a class. */
const opening = /@|(?:def|class|async[ \t]+def)[ \t]/y;

/**
 * Cuts a source before its top-level functions and classes, with their decorators. So the result
 * for one part stays valid when another changes, and an error in one does not hide the others. If
 * all parts are free of errors, their statements are those of the whole.
 */
export function segmentsOf(source: string): Segment[] {
  const segments: Segment[] = [];
  let [start, line, depth] = [0, 0, 0];
  let decorated = source.startsWith('@');
  const cut = (at: number): void => {
    const text = source.slice(start, at);
    segments.push({ text, start, line });
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) line += 1;
    start = at;
  };
  // A loop over letters, since this runs for whole files at every key press. A pattern takes ten
  // times as long.
  for (let at = 0; at < source.length; at += 1) {
    switch (source.charCodeAt(at)) {
      case 0x23: // #
        at = endOfLine(source, at) - 1;
        break;
      case 0x22: // "
      case 0x27: // '
        at = endOfString(source, at) - 1;
        break;
      case 0x28: // (
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        break;
      case 0x29: // )
      case 0x5d: // ]
      case 0x7d: // }
        depth = Math.max(0, depth - 1);
        break;
      case 0x5c: // \, before the end of a line: the statement continues
        if (source.startsWith('\n', at + 1)) at += 1;
        else if (source.startsWith('\r\n', at + 1)) at += 2;
        break;
      case 0x0a: {
        if (!opensDefinition(source, at + 1)) break;
        const isDecorator = source[at + 1] === '@';
        if (isDecorator && (depth > 0 || decorated)) break;
        // No bracket contains these words, so an open one lacks its end.
        depth = 0;
        if (!decorated) cut(at + 1);
        decorated = isDecorator;
      }
    }
  }
  cut(source.length);
  return segments;
}

/** The first letter of most lines rules them out. */
function opensDefinition(source: string, at: number): boolean {
  const first = source.charCodeAt(at);
  if (first !== 0x40 && first !== 0x64 && first !== 0x63 && first !== 0x61) return false; // @ d c a
  opening.lastIndex = at;
  return opening.test(source);
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end < 0 ? source.length : end;
}

/**
 * Offset at which a string ends. A string in single quotes ends with its line at the latest, as
 * when its closing quote is not yet typed.
 */
function endOfString(source: string, from: number): number {
  const quote = source.charCodeAt(from);
  const isQuote = (at: number): boolean => source.charCodeAt(at) === quote;
  const isLong = isQuote(from + 1) && isQuote(from + 2);
  const width = isLong ? 3 : 1;
  for (let at = from + width; at < source.length; at += 1) {
    const letter = source.charCodeAt(at);
    if (letter === 0x5c) at += 1;
    else if (letter === 0x0a && !isLong) return at;
    else if (letter === quote && (!isLong || (isQuote(at + 1) && isQuote(at + 2)))) {
      return at + width;
    }
  }
  return source.length;
}
