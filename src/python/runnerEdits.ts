import type { Node, PythonParser } from './parser';

/** 1-based numbers of lines, first and last included. */
export interface LineSpan {
  readonly first: number;
  readonly last: number;
}

/** A place in a source that the user should look at. */
export interface RunnerEdit {
  /** 1-based. */
  readonly line: number;
  /** What the code does, as the predicate of a sentence, such as `sets pytest_plugins`. */
  readonly what: string;
  /** The first line of the code, trimmed. Untrusted. */
  readonly text: string;
  /**
   * The runner that is edited. The edit does not count if R is the repository of that runner, whose
   * code the tests then test.
   */
  readonly of?: string;
}

/** UTF-16 units of the longest source that is examined. Honest files of tests are shorter. */
const longestSource = 1_000_000;
/** Maximum number of nodes that are examined in one source. */
const mostNodes = 100_000;
/**
 * Greatest depth of nodes that are examined, since looking up a parent costs time for each level.
 */
const deepest = 300;

/** Modules that find, run and report tests. */
const runners =
  /^(_?pytest|unittest|pluggy|_unittest|nose|xdist|tox|sympy\.(testing|utilities)\.runtests|django\.test\.(runner|testcases|utils)|swt_\w+|sitecustomize|usercustomize)(\.|$)/;

/** Methods that control how a test case runs; tests may replace them. */
const methods =
  /^(run|__call__|debug|countTestCases|defaultTestResult|_callTestMethod|_callSetUp|_callTearDown|id)$/;

/**
 * Finds code that edits what runs tests: hooks, plug-ins, and attributes of runners. Names are
 * followed through imports and assignments, and nothing is executed.
 *
 * @param spans lines to look at
 */
export function findRunnerEdits(
  python: PythonParser,
  source: string,
  spans: readonly LineSpan[],
): RunnerEdit[] {
  if (spans.length === 0) return [];
  const lines = source.split('\n');
  const tooMuch = {
    line: 1,
    what: 'begins a file that is too long or too complex to be examined completely',
    text: lines[0]?.trim() ?? '',
  };
  // A longer one may be meant to escape the examination.
  if (source.length > longestSource) return [tooMuch];
  return python.parse(source, (root) => {
    const names = namesIn(root);
    const types = ['function_definition', 'assignment', 'augmented_assignment', 'call'];
    const { nodes, whole } = nodesOn(root, types, spans);
    const found = nodes.flatMap((node) => {
      // Of a function only its head counts, since edits in its body are nodes of their own.
      const isHead = node.type !== 'function_definition' || isOn(node, spans);
      const edit = isHead ? editOf(node, names) : undefined;
      return edit === undefined ? [] : [{ ...placeOf(node, lines), ...edit }];
    });
    return whole ? found : [tooMuch, ...found];
  });
}

/** Where a node is. `lines` are those of the whole source, and so is the tree. */
function placeOf(node: Node, lines: readonly string[]): Pick<RunnerEdit, 'line' | 'text'> {
  const line = node.startPosition.row + 1;
  return { line, text: (lines[line - 1] ?? '').trim() };
}

/** The first statement of a module that does more than import, define or name things. */
export function findModuleCode(
  python: PythonParser,
  source: string,
  spans: readonly LineSpan[],
): RunnerEdit | undefined {
  return python.parse(source, (root) => {
    const found = root.namedChildren.find(
      (node) =>
        node !== null &&
        /_statement$/.test(node.type) &&
        !/^(import|import_from|future_import|pass)_statement$/.test(node.type) &&
        spans.some(
          ({ first, last }) =>
            first <= node.endPosition.row + 1 && node.startPosition.row + 1 <= last,
        ) &&
        !isData(node.namedChild(0)),
    );
    return found === null || found === undefined
      ? undefined
      : {
          ...placeOf(found, source.split('\n')),
          what: 'runs code when its package of tests is imported',
        };
  });
}

/**
 * Whether an expression, or the value that an assignment gives to a plain name, consists of
 * literals and names.
 */
function isData(node: Node | null): boolean {
  if (node === null) return false;
  if (node.type !== 'assignment' && node.type !== 'augmented_assignment') {
    return /^(concatenated_)?string$/.test(node.type);
  }
  const left = node.childForFieldName('left');
  const right = node.childForFieldName('right');
  return (
    left?.type === 'identifier' &&
    left.text !== 'pytest_plugins' &&
    (right === null || right.descendantsOfType(['call', 'subscript', 'await']).length === 0)
  );
}

const isOn = (node: Node, spans: readonly LineSpan[]): boolean => {
  const line = node.startPosition.row + 1;
  return spans.some(({ first, last }) => first <= line && line <= last);
};

type Edit = Pick<RunnerEdit, 'what' | 'of'>;

const ofRunner = (what: string, name: string): Edit => ({ what, of: name.split('.')[0] ?? '' });

function editOf(node: Node, names: Names): Edit | undefined {
  switch (node.type) {
    case 'function_definition': {
      const what = editOfFunction(node);
      return what === undefined ? undefined : { what };
    }
    case 'call':
      return editOfCall(node, names);
    default:
      return editOfAssignment(node, names);
  }
}

function editOfFunction(node: Node): string | undefined {
  const name = node.childForFieldName('name')?.text ?? '';
  const around = node.parent?.type === 'decorated_definition' ? node.parent.parent : node.parent;
  if (around?.type === 'module') {
    const decorators =
      node.parent?.type === 'decorated_definition' ? node.parent.namedChildren : [];
    const isFixture = decorators.some(
      (each) => each?.type === 'decorator' && /\bfixture\b/.test(each.text),
    );
    if (name.startsWith('pytest_') && !isFixture) return `defines the hook ${name}`;
    if (name === 'load_tests') return 'chooses the tests to load';
    return undefined;
  }
  const class_ = around?.parent;
  if (class_?.type !== 'class_definition') return undefined;
  const bases = class_.childForFieldName('superclasses')?.text ?? '';
  if (/TestCase\b/.test(bases) && methods.test(name)) return `replaces ${name} of its test case`;
  if (/\b(TestResult|TestRunner|TestSuite|TestLoader|Plugin)\b/.test(bases)) {
    return `defines ${name} of a runner`;
  }
  return undefined;
}

function editOfAssignment(node: Node, names: Names): Edit | undefined {
  const left = node.childForFieldName('left');
  if (left === null) return undefined;
  if (left.text === 'pytest_plugins' && isPytester(node.childForFieldName('right')))
    return undefined;
  if (left.text === 'pytest_plugins' || left.text === 'collect_ignore')
    return { what: `sets ${left.text}` };
  const target = left.type === 'subscript' ? left.childForFieldName('value') : left;
  if (target === null || (target.type !== 'attribute' && left.type !== 'subscript'))
    return undefined;
  if (left.type === 'subscript' && names.dotted(target) === 'sys.modules') {
    const key = left.childForFieldName('subscript');
    const name = key?.type === 'string' ? stringOf(key) : '';
    return runners.test(name) ? ofRunner(`replaces the module ${name}`, name) : undefined;
  }
  if (/^self\._outcome\b/.test(target.text)) return { what: 'sets the outcome of its test' };
  const name = names.dotted(target);
  if (name !== undefined && isRunner(name, names, target)) {
    return ofRunner(`sets ${name}`, name);
  }
  const by = foundRunner(target, names);
  return by === undefined ? undefined : ofRunner(`sets attributes of ${by}`, by);
}

/** The runner whose module an expression looks up by name, as in `sys.modules['pytest'].main`. */
function foundRunner(node: Node, names: Names): string | undefined {
  const first = firstOf(node);
  const value = first?.type === 'identifier' ? names.valueOf(first) : first;
  if (value?.type !== 'call' && value?.type !== 'subscript') return undefined;
  const of = value.childForFieldName(value.type === 'call' ? 'function' : 'value');
  const key =
    value.type === 'call' ? callArguments(value)[0] : value.childForFieldName('subscript');
  const looksUp = /^(importlib\.import_module|__import__|pytest\.importorskip|sys\.modules)$/;
  if (of === null || key?.type !== 'string' || !looksUp.test(names.dotted(of) ?? ''))
    return undefined;
  const name = stringOf(key);
  return runners.test(name) ? name : undefined;
}

/** What a chain of attributes begins with. */
function firstOf(node: Node): Node | undefined {
  let first: Node | null = node;
  for (let depth = 0; depth < 20 && first?.type === 'attribute'; depth++) {
    first = first.childForFieldName('object');
  }
  return first ?? undefined;
}

/** Whether all plug-ins are pytest's own for testing plug-ins, which only add fixtures. */
function isPytester(right: Node | null): boolean {
  if (right === null || !/^(string|list|tuple)$/.test(right.type)) return false;
  const names = right.type === 'string' ? [right] : right.namedChildren;
  return names.every(
    (each) => each?.type === 'string' && /^(_pytest\.)?pytester$/.test(stringOf(each)),
  );
}

/** Whether a dotted name is that of an imported runner. */
function isRunner(name: string, names: Names, node: Node): boolean {
  const first = firstOf(node);
  return first !== undefined && names.imported(first.text) !== undefined && runners.test(name);
}

function editOfCall(node: Node, names: Names): Edit | undefined {
  const callee = node.childForFieldName('function');
  const name = callee === null ? '' : (names.dotted(callee) ?? callee.text);
  const [first, second] = callArguments(node);
  if (first === undefined) return undefined;
  const patches =
    /(^|\.)(setattr|delattr|setitem)$/.test(name) ||
    /(^|\.)patch(\.object|\.dict|\.multiple)?$/.test(name);
  if (patches) {
    const target = first.type === 'string' ? stringOf(first) : (names.dotted(first) ?? '');
    const is = first.type === 'string' ? runners.test(target) : isRunner(target, names, first);
    const by = is || first.type === 'string' ? undefined : foundRunner(first, names);
    if (by !== undefined) return ofRunner(`sets attributes of ${by}`, by);
    if (!is) return undefined;
    const attribute =
      second?.type === 'string' && first.type !== 'string' ? `.${stringOf(second)}` : '';
    return ofRunner(`sets ${target}${attribute}`, target);
  }
  if (/(^|\.)(pluginmanager|pm)\.(register|unregister|import_plugin|set_blocked)$/.test(name)) {
    return ofRunner('changes the plug-ins of the runner', '_pytest');
  }
  return undefined;
}

/** Resolves the names of a source by its imports and assignments, as far as the text says. */
interface Names {
  /**
   * The dotted name of an expression with the real names of imports: `m.patch` is
   * `unittest.mock.patch` after `from unittest import mock as m`.
   */
  dotted(node: Node): string | undefined;
  /** The value last assigned to a name before its use. */
  valueOf(node: Node): Node | undefined;
  /** The module or package that a name is, or was imported from. */
  imported(name: string): string | undefined;
}

function namesIn(root: Node): Names {
  const imports = new Map<string, string>();
  for (const node of root.descendantsOfType(['import_statement', 'import_from_statement'])) {
    if (node !== null) readImport(node, imports);
  }
  const assigned = new Map<string, Node[]>();
  for (const node of root.descendantsOfType('assignment')) {
    const [left, right] = [node?.childForFieldName('left'), node?.childForFieldName('right')];
    if (left?.type !== 'identifier' || !right) continue;
    const values = assigned.get(left.text);
    if (values === undefined) assigned.set(left.text, [right]);
    else values.push(right);
  }
  return {
    dotted: (node) => dottedName(node, imports),
    valueOf: ({ text, startIndex }) =>
      assigned.get(text)?.findLast((value) => value.startIndex < startIndex),
    imported: (name) => imports.get(name),
  };
}

function dottedName(
  node: Node,
  imports: ReadonlyMap<string, string>,
  depth = 0,
): string | undefined {
  if (depth > deepest) return undefined;
  if (node.type === 'identifier') return imports.get(node.text) ?? node.text;
  if (node.type === 'parenthesized_expression') {
    const inner = node.namedChild(0);
    return inner === null ? undefined : dottedName(inner, imports, depth + 1);
  }
  if (node.type !== 'attribute') return undefined;
  const object = node.childForFieldName('object');
  const attribute = node.childForFieldName('attribute');
  const of = object === null ? undefined : dottedName(object, imports, depth + 1);
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

/**
 * The nodes of given types that are on given lines, at least in part, in the order of the source.
 *
 * @returns `whole` is false if the source has more or deeper nodes than are examined
 */
function nodesOn(
  root: Node,
  types: readonly string[],
  spans: readonly LineSpan[],
): { readonly nodes: readonly Node[]; readonly whole: boolean } {
  const wanted = new Set(types);
  const nodes: Node[] = [];
  let whole = true;
  const cursor = root.walk();
  try {
    for (let depth = 0; ;) {
      const first = cursor.startPosition.row + 1;
      const last = cursor.endPosition.row + 1;
      const touches = spans.some((span) => first <= span.last && span.first <= last);
      if (touches && wanted.has(cursor.nodeType)) nodes.push(cursor.currentNode);
      if (nodes.length === mostNodes) return { nodes, whole: false };
      if (touches && depth === deepest) whole = false;
      if (touches && depth < deepest && cursor.gotoFirstChild()) {
        depth += 1;
        continue;
      }
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return { nodes, whole };
        depth -= 1;
      }
    }
  } finally {
    cursor.delete();
  }
}

/** The arguments of a call; for keyword arguments their values. */
function callArguments(call: Node): Node[] {
  const list = call.childForFieldName('arguments');
  return (list?.namedChildren ?? []).flatMap((child) => {
    if (child === null || child.type === 'comment') return [];
    const value = child.type === 'keyword_argument' ? child.childForFieldName('value') : child;
    return value === null ? [] : [value];
  });
}

/** The text of a string literal; `?` for each interpolation. */
function stringOf(node: Node): string {
  return node.namedChildren
    .map((child) =>
      child?.type === 'string_content' ? child.text : child?.type === 'interpolation' ? '?' : '',
    )
    .join('');
}
