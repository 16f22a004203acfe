import { sha256 } from '../files/digest';
import type { Mutant } from './mutantSchema';
import { type Node, type PythonParser, syntaxFaults } from '../python/parser';
import { mutationOperators, type MutationOperator, type Replacement } from './operators';

/** The lines of a file in which faults may be made, 1-based. */
export interface MutableLines {
  /** Every changed byte is in these. */
  readonly changed: ReadonlySet<number>;
  /** Every fault begins in one of these. */
  readonly executable: ReadonlySet<number>;
}

/** A mutant with what applying and running it takes. */
export interface MadeMutant extends Mutant {
  /** The whole file with the fault. */
  readonly source: string;
  /**
   * Lines of the statement that has the fault, of compound ones only the head. Code of the fault runs
   * only if one of them does.
   */
  readonly statement: readonly number[];
}

/**
 * The mutants of a Python file: each changes one syntax node. None equals the file or another one,
 * and the parser accepts all. Sorted by place, then in the order of the operators. A file that the
 * parser does not accept has none.
 */
export function mutantsIn(
  python: PythonParser,
  { path, source }: { readonly path: string; readonly source: string },
  lines: MutableLines,
): MadeMutant[] {
  const candidates = python.parseSound(source, (root) => faultsIn(root, lines)) ?? [];
  const seen = new Set([sha256(source)]);
  return candidates
    .sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order)
    .flatMap(({ start, end, by, operator, line, statement }) => {
      const after = separated(source, { start, end, by });
      const mutated = source.slice(0, start) + after + source.slice(end);
      const digest = sha256(mutated);
      if (seen.has(digest)) return [];
      seen.add(digest);
      if (syntaxFaults(python, mutated).length > 0) return [];
      const before = source.slice(start, end);
      const column = start - source.lastIndexOf('\n', start - 1);
      return [{ path, line, column, operator, before, after, source: mutated, statement }];
    });
}

interface Fault extends Replacement {
  readonly operator: string;
  /** Index of the operator in the list. */
  readonly order: number;
  readonly line: number;
  readonly statement: readonly number[];
}

/** Code that says nothing about behaviour, or whose parts cannot be replaced one by one. */
const untouched = new Set(['string', 'type', 'case_pattern', 'future_import_statement']);

function faultsIn(root: Node, { changed, executable }: MutableLines): Fault[] {
  if (executable.size === 0) return [];
  const operators = new Map<string, [MutationOperator, number][]>();
  for (const [order, operator] of mutationOperators.entries()) {
    for (const type of operator.types) {
      operators.set(type, [...(operators.get(type) ?? []), [operator, order]]);
    }
  }
  const nodes = root.descendantsOfType(
    [...operators.keys()],
    { row: Math.min(...changed) - 1, column: 0 },
    { row: Math.max(...changed), column: 0 },
  );
  return nodes.flatMap((node) => {
    if (node === null || isUntouched(node)) return [];
    return (operators.get(node.type) ?? []).flatMap(([{ name: operator, replacements }, order]) =>
      replacements(node).flatMap((replacement) => {
        const [line, last] = linesOf(node, replacement);
        const isChanged = numbersBetween(line, last).every((each) => changed.has(each));
        if (!isChanged || !executable.has(line)) return [];
        return [{ ...replacement, operator, order, line, statement: statementOf(node) }];
      }),
    );
  });
}

/** First and last line of a part of a node. */
function linesOf(node: Node, { start, end }: Replacement): readonly [number, number] {
  const { text, startIndex, startPosition } = node;
  const breaks = (offset: number): number => text.slice(0, offset - startIndex).split('\n').length;
  return [startPosition.row + breaks(start), startPosition.row + breaks(end)];
}

function isUntouched(node: Node): boolean {
  for (let around = node.parent; around !== null; around = around.parent) {
    if (untouched.has(around.type)) return true;
    if (around.type === 'block') return false;
  }
  return false;
}

/** Lines from the begin of the innermost statement to its end, or to the colon of its head. */
function statementOf(node: Node): number[] {
  let statement = node;
  while (
    !/_statement$|_clause$|^(?:decorator|function_definition|class_definition|module)$/.test(
      statement.type,
    ) ||
    /^(?:if_clause|for_in_clause|with_clause)$/.test(statement.type)
  ) {
    if (statement.parent === null) break;
    statement = statement.parent;
  }
  const { children } = statement;
  const body = children.findIndex((child) => child?.type === 'block');
  const last = (body > 0 ? children[body - 1] : undefined) ?? statement;
  return numbersBetween(statement.startPosition.row + 1, last.endPosition.row + 1);
}

const numbersBetween = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** What replaces a part of a source, with blanks where two words would else become one. */
function separated(source: string, { start, end, by }: Replacement): string {
  const isWord = (text: string): boolean => /^[\p{L}\p{N}_]$/u.test(text);
  const before = isWord(source.charAt(start - 1)) && isWord(by.charAt(0)) ? ' ' : '';
  const after = isWord(by.charAt(by.length - 1)) && isWord(source.charAt(end)) ? ' ' : '';
  return before + by + after;
}
