import { dedent } from './changedTests';
import type { Node, PythonParser } from './parser';
import type { PythonTest } from './tests';

/**
 * Whether a test checks nothing: its body is only `pass`, constants, assertions of constants, or a
 * return of nothing before anything else.
 */
export const isEmptyTest = (
  python: PythonParser,
  test: Pick<PythonTest, 'text' | 'column'>,
): boolean =>
  python.parse(dedent(test), (root) => {
    const [found] = root.descendantsOfType('function_definition');
    const statements = found?.childForFieldName('body')?.namedChildren ?? [];
    for (const statement of statements) {
      if (statement === null || statement.type === 'comment') continue;
      if (!isIdle(statement)) return false;
      if (statement.type === 'return_statement') return true;
    }
    return true;
  });

function isIdle(statement: Node): boolean {
  if (statement.type === 'pass_statement') return true;
  if (!/^(expression|assert|return)_statement$/.test(statement.type)) return false;
  return statement.namedChildren.every((child) =>
    /^(string|concatenated_string|integer|float|true|none|ellipsis|comment)$/.test(
      child?.type ?? '',
    ),
  );
}
