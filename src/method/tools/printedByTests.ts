/** The line with which pytest begins, also inside other programs such as tox. */
const pytestStart = /^=+ test session starts =+$/m;
const headline = /^_{3,} (.+) _{3,}$/;
const captured = /^-{3,} Captured (.+?) -{3,}$/;
const chapter =
  /^=+ (?:FAILURES|ERRORS|PASSES|XPASSES|XFAILURES|warnings summary|short test summary info|.* in …s.*) =+$/;

/**
 * What tests print, without what their runner prints. From pytest come the captured parts, each
 * under the name of its test. Other runners print to the same stream, so their own lines are taken
 * out.
 *
 * @param log the output of a run
 */
export function printedByTests(log: string): string {
  return pytestStart.test(log) ? capturedByPytest(log) : withoutUnittest(log);
}

function capturedByPytest(log: string): string {
  const found: string[] = [];
  let test = '';
  let isCaptured = false;
  for (const line of log.split(/\r?\n/)) {
    const [, name] = headline.exec(line) ?? [];
    const [, stream] = captured.exec(line) ?? [];
    if (name !== undefined) {
      test = name;
      isCaptured = false;
    } else if (stream !== undefined) {
      isCaptured = true;
      found.push(`${test} (${stream}):`);
    } else if (chapter.test(line)) isCaptured = false;
    else if (isCaptured) found.push(line);
  }
  return found.join('\n').trim();
}

/**
 * What unittest writes before a test prints: its name, the first line of its docstring if it has
 * one, and dots.
 */
const unittestName = /^ *\w+ \([\w.]+\)(?: \([^()\n]*\)| \[[^[\]\n]*\])*(?:\n.*?)? \.\.\. ?/gm;
const unittestOutcome =
  /^(?:ok|FAIL|ERROR|expected failure|unexpected success|skipped ['"].*['"])$\n?/gm;
/** Failures, which are reported with their tests. */
const unittestFailure = /^={70}\n(?:FAIL|ERROR): [^]*?(?=^={70}$|^-{70}\nRan )/gm;
/** What tests print may follow it, since their output is buffered. */
const unittestSummary = /^-{70}\nRan \S+ tests? in .*\n\n(?:OK|FAILED)\b.*$/gm;

const withoutUnittest = (log: string): string =>
  log
    .replace(/\r\n/g, '\n')
    .replace(unittestFailure, '')
    .replace(unittestSummary, '')
    .replace(unittestName, '')
    .replace(unittestOutcome, '')
    .trim();
