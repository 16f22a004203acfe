import { declarationsOf, type Declaration } from './declarations';
import type { PythonParser } from './parser';

/** An assignment of more lines is cut to so many at its beginning and at its end. */
const longAssignment = { most: 30, kept: 10 } as const;

/**
 * The skeleton of a source: headers of classes and functions, and the fields and comments of module
 * and class level. `...` stands for the body of a function and for the middle of a long assignment.
 */
export function skeletonOf(python: PythonParser, source: string): string {
  const lines = source.split('\n').map((line) => line.replace(/\r$/, ''));
  const shown: string[] = [];
  let last = 0;
  for (const declaration of declarationsOf(python, source)) {
    const { kind, startLine, headEndLine } = declaration;
    const own = lines.slice(startLine - 1, headEndLine);
    // A second statement of a line is there already, and a comment goes with its statement.
    if (startLine <= last || (kind === 'comment' && !/^\s*#/.test(own[0] ?? ''))) continue;
    last = headEndLine;
    const isOutermost = !/^\s/.test(own[0] ?? '');
    if (isOutermost && (kind === 'class' || kind === 'function') && shown.length > 0)
      shown.push('');
    shown.push(...withoutBody(own, declaration));
  }
  return shown.join('\n');
}

function withoutBody(own: readonly string[], declaration: Declaration): readonly string[] {
  const { kind, endLine, headEndLine } = declaration;
  // A function of one line stays as it is.
  if (kind === 'function' && endLine === headEndLine) return own;
  if (kind === 'function') return [...own, `${indentOf(own[0])}    ...`];
  const { most, kept } = longAssignment;
  if (kind !== 'variable' || own.length <= most) return own;
  return [...own.slice(0, kept), `${indentOf(own[0])}...`, ...own.slice(-kept)];
}

const indentOf = (line = ''): string => /^\s*/.exec(line)?.[0] ?? '';
