import type { Node, PythonParser } from '../parser';
import { bindingsIn, type Bindings } from './bindings';
import {
  longestSource,
  nodesOn,
  observe,
  type ObservationCondition,
  type LineSpan,
  type Observation,
} from './observation';
import { callArguments, ownerOf, stringOf } from './paths';

/** Modules that find, run and report tests. */
const runners =
  /^(_?pytest|unittest|pluggy|_unittest|nose|xdist|tox|sympy\.(testing|utilities)\.runtests|django\.test\.(runner|testcases|utils)|swt_\w+|sitecustomize|usercustomize)(\.|$)/;

/** Methods that control how a test case runs; tests may replace them. */
const methods =
  /^(run|__call__|debug|countTestCases|defaultTestResult|_callTestMethod|_callSetUp|_callTearDown|id)$/;

/** Finds code that edits what runs tests: hooks, plug-ins, and attributes of runners. */
export function findRunnerEdits(
  python: PythonParser,
  source: string,
  { spans }: { readonly spans: readonly LineSpan[] },
): Observation[] {
  // `findSourceReads` reports longer sources.
  if (spans.length === 0 || source.length > longestSource) return [];
  return python.parse(source, (root) => {
    const bindings = bindingsIn(root);
    const lines = source.split('\n');
    const types = ['function_definition', 'assignment', 'augmented_assignment', 'call'];
    return nodesOn(root, types, spans).nodes.flatMap((node) => {
      // Of a function only its head counts, since edits in its body are nodes of their own.
      const isHead = node.type !== 'function_definition' || isOn(node, spans);
      const edit = isHead ? editOf(node, bindings) : undefined;
      return edit === undefined ? [] : [observe(node, edit.what, lines, edit.condition)];
    });
  });
}

/** The first statement of a module that does more than import, define or name things. */
export function findModuleCode(
  python: PythonParser,
  source: string,
  spans: readonly LineSpan[],
): Observation | undefined {
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
      : observe(found, 'runs code when its package of tests is imported', source.split('\n'));
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

interface Edit {
  readonly what: string;
  readonly condition?: ObservationCondition;
}

/**
 * An edit of a runner. It does not count if R is the repository of that runner, whose code the
 * tests then test.
 */
const ofRunner = (what: string, name: string): Edit => ({
  what,
  condition: { notOfR: name.split('.')[0] ?? '' },
});

function editOf(node: Node, bindings: Bindings): Edit | undefined {
  switch (node.type) {
    case 'function_definition': {
      const what = editOfFunction(node);
      return what === undefined ? undefined : { what };
    }
    case 'call':
      return editOfCall(node, bindings);
    default:
      return editOfAssignment(node, bindings);
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

function editOfAssignment(node: Node, bindings: Bindings): Edit | undefined {
  const left = node.childForFieldName('left');
  if (left === null) return undefined;
  if (left.text === 'pytest_plugins' && isPytester(node.childForFieldName('right')))
    return undefined;
  if (left.text === 'pytest_plugins' || left.text === 'collect_ignore')
    return { what: `sets ${left.text}` };
  const target = left.type === 'subscript' ? left.childForFieldName('value') : left;
  if (target === null || (target.type !== 'attribute' && left.type !== 'subscript'))
    return undefined;
  if (left.type === 'subscript' && bindings.dotted(target) === 'sys.modules') {
    const key = left.childForFieldName('subscript');
    const name = key?.type === 'string' ? stringOf(key) : '';
    return runners.test(name) ? ofRunner(`replaces the module ${name}`, name) : undefined;
  }
  if (/^self\._outcome\b/.test(target.text)) return { what: 'sets the outcome of its test' };
  const name = bindings.dotted(target);
  if (name !== undefined && isRunner(name, bindings, target)) {
    return ofRunner(`sets ${name}`, name);
  }
  const by = foundRunner(target, bindings);
  return by === undefined ? undefined : ofRunner(`sets attributes of ${by}`, by);
}

/** The runner whose module an expression looks up by name, as in `sys.modules['pytest'].main`. */
function foundRunner(node: Node, bindings: Bindings): string | undefined {
  let first: Node | null = node;
  for (let depth = 0; depth < 20 && first?.type === 'attribute'; depth++) {
    first = first.childForFieldName('object');
  }
  const value = first?.type === 'identifier' ? bindings.valueOf(first) : (first ?? undefined);
  if (value?.type !== 'call' && value?.type !== 'subscript') return undefined;
  const owner = ownerOf(value, bindings);
  return owner.kind === 'module' && runners.test(owner.name) ? owner.name : undefined;
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
function isRunner(name: string, bindings: Bindings, node: Node): boolean {
  let first: Node | null = node;
  for (let depth = 0; depth < 20 && first?.type === 'attribute'; depth++) {
    first = first.childForFieldName('object');
  }
  return first !== null && bindings.imported(first.text) !== undefined && runners.test(name);
}

function editOfCall(node: Node, bindings: Bindings): Edit | undefined {
  const callee = node.childForFieldName('function');
  const name = callee === null ? '' : (bindings.dotted(callee) ?? callee.text);
  const [first, second] = callArguments(node);
  if (first === undefined) return undefined;
  const patches =
    /(^|\.)(setattr|delattr|setitem)$/.test(name) ||
    /(^|\.)patch(\.object|\.dict|\.multiple)?$/.test(name);
  if (patches) {
    const target = first.type === 'string' ? stringOf(first) : (bindings.dotted(first) ?? '');
    const is = first.type === 'string' ? runners.test(target) : isRunner(target, bindings, first);
    const by = is || first.type === 'string' ? undefined : foundRunner(first, bindings);
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
