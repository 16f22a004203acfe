import type { Conversion } from './conversion';
import { partsOf, without } from './recognise';
import type { Diagnostic } from './diagnostic';
import { isTestPath } from './testFiles';

/**
 * Replaces the edits of files outside the tests (see {@link isTestPath}) by blank lines. A file
 * that moves into or out of the tests is left out too, since half of a move is impossible.
 *
 * @returns `left` has the paths. Each part left out has a warning. There is an error if nothing
 *   remains.
 */
export function keepTests(
  text: string,
  format: Conversion['format'],
): { text: string; left: readonly string[]; diagnostics: readonly Diagnostic[] } {
  if (format === 'unknown' || format === 'empty') return { text, left: [], diagnostics: [] };
  const parts = partsOf(text, format);
  const stray = parts.filter((part) => !part.paths.every(isTestPath));
  if (stray.length === 0) return { text, left: [], diagnostics: [] };
  const left = new Set<string>();
  const diagnostics = stray.map((part): Diagnostic => {
    const outside = part.paths.filter((path) => !isTestPath(path));
    for (const path of outside) left.add(path);
    return {
      severity: 'warning',
      code: 'outside-tests',
      line: part.line,
      endLine: part.endLine,
      message: `${[...new Set(outside)].join(' and ')} is left out: not a test file`,
    };
  });
  if (stray.length === parts.length) {
    diagnostics.push({
      severity: 'error',
      code: 'outside-tests',
      line: stray[0]?.line ?? 1,
      message: 'The patch changes no test file, and edits of other files are left out',
      hint: 'Put the tests into a file such as tests/test_NAME.py',
    });
  }
  return { text: without(text.split('\n'), stray), left: [...left], diagnostics };
}
