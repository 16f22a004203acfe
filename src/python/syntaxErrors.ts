import type { Node, PythonParser } from './parser';

/** A place where a source is not Python. */
export interface SyntaxFault {
  /** 1-based. */
  readonly line: number;
  /** The parser's word for what is missing, such as `)`; undefined where something is too much. */
  readonly missing?: string;
}

/** Most places that are found in one source. Later ones tend to follow from earlier ones. */
const mostFaults = 3;

/** The first lines of a source that no Python accepts; empty when there are none. */
export function syntaxFaults(python: PythonParser, source: string): SyntaxFault[] {
  return python.parse(source, (root) => {
    const found = new Map<number, SyntaxFault>();
    const visit = (node: Node): void => {
      if (found.size >= mostFaults || !node.hasError) return;
      if (node.isMissing || node.isError) {
        const line = node.startPosition.row + 1;
        if (!found.has(line)) {
          found.set(line, node.isMissing ? { line, missing: node.type } : { line });
        }
        return;
      }
      for (const child of node.children) if (child !== null) visit(child);
    };
    visit(root);
    return [...found.values()];
  });
}
