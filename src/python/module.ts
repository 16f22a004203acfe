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

/** What there is to know of a source to change it without understanding all of it. */
export interface PythonModule {
  readonly definitions: readonly Definition[];
  readonly statements: readonly Statement[];
  /** Imports among `statements`, so none below `try` or `if`. */
  readonly imports: readonly ImportStatement[];
  /** String literals over several lines, whose inside must not be indented anew. */
  readonly longStrings: readonly (SourceRange & { readonly docstring: boolean })[];
  /** 1-based line of the first syntax error. */
  readonly errorLine?: number;
}

/** Reads the outline of a source. */
export function readModule(python: PythonParser, source: string): PythonModule {
  return python.parse(source, (root) => {
    const nodes = root.namedChildren.filter((node) => node !== null && node.type !== 'comment');
    const present = nodes.filter((node) => node !== null);
    const errorLine = firstError(root);
    return {
      definitions: definitionsIn(root),
      statements: present.map((node) => ({ type: typeOf(node), range: rangeOf(node) })),
      imports: present.filter((node) => typeOf(node) === 'import').map(readImport),
      longStrings: root
        .descendantsOfType('string')
        .filter((node) => node !== null)
        .filter((node) => node.startPosition.row !== node.endPosition.row)
        .map((node) => ({
          ...rangeOf(node),
          docstring:
            node.parent?.type === 'expression_statement' && node.parent.namedChildCount === 1,
        })),
      ...(errorLine !== undefined && { errorLine }),
    };
  });
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
