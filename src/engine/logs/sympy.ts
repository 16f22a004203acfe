import { splitWords } from './pythonText';

/**
 * Logs of SymPy's `bin/test --verbose`: `test_x ok`, and, for failures that the log shows only at
 * its end, headings such as `____ sympy/core/tests/test_x.py:test_y ____` below a line of `_`.
 */
export function parseSympy(log: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const test of failureHeadings(log)) found.set(test, 'FAILED');
  const words = splitWords(log);
  const endsInSpace = !log.endsWith(words.at(-1) ?? '');
  for (let index = 0; index + 1 < words.length; index++) {
    const name = words[index] ?? '';
    const at = name.indexOf('test_');
    const result = status.get(words[index + 1] ?? '');
    if (at < 0 || result === undefined) continue;
    if (index + 2 === words.length && !endsInSpace) continue;
    found.set(name.slice(at), result);
    index++;
  }
  return found;
}

const status: ReadonlyMap<string, string> = new Map([
  ['ok', 'PASSED'],
  ['F', 'FAILED'],
  ['E', 'ERROR'],
]);

/** What stands after `.py:` in lines between underscores, below a line that ends in one. */
function* failureHeadings(log: string): Generator<string> {
  let from = 0;
  for (;;) {
    const before = log.indexOf('_\n', from);
    if (before < 0) return;
    from = before + 1;
    const start = before + 2;
    const newline = log.indexOf('\n', start);
    const line = log.slice(start, newline < 0 ? log.length : newline);
    const left = skipUnderscores(line, 0);
    const lastSpace = line.lastIndexOf(' ');
    if (line[left] !== ' ' || lastSpace < left + 5) continue;
    const suffix = line.lastIndexOf('.py:', lastSpace - 4);
    if (suffix < left + 1) continue;
    yield line.slice(line[suffix + 4] === ':' ? suffix + 5 : suffix + 4, lastSpace);
    // The heading is used up, with the underscores that end it.
    from = start + skipUnderscores(line, lastSpace + 1);
  }
}

function skipUnderscores(text: string, from: number): number {
  let at = from;
  while (text[at] === '_') at++;
  return at;
}
