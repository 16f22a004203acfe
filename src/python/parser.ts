import { readFile } from 'node:fs/promises';
import { Language, Parser, type Node } from 'web-tree-sitter';

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
  /** Frees the parser; it must not be used afterwards. */
  dispose(): void;
}

/** web-tree-sitter can be started only once in a process. */
let started: Promise<void> | undefined;

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
  started ??= Parser.init({ wasmBinary: runtime, locateFile: (name: string) => name });
  try {
    await started;
  } catch (error) {
    started = undefined;
    throw error;
  }
  const language = await Language.load(grammar);
  const parser = new Parser().setLanguage(language);
  return {
    parse(source, use) {
      const tree = parser.parse(source);
      if (tree === null) throw new Error('tree-sitter gave no tree');
      try {
        return use(tree.rootNode);
      } finally {
        tree.delete();
      }
    },
    dispose: () => parser.delete(),
  };
}
