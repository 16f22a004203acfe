import type { Node } from '../python/parser';

/** A part of a source and what replaces it. Offsets are UTF-16 units, `end` excluded. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** A kind of small fault. */
export interface MutationOperator {
  /** Name in results. */
  readonly name: string;
  /** What it does, for the documentation. */
  readonly does: string;
  /** One line of code before and after. */
  readonly example: readonly [string, string];
  /** Types of syntax nodes that it looks at. */
  readonly types: readonly string[];
  /** The faults that it makes of one such node. */
  readonly replacements: (node: Node) => readonly Replacement[];
}

/** The kept list of operators. Their order decides between two that make the same fault. */
export const mutationOperators: readonly MutationOperator[] = [
  {
    name: 'comparison boundary',
    does: 'moves the bound of `<`, `<=`, `>` or `>=` by one',
    example: ['if a < b:', 'if a <= b:'],
    types: ['comparison_operator'],
    replacements: swapComparisons({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' }),
  },
  {
    name: 'comparison negated',
    does: 'turns a comparison into its opposite',
    example: ['if a is None:', 'if a is not None:'],
    types: ['comparison_operator'],
    replacements: swapComparisons({
      ...{ '<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '==' },
      ...{ is: 'is not', 'is not': 'is', in: 'not in', 'not in': 'in' },
    }),
  },
  {
    name: 'condition negated',
    does: 'negates a condition that is not a single comparison',
    example: ['if ready:', 'if not (ready):'],
    types: [
      'if_statement',
      'elif_clause',
      'while_statement',
      'conditional_expression',
      'if_clause',
    ],
    replacements: negateCondition,
  },
  {
    name: 'boolean operator',
    does: 'swaps `and` and `or`',
    example: ['return a and b', 'return a or b'],
    types: ['boolean_operator'],
    replacements: swapOperator({ and: 'or', or: 'and' }),
  },
  {
    name: 'negation removed',
    does: 'removes `not`, a minus sign or `~`',
    example: ['return not found', 'return found'],
    types: ['not_operator', 'unary_operator'],
    replacements: removeNegation,
  },
  {
    name: 'arithmetic operator',
    does: 'replaces an operator between two values',
    example: ['return a + b', 'return a - b'],
    types: ['binary_operator'],
    replacements: (node) => (hasLiteralText(node) ? [] : swapOperator(arithmetic)(node)),
  },
  {
    name: 'augmented assignment',
    does: 'replaces the operator of an augmented assignment',
    example: ['total += 1', 'total -= 1'],
    types: ['augmented_assignment'],
    replacements: (node) =>
      hasLiteralText(node)
        ? []
        : swapOperator(
            Object.fromEntries(Object.entries(arithmetic).map(([a, b]) => [`${a}=`, `${b}=`])),
          )(node),
  },
  {
    name: 'number',
    does: 'adds 1 to a number',
    example: ['limit = 10', 'limit = 11'],
    types: ['integer', 'float'],
    replacements: addOne,
  },
  {
    name: 'string',
    does: 'empties a string, or writes `mutant` into an empty one; skips docstrings',
    example: ['name = "x"', 'name = ""'],
    types: ['string', 'concatenated_string'],
    replacements: changeString,
  },
  {
    name: 'boolean constant',
    does: 'swaps `True` and `False`',
    example: ['strict = True', 'strict = False'],
    types: ['true', 'false'],
    replacements: (node) => [whole(node, node.type === 'true' ? 'False' : 'True')],
  },
  {
    name: 'assigned value',
    does: 'assigns `None` instead of the value',
    example: ['rest = total - paid', 'rest = None'],
    types: ['assignment'],
    replacements: assignNone,
  },
  {
    name: 'returned value',
    does: 'returns `None` instead of the value',
    example: ['return rest', 'return None'],
    types: ['return_statement'],
    replacements: (node) => insteadOf(node.namedChild(0), 'None'),
  },
  {
    name: 'statement removed',
    does: 'removes a call, an augmented assignment, `raise`, `del` or `assert`',
    example: ['items.sort()', 'pass'],
    types: ['expression_statement', 'raise_statement', 'delete_statement', 'assert_statement'],
    replacements: removeStatement,
  },
  {
    name: 'loop skipped',
    does: 'makes a `for` loop iterate over nothing',
    example: ['for item in items:', 'for item in ():'],
    types: ['for_statement', 'for_in_clause'],
    replacements: (node) =>
      node.child(0)?.type === 'async' ? [] : insteadOf(node.childForFieldName('right'), '()'),
  },
  {
    name: 'break and continue',
    does: 'swaps `break` and `continue`',
    example: ['break', 'continue'],
    types: ['break_statement', 'continue_statement'],
    replacements: (node) => [whole(node, node.type === 'break_statement' ? 'continue' : 'break')],
  },
  {
    name: 'exception not caught',
    does: 'makes an `except` clause catch nothing',
    example: ['except ValueError:', 'except ():'],
    types: ['except_clause'],
    replacements: catchNothing,
  },
  {
    name: 'decorator removed',
    does: 'removes a decorator',
    example: ['@cached', ''],
    types: ['decorator'],
    replacements: (node) => [
      { ...whole(node, ''), end: node.startIndex + node.text.trimEnd().length },
    ],
  },
];

/** Each operator on numbers, and what replaces it. */
const arithmetic: Readonly<Record<string, string>> = {
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '//': '/', '%': '*', '**': '*' },
  ...{ '<<': '>>', '>>': '<<', '&': '|', '|': '&', '^': '&' },
};

const whole = (node: Node, by: string): Replacement => ({
  start: node.startIndex,
  end: node.endIndex,
  by,
});

/** Replaces a node, unless it already has that value. */
function insteadOf(node: Node | null, by: string): readonly Replacement[] {
  if (node === null || /^(?:none|yield|await)$/.test(bare(node).type)) return [];
  return node.text.replace(/\s/g, '') === by ? [] : [whole(node, by)];
}

/** A node without the brackets around it. */
function bare(node: Node): Node {
  let inner = node;
  for (let next: Node | null = node; next?.type === 'parenthesized_expression';) {
    next = next.namedChildren.find((child) => child?.type !== 'comment') ?? null;
    if (next !== null) inner = next;
  }
  return inner;
}

/** The signs between operands, as `is not` is of two tokens. */
function signsOf(node: Node): Replacement[] {
  const signs: Replacement[] = [];
  let isOpen = false;
  for (const child of node.children) {
    if (child === null || child.type === 'comment') continue;
    const last = signs.at(-1);
    if (child.isNamed) isOpen = false;
    else if (isOpen && last !== undefined) {
      signs[signs.length - 1] = { ...last, end: child.endIndex, by: `${last.by} ${child.text}` };
    } else {
      signs.push(whole(child, child.text));
      isOpen = true;
    }
  }
  return signs;
}

function swapComparisons(
  swaps: Readonly<Record<string, string>>,
): (node: Node) => readonly Replacement[] {
  return (node) =>
    signsOf(node).flatMap((sign) => {
      const by = swaps[sign.by];
      return by === undefined ? [] : [{ ...sign, by }];
    });
}

function swapOperator(
  swaps: Readonly<Record<string, string>>,
): (node: Node) => readonly Replacement[] {
  return (node) => {
    const operator = node.childForFieldName('operator');
    const by = operator === null ? undefined : swaps[operator.text];
    return operator === null || by === undefined ? [] : [whole(operator, by)];
  };
}

/** Whether an operand is a literal that an arithmetic operator joins: any other would only raise. */
function hasLiteralText(node: Node): boolean {
  const operands = [node.childForFieldName('left'), node.childForFieldName('right')];
  const literal = /^(?:concatenated_)?string$|^(?:list|tuple|dictionary|set)(?:_comprehension)?$/;
  return operands.some((each) => each !== null && literal.test(bare(each).type));
}

function negateCondition(node: Node): readonly Replacement[] {
  const condition =
    node.type === 'conditional_expression'
      ? node.namedChildren.filter((child) => child?.type !== 'comment')[1]
      : node.type === 'if_clause'
        ? node.namedChild(0)
        : node.childForFieldName('condition');
  if (condition === null || condition === undefined) return [];
  const inner = bare(condition);
  // Other operators already make the opposite of these.
  const isSingle = inner.type === 'comparison_operator' && signsOf(inner).length === 1;
  if (isSingle || /^(?:not_operator|true|false|integer)$/.test(inner.type)) return [];
  return [whole(condition, `not (${condition.text})`)];
}

function removeNegation(node: Node): readonly Replacement[] {
  const argument = node.childForFieldName('argument');
  const sign = node.child(0);
  if (argument === null || sign === null || sign.type === '+') return [];
  return [whole(node, argument.text)];
}

function addOne(node: Node): readonly Replacement[] {
  const text = node.text.replaceAll('_', '');
  if (node.type === 'float') {
    const value = Number(text) + 1;
    const by = Number.isInteger(value) ? `${value}.0` : String(value);
    // Very large numbers do not change by 1.
    return Number.isFinite(value) && value !== Number(text) ? [whole(node, by)] : [];
  }
  if (/^(?:0|[1-9]\d*)$/.test(text)) return [whole(node, String(BigInt(text) + 1n))];
  // Suffixes of imaginary numbers and of Python 2 are left alone.
  return /^0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)$/.test(text)
    ? [whole(node, String(BigInt(text.toLowerCase()) + 1n))]
    : [];
}

function changeString(node: Node): readonly Replacement[] {
  const { parent } = node;
  const isDocstring = parent?.type === 'expression_statement' || parent?.type === 'module';
  if (parent === null || isDocstring || parent.type === 'concatenated_string') return [];
  const [, prefix = '', quote = ''] = /^([A-Za-z]*)("""|'''|"|')/.exec(node.text) ?? [];
  const isEmpty = node.type === 'string' && node.text === prefix + quote + quote;
  const kept = /b/i.test(prefix) ? 'b' : '';
  const mark = quote.charAt(0);
  return mark === '' ? [] : [whole(node, `${kept}${mark}${isEmpty ? 'mutant' : ''}${mark}`)];
}

function assignNone(node: Node): readonly Replacement[] {
  const target = node.childForFieldName('left');
  const value = node.childForFieldName('right');
  if (value === null || target === null) return [];
  // None cannot be taken apart, and the last value of a chain is assigned to all its targets.
  if (/pattern|^(?:tuple|list)$/.test(target.type) || value.type === 'assignment') return [];
  return insteadOf(value, 'None');
}

function removeStatement(node: Node): readonly Replacement[] {
  if (node.type === 'expression_statement') {
    const [only, other] = node.namedChildren.filter((child) => child?.type !== 'comment');
    if (other !== undefined || !/^(?:call|augmented_assignment)$/.test(only?.type ?? '')) return [];
    // Without its `yield` or `await` a function would be another kind of function.
    if (node.descendantsOfType(['yield', 'await']).length > 0) return [];
  }
  return [whole(node, 'pass')];
}

function catchNothing(node: Node): readonly Replacement[] {
  const first = node.namedChildren.find(
    (child) => child !== null && child.type !== 'comment' && child.type !== 'block',
  );
  if (first === undefined || first === null) return [];
  return insteadOf(first.type === 'as_pattern' ? first.namedChild(0) : first, '()');
}
