import type { Conversion } from './conversion';
import { partsOf, without } from './recognise';
import type { Diagnostic } from './diagnostic';
import { isTestPath } from './testFiles';

/**
 * A text without its edits of files that are not tests (see {@link isTestPath}): blank lines stand in
 * their place. A file moved into the tests or out of them is left out, since half of that cannot be done.
 *
 * @returns `left` the paths, and a warning for each part that was left out; an error when nothing stays
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
      message: `${[...new Set(outside)].join(' and ')} is left out: not a file of tests`,
    };
  });
  if (stray.length === parts.length) {
    diagnostics.push({
      severity: 'error',
      code: 'outside-tests',
      line: stray[0]?.line ?? 1,
      message: 'The patch changes no file of tests, and others are left out',
      hint: 'Put the tests into a file such as tests/test_NAME.py',
    });
  }
  return { text: without(text.split('\n'), stray), left: [...left], diagnostics };
}
