import type { Node, PythonParser } from './parser';

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
