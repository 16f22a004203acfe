/**
 * Logs of unittest with `-v`, for repositories that the reference harness does not know:
 * `test_x (tests.test_a.A.test_x) ... ok`. A test may print between its name and its status, and a
 * docstring stands on a line of its own. Without `-v`, and for what happens to a whole class or
 * file, the headings of the reports at the end are read.
 */
export function parseUnittest(log: string): Map<string, string> {
  const found = new Map<string, string>();
  const lines = log.split(/\r?\n/);
  let name: string | undefined;
  for (const line of lines) {
    if (/^(?:={70}|-{70})$/.test(line)) name = undefined;
    const heading = /^(ERROR|FAIL|UNEXPECTED SUCCESS): (\S+ \([\w.<>-]+\))/.exec(line);
    if (heading?.[2] !== undefined) {
      const status = heading[1] === 'ERROR' ? 'ERROR' : 'FAILED';
      // A later failure of a sub-test does not make an error any better.
      if (status === 'ERROR' || found.get(heading[2]) !== 'ERROR') found.set(heading[2], status);
      continue;
    }
    const started = /^(\w+ \([\w.<>-]+\))/.exec(line);
    if (started !== null) name = started[1];
    if (name === undefined) continue;
    const rest = started === null ? line : line.slice(started[0].length);
    const ended = ending.exec(rest);
    if (ended?.[1] === undefined) continue;
    found.set(name, statusOf(ended[1]));
    name = undefined;
  }
  return found;
}

/** The status ends its line; without ` ... ` before it, it must be the whole line. */
const ending =
  /(?:^| \.\.\. (?:.*?)?)(ok|FAIL|ERROR|expected failure|unexpected success|skipped(?: ['"].*)?)\s*$/;

function statusOf(text: string): string {
  if (text.startsWith('skipped')) return 'SKIPPED';
  switch (text) {
    case 'ok':
      return 'PASSED';
    case 'ERROR':
      return 'ERROR';
    case 'expected failure':
      return 'XFAIL';
    default:
      return 'FAILED';
  }
}
