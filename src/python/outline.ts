import { definitionsIn, type Definition } from './definitions';
import type { Node, PythonParser } from './parser';

/** A name that a module imports from another one. */
export interface ImportBinding {
  /** The module as written, `.core` or `sympy.core`. */
  readonly from: string;
  /** The imported name, `*`, or empty for the module itself. */
  readonly name: string;
  /** The local name; `*` for all names. */
  readonly alias: string;
}

/** The names that other code can reach in a module. */
export interface ModuleOutline {
  /** 1-based lines of functions, classes, methods and variables by their qualified names. */
  readonly lines: ReadonlyMap<string, number>;
  /** The reverse of `lines`. */
  readonly names: ReadonlyMap<number, string>;
  /** Base classes by the qualified name of the class; only those written as plain names. */
  readonly bases: ReadonlyMap<string, readonly string[]>;
  /** Variables that are another name of something, as in `Matrix = MutableDenseMatrix`. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Imports outside functions, also those below `if` and `try`. */
  readonly imports: readonly ImportBinding[];
}

/**
 * Reads what a module defines, assigns and imports. If a name has several definitions, the first
 * counts.
 */
export function moduleOutline(python: PythonParser, source: string): ModuleOutline {
  return python.parse(source, (root) => {
    const definitions = definitionsIn(root).filter((each) => !each.local);
    const lines = new Map<string, number>();
    const bases = new Map<string, readonly string[]>();
    for (const each of definitions) {
      if (lines.has(each.qualifiedName)) continue;
      lines.set(each.qualifiedName, each.defLine);
      const plain = each.bases.filter((base) => /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(base));
      if (plain.length > 0) bases.set(each.qualifiedName, plain);
    }
    const imports: ImportBinding[] = [];
    const aliases = new Map<string, string>();
    visit(root, '', (node, owner) => {
      if (node.type === 'assignment') {
        const left = node.childForFieldName('left');
        const name = left?.type === 'identifier' ? owner + left.text : '';
        if (name === '' || lines.has(name)) return;
        lines.set(name, node.startPosition.row + 1);
        const value = assignedName(node);
        if (value !== undefined && owner === '') aliases.set(name, value);
      } else if (owner === '') {
        imports.push(...bindings(node));
      }
    });
    return {
      lines,
      names: new Map([...lines].map(([name, line]) => [line, name])),
      bases,
      aliases,
      imports,
    };
  });
}

/** Visits the statements that run when the module is imported, so none in functions. */
function visit(node: Node, owner: string, use: (node: Node, owner: string) => void): void {
  const open: { node: Node; owner: string }[] = [{ node, owner }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node: parent, owner: within } = next;
    const below: { node: Node; owner: string }[] = [];
    for (const child of parent.namedChildren) {
      if (child === null) continue;
      switch (child.type) {
        case 'import_statement':
        case 'import_from_statement':
          use(child, within);
          break;
        case 'assignment': // in `a = b = 1` each assignment is the right side of the one before
          use(child, within);
          below.push({ node: child, owner: within });
          break;
        case 'class_definition': {
          const name = child.childForFieldName('name')?.text ?? '';
          const body = child.childForFieldName('body');
          if (body !== null) below.push({ node: body, owner: `${within}${name}.` });
          break;
        }
        case 'expression_statement':
        case 'decorated_definition':
        case 'if_statement':
        case 'elif_clause':
        case 'else_clause':
        case 'try_statement':
        case 'except_clause':
        case 'finally_clause':
        case 'with_statement':
        case 'block':
          below.push({ node: child, owner: within });
          break;
        default:
      }
    }
    open.push(...below.reverse());
  }
}

/** The plain name that is assigned, also through `a = b = Name`. */
function assignedName(assignment: Node): string | undefined {
  let value = assignment.childForFieldName('right');
  while (value?.type === 'assignment') value = value.childForFieldName('right');
  return value !== null && /^(?:identifier|attribute)$/.test(value.type) ? value.text : undefined;
}

function bindings(node: Node): ImportBinding[] {
  const from = node.childForFieldName('module_name')?.text;
  const found: ImportBinding[] = [];
  for (const child of node.childrenForFieldName('name')) {
    if (child === null) continue;
    const aliased = child.type === 'aliased_import';
    const name = (aliased ? child.childForFieldName('name')?.text : child.text) ?? '';
    const alias = aliased ? (child.childForFieldName('alias')?.text ?? '') : name;
    if (from !== undefined) {
      found.push({ from, name, alias });
    } else if (aliased) {
      found.push({ from: name, name: '', alias });
    } else {
      const top = name.split('.')[0] ?? '';
      found.push({ from: top, name: '', alias: top });
    }
  }
  if (from !== undefined && node.namedChildren.some((each) => each?.type === 'wildcard_import')) {
    found.push({ from, name: '*', alias: '*' });
  }
  return found;
}

/** What a module or a class declares in its body, or a comment there. */
export interface Declaration {
  readonly kind: 'class' | 'function' | 'variable' | 'comment';
  /** Qualified by its classes, such as `Money.allocate`; empty for a comment. */
  readonly name: string;
  /** 1-based lines, both included, with decorators and body. */
  readonly startLine: number;
  readonly endLine: number;
  /** 1-based last line of the header; that of the whole where there is no body. */
  readonly headEndLine: number;
}

/**
 * The classes, functions, variables and comments of module and class level, in the order of the
 * source, also those below `if`, `try` and `with`. What a function declares is left out.
 */
export function declarationsOf(python: PythonParser, source: string): Declaration[] {
  return python.parse(source, (root) => declarationsIn(root, ''));
}

function declarationsIn(parent: Node, owner: string): Declaration[] {
  return parent.namedChildren.flatMap((child) => (child === null ? [] : read(child, owner, child)));
}

/** @param outer with decorators */
function read(node: Node, owner: string, outer: Node): Declaration[] {
  const lines = { startLine: outer.startPosition.row + 1, endLine: lastLine(outer) };
  switch (node.type) {
    case 'decorated_definition': {
      const definition = node.childForFieldName('definition');
      return definition === null ? [] : read(definition, owner, node);
    }
    case 'class_definition': {
      const name = owner + (node.childForFieldName('name')?.text ?? '');
      const body = node.childForFieldName('body');
      const head = { kind: 'class' as const, name, ...lines, headEndLine: headEnd(node) };
      return [head, ...(body === null ? [] : declarationsIn(body, `${name}.`))];
    }
    case 'function_definition': {
      const name = owner + (node.childForFieldName('name')?.text ?? '');
      return [{ kind: 'function', name, ...lines, headEndLine: headEnd(node) }];
    }
    case 'comment':
      return [{ kind: 'comment', name: '', ...lines, headEndLine: lines.endLine }];
    case 'expression_statement':
      return assignedIn(node).map((name) => ({
        ...{ kind: 'variable', name: owner + name, ...lines, headEndLine: lines.endLine },
      }));
    default:
      return /^(?:if|try|with)_statement$|_clause$|^block$/.test(node.type)
        ? declarationsIn(node, owner)
        : [];
  }
}

/** The names that an assignment binds. */
function assignedIn(statement: Node): string[] {
  const names: string[] = [];
  let node = statement.namedChild(0);
  while (node?.type === 'assignment' || node?.type === 'augmented_assignment') {
    const left = node.childForFieldName('left');
    if (left?.type === 'identifier') names.push(left.text);
    else if (left?.type === 'pattern_list' || left?.type === 'tuple_pattern') {
      for (const each of left.namedChildren) if (each?.type === 'identifier') names.push(each.text);
    }
    node = node.childForFieldName('right');
  }
  return names;
}

/** The line of the colon before the body. */
function headEnd(node: Node): number {
  const body = node.childForFieldName('body');
  const colon = node.children.findLast(
    (child) => child?.type === ':' && child.startIndex < (body?.startIndex ?? Infinity),
  );
  return (colon ?? node).startPosition.row + 1;
}

const lastLine = ({ startPosition, endPosition }: Node): number =>
  // A node that ends with a newline ends at column 0 of the next line.
  endPosition.row + (endPosition.column === 0 && endPosition.row > startPosition.row ? 0 : 1);

/** An assignment of more lines is cut to so many at its beginning and at its end. */
const longAssignment = { most: 30, kept: 10 } as const;

/**
 * The skeleton of a source: headers of classes and functions, and the fields and comments of module
 * and class level. `...` stands for the body of a function and for the middle of a long assignment.
 */
export function skeletonOf(python: PythonParser, source: string): string {
  const lines = source.split('\n').map((line) => line.replace(/\r$/, ''));
  const shown: string[] = [];
  let last = 0;
  for (const declaration of declarationsOf(python, source)) {
    const { kind, startLine, headEndLine } = declaration;
    const own = lines.slice(startLine - 1, headEndLine);
    // A second statement of a line is there already, and a comment goes with its statement.
    if (startLine <= last || (kind === 'comment' && !/^\s*#/.test(own[0] ?? ''))) continue;
    last = headEndLine;
    const isOutermost = !/^\s/.test(own[0] ?? '');
    if (isOutermost && (kind === 'class' || kind === 'function') && shown.length > 0)
      shown.push('');
    shown.push(...withoutBody(own, declaration));
  }
  return shown.join('\n');
}

function withoutBody(own: readonly string[], declaration: Declaration): readonly string[] {
  const { kind, endLine, headEndLine } = declaration;
  // A function of one line stays as it is.
  if (kind === 'function' && endLine === headEndLine) return own;
  if (kind === 'function') return [...own, `${indentOf(own[0])}    ...`];
  const { most, kept } = longAssignment;
  if (kind !== 'variable' || own.length <= most) return own;
  return [...own.slice(0, kept), `${indentOf(own[0])}...`, ...own.slice(-kept)];
}

const indentOf = (line = ''): string => /^\s*/.exec(line)?.[0] ?? '';

/** What a source defines, and how often it calls each name. */
interface PythonTags {
  readonly definitions: readonly Definition[];
  readonly calls: ReadonlyMap<string, number>;
}

/** Reads the definitions and calls of a source. A call of `a.b()` is one of `b`. */
export function pythonTags(python: PythonParser, source: string): PythonTags {
  return python.parse(source, (root) => {
    const calls = new Map<string, number>();
    for (const call of root.descendantsOfType('call')) {
      const name = calledName(call?.childForFieldName('function') ?? null);
      if (name !== undefined) calls.set(name, (calls.get(name) ?? 0) + 1);
    }
    return { definitions: definitionsIn(root, 'without heads'), calls };
  });
}

function calledName(called: Node | null): string | undefined {
  if (called?.type === 'identifier') return called.text;
  return called?.type === 'attribute' ? called.childForFieldName('attribute')?.text : undefined;
}
