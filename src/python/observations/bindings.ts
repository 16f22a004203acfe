import type { Node } from '../parser';

/** Resolves the names of a source. */
export interface Bindings {
  /**
   * The dotted name of an expression with the real names of imports: `sp.run` is `subprocess.run`
   * after `import subprocess as sp`. A relative import begins with dots.
   */
  dotted(node: Node): string | undefined;
  /**
   * The value last assigned to a name, or to an attribute of `self`, before its use in the nearest
   * scope.
   */
  valueOf(node: Node): Node | undefined;
  /** The module or package that a name is, or was imported from. */
  imported(name: string): string | undefined;
  /**
   * Takes one of the steps allowed for following names in a source; false when none is left. Names
   * can refer to each other in exponentially many ways, and the author of the source may intend
   * that.
   */
  step(): boolean;
  /** Whether `step` was called when none was left. */
  readonly isSpent: () => boolean;
  /** Whether the source defines a function or class of this name. */
  defines(name: string): boolean;
}

/**
 * Steps for one source: they take a second, and are a hundred times what the longest honest tests
 * need.
 */
const mostSteps = 200_000;
/** Greatest depth of nested nodes to follow. Honest expressions stay far below. */
const deepest = 200;

/** An assigned value and its start in UTF-16 units. */
interface Assigned {
  readonly value: Node;
  readonly start: number;
}

/** Reads the imports of a tree at once, and assignments on demand. */
export function bindingsIn(root: Node): Bindings {
  const imports = new Map<string, string>();
  for (const node of root.descendantsOfType(['import_statement', 'import_from_statement'])) {
    if (node !== null) readImport(node, imports);
  }
  let definitions: ReadonlySet<string> | undefined;
  const assigned = new Map<number, ReadonlyMap<string, readonly Assigned[]>>();
  let steps = mostSteps;
  const step = (): boolean => steps-- > 0;
  const assignmentsOf = (scope: Node): ReadonlyMap<string, readonly Assigned[]> => {
    const known = assigned.get(scope.id);
    if (known !== undefined) return known;
    const found = readAssignments(scope);
    assigned.set(scope.id, found);
    return found;
  };
  const valueOf = (node: Node): Node | undefined => {
    const isAttribute = node.type === 'attribute';
    const object = isAttribute ? node.childForFieldName('object') : null;
    // Check the object first, since the text of a long chain is long.
    if (isAttribute && (object?.type !== 'identifier' || !/^(self|cls)$/.test(object.text))) {
      return undefined;
    }
    const name = node.text;
    const keys = isAttribute ? [name, `self.${name.slice(name.indexOf('.') + 1)}`] : [name];
    if (isAttribute) keys.push(`cls.${name.slice(name.indexOf('.') + 1)}`);
    for (let scope = scopeOf(node); scope !== null; scope = scopeOf(scope)) {
      const isClass = scope.type === 'class_definition';
      // Methods see the names that a class binds only through `self`.
      if (!isAttribute && (isClass ? scope.id !== scopeOf(node)?.id : false)) continue;
      if (!isAttribute && takes(scope, name)) return undefined;
      const inClass = isAttribute && isClass;
      const names = inClass ? [...keys, name.slice(name.indexOf('.') + 1)] : keys;
      const { startIndex } = node;
      for (const key of names) {
        const all = assignmentsOf(scope).get(key);
        const value = all && lastBefore(all, startIndex);
        if (value !== undefined && value.id !== node.id) return value;
      }
    }
    return undefined;
  };
  return {
    dotted: (node) => dottedName(node, imports, step),
    valueOf,
    step,
    isSpent: () => steps < 0,
    imported: (name) => imports.get(name),
    defines(name) {
      definitions ??= new Set(
        root
          .descendantsOfType(['function_definition', 'class_definition'])
          .map((each) => each?.childForFieldName('name')?.text ?? ''),
      );
      return definitions.has(name);
    },
  };
}

/**
 * The last value assigned before a place, or else the first of all, since a loop may assign it
 * before.
 */
function lastBefore(all: readonly Assigned[], start: number): Node | undefined {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return (all[low - 1] ?? all[0])?.value;
}

function dottedName(
  node: Node,
  imports: ReadonlyMap<string, string>,
  step: () => boolean,
  depth = 0,
): string | undefined {
  if (depth > deepest || (depth > 0 && !step())) return undefined;
  if (node.type === 'identifier') return imports.get(node.text) ?? node.text;
  if (node.type === 'parenthesized_expression') {
    const inner = node.namedChild(0);
    return inner === null ? undefined : dottedName(inner, imports, step, depth + 1);
  }
  if (node.type !== 'attribute') return undefined;
  const object = node.childForFieldName('object');
  const attribute = node.childForFieldName('attribute');
  const of = object === null ? undefined : dottedName(object, imports, step, depth + 1);
  return of === undefined || attribute === null ? undefined : `${of}.${attribute.text}`;
}

function readImport(node: Node, imports: Map<string, string>): void {
  const from = node.childForFieldName('module_name')?.text;
  for (const child of node.childrenForFieldName('name')) {
    if (child === null) continue;
    const aliased = child.type === 'aliased_import';
    const name = (aliased ? child.childForFieldName('name')?.text : child.text) ?? '';
    const alias = aliased ? child.childForFieldName('alias')?.text : undefined;
    if (from !== undefined) {
      const joint = from.endsWith('.') ? '' : '.';
      imports.set(alias ?? name, `${from}${joint}${name}`);
    } else if (alias !== undefined) {
      imports.set(alias, name);
    } else {
      // `import a.b` binds `a`.
      const [first = name] = name.split('.');
      imports.set(first, first);
    }
  }
}

/** The function, class or module around a node; null beyond `deepest` levels. */
function scopeOf(node: Node): Node | null {
  let scope = node.parent;
  for (let depth = 0; depth < deepest && scope !== null; depth++) {
    if (/^(function_definition|class_definition|lambda|module)$/.test(scope.type)) return scope;
    scope = scope.parent;
  }
  return null;
}

/** Whether a function has a parameter of this name, whose value is then unknown. */
function takes(scope: Node, name: string): boolean {
  const parameters = scope.childForFieldName('parameters');
  if (parameters === null || scope.type === 'class_definition') return false;
  return parameters.namedChildren.some(
    (child) =>
      (child?.type === 'identifier'
        ? child.text
        : (child?.childForFieldName('name') ?? child?.namedChild(0))?.text) === name,
  );
}

/**
 * Assigned values by their target, for a scope and everything inside it. The value of a name that
 * `with` or `for` binds is the expression it is taken from.
 */
function readAssignments(scope: Node): ReadonlyMap<string, readonly Assigned[]> {
  const found = new Map<string, Assigned[]>();
  const add = (target: Node | null, value: Node | null): void => {
    if (target === null || value === null) return;
    const targets = target.namedChildren.filter((each) => each !== null);
    if (/^(pattern_list|tuple_pattern|list_pattern)$/.test(target.type)) {
      const values = value.namedChildren.filter((each) => each !== null);
      const each = /^(expression_list|tuple|list)$/.test(value.type) ? values : undefined;
      targets.forEach((one, index) => add(one, each === undefined ? value : (each[index] ?? null)));
      return;
    }
    const list = found.get(target.text);
    const one = { value, start: value.startIndex };
    if (list === undefined) found.set(target.text, [one]);
    else list.push(one);
  };
  const types = ['assignment', 'named_expression', 'as_pattern', 'for_statement', 'for_in_clause'];
  for (const node of scope.descendantsOfType(types)) {
    if (node === null) continue;
    const target = node.childForFieldName('left') ?? node.childForFieldName('name');
    // A name in an inner function is a different name. An attribute belongs to the object, wherever
    // it is set.
    if (target?.type !== 'attribute' && scopeOf(node)?.id !== scope.id) continue;
    switch (node.type) {
      case 'named_expression':
        add(node.childForFieldName('name'), node.childForFieldName('value'));
        break;
      case 'as_pattern':
        add(node.childForFieldName('alias')?.namedChild(0) ?? null, node.namedChild(0));
        break;
      default:
        add(node.childForFieldName('left'), node.childForFieldName('right'));
    }
  }
  return found;
}
