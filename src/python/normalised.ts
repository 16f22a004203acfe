import type { Node, PythonParser } from './parser';

/**
 * The syntax tree of a source as text, without what does not change its meaning: comments,
 * docstrings, blanks, brackets around an expression, trailing commas, and the kind of plain quotes.
 * Two sources with equal texts do the same. A source that is no Python gives its lines.
 *
 * @param options.names whether names that the source itself gives are numbered in the order in
 *   which they appear, so that other names make no difference; attributes and members of classes
 *   keep theirs
 */
export function normalisedPython(
  python: PythonParser,
  source: string,
  { names = false }: { readonly names?: boolean } = {},
): string {
  return python.parse(source, (root) => {
    if (root.hasError) return linesOf(source);
    return new Normaliser(names ? givenNames(root) : new Set()).textOf(root);
  });
}

/** The lines of a text that is no Python, without blanks at their ends and empty ones. */
const linesOf = (source: string): string =>
  source
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');

/** Tokens that the structure of the tree makes superfluous. */
const structural = new Set([',', '(', ')', ';']);

class Normaliser {
  private readonly numbers = new Map<string, number>();
  private readonly parts: string[] = [];

  constructor(private readonly given: ReadonlySet<string>) {}

  /** Not recursive, since code that nests without end is deeper than the stack. */
  textOf(root: Node): string {
    const waiting: (Node | string)[] = [root];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (typeof next === 'string') this.parts.push(next);
      else waiting.push(...this.read(next).reverse());
    }
    return this.parts.join(' ');
  }

  /** @returns what a node consists of */
  private read(node: Node): (Node | string)[] {
    if (node.type === 'string') return stringParts(node);
    const children = meaningful(node);
    if (children.length === 0) return node.isNamed ? [this.nameOf(node)] : [node.type];
    if (node.type === 'parenthesized_expression') return children;
    return [`(${node.type}`, ...children, ')'];
  }

  private nameOf(node: Node): string {
    const { text, type } = node;
    if (type !== 'identifier') return type === text ? type : `${type}:${text}`;
    if (!this.given.has(text) || isMember(node)) return text;
    const number = this.numbers.get(text) ?? this.numbers.size + 1;
    this.numbers.set(text, number);
    return `#${number}`;
  }
}

/** The children of a node that have a meaning, without a docstring. */
function meaningful(node: Node): Node[] {
  // The comma makes a tuple here, and no node of the tree says so.
  const keepsCommas = node.type === 'subscript';
  const children = node.children.filter(
    (child): child is Node =>
      child !== null &&
      child.type !== 'comment' &&
      child.type !== 'line_continuation' &&
      (child.isNamed || !structural.has(child.type) || (keepsCommas && child.type === ',')),
  );
  const [first, ...rest] = children;
  return first !== undefined && isDocstring(first, node) ? rest : children;
}

function isDocstring(statement: Node, within: Node): boolean {
  if (statement.type !== 'expression_statement') return false;
  const [only, other] = statement.namedChildren;
  if (other !== undefined || !/^(?:concatenated_)?string$/.test(only?.type ?? '')) return false;
  const owner = within.type === 'block' ? within.parent?.type : within.type;
  return /^(?:module|function_definition|class_definition)$/.test(owner ?? '');
}

/** The parts of a string. Plain quotes of either kind are the same where no text depends on them. */
function stringParts(node: Node): (Node | string)[] {
  const inner = node.namedChildren.filter((child) => child?.type === 'interpolation') as Node[];
  const { text } = node;
  if (inner.length === 0) {
    const plain = /^([A-Za-z]*)('''|"""|'|")([^'"\\]*)\2$/s.exec(text);
    return [plain === null ? text : `${(plain[1] ?? '').toLowerCase()}'${plain[3] ?? ''}'`];
  }
  const parts: (Node | string)[] = [];
  let at = node.startIndex;
  for (const each of inner) {
    parts.push(text.slice(at - node.startIndex, each.startIndex - node.startIndex), each);
    at = each.endIndex;
  }
  return [...parts, text.slice(at - node.startIndex)];
}

/** Whether a name belongs to something else: an attribute, or the keyword of an argument. */
function isMember(node: Node): boolean {
  const { parent } = node;
  const isField = (field: string): boolean => parent?.childForFieldName(field)?.id === node.id;
  if (parent?.type === 'attribute') return isField('attribute');
  if (parent?.type === 'keyword_argument') return isField('name');
  if (parent?.type === 'function_definition' || parent?.type === 'assignment') {
    return isField(parent.type === 'assignment' ? 'left' : 'name') && isInClass(parent);
  }
  return false;
}

/** Whether a statement stands directly in the body of a class. */
function isInClass(statement: Node): boolean {
  let around = statement.parent;
  while (around !== null && /^(?:expression_statement|decorated_definition)$/.test(around.type)) {
    around = around.parent;
  }
  return around?.type === 'block' && around.parent?.type === 'class_definition';
}

/** Where a node gives a name, by the field of the node that has it. */
const givingFields: Readonly<Record<string, string>> = {
  assignment: 'left',
  for_statement: 'left',
  for_in_clause: 'left',
  named_expression: 'name',
  function_definition: 'name',
  class_definition: 'name',
  aliased_import: 'alias',
  as_pattern: 'alias',
};

/** The names that a source gives: of variables, functions, classes, parameters and aliases. */
function givenNames(root: Node): Set<string> {
  const found = new Set<string>();
  for (const [type, field] of Object.entries(givingFields)) {
    for (const node of root.descendantsOfType(type)) {
      const target = node?.childForFieldName(field);
      if (node === null || target === null || target === undefined) continue;
      const isOfClass = /^(?:function_definition|assignment)$/.test(type) && isInClass(node);
      if (!isOfClass) addTargets(target, found);
    }
  }
  for (const type of ['parameters', 'lambda_parameters']) {
    for (const list of root.descendantsOfType(type)) {
      for (const each of list?.namedChildren ?? []) if (each !== null) addTargets(each, found);
    }
  }
  return found;
}

/** Adds the names that a target or a parameter gives. */
function addTargets(target: Node, found: Set<string>): void {
  if (target.type === 'identifier') found.add(target.text);
  else if (/^(?:default_|typed_default_)parameter$/.test(target.type)) {
    const name = target.childForFieldName('name');
    if (name !== null) addTargets(name, found);
  } else if (target.type === 'typed_parameter') {
    const [first] = target.namedChildren;
    if (first !== undefined && first !== null) addTargets(first, found);
  } else if (
    /pattern|^(?:as_pattern_target|tuple|list|parenthesized_expression)$/.test(target.type)
  ) {
    for (const each of target.namedChildren) if (each !== null) addTargets(each, found);
  }
}
