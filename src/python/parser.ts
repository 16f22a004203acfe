import { readFile } from 'node:fs/promises';
import { Language, Parser, type Node, type ParseState, type Tree } from 'web-tree-sitter';
import { RetryingMemo } from '../domain/retryingMemo';

export type { Node } from 'web-tree-sitter';

/** The two files that have to lie where the caller says; the build copies them beside the bundle. */
export type WasmFile = 'tree-sitter.wasm' | 'tree-sitter-python.wasm';

/** A parser of Python that reads everything from `print "x"` to `def f[T]`, and broken code as well. */
export interface PythonParser {
  /**
   * Parses `source`, hands the root to `use` and frees the tree afterwards, so no node may outlive the
   * call. Offsets and columns are those of JavaScript strings (UTF-16 units), rows count from 0.
   */
  parse<T>(source: string, use: (root: Node) => T): T;
  /**
   * As `parse`, but gives up at the first syntax error and gives undefined: to mend errors can take a
   * thousand times as long as to read the source up to there.
   */
  parseSound<T>(source: string, use: (root: Node) => T): T | undefined;
  /**
   * As `parse`, of two versions of a source: of the later one only what differs is parsed anew.
   */
  parseBoth<A, B>(
    before: string,
    useBefore: (root: Node) => A,
    after: string,
    useAfter: (root: Node) => B,
  ): [A, B];
  /** Keeps the tree of a source that is being edited, so that an edit costs what it changes. */
  open(source: string): EditedSource;
  /** Frees the parser; it must not be used afterwards. */
  dispose(): void;
}

/** A source that is being edited, with its tree. */
export interface EditedSource {
  readonly text: string;
  /**
   * Replaces the UTF-16 units from `start` to `end` (excluded) by `text`. What was there is parsed again
   * when it is read.
   */
  replace(start: number, end: number, text: string): void;
  /** Hands out the root. No node may outlive the call. */
  read<T>(use: (root: Node) => T): T;
  /** Frees the tree. */
  dispose(): void;
}

/** web-tree-sitter can be started only once in a process. */
const started = new RetryingMemo((runtime: Uint8Array) =>
  Parser.init({ wasmBinary: runtime, locateFile: (name: string) => name }),
);

/**
 * Loads web-tree-sitter and its grammar of Python.
 *
 * @param locate gives the path of each .wasm file
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
        // What broken code is taken for would depend on what it was before.
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
      // Its types say that the callback gives nothing, the page of the function and the code say otherwise.
      const tree = parser.parse(source, null, { progressCallback });
      if (tree === null) {
        // It would go on with this source else.
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

/** The one stretch from `start` to `end` (excluded) that makes `after` when `by` replaces it. */
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
