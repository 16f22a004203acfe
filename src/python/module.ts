import { definitionsIn, rangeOf, type Definition, type SourceRange } from './definitions';
import type { Node, PythonParser } from './parser';
import { segmentsOf, type Segment } from './segments';

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
