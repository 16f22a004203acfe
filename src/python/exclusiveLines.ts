import type { Node, PythonParser } from './parser';

/** Lines of one `if`, of which each execution runs at most one. All numbers are 1-based. */
export interface ExclusiveLines {
  /** The line of the condition. It gives at least one line event for each execution. */
  readonly condition: number;
  /** First lines of the branches, which give at most one line event for each execution. */
  readonly branches: readonly number[];
}

const plainStatements: ReadonlySet<string> = new Set([
  'expression_statement',
  'return_statement',
  'raise_statement',
  'pass_statement',
  'break_statement',
  'continue_statement',
  'delete_statement',
  'import_statement',
  'import_from_statement',
]);

const endings: ReadonlySet<string> = new Set([
  'return_statement',
  'raise_statement',
  'break_statement',
  'continue_statement',
]);

/** What can give a line more events than executions, or none of its own. */
const repeats = [
  'list_comprehension',
  'set_comprehension',
  'dictionary_comprehension',
  'generator_expression',
  'lambda',
  'yield',
  'await',
];

/**
 * The branches of each `if` that exclude each other: of `if`, `elif` and `else`, or what follows an
 * `if` that returns. Only plain lines are listed, whose executions are as many as their line events.
 */
export function exclusiveLines(python: PythonParser, source: string): ExclusiveLines[] {
  return python.parse(source, (root) =>
    root
      .descendantsOfType(['if_statement', 'elif_clause'])
      .flatMap((node) => (node === null ? [] : linesOf(node))),
  );
}

function linesOf(node: Node): ExclusiveLines[] {
  const condition = node.childForFieldName('condition');
  // A child that is forked in the condition runs another branch than its parent.
  if (condition === null || rowOf(condition, node) === undefined) return [];
  if (condition.text.includes('fork')) return [];
  const branches = [firstOf(node.childForFieldName('consequence')), otherwise(node)].flatMap(
    (branch) => (branch === undefined ? [] : plainRow(branch, node)),
  );
  const lines = [...new Set(branches.map((row) => row + 1))];
  return lines.length < 2 ? [] : [{ condition: node.startPosition.row + 1, branches: lines }];
}

/** The first node that runs where the condition does not hold. */
function otherwise(node: Node): Node | undefined {
  const statement = node.type === 'elif_clause' ? node.parent : node;
  const others = statement?.childrenForFieldName('alternative').filter((each) => each !== null);
  const at = others?.findIndex((each) => each.id === node.id) ?? -1;
  const next = others?.[at + 1];
  if (next !== undefined) {
    return next.type === 'elif_clause' ? next : firstOf(next.childForFieldName('body'));
  }
  const block = node.childForFieldName('consequence');
  const last = block?.namedChildren.filter((each) => each?.type !== 'comment').at(-1);
  // With branches before it, what follows is reached from these as well.
  if (node.type === 'elif_clause' || last === undefined || last === null) return undefined;
  if (!endings.has(last.type)) return undefined;
  return following(node);
}

function following(node: Node): Node | undefined {
  let next = node.nextNamedSibling;
  while (next?.type === 'comment') next = next.nextNamedSibling;
  return next ?? undefined;
}

function firstOf(block: Node | null): Node | undefined {
  return block?.namedChildren.find((each) => each !== null && each.type !== 'comment') ?? undefined;
}

/** The row of a branch's first line, if each execution gives it at most one event. */
function plainRow(branch: Node, node: Node): number[] {
  const isCondition = branch.type === 'if_statement' || branch.type === 'elif_clause';
  const head = isCondition ? branch.childForFieldName('condition') : branch;
  if (head === null || !(isCondition || plainStatements.has(branch.type))) return [];
  const row = rowOf(head, branch);
  if (row === undefined || row === node.startPosition.row) return [];
  if (head.descendantsOfType(repeats).length > 0 || repeats.includes(head.type)) return [];
  const after = isCondition ? firstOf(branch.childForFieldName('consequence')) : following(branch);
  return after?.startPosition.row === row ? [] : [row];
}

/** The row where `outer` begins, if `inner` is on it. */
function rowOf(inner: Node, outer: Node): number | undefined {
  const { row } = outer.startPosition;
  return inner.startPosition.row === row && inner.endPosition.row === row ? row : undefined;
}
