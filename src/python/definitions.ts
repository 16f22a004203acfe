import type { Node, PythonParser } from './parser';

/** A span of a source text. Lines are 1-based and both included; offsets are UTF-16, `end` excluded. */
export interface SourceRange {
  readonly startLine: number;
  readonly endLine: number;
  readonly start: number;
  readonly end: number;
}

/** A function, a method or a class. */
export interface Definition {
  readonly kind: 'function' | 'method' | 'class';
  readonly name: string;
  /** Names of the enclosing classes and functions and its own name, joined by dots: `A.b`. */
  readonly qualifiedName: string;
  /** The class or function that it is defined in, if any. */
  readonly parent?: Definition;
  /** Whether it is inside a function, where no runner can reach it. */
  readonly local: boolean;
  /** From the first decorator to the last line of the body, with comments that are indented below it. */
  readonly range: SourceRange;
  /** 1-based line of `def`, `async def` or `class`. */
  readonly defLine: number;
  /** 0-based column of that word. */
  readonly column: number;
  /**
   * The body from its first statement on, which starts on a line of its own unless it is a
   * one-liner.
   */
  readonly body: SourceRange;
  readonly isAsync: boolean;
  /** Base classes as written, without keyword arguments. */
  readonly bases: readonly string[];
  /** Decorators as written, without `@`. */
  readonly decorators: readonly string[];
  /** Names of the positional parameters, as far as they have one. */
  readonly parameters: readonly string[];
}

/**
 * All functions, methods and classes of a source, in its order. Broken code yields its readable
 * parts.
 */
export function findDefinitions(python: PythonParser, source: string): Definition[] {
  return python.parse(source, (root) => definitionsIn(root));
}

/**
 * Like `findDefinitions`, for a parsed tree.
 *
 * @param heads without them `isAsync` is false and `parameters` is empty. This saves a third of the
 *   time, since each access to a node is a call into WebAssembly.
 */
export function definitionsIn(
  root: Node,
  heads: 'with heads' | 'without heads' = 'with heads',
): Definition[] {
  const found: Definition[] = [];
  const open: Definition[] = [];
  for (const node of root.descendantsOfType(['function_definition', 'class_definition'])) {
    if (node === null) continue;
    while (open.length > 0 && (open.at(-1)?.range.end ?? 0) <= node.startIndex) open.pop();
    const definition = readDefinition(node, open.at(-1), heads === 'with heads');
    if (definition === undefined) continue;
    found.push(definition);
    open.push(definition);
  }
  return found;
}

function readDefinition(
  node: Node,
  parent: Definition | undefined,
  withHead: boolean,
): Definition | undefined {
  const name = node.childForFieldName('name')?.text ?? '';
  const body = node.childForFieldName('body');
  if (name === '' || body === null) return undefined;
  const outer = node.parent?.type === 'decorated_definition' ? node.parent : node;
  const isClass = node.type === 'class_definition';
  return {
    kind: isClass ? 'class' : parent?.kind === 'class' ? 'method' : 'function',
    name,
    qualifiedName: parent === undefined ? name : `${parent.qualifiedName}.${name}`,
    ...(parent !== undefined && { parent }),
    local: parent !== undefined && (parent.local || parent.kind !== 'class'),
    range: rangeOf(outer),
    defLine: node.startPosition.row + 1,
    column: node.startPosition.column,
    body: rangeOf(body),
    isAsync: withHead && node.child(0)?.type === 'async',
    bases: isClass ? readBases(node) : [],
    decorators:
      outer === node
        ? []
        : outer.namedChildren
            .filter((child) => child?.type === 'decorator')
            .map((child) => (child?.text ?? '').slice(1).trim()),
    parameters: isClass || !withHead ? [] : readParameters(node),
  };
}

function readBases(node: Node): string[] {
  return (node.childForFieldName('superclasses')?.namedChildren ?? [])
    .filter((child) => child !== null)
    .filter((child) => child.type !== 'keyword_argument' && child.type !== 'comment')
    .map((child) => child.text);
}

function readParameters(node: Node): string[] {
  return (node.childForFieldName('parameters')?.namedChildren ?? [])
    .map((child) =>
      child?.type === 'identifier'
        ? child.text
        : (child?.childForFieldName('name') ?? child?.namedChild(0))?.text,
    )
    .filter((name) => name !== undefined);
}

export function rangeOf(node: Node): SourceRange {
  return {
    startLine: node.startPosition.row + 1,
    // A node that ends with a newline ends at column 0 of the next line.
    endLine:
      node.endPosition.row +
      (node.endPosition.column === 0 && node.endIndex > node.startIndex ? 0 : 1),
    start: node.startIndex,
    end: node.endIndex,
  };
}
