import type { Turns } from '../../domain/work';
import { type PythonParser, syntaxFaults, type SyntaxFault } from '../../python/parser';

/** A syntax error in a file that a candidate writes. */
export interface SyntaxErrorOfCandidate extends SyntaxFault {
  readonly path: string;
  /** The lines around it, as the candidate has them; the first one is `firstLine`. */
  readonly lines: readonly string[];
  readonly firstLine: number;
}

/** Maximum number of syntax errors that are reported. */
const mostErrors = 5;
/** Lines that are shown before and after an error. */
const around = 2;

/**
 * Syntax errors of the Python files that a candidate adds or changes. Files of R that the parser
 * finds wrong without the candidate are left out: they may be for another version of Python.
 *
 * @param after the files that the candidate writes, undefined for one that it deletes
 */
export async function syntaxErrorsOf(
  after: ReadonlyMap<string, string | undefined>,
  {
    python,
    readFileOfR,
  }: {
    readonly python: PythonParser;
    readonly readFileOfR: (path: string) => Promise<string | undefined>;
  },
  turns: Turns,
): Promise<SyntaxErrorOfCandidate[]> {
  const found: SyntaxErrorOfCandidate[] = [];
  for (const [path, source] of after) {
    if (source === undefined || !path.endsWith('.py')) continue;
    const faults = syntaxFaults(python, source);
    if (faults.length === 0) continue;
    const before = await readFileOfR(path);
    if (before !== undefined && syntaxFaults(python, before).length > 0) continue;
    const lines = source.split(/\r?\n/);
    for (const fault of faults) {
      const firstLine = Math.max(1, fault.line - around);
      found.push({
        path,
        ...fault,
        firstLine,
        lines: lines.slice(firstLine - 1, fault.line + around),
      });
    }
    await turns.pause();
  }
  return found.slice(0, mostErrors);
}
