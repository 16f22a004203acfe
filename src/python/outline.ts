import { definitionsIn } from './definitions';
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
