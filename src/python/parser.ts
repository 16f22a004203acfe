import { RetryingMemo } from '../domain/work';
import { readFile } from 'node:fs/promises';
import { Language, Parser, type Node, type ParseState, type Tree } from 'web-tree-sitter';

export type { Node } from 'web-tree-sitter';

/** The two files that the caller locates. The build copies them beside the bundle. */
type WasmFile = 'tree-sitter.wasm' | 'tree-sitter-python.wasm';

/** A parser of Python, from `print "x"` to `def f[T]`. It also parses broken code. */
export interface PythonParser {
  /**
   * Parses `source`, passes the root to `use` and frees the tree afterwards. No node may outlive
   * the call. Offsets and columns are those of JavaScript strings (UTF-16 units), rows count from
   * 0.
   */
  parse<T>(source: string, use: (root: Node) => T): T;
  /**
   * Like `parse`, but returns undefined at the first syntax error. Error recovery can take a
   * thousand times as long as parsing up to the error.
   */
  parseSound<T>(source: string, use: (root: Node) => T): T | undefined;
  /** Like `parse`, for two versions of a source. It reparses only what differs in the later one. */
  parseBoth<A, B>(
    before: string,
    useBefore: (root: Node) => A,
    after: string,
    useAfter: (root: Node) => B,
  ): [A, B];
  /** Keeps the tree of a source under edit, so that an edit costs only what it changes. */
  open(source: string): EditedSource;
  /** Frees the parser; it must not be used afterwards. */
  dispose(): void;
}

/** A source under edit, with its tree. */
export interface EditedSource {
  readonly text: string;
  /**
   * Replaces the UTF-16 units from `start` to `end` (excluded) by `text`. The next `read` parses
   * the change.
   */
  replace(start: number, end: number, text: string): void;
  /** Passes the root to `use`. No node may outlive the call. */
  read<T>(use: (root: Node) => T): T;
  /** Frees the tree. */
  dispose(): void;
}

/** A process can start web-tree-sitter only once. */
const started = new RetryingMemo((runtime: Uint8Array) =>
  Parser.init({ wasmBinary: runtime, locateFile: (name: string) => name }),
);

/**
 * Loads web-tree-sitter and its Python grammar.
 *
 * @param locate returns the path of each .wasm file
 * @throws Error naming the file that cannot be read
 */
export async function createPythonParser(
  locate: (file: WasmFile) => string,
): Promise<PythonParser> {
  const [runtime, grammar] = await Promise.all([
    readFile(locate('tree-sitter.wasm')),
    readFile(locate('tree-sitter-python.wasm')),
  ]);
  await started.get(runtime);
  const language = await Language.load(grammar);
  const parser = new Parser().setLanguage(language);
  const parse = <T>(source: string, use: (root: Node) => T): T => {
    const tree = parser.parse(source);
    if (tree === null) throw new Error('tree-sitter gave no tree');
    try {
      return use(tree.rootNode);
    } finally {
      tree.delete();
    }
  };
  return {
    parse,
    parseBoth(before, useBefore, after, useAfter) {
      const source = editedSource(parser, before);
      try {
        const first = source.read(useBefore);
        const { start, end, by } = difference(before, after);
        source.replace(start, end, by);
        // An incremental parse of broken code would depend on the earlier version.
        const second = source.read((root) =>
          root.hasError ? undefined : { found: useAfter(root) },
        );
        return [first, second === undefined ? parse(after, useAfter) : second.found];
      } finally {
        source.dispose();
      }
    },
    parseSound(source, use) {
      const progressCallback = ({ hasError }: ParseState): boolean => hasError;
      // The types say that the callback returns nothing. The documentation and the code use its
      // result.
      const tree = parser.parse(source, null, { progressCallback });
      if (tree === null) {
        // Otherwise the next parse would continue with this source.
        parser.reset();
        return undefined;
      }
      try {
        return tree.rootNode.hasError ? undefined : use(tree.rootNode);
      } finally {
        tree.delete();
      }
    },
    open: (source) => editedSource(parser, source),
    dispose: () => parser.delete(),
  };
}

function editedSource(parser: Parser, source: string): EditedSource {
  let text = source;
  let tree: Tree | undefined;
  let isStale = true;
  const parse = (): Tree => {
    if (tree !== undefined && !isStale) return tree;
    const parsed = parser.parse(text, tree);
    if (parsed === null) throw new Error('tree-sitter gave no tree');
    tree?.delete();
    tree = parsed;
    isStale = false;
    return parsed;
  };
  return {
    get text() {
      return text;
    },
    replace(start, end, by) {
      const before = text;
      text = before.slice(0, start) + by + before.slice(end);
      isStale = true;
      tree?.edit({
        startIndex: start,
        oldEndIndex: end,
        newEndIndex: start + by.length,
        startPosition: positionAt(before, start),
        oldEndPosition: positionAt(before, end),
        newEndPosition: positionAt(text, start + by.length),
      });
    },
    read: (use) => use(parse().rootNode),
    dispose() {
      tree?.delete();
      tree = undefined;
      isStale = true;
    },
  };
}

/**
 * The smallest range, from `start` to `end` (excluded), whose replacement by `by` turns `before`
 * into `after`.
 */
function difference(
  before: string,
  after: string,
): { readonly start: number; readonly end: number; readonly by: string } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let tail = 0;
  while (
    tail < most - start &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  ) {
    tail += 1;
  }
  return { start, end: before.length - tail, by: after.slice(start, after.length - tail) };
}

/** Row and column, from 0, of an offset. */
function positionAt(text: string, offset: number): { row: number; column: number } {
  let row = 0;
  let start = 0;
  for (;;) {
    const end = text.indexOf('\n', start);
    if (end < 0 || end >= offset) return { row, column: offset - start };
    row += 1;
    start = end + 1;
  }
}

/** A place where a source is not Python. */
export interface SyntaxFault {
  /** 1-based. */
  readonly line: number;
  /** What is wrong, in a few words, where the parser knows it. */
  readonly problem?: string;
}

/** Maximum number of places that are found in one source. Later ones tend to follow from earlier ones. */
const mostFaults = 3;

/** The first lines of a source that no Python accepts; empty when there are none. */
export function syntaxFaults(python: PythonParser, source: string): SyntaxFault[] {
  return python.parse(source, (root) =>
    root.hasError ? parserFaults(root) : indentationFaults(root, source.split('\n')),
  );
}

/** Places that the parser had to skip, or where it had to add something. */
function parserFaults(root: Node): SyntaxFault[] {
  const found = new Map<number, SyntaxFault>();
  // Not recursive, since code that nests without end is deeper than the stack.
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (found.size >= mostFaults) break;
    if (node.isError || node.isMissing) {
      const line = node.startPosition.row + 1;
      const problem = `${JSON.stringify(node.type)} is missing`;
      if (!found.has(line)) found.set(line, node.isMissing ? { line, problem } : { line });
    } else if (node.hasError) {
      waiting.push(...node.children.filter((child) => child !== null).reverse());
    }
  }
  return [...found.values()];
}

/** Statements at a wrong column, and blocks without any. The parser accepts both. */
function indentationFaults(root: Node, lines: readonly string[]): SyntaxFault[] {
  const found: SyntaxFault[] = [];
  for (const block of root.descendantsOfType(['module', 'block'])) {
    if (block === null || found.length >= mostFaults) break;
    const statements = block.namedChildren.filter(
      (child) => child !== null && child.type !== 'comment',
    );
    const [first] = statements;
    if (first === undefined || first === null) {
      const line = (block.parent?.startPosition.row ?? 0) + 1;
      if (block.type === 'block') found.push({ line, problem: 'an indented block is missing' });
      continue;
    }
    const column = block.type === 'module' ? 0 : first.startPosition.column;
    let lastRow = -1;
    for (const statement of statements) {
      if (statement === null) continue;
      const { row, column: at } = statement.startPosition;
      // Tabs count differently in each Python.
      const hasTabs = /^[ \t]*\t/.test(lines[row] ?? '');
      if (row > lastRow && at !== column && !hasTabs) {
        found.push({ line: row + 1, problem: 'unexpected indentation' });
        break;
      }
      lastRow = statement.endPosition.row;
    }
  }
  return found.slice(0, mostFaults);
}
