import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createPythonParser, type PythonParser } from '../../../src/python/parser';

const require_ = createRequire(join(process.cwd(), 'package.json'));

/** The parser with its .wasm files from node_modules. */
export function loadParser(): Promise<PythonParser> {
  return createPythonParser((file) =>
    file === 'tree-sitter.wasm'
      ? require_.resolve('web-tree-sitter/tree-sitter.wasm')
      : join(dirname(require_.resolve('tree-sitter-wasms/package.json')), 'out', file),
  );
}
